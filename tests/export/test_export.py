"""Test what all export formats share: the folder, its bytes, and rejected input."""

from __future__ import annotations

import errno
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.export.conftest import Write, captions, clips
from vttdata.cli.main import main
from vttdata.dataset import Metadata, OfficialLayout
from vttdata.errors import VttdataError
from vttdata.export import export, export_formats
from vttdata.export import write as export_module
from vttdata.export.files import CHECKSUMS

PLAIN = [name for name in export_formats() if name != "coco-results"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", PLAIN)
def test_same_records_give_same_bytes_in_any_folder_and_order(write: Write, tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    first = write(tmp_path / "one", official=None)
    second = write(tmp_path / "elsewhere/two", official=None, clips=clips()[::-1], captions=captions()[::-1])
    export(first, name, tmp_path / "x")
    export(second, name, tmp_path / "elsewhere/y")
    assert contents(tmp_path / "x") == contents(tmp_path / "elsewhere/y")
    assert str(tmp_path).encode() not in b"".join(contents(tmp_path / "x").values())


@pytest.mark.parametrize("name", PLAIN)
def test_checksums_name_every_file_and_no_temporary_file_remains(dataset: Path, tmp_path: Path, name: str) -> None:
    written = export(dataset, name, tmp_path / "x")
    files = contents(tmp_path / "x")
    assert sorted(files) == sorted(written.files)
    # `sha256sum` and `shasum` pass over the comment.
    about, *lines = files.pop(CHECKSUMS).decode().splitlines()
    assert json.loads(about.removeprefix("# vttdata export "))["format"] == name
    listed = dict(reversed(line.split("  ", 1)) for line in lines)
    assert listed == {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset", "x"]
    assert all(note in files["README.md"].decode() for note in written.notes)


@pytest.mark.parametrize("name", export_formats())
def test_long_names_of_dataset_and_protocol_are_no_too_long_names_of_files(
    write: Write, tmp_path: Path, name: str
) -> None:
    protocol = "p" * 90
    layout = OfficialLayout(protocols={protocol: {"s" * 90: ["video10"]}})
    folder = write(metadata=Metadata(f"{'o' * 96}/{'n' * 96}"), official=layout)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"name": f"me/{'n' * 300}"}))
    table = tmp_path / "system.csv"
    table.write_text("video_id,caption\nvideo10,a dog\n")
    written = export(folder, name, tmp_path / "x", config=protocol, captions=table if name == "coco-results" else None)
    assert len(written.files) > 2


def test_earlier_export_is_replaced_completely(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "jsonl", tmp_path / "x")
    export(dataset, "coco", tmp_path / "x", split="test")
    assert sorted(contents(tmp_path / "x")) == ["README.md", "captions_test.json", CHECKSUMS]


