"""Official benchmarks through the command line: the real files where they are at hand, and made-up ones."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import pytest

from tests.helpers.forked import COMMANDS
from tests.helpers.official_files import msrvtt, write_activitynet, write_msvd, write_unpacked, write_zipped
from vttdata.cli.main import main


def build(recipe: str, out: Path, *settings: str) -> int:
    parts = [part for setting in settings for part in ("--set", setting)]
    return main(["build", recipe, "--quiet", "--workers", "1", "--out", str(out), *parts])


def build_apart(recipe: str, out: Path, annotations: Path) -> None:
    """In a process of its own, where the collector has nothing else to look through."""
    arguments = ["build", recipe, "--quiet", "--out", str(out), "--set", f"annotations={annotations}"]
    done = COMMANDS.run(["vttdata.cli.main", *arguments], os.environ)
    assert done.returncode == 0, done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def load(out: Path, name: str | None = None) -> datasets.DatasetDict:
    return datasets.load_dataset(str(out / "dataset"), name, cache_dir=str(out / "cache"))


def stats(out: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["show", str(out), "--json"]) == 0
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    return facts


def test_real_msrvtt_has_published_counts(shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_apart("msrvtt", tmp_path, shared / "data" / "msrvtt")
    facts = stats(tmp_path, capsys)
    total = facts["total"]
    assert {name: split["clips"] for name, split in facts["splits"].items()} == {
        "train": 6513,
        "validation": 497,
        "test": 2990,
    }
    assert (total["clips"], total["sentences"], total["sources"]) == (10_000, 200_000, 7_180)
    assert (total["words"], total["vocabulary"], len(total["categories"])) == (1_856_521, 29_322, 20)
    assert total["sentences_per_clip"] == 20
    assert round(total["hours"], 2) == 41.70
    sources = [set(rows["source_id"][:]) for rows in load(tmp_path, "sources").values()]
    assert sum(map(len, sources)) == len(set.union(*sources)) == 7_180
    rows = load(tmp_path)
    order = [f"video{number}" for number in range(10_000)]
    assert [video_id for split in rows.values() for video_id in split["video_id"][:]] == order
    assert rows["train"].features["category"].names[:3] == ["music", "people", "gaming"]
    card = (tmp_path / "dataset" / "README.md").read_text()
    assert "| hours | 41.2 | 41.70 |" in card
    assert "| vocabulary | 29,316 | 29,322 |" in card


@pytest.mark.long
def test_real_activitynet_has_published_counts(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build_apart("activitynet-captions", tmp_path, shared / "data" / "activitynet")
    facts = stats(tmp_path, capsys)
    assert (facts["splits"]["train"]["sources"], facts["splits"]["train"]["sentences"]) == (10_009, 37_421)
    first, second = (facts["configs"][f"annotator-{number}"]["test"] for number in (1, 2))
    assert (first["sources"], first["sentences"]) == (2_457, 8_731)
    assert (second["sources"], second["sentences"]) == (2_444, 8_436)
    assert facts["configs"]["concepts"]["test"] == {
        "clips": 8_731,
        "sources": 2_457,
        "mentions": 27_434,
        "classes": 431,
    }
    findings = pd.read_parquet(tmp_path / "stages" / "findings" / "kept.parquet").set_index("kind")
    assert findings.loc["end_before_start", "count"] == 4
    rows = load(tmp_path)["train"]
    assert sum(duration <= 0 for duration in rows["duration"]) == 4


def test_zipped_and_unpacked_msrvtt_give_the_same_bytes(tmp_path: Path) -> None:
    assert build("msrvtt", tmp_path / "a", f"annotations={write_zipped(tmp_path / 'zips')}") == 0
    assert build("msrvtt", tmp_path / "b", f"annotations={write_unpacked(tmp_path / 'files')}") == 0
    assert contents(tmp_path / "a" / "dataset") == contents(tmp_path / "b" / "dataset")
    assert load(tmp_path / "a").num_rows == {"train": 10, "validation": 2, "test": 5}


def test_msvd_is_built_with_its_findings_counted_on_the_card(tmp_path: Path) -> None:
    sentences = {"-4wsuPCjDB__5_15": ["a cat", "a cat"], "b_c-d_1_2": ["x"], "e_3_4": ["y"]}
    ids = {"train": ["b_c-d_1_2"], "val": ["e_3_4"], "test": ["-4wsuPCjDB__5_15"]}
    folder = write_msvd(tmp_path / "files", sentences, **ids)
    assert build("msvd", tmp_path / "out", f"annotations={folder}", "language=de") == 0
    clip = load(tmp_path / "out")["test"][0]
    assert (clip["source_id"], clip["start"], clip["end"]) == ("-4wsuPCjDB_", 5.0, 15.0)
    assert clip["captions"] == ["a cat", "a cat"]
    assert load(tmp_path / "out", "captions")["train"]["language"][:] == ["de"]
    card = (tmp_path / "out" / "dataset" / "README.md").read_text()
    assert "| `duplicate_caption` | 1 |" in card


def test_missing_videos_are_marked_and_counted_but_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, videos = write_unpacked(tmp_path / "files"), tmp_path / "videos"
    videos.mkdir()
    for number in range(16):
        (videos / f"video{number}.mp4").write_bytes(b"film of %d" % number)
    (videos / "video16.txt").write_text("no film")
    (videos / "video16.webm").mkdir()
    os.mkfifo(videos / "video16.mp4")
    settings = [f"annotations={folder}", f"videos={videos}", "publish.media=files"]
    assert build("msrvtt", tmp_path / "out", *settings) == 0
    rows = load(tmp_path / "out")["test"]
    assert rows["video"][:] == [*(f"videos/test/video{number}.mp4" for number in range(12, 16)), None]
    assert rows["sha256"][4] is None
    assert (tmp_path / "out" / "dataset" / "videos" / "train" / "video3.mp4").read_bytes() == b"film of 3"
    assert f"1 of 17 videos has no readable file in {videos}: video16\n" in capsys.readouterr().err
    card = (tmp_path / "out" / "dataset" / "README.md").read_text()
    assert "Video files of 16 of 17 clips are part of this dataset" in card
    assert "| `missing_file` | 1 |" in card
    (videos / "video16.webm").rmdir()
    (videos / "video16.mp4").unlink()
    (videos / "video16.mp4").write_bytes(b"film of 16")
    (videos / "video0.mp4").unlink()
    assert build("msrvtt", tmp_path / "out", *settings) == 0
    assert load(tmp_path / "out")["test"]["video"][4] == "videos/test/video16.mp4"
    assert load(tmp_path / "out")["train"]["video"][0] is None


def test_videos_are_recorded_but_published_only_on_request(tmp_path: Path) -> None:
    folder, videos = write_unpacked(tmp_path / "files"), tmp_path / "videos"
    videos.mkdir()
    (videos / "video3.mp4").write_bytes(b"film of 3")
    assert build("msrvtt", tmp_path / "out", f"annotations={folder}", f"videos={videos}") == 0
    assert not (tmp_path / "out" / "dataset" / "videos").exists()
    row = next(row for split in load(tmp_path / "out").values() for row in split if row["video_id"] == "video3")
    assert row["video"] is None
    assert row["sha256"] == hashlib.sha256(b"film of 3").hexdigest()
    card = (tmp_path / "out" / "dataset" / "README.md").read_text()
    assert "No video files are part of this dataset" in card
    assert "| videos | remains with its owners; this dataset has links and times only |" in card


def test_activitynet_videos_are_files_of_sources(tmp_path: Path) -> None:
    folder, videos = write_activitynet(tmp_path / "files"), tmp_path / "videos"
    videos.mkdir()
    (videos / "v_bbbbbbbbb-3.mkv").write_bytes(b"film")
    assert build("activitynet-captions", tmp_path / "out", f"annotations={folder}", f"videos={videos}") == 0
    sources = load(tmp_path / "out", "sources")
    assert [(row["file"], row["bytes"]) for row in sources["test"]] == [("v_bbbbbbbbb-3.mkv", 4), (None, None)]
    assert sources["train"]["stated_seconds"][:] == [30.0, 20.0]
    assert "| `missing_file` | 3 |" in (tmp_path / "out" / "dataset" / "README.md").read_text()


def test_protocols_come_from_files_relative_to_the_recipe(tmp_path: Path) -> None:
    write_zipped(tmp_path / "zips")
    (tmp_path / "jsfusion.csv").write_text("key,video_id\nret0,video13\nret1,video2\n")
    (tmp_path / "train.txt").write_text("video0\nvideo10\n")
    (tmp_path / "mine.yaml").write_text(
        "name: me/mine\nbuilder: msrvtt\nannotations: zips\n"
        "protocols: {jsfusion-1k: {train: train.txt, test: jsfusion.csv}}\n"
    )
    assert build(str(tmp_path / "mine.yaml"), tmp_path / "out") == 0
    protocol = load(tmp_path / "out", "jsfusion-1k")
    assert protocol["test"]["video_id"][:] == ["video13", "video2"]
    assert protocol["train"]["video_id"][:] == ["video0", "video10"]
    assert load(tmp_path / "out").num_rows == {"train": 10, "validation": 2, "test": 5}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("protocols.a.test={files}/ids.txt", "no clip has the id 'video99' (1 of 2 are unknown)"),
        ("protocols.a.test={files}/nowhere.txt", "which is not an existing file"),
        ("protocols.clips.test={files}/ids.txt", "'clips' cannot name a protocol"),
        ("protocols={{a: 3}}", "--set: protocols.a"),
        ("annotations={files}/nowhere", "which is not an existing folder"),
        ("format=vatex", "format"),
        ("paper.clip.says=3", "paper"),
    ],
)
def test_mistake_in_a_recipe_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], setting: str, words: str
) -> None:
    files = write_zipped(tmp_path / "files")
    (files / "ids.txt").write_text("video1\nvideo99\n")
    settings = [f"annotations={files}", setting.format(files=files)]
    assert build("msrvtt", tmp_path / "out", *settings) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out" / "dataset").exists()


def test_leaking_official_split_is_an_error_with_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_unpacked(tmp_path / "files", second=msrvtt(range(11, 17), lambda _: "test"))
    assert build("msrvtt", tmp_path / "out", f"annotations={folder}") == 3
    error = capsys.readouterr().err
    assert "source in several splits (1 source)" in error
    assert "allow_leaks: REASON" in error
    assert "split.together" not in error
    assert main(["audit", str(tmp_path / "out")]) == 2
    assert "has no dataset" in capsys.readouterr().err


def test_leaking_protocol_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_unpacked(tmp_path / "files")
    for name, ids in (("train", "video0\nvideo4\n"), ("test", "video1\n"), ("apart", "video2\n")):
        (tmp_path / f"{name}.txt").write_text(ids)
    settings = [f"annotations={folder}"]
    settings += [f"protocols.mixed.{split}={tmp_path / split}.txt" for split in ("train", "test")]
    settings += [f"protocols.clean.{split}={tmp_path / split}.txt" for split in ("train", "apart")]
    assert build("msrvtt", tmp_path / "out", *settings) == 3
    assert "packaged: protocol mixed: source in several splits (1 source);" in capsys.readouterr().err
    assert build("msrvtt", tmp_path / "out", *settings, "allow_leaks=as published") == 0
    said = capsys.readouterr().out
    assert "No leaks found by" in said
    assert "Protocol mixed: LEAKS: source in several splits (1 source)." in said
    card = (tmp_path / "out" / "dataset" / "README.md").read_text()
    judged = r"No leaks found by source\_id, url, source\_url, video\_id, times and captions"
    assert f"**{judged}; near-duplicates were not judged.**" in card
    assert "**Protocol mixed: LEAKS: source in several splits (1 source).**" in card
    assert f"- `clean`: {judged}; near-duplicates were not judged.\n" in card
    assert "- `mixed`: LEAKS: source in several splits (1 source)." in card
    assert "Why leaks are accepted: as published" in card
    audit = json.loads((tmp_path / "out" / "build.json").read_text())["audit"]
    assert (audit["ok"], audit["protocols"]["mixed"]["ok"], audit["protocols"]["clean"]["ok"]) == (True, False, True)
    assert main(["audit", str(tmp_path / "out")]) == 0
    assert main(["audit", str(tmp_path / "out"), "--config", "mixed"]) == 3
    assert main(["audit", str(tmp_path / "out"), "--config", "captions"]) == 2
    assert "has no protocol 'captions'; its protocols: mixed, clean" in capsys.readouterr().err


def test_protocol_of_the_official_files_cannot_be_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_activitynet(tmp_path / "files")
    (tmp_path / "ids.txt").write_text("v_zzzzzzzzzz1_1_0\n")
    mine = f"protocols.annotator-1.train={tmp_path / 'ids.txt'}"
    assert build("activitynet-captions", tmp_path / "out", f"annotations={folder}", mine) == 2
    assert "protocols.annotator-1: the official files have a protocol of this name" in capsys.readouterr().err


def test_damaged_archive_leaves_the_earlier_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = write_zipped(tmp_path / "files")
    assert build("msrvtt", tmp_path / "out", f"annotations={files}") == 0
    before = contents(tmp_path / "out" / "dataset")
    archive = files / "test_videodatainfo.json.zip"
    archive.write_bytes(archive.read_bytes()[:-30])
    capsys.readouterr()
    assert build("msrvtt", tmp_path / "out", f"annotations={files}") == 2
    error = capsys.readouterr().err
    assert "test_videodatainfo.json.zip: damaged or incomplete" in error
    assert contents(tmp_path / "out" / "dataset") == before


def test_recipe_without_its_folder_says_how_to_name_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build("tgif", tmp_path / "out") == 2
    assert "annotations: is missing; it should be a folder with the official files" in capsys.readouterr().err
