"""Imports of the process that builds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.helpers.builds import LOOSE, film

POSTPONED = """
import sys
import pyarrow as pa
from vttdata.cli.build import postpone_pandas
postpone_pandas()
table = pa.table({"seconds": [1.5, None]})
assert "pandas" not in sys.modules
frame = table.to_pandas()
assert frame["seconds"].isna().tolist() == [False, True]
assert pa.array(frame["seconds"], from_pandas=True).to_pylist() == [1.5, None]
assert pa.Table.from_pandas(frame).column("seconds").to_pylist() == [1.5, None]
"""


def test_build_without_captions_imports_no_pandas(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    film(tmp_path / "videos" / "film.mp4")
    settings = ["name=me/films", f"collect.folder={tmp_path / 'videos'}", *LOOSE]
    arguments = ["build", "own-folder", "--quiet", "--out", str(tmp_path / "out"), "--workers", "1"]
    arguments += [part for setting in settings for part in ("--set", setting)]
    code = f"import sys; from vttdata.cli.main import main; main({arguments!r}); sys.exit('pandas' in sys.modules)"
    home = os.environ | {"VTTDATA_HOME": str(tmp_path / "home")}
    subprocess.run([sys.executable, "-c", code], env=home, check=True, capture_output=True)
    assert (tmp_path / "out" / "dataset" / "README.md").is_file()


def test_pandas_is_imported_once_something_is_converted_to_it() -> None:
    subprocess.run([sys.executable, "-c", POSTPONED], check=True)
