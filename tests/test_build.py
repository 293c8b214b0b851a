"""Whole builds through the command line: real files in, a dataset out, and what happens when the world is unkind."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import pytest

from vttdata.media.ffmpeg import ffmpeg_path

LOOSE = ["filter.min_seconds=1", "filter.min_height=0", "clips.min_seconds=2", "media.height=64"]


def vttdata(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vttdata.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def build(out: Path, *settings: str, recipe: str = "own-folder") -> subprocess.CompletedProcess[str]:
    parts = [part for setting in settings for part in ("--set", setting)]
    return vttdata("build", recipe, "--quiet", "--out", str(out), "--workers", "2", *parts)


def account(out: Path) -> dict[str, dict[str, Any]]:
    return {stage["name"]: stage for stage in json.loads((out / "build.json").read_text())["stages"]}


def film(path: Path, seconds: int = 4, picture: str = "testsrc2", options: tuple[str, ...] = ()) -> Path:
    """A small real video: a moving test picture that changes its colours half way, with a tone."""
    half = f"hue=h=180:enable='gte(t,{seconds / 2})'"
    command = [
        *(ffmpeg_path(), "-v", "error", "-y", "-f", "lavfi", "-i", f"{picture}=s=96x64:r=12"),
        *("-f", "lavfi", "-i", f"sine=d={seconds}", "-vf", half, "-c:v", "libx264", "-preset", "ultrafast"),
        *("-pix_fmt", "yuv420p", "-c:a", "aac", "-t", str(seconds), *options, f"file:{path}"),
    ]
    subprocess.run(command, check=True)
    return path


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("videos")
    for place, picture in enumerate(["testsrc2", "mandelbrot", "rgbtestsrc", "smptehdbars"]):
        film(folder / f"{picture}.mp4", 3 + place, picture)
    return folder


def write_captions(out: Path, file: Path, per_clip: int = 4) -> list[str]:
    rows = datasets.load_dataset(str(out / "dataset"), "clips", cache_dir=str(out / "cache"))
    ids = sorted(row["video_id"] for split in rows.values() for row in split)
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["clip", "text", "worker"])
        for video_id in ids:
            writer.writerows(
                [video_id, f"sentence {number} about {video_id}", f"w{number}"] for number in range(per_clip)
            )
    return ids


COLUMNS = "captions.columns={video_id: clip, caption: text, annotator: worker}"


def test_a_folder_becomes_a_dataset_that_plain_datasets_load(videos: Path, tmp_path: Path) -> None:
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


def test_a_changed_threshold_reruns_its_stage_and_nothing_before_it(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE]
    assert build(tmp_path, *settings, "filter.max_frozen=1.0").returncode == 0
    everything = account(tmp_path)
    assert all(stage["reused"] == 0 for stage in everything.values())
    assert build(tmp_path, *settings, "filter.max_frozen=1.0").returncode == 0
    assert all(stage["reused"] == stage["parts"] for stage in account(tmp_path).values())
    assert build(tmp_path, *settings, "filter.max_frozen=0.5").returncode == 0
    again = account(tmp_path)
    for name in ("collect", "probe", "duplicates", "measure"):
        assert again[name]["reused"] == again[name]["parts"], name
    assert again["filter"]["reused"] == 0
    assert again["filter"]["rejected"]["frozen"] >= 1
    assert 0 < again["clips"]["in"] < everything["clips"]["in"]


def test_every_broken_file_ends_as_a_failure_with_its_reason(shared: Path, tmp_path: Path) -> None:
    done = build(tmp_path, f"collect.folder={shared / 'videos' / 'broken'}", *LOOSE)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    tables = [pd.read_parquet(path) for path in sorted(tmp_path.glob("stages/*/failed.parquet"))]
    failed = pd.concat(tables)
    reasons = {row.detail.partition(":")[0]: (row.reason, row.detail) for row in failed.itertuples()}
    assert {name: reason for name, (reason, _) in reasons.items()} == {
        "corrupted.mp4": "damaged",
        "sample_empty_track.mp4": "damaged",
        "sample_mdat_too_long.mp4": "truncated",
        "sample_missing_stsd.mp4": "damaged",
        "zero-bytes.webm": "empty",
    }
    assert "1 of 50 " in reasons["corrupted.mp4"][1]
    assert "track 1 (video)" in reasons["sample_empty_track.mp4"][1]
    assert "8 bytes after the end" in reasons["sample_mdat_too_long.mp4"][1]


def test_all_the_real_videos_go_through(shared: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={shared / 'videos'}", *LOOSE, "max_failed=0.3"]
    done = build(tmp_path / "out", *settings)
    assert done.returncode == 0, done.stderr
    ids = write_captions(tmp_path / "out", tmp_path / "captions.csv")
    captioned = build(tmp_path / "out", *settings, f"captions.file={tmp_path / 'captions.csv'}", COLUMNS)
    assert captioned.returncode == 0, captioned.stderr
    stages = account(tmp_path / "out")
    assert stages["collect"]["in"] == stages["collect"]["kept"] == 38
    assert sum(stage["failed"].get(reason, 0) for stage in stages.values() for reason in stage["failed"]) == 5
    assert stages["captions"]["in"] == stages["captions"]["kept"] == 4 * len(ids)
    for name in ("collect", "measure", "shots", "clips", "cut"):
        assert stages[name]["reused"] == stages[name]["parts"]
    loaded = datasets.load_dataset(str(tmp_path / "out" / "dataset"), cache_dir=str(tmp_path / "cache"))
    assert sum(len(split) for split in loaded.values()) == len(ids) > 20


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


def test_hostile_file_names_are_just_names(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    original = film(tmp_path / "original.mp4", 3)
    for place, name in enumerate(NAMES):
        shutil.copy(original, folder / name)
        with (folder / name).open("ab") as stream:
            stream.write((8 + place).to_bytes(4, "big") + b"free" + bytes(place))
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
        ("pth\na.mp4\n", ["pth", "did you mean 'path'"]),
    ],
)
def test_a_bad_manifest_is_one_sentence_and_no_work(tmp_path: Path, table: str, words: list[str]) -> None:
    (tmp_path / "sources.csv").write_text(table)
    done = build(tmp_path / "out", f"collect.manifest={tmp_path / 'sources.csv'}", recipe="own-list")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_a_folder_without_videos_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = build(tmp_path / "out", f"collect.folder={tmp_path / 'empty'}")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "empty" in done.stderr


def test_captions_about_no_clip_are_one_sentence_and_about_some_are_counted(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE, f"captions.file={tmp_path / 'captions.csv'}", COLUMNS]
    (tmp_path / "captions.csv").write_text("clip,text,worker\nnowhere,a dog runs,w\n")
    done = build(tmp_path / "out", *settings)
    assert done.returncode == 2
    assert "none of its 1 captions fits a clip" in done.stderr
    known = pd.read_parquet(tmp_path / "out" / "stages" / "cut" / "kept.parquet").video_id[0]
    (tmp_path / "captions.csv").write_text(f"clip,text,worker\nnowhere,a dog runs,w\n{known},a test picture,w\n")
    done = build(tmp_path / "out", *settings)
    assert done.returncode == 0, done.stderr
    assert account(tmp_path / "out")["captions"]["rejected"] == {"unknown_clip": 1}


def test_a_full_disk_stops_with_a_sentence_and_the_build_goes_on_later(videos: Path, tmp_path: Path) -> None:
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
        assert "No space left on device" in done.stderr
        assert done.stderr.count("\n") == 1
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        done = build(disk / "out", *settings)
        assert done.returncode == 0, done.stderr
        assert sum(stage["reused"] for stage in account(disk / "out").values()) > 0
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_folder_that_cannot_be_written_is_one_sentence(videos: Path, tmp_path: Path) -> None:
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
    assert "Read-only" in done.stderr


def test_a_lost_clip_file_is_cut_again_and_a_changed_one_never_shipped(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE, "filter.max_frozen=1.0"]
    assert build(tmp_path, *settings).returncode == 0
    clip = next(tmp_path.glob("media/clips/*/*.mp4"))
    whole = clip.read_bytes()
    clip.unlink()
    assert build(tmp_path, *settings).returncode == 0
    assert clip.read_bytes() == whole
    clip.unlink()
    clip.write_bytes(whole[:-100] + bytes(100))
    done = build(tmp_path, *settings)
    assert done.returncode == 2
    assert f"{clip.name}: the clip's content has changed" in done.stderr
    clip.unlink()
    assert build(tmp_path, *settings).returncode == 0
    assert clip.read_bytes() == whole


def test_only_a_new_empty_or_own_folder_becomes_a_build(videos: Path, tmp_path: Path) -> None:
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


def test_a_build_inside_the_listed_folder_is_refused(videos: Path) -> None:
    done = build(videos / "out", f"collect.folder={videos}", *LOOSE)
    assert done.returncode == 2
    assert "lies inside collect.folder" in done.stderr
    shutil.rmtree(videos / "out")


def test_a_bad_caption_table_is_found_before_any_work(videos: Path, tmp_path: Path) -> None:
    (tmp_path / "captions.csv").write_text("clip,words\na,b c\n")
    done = build(tmp_path / "out", f"collect.folder={videos}", *LOOSE, f"captions.file={tmp_path / 'captions.csv'}")
    assert done.returncode == 2
    assert "captions.csv" in done.stderr
    assert not (tmp_path / "out" / "stages").exists()
    assert json.loads((tmp_path / "out" / "build.json").read_text())["status"] == "stopped"


def test_when_nothing_is_left_the_user_learns_where_and_the_old_dataset_stays(videos: Path, tmp_path: Path) -> None:
    settings = [f"collect.folder={videos}", *LOOSE, "filter.max_frozen=1.0"]
    assert build(tmp_path, *settings).returncode == 0
    done = build(tmp_path, *settings, "filter.min_height=1000")
    assert done.returncode == 2
    assert "Nothing is left after stage 'screen'" in done.stderr
    assert "still that of an earlier build" in done.stderr
    assert "4 too_small" in done.stdout
    assert (tmp_path / "dataset" / "README.md").is_file()


def test_a_build_says_with_which_settings_and_tools_it_was_made(videos: Path, tmp_path: Path) -> None:
    (tmp_path / "cookies.txt").write_text("secret")
    cookies = f"collect.cookies={tmp_path / 'cookies.txt'}"
    assert build(tmp_path / "out", f"collect.folder={videos}", *LOOSE, cookies).returncode == 0
    told = json.loads((tmp_path / "out" / "build.json").read_text())
    assert told["status"] == "complete"
    assert told["settings"]["clips"] == {"min_seconds": 2.0, "max_seconds": 30.0, "per_source": 3}
    assert told["settings"]["collect"]["cookies"] is None
    assert {"ffmpeg", "av", "yt-dlp"} <= set(told["tools"])


def test_the_place_of_the_videos_leaves_no_trace_in_the_dataset(videos: Path, tmp_path: Path) -> None:
    for place in ("here", "there"):
        shutil.copytree(videos, tmp_path / place)
        rows = [str(tmp_path / place / path.name) for path in sorted(videos.glob("*.mp4"))]
        (tmp_path / f"{place}.csv").write_text("\n".join(["path", *rows]) + "\n")
        listed = f"collect.manifest={tmp_path / place}.csv"
        assert build(tmp_path / f"{place}-out", listed, *LOOSE, recipe="own-list").returncode == 0
    found = [
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "here-out" / "dataset", tmp_path / "there-out" / "dataset")
    ]
    assert found[0] == found[1]


def test_without_media_nothing_is_cut(videos: Path, tmp_path: Path) -> None:
    assert build(tmp_path, f"collect.folder={videos}", *LOOSE, "media.keep=none").returncode == 0
    assert "cut" not in account(tmp_path)
    assert not list((tmp_path / "dataset").rglob("*.mp4"))
    loaded = datasets.load_dataset(str(tmp_path / "dataset"), cache_dir=str(tmp_path / "cache"))
    assert {row["video"] for split in loaded.values() for row in split} == {None}
