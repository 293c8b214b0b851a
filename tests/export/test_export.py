"""What all formats share: the folder, its bytes, and what is refused."""

from __future__ import annotations

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
from vttdata.dataset import About
from vttdata.errors import VttdataError
from vttdata.export import FORMATS, export
from vttdata.export.files import CHECKSUMS

PLAIN = [name for name in FORMATS if name != "coco-results"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", PLAIN)
def test_the_same_records_give_the_same_bytes_wherever_they_lie(write: Write, tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    one = write(tmp_path / "one", given=None)
    other = write(tmp_path / "elsewhere/two", given=None, clips=clips()[::-1], captions=captions()[::-1])
    export(one, name, tmp_path / "x")
    export(other, name, tmp_path / "elsewhere/y")
    assert contents(tmp_path / "x") == contents(tmp_path / "elsewhere/y")
    assert str(tmp_path).encode() not in b"".join(contents(tmp_path / "x").values())


@pytest.mark.parametrize("name", PLAIN)
def test_every_file_is_named_with_its_checksum_and_nothing_else_is_left(
    dataset: Path, tmp_path: Path, name: str
) -> None:
    written = export(dataset, name, tmp_path / "x")
    found = contents(tmp_path / "x")
    assert sorted(found) == sorted(written.files)
    listed = dict(reversed(line.split("  ", 1)) for line in found.pop(CHECKSUMS).decode().splitlines())
    assert listed == {path: hashlib.sha256(content).hexdigest() for path, content in found.items()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset", "x"]
    assert all(note in found["README.md"].decode() for note in written.notes)


def test_an_earlier_export_is_replaced_as_a_whole(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "jsonl", tmp_path / "x")
    export(dataset, "coco", tmp_path / "x", split="test")
    assert sorted(contents(tmp_path / "x")) == ["README.md", "captions_test.json", CHECKSUMS]


def test_what_is_no_export_is_left_alone(dataset: Path, write: Write, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("x")
    other = write(tmp_path / "other")
    before = contents(other)
    for folder in (tmp_path / "mine", other):
        with pytest.raises(VttdataError, match="something else than an export"):
            export(dataset, "jsonl", folder)
    assert (contents(tmp_path / "mine"), contents(other)) == ({"thesis.txt": b"x"}, before)
    with pytest.raises(VttdataError, match="lies in the dataset"):
        export(dataset, "jsonl", dataset / "export")


def test_after_an_error_the_earlier_export_is_still_there(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(dataset, "coco", tmp_path / "x")
    before = contents(tmp_path / "x")

    def break_off(*_: Any) -> Iterator[Any]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["vttdata.export.export"], "write_checksums", break_off)
    with pytest.raises(OSError, match="No space"):
        export(dataset, "jsonl", tmp_path / "x")
    assert contents(tmp_path / "x") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset", "x"]


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("xml", {}, "no format 'xml'; there is coco, coco-results, msrvtt"),
        ("coco", {"split": "dev"}, "no split of 'clips' is called 'dev'; there is train, validation, test"),
        ("retrieval", {"split": "dev"}, "no split of 'clips' is called 'dev'"),
        ("mteb", {"config": "1ka"}, "no configuration is called '1ka'; there is clips, captions, sources, one-k"),
        ("jsonl", {"config": "../clips"}, "no configuration is called '../clips'"),
        ("coco", {"config": "sources"}, "'sources' has no row a clip; coco takes clips, one-k, and jsonl takes any"),
        ("coco-results", {}, "needs a system's captions"),
        ("coco", {"captions": Path("x.csv")}, "takes no system's captions"),
        ("coco-results", {"captions": Path("nowhere.csv")}, "nowhere.csv: cannot be read"),
    ],
)
def test_what_cannot_be_had_is_said_in_a_sentence(
    dataset: Path, tmp_path: Path, name: str, asked: dict[str, Any], told: str
) -> None:
    with pytest.raises(VttdataError, match=told.replace("../", r"\.\./")):
        export(dataset, name, tmp_path / "x", **asked)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset"]


@pytest.mark.parametrize("name", ["coco", "msrvtt", "retrieval", "mteb", "lmms-eval"])
def test_a_dataset_without_captions_goes_only_into_json_lines(write: Write, tmp_path: Path, name: str) -> None:
    folder = write(captions=[])
    with pytest.raises(VttdataError, match="has no captions; use --format jsonl"):
        export(folder, name, tmp_path / "x")
    assert "clips/test.jsonl" in export(folder, "jsonl", tmp_path / "x").files


@pytest.mark.parametrize("name", ["coco", "mteb", "lmms-eval"])
def test_a_split_without_captions_by_people_is_named(write: Write, tmp_path: Path, name: str) -> None:
    told = [own for own in captions() if own.author != "human" or not own.video_id.startswith("video1")]
    with pytest.raises(VttdataError, match="no clip of 'test' has a caption by a person"):
        export(write(captions=told), name, tmp_path / "x", split="test")


def _edit(dataset: Path, pattern: str, column: str, values: list[Any]) -> None:
    path = next(dataset.glob(pattern))
    table = pq.read_table(path)
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    pq.write_table(table.set_column(place, field, pa.array(values, field.type)), path)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("video_id", ["../../etc/passwd", "a/b", "", None])
def test_an_id_like_a_path_is_refused(dataset: Path, tmp_path: Path, name: str, video_id: str | None) -> None:
    _edit(dataset, "clips/test-*.parquet", "video_id", ["video11", video_id, "video13"])
    with pytest.raises(VttdataError, match="cannot be an id"):
        export(dataset, name, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_captions_of_other_clips_are_not_dropped_silently(dataset: Path, tmp_path: Path) -> None:
    _edit(dataset, "clips/validation-*.parquet", "video_id", ["video99"])
    with pytest.raises(VttdataError, match="captions of validation are not in the order of its clips, at 'video10'"):
        export(dataset, "coco", tmp_path / "x")


@pytest.mark.parametrize("damage", ["clips", "captions"])
def test_a_damaged_table_is_named(dataset: Path, tmp_path: Path, damage: str) -> None:
    path = next((dataset / damage).glob("test-*.parquet"))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(VttdataError, match=f"{path.name}: damaged"):
        export(dataset, "coco", tmp_path / "x")


@pytest.mark.parametrize(("old", "new"), [("config_name: one-k", "config_name: ../one"), ("split: test", "split: a/b")])
def test_names_like_paths_are_refused(dataset: Path, tmp_path: Path, old: str, new: str) -> None:
    readme = dataset / "README.md"
    readme.write_text(readme.read_text().replace(old, new))
    with pytest.raises(VttdataError, match="cannot name"):
        export(dataset, "jsonl", tmp_path / "x")


def test_several_languages_are_told(write: Write, tmp_path: Path) -> None:
    folder = write(
        captions=[*captions(), *(type(own)(own.video_id, 900, "你好", language="zh") for own in captions())][:-1]
    )
    assert any("several languages" in note for note in export(folder, "coco", tmp_path / "x").notes)


def test_the_command_lists_files_and_tells_notes(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(dataset), "--format", "coco", "--split", "test", "--out", str(tmp_path / "x")]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        f"{tmp_path / 'x' / name}" for name in ("README.md", "captions_test.json", CHECKSUMS)
    ]
    assert "note: Clips without a caption by a person" in told.err
    assert main(["export", str(dataset), "--format", "xml", "--out", str(tmp_path / "y")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_help_names_every_format_and_what_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    told = capsys.readouterr().out
    assert all(f"\n  {name} " in told for name in FORMATS)
    assert "pycocoevalcap" in told


def test_no_reader_is_needed_to_write(dataset: Path, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "for name in ('pycocoevalcap', 'pycocotools', 'mteb', 'lmms_eval', 'datasets'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from vttdata.export import export\n"
        f"for name in {PLAIN!r}: export(Path({str(dataset)!r}), name, Path({str(tmp_path)!r}) / name)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert json.loads((tmp_path / "coco/captions_test.json").read_text())["info"]["version"] == "2.0.1"


def test_the_version_of_the_dataset_is_in_the_export(write: Write, tmp_path: Path) -> None:
    export(write(about=About("me/other", version="3.4.5")), "msrvtt", tmp_path / "x")
    info = json.loads((tmp_path / "x/test_videodatainfo.json").read_text())["info"]
    assert (info["description"], info["version"]) == ("me/other", "3.4.5")
