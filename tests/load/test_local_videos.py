"""Loaded rows name the video files that are on this machine, and read like others where there are none."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.dataset.conftest import Material, material, with_media  # noqa: F401 - fixtures
from vttdata.load.load_dataset import load_dataset
from vttdata.load.local_builds import remember_settings

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setitem(sys.modules, "torchcodec", None)


@pytest.mark.parametrize("streaming", [False, True])
def test_video_column_is_a_path_on_this_machine(with_media: Material, tmp_path: Path, streaming: bool) -> None:  # noqa: F811
    with_media.write(tmp_path / "d")
    splits = load_dataset(str(tmp_path / "d"), streaming=streaming)
    # Plain `datasets` needs no decoder, since it knows the column as text.
    plain = datasets.load_dataset(str(tmp_path / "d"))
    for split, rows in splits.items():
        assert rows.features["video"] == datasets.Video(decode=False)
        assert list(rows.features) == list(plain[split].features)
        assert plain[split].features["video"] == datasets.Value("string")
        for row, stored in zip(rows, plain[split], strict=True):
            assert (row.pop("video") or {"path": None})["path"] == (
                stored["video"] and str((tmp_path / "d" / stored.pop("video")).resolve())
            )
            stored.pop("video", None)
            assert row == stored
    assert sum(row["video"] is not None for rows in splits.values() for row in rows) == 5
    assert load_dataset(str(tmp_path / "d"), "captions", split="train").num_rows


def test_a_list_of_splits_has_paths_as_well(with_media: Material, tmp_path: Path) -> None:  # noqa: F811
    with_media.write(tmp_path / "d")
    splits = load_dataset(str(tmp_path / "d"), split=["train", "test"])
    whole = load_dataset(str(tmp_path / "d"))
    assert [rows["video"][:] for rows in splits] == [whole["train"]["video"][:], whole["test"]["video"][:]]


def test_first_example_of_the_readme_names_the_file_of_a_clip(
    with_media: Material,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_media.write(tmp_path / "d")
    examples = [part.partition("```")[0] for part in README.read_text("utf-8").split("```python\n")[1:]]
    (example,) = (text for text in examples if text.count("vttdata/demo") == 1)
    exec(example.replace("vttdata/demo", str(tmp_path / "d")), {})
    assert Path(capsys.readouterr().out.split()[-1]).is_file()


def test_dataset_that_was_moved_finds_its_videos(with_media: Material, tmp_path: Path) -> None:  # noqa: F811
    with_media.write(tmp_path / "d")
    (tmp_path / "e").mkdir()
    shutil.move(tmp_path / "d", tmp_path / "e" / "moved")
    rows = load_dataset(str(tmp_path / "e" / "moved"), split="test")
    assert Path(rows[0]["video"]["path"]).is_relative_to(tmp_path / "e" / "moved")
    assert Path(rows[0]["video"]["path"]).is_file()


def test_path_out_of_the_dataset_is_no_video(with_media: Material, tmp_path: Path) -> None:  # noqa: F811
    with_media.write(tmp_path / "d")
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    (table,) = (tmp_path / "d" / "clips").glob("test-*.parquet")
    rows = pq.read_table(table)
    for video in ("../secret.mp4", str(tmp_path / "secret.mp4")):
        column = pa.array([video] * rows.num_rows)
        pq.write_table(rows.set_column(rows.schema.get_field_index("video"), "video", column), table)
        assert {row["video"] for row in load_dataset(str(tmp_path / "d"), split="test")} == {None}


def test_rows_of_a_dataset_without_files_stay_as_they_are(material: Material, tmp_path: Path) -> None:  # noqa: F811
    material.write(tmp_path / "d", mode="none")
    assert load_dataset(str(tmp_path / "d"), split="test").features["video"] == datasets.Value("string")


@pytest.mark.parametrize("name", ["video_id", "source_id"])
def test_files_of_the_builds_folder_of_videos_are_named(material: Material, tmp_path: Path, name: str) -> None:  # noqa: F811
    material.write(tmp_path / "build" / "dataset", mode="none")
    videos = tmp_path / "videos"
    videos.mkdir()
    clip = next(clip for clip in material.clips if clip.split == "test")
    (videos / f"{getattr(clip, name)}.webm").write_bytes(b"film")
    (videos / "notes.txt").write_text("no film")
    settings = {"videos": str(videos)}
    account = {"recipe": "vttdata/films", "settings": settings, "status": "complete"}
    (tmp_path / "build" / "build.json").write_text(json.dumps(account))
    # A folder that somebody else named is not looked into.
    assert not [row for row in load_dataset(str(tmp_path / "build"), split="test") if row["video"]]
    remember_settings(settings)
    rows = load_dataset(str(tmp_path / "build"), split="test")
    named = {row["video_id"]: row["video"]["path"] for row in rows if row["video"]}
    assert named[clip.video_id] == str(videos / f"{getattr(clip, name)}.webm")
    assert all(clip.source_id == other["source_id"] for other in rows if other["video_id"] in named)
    shutil.rmtree(videos)
    assert load_dataset(str(tmp_path / "build"), split="test").features["video"] == datasets.Value("string")
