"""Whole builds through the command line: datasets from real files, and what a changed setting makes stale."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import datasets
import pytest

from tests.helpers.builds import COLUMNS, LOOSE, account, build, write_captions
from tests.helpers.builds import vttdata as run


def test_folder_becomes_a_dataset_that_datasets_can_load(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE, "filter.max_frozen=1.0", "split.ratios={train: 0.5, test: 0.5}"]
    done = build(tmp_path / "out", *settings)
    assert done.returncode == 0, done.stderr
    ids = write_captions(tmp_path / "out", tmp_path / "captions.csv")
    assert len(ids) >= 4

    captioned = build(tmp_path / "out", *settings, f"captions.file={tmp_path / 'captions.csv'}", COLUMNS)
    assert captioned.returncode == 0, captioned.stderr
    loaded = datasets.load_dataset(str(tmp_path / "out" / "dataset"), cache_dir=str(tmp_path / "cache"))
    rows = [row for split in loaded.values() for row in split]
    assert sorted(row["video_id"] for row in rows) == ids
    for row in rows:
        assert sorted(row["captions"]) == [f"sentence {number} about {row['video_id']}" for number in range(4)]
        assert (tmp_path / "out" / "dataset" / row["video"]).is_file()
        assert 0 <= row["start"] < row["end"]
    captions = datasets.load_dataset(str(tmp_path / "out" / "dataset"), "captions", cache_dir=str(tmp_path / "cache"))
    assert {row["annotator"] for split in captions.values() for row in split} == {"w0", "w1", "w2", "w3"}
    by_source = {row["source_id"]: set() for row in rows}
    for name, split in loaded.items():
        for row in split:
            by_source[row["source_id"]].add(name)
    assert all(len(splits) == 1 for splits in by_source.values())
    facts = json.loads((tmp_path / "out" / "build.json").read_text())
    assert facts["status"] == "complete"
    assert (facts["settings"]["clips"]["min_seconds"], facts["settings"]["clips"]["per_source"]) == (2.0, 3)
    assert {"ffmpeg", "av", "yt-dlp"} <= set(facts["tools"])


def test_changed_setting_reruns_its_stage_and_no_earlier_one(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE]
    assert build(tmp_path, *settings, "filter.max_frozen=1.0").returncode == 0
    everything = account(tmp_path)
    assert all(stage["reused"] == 0 for stage in everything.values())
    assert run("build", str(tmp_path), "--force", "--quiet").returncode == 0
    assert all(stage["reused"] == stage["parts"] for stage in account(tmp_path).values())

    assert build(tmp_path, *settings, "filter.max_frozen=1.0", "clips.total=2").returncode == 0
    drawn, found = account(tmp_path), everything["clips"]["kept"]
    assert found > 2
    assert drawn["clips"]["reused"] == everything["clips"]["parts"]
    assert (drawn["drawn"]["kept"], drawn["drawn"]["rejected"]) == (2, {"not_drawn": found - 2})
    assert drawn["cut"]["in"] == 2

    assert build(tmp_path, *settings, "filter.max_frozen=0.5").returncode == 0
    again = account(tmp_path)
    for name in ("collect", "probe", "duplicates", "measure"):
        assert again[name]["reused"] == again[name]["parts"], name
    assert again["filter"]["reused"] == 0
    assert again["filter"]["rejected"]["frozen"] >= 1
    assert 0 < again["clips"]["in"] < everything["clips"]["in"]


@pytest.mark.long
def test_real_videos_build(shared: Path, tmp_path: Path) -> None:
    # Of each take that has edited copies, one is enough here.
    taken = [path for folder in ("broken", "codecs", "shots") for path in (shared / "videos" / folder).iterdir()]
    copies = ("cat.3.webm", "chair-19-sd-bar.mp4", "dog.1.mp4", "doorknob-hd-no-bar.mp4", "pattern-sd-grey-bar.mp4")
    taken += [shared / "videos" / "near-duplicates" / name for name in copies]
    (tmp_path / "videos").mkdir()
    for path in taken:
        (tmp_path / "videos" / path.name).symlink_to(path)
    settings = [f"collect.folder={tmp_path / 'videos'}", *LOOSE, "max_failed=0.3", "clips.per_source=1"]
    done = build(tmp_path / "out", *settings)
    assert done.returncode == 0, done.stderr
    ids = write_captions(tmp_path / "out", tmp_path / "captions.csv")
    captioned = build(tmp_path / "out", *settings, f"captions.file={tmp_path / 'captions.csv'}", COLUMNS)
    assert captioned.returncode == 0, captioned.stderr
    stages = account(tmp_path / "out")
    assert stages["collect"]["in"] == stages["collect"]["kept"] == 24
    assert sum(stage["failed"].get(reason, 0) for stage in stages.values() for reason in stage["failed"]) == 3
    assert stages["captions"]["in"] == stages["captions"]["kept"] == 4 * len(ids)
    for name in ("collect", "measure", "shots", "clips", "cut"):
        assert stages[name]["reused"] == stages[name]["parts"]
    loaded = datasets.load_dataset(str(tmp_path / "out" / "dataset"), cache_dir=str(tmp_path / "cache"))
    assert sum(len(split) for split in loaded.values()) == len(ids) > 10


def test_dataset_is_independent_of_the_folder_of_the_videos(videos: Path, tmp_path: Path) -> None:
    for name in ("here", "there"):
        shutil.copytree(videos, tmp_path / name)
        rows = [str(tmp_path / name / path.name) for path in sorted(videos.glob("*.mp4"))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["path", *rows]) + "\n")
        listed = f"collect.manifest={tmp_path / name}.csv"
        assert build(tmp_path / f"{name}-out", listed, *LOOSE, recipe="own-list").returncode == 0
    found = [
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "here-out" / "dataset", tmp_path / "there-out" / "dataset")
    ]
    for own in found:  # the two lists are other files, and only their checksums say so
        own.pop(Path("manifest.json"))
        assert str(tmp_path) not in own.pop(Path("provenance.json")).decode()
    assert found[0] == found[1]
