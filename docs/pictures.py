"""Make the pictures of the README from a build of the recipe `demo`: ``python docs/pictures.py``, or ``make pictures``.

The build goes to a temporary folder, and the same tools give the same pictures. That of the report needs Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from vttdata import build
from vttdata.dataset.videos import PREVIEW
from vttdata.report.build_report import REPORT

PICTURES = Path(__file__).resolve().parent / "pictures"
_WINDOW = "1200,1000"


def main() -> None:
    """Build the demo and replace the pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run = build("demo", out=Path(folder) / "demo", quiet=True)
        shutil.copyfile(run.dataset / PREVIEW, PICTURES / "demo.jpg")
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        if chromium is None:
            sys.exit(f"The picture of the report needs Chromium; {PICTURES / 'report.png'} is unchanged.")
        shot = Path(folder) / "shot.png"
        flags = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={folder}/profile"]
        flags += [f"--window-size={_WINDOW}", f"--screenshot={shot}"]
        subprocess.run([chromium, *flags, (run.folder / REPORT).as_uri()], check=True, capture_output=True)
        with Image.open(shot) as picture:
            # A palette makes the file a third as large.
            picture.convert("RGB").quantize(256).save(PICTURES / "report.png", optimize=True)


if __name__ == "__main__":
    main()
