"""Run the command line as ``python -m vttdata``."""

import os
import sys

# The interpreter puts the working folder first, where a file of any name would hide a library.
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if not sys.flags.safe_path and os.path.abspath(sys.path[0]) != _ROOT:
    del sys.path[0]

from vttdata.cli.main import main  # noqa: E402

sys.exit(main())
