"""Test that export formats are found by being there, in the package and in the user's folder of plugins."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.export import export, export_formats
from vttdata.export.format import load_format

PLUGIN = '''"""Plain list of ids, for anyone."""

from vttdata.export.files import text_file
from vttdata.export.format import ExportRequest, Format, Written


def write_ids(request: ExportRequest) -> Written:
    """Write a list of ids."""
    with text_file(request.folder / "ids.txt") as stream:
        for split in request.splits():
            for row in request.dataset.rows(request.clip_config, split, ["video_id"]):
                stream.write(f"{row['video_id']}\\\\n")
    return Written("Read the lines.", [])


FORMAT = Format(write_ids, "One id per line.")
'''.replace("\\\\n", "\\n")


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide the user's folder of export formats, with the format ``plain-ids``."""
    folder = tmp_path / "plugins/export"
    folder.mkdir(parents=True)
    (folder / "plain_ids.py").write_text(PLUGIN)
    monkeypatch.setenv("VTTDATA_PLUGINS", str(tmp_path / "plugins"))
    return folder


def test_packaged_formats_are_valid() -> None:
    names = ["coco", "coco-results", "jsonl", "lmms-eval", "msrvtt", "mteb", "retrieval"]
    assert [name for name in export_formats() if name in names] == names
    for name, description in export_formats().items():
        assert load_format(name).rules
        assert 10 < len(description) < 100


def test_no_file_has_the_name_of_a_protocol_or_release_of_others(dataset: Path, tmp_path: Path) -> None:
    """The dataset has ids of MSR-VTT, and none of the lists that these names stand for."""
    written = 0
    for name in export_formats():
        try:
            files = export(dataset, name, tmp_path / name).files
        except VttdataError:
            # It needs the captions of a system.
            continue
        written += 1
        claimed = r"(?i)msrvtt_|jsfusion|[79]k|1k-?a|(train_val|test)_videodatainfo|val2014|karpathy"
        assert [file for file in files if re.search(claimed, file)] == []
    assert written > 5


def test_documentation_lists_every_packaged_format() -> None:
    text = (Path(__file__).parents[2] / "docs/export.md").read_text(encoding="utf-8")
    assert [name for name in export_formats() if f"`{name}`" not in text] == []


@pytest.mark.usefixtures("plugins")
def test_plugin_is_listed_and_writes(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--help"]) == 0
    assert re.search(r"\n +plain-ids +Plain list of ids, for anyone\n", capsys.readouterr().out)
    out = tmp_path / "x"
    assert main(["export", str(dataset), "--format", "plain-ids", "--split", "test", "--out", str(out)]) == 0
    assert (out / "ids.txt").read_text().splitlines() == ["video11", "video12", "video13"]
    assert "# me/small 2.0.1: Plain list of ids, for anyone\n" in (out / "README.md").read_text()
    with pytest.raises(VttdataError, match=r"choose from .*, webdataset, plain-ids"):
        export(dataset, "xml", tmp_path / "y")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import json\n1 / 0\n", r"plain_ids\.py:2: .*ZeroDivisionError"),
        ('"""X."""\n\ndef (', r"plain_ids\.py:3: .*SyntaxError"),
        ("FORMAT = 7\n", r"plain_ids\.py:1: an export format must define FORMAT"),
    ],
)
def test_broken_plugin_gives_one_sentence(
    plugins: Path, dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, message: str
) -> None:
    (plugins / "plain_ids.py").write_text(source)
    assert main(["export", str(dataset), "--format", "plain-ids", "--out", str(tmp_path / "x")]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    with pytest.raises(VttdataError, match=message):
        load_format("plain-ids")
    assert main(["export", "--help"]) == 0
    assert "plain-ids" in capsys.readouterr().out


def test_plugin_cannot_replace_a_packaged_format(plugins: Path, dataset: Path, tmp_path: Path) -> None:
    (plugins / "coco.py").write_text(PLUGIN)
    with pytest.raises(VttdataError, match=r"coco\.py: .*rename"):
        export(dataset, "coco", tmp_path / "x")
    assert main(["export", "--help"]) == 0


def test_listing_formats_imports_no_heavy_library() -> None:
    code = (
        "import sys\nfrom vttdata.export import export_formats\nexport_formats()\n"
        "print([name for name in ('numpy', 'pandas', 'pyarrow', 'yaml') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"