def test_folder_that_is_not_an_export_is_not_replaced(dataset: Path, write: Write, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("x")
    other = write(tmp_path / "other")
    before = contents(other)
    for folder in (tmp_path / "mine", other):
        with pytest.raises(VttdataError, match="an export"):
            export(dataset, "jsonl", folder)
    assert (contents(tmp_path / "mine"), contents(other)) == ({"thesis.txt": b"x"}, before)
    with pytest.raises(VttdataError, match="is inside the dataset"):
        export(dataset, "jsonl", dataset / "export")


def test_failed_export_keeps_the_earlier_one(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export(dataset, "coco", tmp_path / "x")
    before = contents(tmp_path / "x")

    def fail(*_: Any) -> Iterator[Any]:
        raise OSError(errno.ENOSPC, "the toy disk is full")

    monkeypatch.setattr(export_module, "write_checksums", fail)
    with pytest.raises(OSError, match="the toy disk is full"):
        export(dataset, "jsonl", tmp_path / "x")
    assert contents(tmp_path / "x") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset", "x"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("xml", {}, "Unknown export format 'xml'; choose from coco, coco-results, evaluation, inspect-ai, jsonl"),
        ("json-lines", {}, r"choose from .* \(did you mean 'jsonl'\?\)"),
        ("coco", {"split": "dev"}, "no split of 'clips' is called 'dev'; choose from train, validation, test"),
        ("retrieval", {"split": "dev"}, "no split of 'clips' is called 'dev'"),
        ("mteb", {"config": "1ka"}, "no configuration is called '1ka'; choose from clips, captions, sources, one-k"),
        ("jsonl", {"config": "../clips"}, "no configuration is called '../clips'"),
        ("coco", {"config": "sources"}, "'sources' does not have a row per clip; choose from clips, one-k"),
        ("coco-results", {}, "needs a system's captions"),
        ("coco", {"captions": Path("x.csv")}, "takes no captions of a system"),
        ("coco-results", {"captions": Path("nowhere.csv")}, "nowhere.csv: cannot be read"),
    ],
)
def test_bad_option_raises_one_sentence(
    dataset: Path, tmp_path: Path, name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(VttdataError, match=message.replace("../", r"\.\./")):
        export(dataset, name, tmp_path / "x", **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset"]


@pytest.mark.parametrize("name", ["coco", "evaluation", "msrvtt", "retrieval", "mteb", "lmms-eval", "inspect-ai"])
def test_dataset_without_captions_exports_only_to_jsonl(write: Write, tmp_path: Path, name: str) -> None:
    folder = write(captions=[])
    with pytest.raises(VttdataError, match="has no captions; 'vttdata export --format jsonl'"):
        export(folder, name, tmp_path / "x")
    assert "clips/test.jsonl" in export(folder, "jsonl", tmp_path / "x").files


@pytest.mark.parametrize("name", ["coco", "mteb", "lmms-eval", "vlmevalkit"])
def test_error_names_split_without_human_captions(write: Write, tmp_path: Path, name: str) -> None:
    remaining = [c for c in captions() if c.author != "human" or not c.video_id.startswith("video1")]
    with pytest.raises(VttdataError, match="no clip of 'test' has a human caption"):
        export(write(captions=remaining), name, tmp_path / "x", split="test")


def _edit(dataset: Path, pattern: str, column: str, values: list[Any]) -> None:
    path = next(dataset.glob(pattern))
    table = pq.read_table(path)
    index = table.schema.get_field_index(column)
    field = table.schema.field(index)
    pq.write_table(table.set_column(index, field, pa.array(values, field.type)), path)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("video_id", ["../../etc/passwd", "a/b", "", None])
@pytest.mark.sampled(8)
def test_id_that_is_a_path_is_rejected(dataset: Path, tmp_path: Path, name: str, video_id: str | None) -> None:
    _edit(dataset, "clips/test-*.parquet", "video_id", ["video11", video_id, "video13"])
    with pytest.raises(VttdataError, match="'video_id' of row 2 is null" if video_id is None else "is not a usable id"):
        export(dataset, name, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_caption_of_unknown_clip_is_an_error(dataset: Path, tmp_path: Path) -> None:
    _edit(dataset, "clips/validation-*.parquet", "video_id", ["video99"])
    with pytest.raises(VttdataError, match="captions of validation are not in the order of its clips, at 'video10'"):
        export(dataset, "coco", tmp_path / "x")


@pytest.mark.parametrize("damage", ["clips", "captions"])
def test_error_names_corrupt_table(dataset: Path, tmp_path: Path, damage: str) -> None:
    path = next((dataset / damage).glob("test-*.parquet"))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(VttdataError, match=f"{path.name}: is damaged"):
        export(dataset, "coco", tmp_path / "x")


@pytest.mark.parametrize(("old", "new"), [("config_name: one-k", "config_name: ../one"), ("split: test", "split: a/b")])
def test_configuration_or_split_that_is_a_path_is_rejected(dataset: Path, tmp_path: Path, old: str, new: str) -> None:
    readme = dataset / "README.md"
    readme.write_text(readme.read_text().replace(old, new))
    with pytest.raises(VttdataError, match="cannot name"):
        export(dataset, "jsonl", tmp_path / "x")


def test_several_languages_give_a_note(write: Write, tmp_path: Path) -> None:
    folder = write(captions=[*captions(), *(type(c)(c.video_id, 900, "你好", language="zh") for c in captions())][:-1])
    assert any("several languages" in note for note in export(folder, "coco", tmp_path / "x").notes)


def test_command_prints_files_and_notes(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(dataset), "--format", "coco", "--split", "test", "--out", str(tmp_path / "x")]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        f"{tmp_path / 'x' / name}" for name in ("README.md", "captions_test.json", CHECKSUMS)
    ]
    assert "note: Clips without a human caption" in printed.err
    assert main(["export", str(dataset), "--format", "xml", "--out", str(tmp_path / "y")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_help_lists_every_format_with_its_description(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert all(f" {name} {description}" in text for name, description in export_formats().items())
    assert "pycocoevalcap" in export_formats()["coco"]


def test_export_needs_no_reader_installed(dataset: Path, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "for name in ('pycocoevalcap', 'pycocotools', 'mteb', 'lmms_eval', 'datasets'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from vttdata.export import export\n"
        f"for name in {PLAIN!r}: export(Path({str(dataset)!r}), name, Path({str(tmp_path)!r}) / name)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert json.loads((tmp_path / "coco/captions_test.json").read_text())["info"]["version"] == "2.0.1"


def test_export_has_the_version_of_the_dataset(write: Write, tmp_path: Path) -> None:
    export(write(metadata=Metadata("me/other", version="3.4.5")), "msrvtt", tmp_path / "x")
    info = json.loads((tmp_path / "x/videodatainfo.json").read_text())["info"]
    assert (info["description"], info["version"]) == ("me/other", "3.4.5")
