"""Run the command line as ``python -m vttdata``."""

import sys

from vttdata.cli.main import main

sys.exit(main())
