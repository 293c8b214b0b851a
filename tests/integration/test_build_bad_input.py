"""Builds with damaged, hostile and missing files, on full disks, and in folders that hold something else."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import datasets
import pandas as pd
import pytest

from tests.helpers.builds import COLUMNS, LOOSE, account, build, film


def test_every_broken_file_becomes_a_failure_with_its_reason(shared: Path, tmp_path: Path) -> None:
    done = build(tmp_path, f"collect.folder={shared / 'videos' / 'broken'}", *LOOSE)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    tables = [pd.read_parquet(path) for path in sorted(tmp_path.glob("stages/*/failed.parquet"))]
    failed = pd.concat(tables)
    reasons = {row.detail.partition(":")[0]: (row.reason, row.detail) for row in failed.itertuples()}
    assert {name: reason for name, (reason, _) in reasons.items()} == {
        "corrupted.mp4": "damaged",
        "sample_missing_stsd.mp4": "damaged",
        "zero-bytes.webm": "empty",
    }
    assert "1 of 50 " in reasons["corrupted.mp4"][1]


NAMES = [
    "a b.mp4",
    "it's.mp4",
    'say "hi".mp4',
    "new\nline.mp4",
    "-leading.mp4",
    "100%d.mp4",
    "日本 é.mp4",
    "a;b|c&d.mp4",
]


def test_hostile_file_names_are_processed(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    original = film(tmp_path / "original.mp4", 3)
    for index, name in enumerate(NAMES):
        shutil.copy(original, folder / name)
        with (folder / name).open("ab") as stream:
            stream.write((8 + index).to_bytes(4, "big") + b"free" + bytes(index))
    done = build(tmp_path / "out", f"collect.folder={folder}", *LOOSE, "filter.max_frozen=1.0")
    assert done.returncode == 0, done.stderr
    stages = account(tmp_path / "out")
    assert stages["collect"]["kept"] == stages["filter"]["kept"] == len(NAMES)
    loaded = datasets.load_dataset(str(tmp_path / "out" / "dataset"), "sources", cache_dir=str(tmp_path / "cache"))
    assert sorted(row["file"] for split in loaded.values() for row in split) == sorted(NAMES)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("path\n", ["sources.csv"]),
        ("", ["sources.csv"]),
        ("path,id\na.mp4,../up\n", ["sources.csv:2", "../up"]),
        ("path,id\na.mp4,one\nb.mp4,one\n", ["sources.csv:3", "one"]),
        ("pth\na.mp4\n", ["sources.csv:1", "'path'", "did you mean 'pth'"]),
    ],
)
def test_invalid_manifest_is_rejected_in_one_sentence(tmp_path: Path, table: str, words: list[str]) -> None:
    (tmp_path / "sources.csv").write_text(table)
    done = build(tmp_path / "out", f"collect.manifest={tmp_path / 'sources.csv'}", recipe="own-list")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_folder_without_videos_is_rejected_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = build(tmp_path / "out", f"collect.folder={tmp_path / 'empty'}")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "empty" in done.stderr


def test_captions_without_clip_are_counted_and_rejected_if_none_fits(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE, f"captions.file={tmp_path / 'captions.csv'}", COLUMNS]
    (tmp_path / "captions.csv").write_text("clip,text,worker\nnowhere,a dog runs,w\n")
    done = build(tmp_path / "out", *settings)
    assert done.returncode == 2
    assert "none of its 1 captions fits a clip" in done.stderr
    known = pd.read_parquet(tmp_path / "out" / "stages" / "clips" / "kept.parquet").video_id[0]
    (tmp_path / "captions.csv").write_text(f"clip,text,worker\nnowhere,a dog runs,w\n{known},a test picture,w\n")
    done = build(tmp_path / "out", *settings)
    assert done.returncode == 0, done.stderr
    assert account(tmp_path / "out")["captions"]["rejected"] == {"unknown_clip": 1}


def test_captions_of_an_identical_file_belong_to_the_one_that_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    film(folder / "lake.mp4", 3)
    shutil.copy(folder / "lake.mp4", folder / "lake (copy).mp4")
    rows = ["lake.mp4;a lake at dawn;Ann", "lake.mp4;waves on a lake;Joe", "lake (copy).mp4;a boat on a lake;Ann"]
    (folder / "sheet.csv").write_text("\n".join(["clip;text;worker", *rows]), encoding="utf-8")
    settings = [f"captions.file={folder / 'sheet.csv'}", COLUMNS, "collect.columns={path: clip}", "clips.whole=true"]
    out = tmp_path / "out"
    done = build(out, f"collect.manifest={folder / 'sheet.csv'}", *settings, *LOOSE, recipe="own-list")
    assert done.returncode == 0, done.stderr
    stages = account(out)
    assert stages["duplicates"]["rejected"] == {"duplicate": 1}
    assert (stages["captions"]["kept"], stages["captions"]["rejected"]) == (3, {})


def test_full_disk_halts_the_build_which_can_be_resumed(videos: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    size = "size=150k"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("mounting a small disk needs privileges this machine does not give")
    settings = [f"collect.folder={videos}", *LOOSE, "filter.max_frozen=1.0"]
    try:
        done = build(disk / "out", *settings)
        assert done.returncode == 1
        assert os.strerror(errno.ENOSPC) in done.stderr
        assert done.stderr.count("\n") == 1
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        done = build(disk / "out", *settings)
        assert done.returncode == 0, done.stderr
        assert sum(stage["reused"] for stage in account(disk / "out").values()) > 0
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_read_only_folder_is_rejected_in_one_sentence(videos: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("mounting a read-only disk needs privileges this machine does not give")
    try:
        done = build(disk / "out", f"collect.folder={videos}", *LOOSE)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert os.strerror(errno.EROFS) in done.stderr


def test_flipped_bits_and_missing_clips_of_a_build_are_all_mended_by_the_next(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE, "filter.max_frozen=1.0"]
    assert build(tmp_path, *settings).returncode == 0
    names = ("stages/*/*.parquet", "stages/*/stage.json", "media/*/*/*", "dataset/*/*", "dataset/videos/*/*")
    whole = {path: path.read_bytes() for name in names for path in tmp_path.glob(name) if path.is_file()}
    assert len(whole) > 50
    draw = random.Random(57)
    for path, content in whole.items():
        damaged, state = bytearray(content), path.stat()
        # Much of an archive, such as the dates of its members, says nothing.
        for offset in range(0, len(damaged), 16) if path.suffix == ".npz" else (draw.randrange(len(damaged)),):
            damaged[offset] ^= 1 << draw.randrange(8)
        path.unlink()
        path.write_bytes(damaged)
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    next(tmp_path.glob("media/clips/*/*.mp4")).unlink()
    done = build(tmp_path, *settings)
    assert done.returncode == 0, done.stderr
    assert [path for path, content in whole.items() if path.read_bytes() != content] == []


def test_folder_with_foreign_files_does_not_become_a_build(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE]
    thesis = tmp_path / "mine" / "media" / "clips" / "thesis.txt"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("three years of work")
    for folder, word in ((tmp_path / "mine", "something else"), (thesis, "cannot be"), (thesis / "x", "cannot be")):
        done = build(folder, *settings)
        assert done.returncode == 2
        assert word in done.stderr
        assert done.stderr.count("\n") == 1
    assert thesis.read_text() == "three years of work"
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["media"]


def test_build_inside_the_listed_folder_is_rejected(tmp_path: Path) -> None:
    film(tmp_path / "a.mp4", 3)
    done = build(tmp_path / "out", f"collect.folder={tmp_path}", *LOOSE)
    assert done.returncode == 2
    assert "is inside collect.folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


def test_invalid_caption_table_is_rejected_before_any_stage(videos: Path, tmp_path: Path) -> None:
    (tmp_path / "captions.csv").write_text("clip,words\na,b c\n")
    done = build(tmp_path / "out", f"collect.folder={videos}", *LOOSE, f"captions.file={tmp_path / 'captions.csv'}")
    assert done.returncode == 2
    assert "captions.csv" in done.stderr
    assert not (tmp_path / "out" / "stages").exists()
    assert json.loads((tmp_path / "out" / "build.json").read_text())["status"] == "stopped"


def test_empty_stage_is_named_and_the_earlier_dataset_stays(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE, "filter.max_frozen=1.0"]
    assert build(tmp_path, *settings).returncode == 0
    done = build(tmp_path, *settings, "filter.min_height=1000")
    assert done.returncode == 2
    assert "Nothing is left after stage 'screen'" in done.stderr
    assert "still that of an earlier build" in done.stderr
    assert "4 too_small" in done.stdout
    assert (tmp_path / "dataset" / "README.md").is_file()
