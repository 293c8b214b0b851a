"""CSV files for people guard cells that a spreadsheet would run as a formula; exports, for programs, have every text.

Numbers stay numbers in both.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

from vttdata.dataset import Metadata, write_dataset
from vttdata.errors import VttdataError
from vttdata.export import export, export_formats
from vttdata.files.table_formats import as_csv
from vttdata.records import Caption, Clip, Source

ROOT = Path(__file__).resolve().parents[2]
GUARDS = ("escape_formula", "html_cell")
FORMULAS = ("=1+1", "+1", "-1+1|cmd", "@SUM(1)", "\t=1", " =1", "\uff1d1")


def test_every_module_that_writes_csv_guards_its_cells_unless_it_is_an_export() -> None:
    texts = {path: path.read_text() for folder in ("vttdata", "builders") for path in (ROOT / folder).rglob("*.py")}
    writers = {
        path: text
        for path, text in texts.items()
        if re.search(r"csv\.writer\(|DictWriter\(|to_csv\(|write_csv\(", text)
    }
    assert len(writers) > 3
    unguarded = {path for path, text in writers.items() if not any(f"{name}(" in text for name in GUARDS)}
    exports = ROOT / "vttdata" / "export"
    assert unguarded == {path for path in writers if path.is_relative_to(exports)}


def test_exports_have_every_text_as_it_is(tmp_path: Path) -> None:
    clips = [Clip(f"-v{n}", "s", n, n + 1.0, None, None, None, split="test") for n in range(len(FORMULAS))]
    captions = [Caption(clip.video_id, 1, text) for clip, text in zip(clips, FORMULAS, strict=True)]
    write_dataset(
        tmp_path / "dataset",
        clips=clips,
        captions=captions,
        sources=[Source("s", "", "nowhere", "", 0)],
        metadata=Metadata("me/small", version="1.0.0", licence="cc-by-4.0"),
        media=None,
    )
    tables = 0
    for name in export_formats():
        try:
            export(tmp_path / "dataset", name, tmp_path / name)
        except VttdataError:
            # Formats of videos, and of a system's captions.
            continue
        for path in (tmp_path / name).rglob("*.[ct]sv"):
            with path.open(newline="") as stream:
                rows = [*csv.reader(stream, delimiter="\t" if path.suffix == ".tsv" else ",")]
            cells = {cell for row in rows for cell in row}
            assert {clip.video_id for clip in clips} <= cells
            if path.suffix == ".tsv":
                # VLMEvalKit's table has the captions of a clip as JSON.
                cells = {text for cell in cells if cell.startswith('["') for text in json.loads(cell)}
            assert {*FORMULAS} <= cells
            tables += 1
    assert tables


def test_numbers_stay_numbers() -> None:
    table = as_csv([["text", "number"], ["-1", -1], ["=1", -0.25], ["@x", 1e-9]])
    assert table == "text,number\n'-1,-1\n'=1,-0.25\n'@x,1e-09\n"
