"""Make the pictures of the README from a build of the recipe `demo`: ``python docs/pictures.py``, or ``make pictures``.

The build goes to a temporary folder, and the same tools give the same pictures.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from vttdata import build
from vttdata.dataset.preview import PREVIEW

PICTURES = Path(__file__).resolve().parent / "pictures"


def main() -> None:
    """Build the demo and replace the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VTTDATA_HOME"] = folder
        run = build("demo", quiet=True)
        PICTURES.mkdir(exist_ok=True)
        shutil.copyfile(run.dataset / PREVIEW, PICTURES / "demo.jpg")


if __name__ == "__main__":
    main()
