"""CLIP4Clip and X-Pool, in checkouts, read the files of `retrieval` by the lines of its README."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clients.client import PROGRAMS, Client, client, options_of, shell_lines
from tests.clients.conftest import references
from tests.helpers.builds import film
from vttdata.export import export
from vttdata.export.reader import DatasetReader

Pairs = dict[str, list[tuple[str, str]]]
"""Split -> the clip and the caption of each pair."""


def pairs_of(dataset: Path) -> Pairs:
    """Return all captions of the training clips, and the first one of each test clip."""
    ids = {
        split: [row["video_id"] for row in DatasetReader(dataset).rows("clips", split, ["video_id"])]
        for split in ("train", "test")
    }
    texts = references(dataset)
    return {
        "train": [(name, text) for name in ids["train"] for text in texts[name]],
        "test": [(name, texts[name][0]) for name in ids["test"]],
    }


def read_with_clip4clip(folder: Path, expected: Path, scratch: Path) -> None:
    program = client("CLIP4Clip", "retrieval")
    options = options_of(folder, "main_task_retrieval.py")
    shown = run(program, "clip4clip_items.py", expected, options, program.checkout(scratch))
    pairs = json.loads((expected.parent / "pairs.json").read_text())
    assert {split: shown[split] for split in pairs} == pairs
    # Tokens and frames.
    assert shown["items"] == shown["wanted"]
    assert len({video for _, video in shown["items"]["train"]}) == len({name for name, _ in pairs["train"]})


def read_with_xpool(folder: Path, expected: Path, scratch: Path) -> None:
    program = client("xpool", "retrieval")
    checkout = program.checkout(scratch)
    (link,) = (line for line in shell_lines(folder) if line.startswith("sed "))
    subprocess.run(link, shell=True, cwd=checkout, check=True)
    shown = run(program, "xpool_items.py", expected, options_of(folder, "train.py"), checkout)
    pairs = json.loads((expected.parent / "pairs.json").read_text())
    frames = {
        split: [[*pair, video] for pair, video in zip(pairs[split], shown["wanted"][split], strict=True)]
        for split in pairs
    }
    assert shown["items"] == frames
    assert len({row[2] for row in frames["train"]}) == len({row[0] for row in frames["train"]})


def run(program: Client, file: str, expected: Path, options: list[str], checkout: Path) -> Any:
    printed = program.call(str(PROGRAMS / file), str(expected), *options, cwd=checkout, OMP_NUM_THREADS="1")
    return json.loads(printed.splitlines()[-1])


READERS = pytest.mark.parametrize("read", [read_with_clip4clip, read_with_xpool])
Read = Callable[[Path, Path, Path], None]


def read_pairs(read: Read, dataset: Path, folder: Path, videos: dict[str, Path], scratch: Path) -> Pairs:
    """Read an export of a dataset whose videos lie in `videos`, and return the pairs that were read."""
    pairs = pairs_of(dataset)
    (scratch / "pairs.json").write_text(json.dumps(pairs))
    expected = {split: [(str(videos[name]), text) for name, text in rows] for split, rows in pairs.items()}
    (scratch / "expected.json").write_text(json.dumps(expected))
    read(folder, scratch / "expected.json", scratch)
    return pairs


@READERS
def test_program_reads_the_demo_with_its_videos(demo: Path, tmp_path: Path, read: Read) -> None:
    export(demo, "retrieval", tmp_path / "x")
    videos = {path.stem: path for path in (demo / "videos").glob("*/*.mp4")}
    pairs = read_pairs(read, demo, tmp_path / "x", videos, tmp_path)
    name = {read_with_clip4clip: "CLIP4Clip", read_with_xpool: "xpool"}[read]
    client(name, "retrieval").showed(
        "vttdata export DATASET --format retrieval --out FOLDER",
        f"{len(pairs['train'])} pairs for training, {len(pairs['test'])} for testing, with the frames of each video",
        "its own data loaders, in a checkout, with the lines of the README; frames of the dataset's videos",
    )


@READERS
def test_program_reads_ids_of_msrvtt_and_formulas_as_they_are(official: Path, tmp_path: Path, read: Read) -> None:
    """The dataset has a protocol of the name of MSR-VTT's, and another list of clips."""
    export(official, "retrieval", tmp_path / "x")
    videos = {}
    (tmp_path / "x" / "videos").mkdir()
    for number, name in enumerate(dict.fromkeys(name for rows in pairs_of(official).values() for name, _ in rows)):
        videos[name] = film(tmp_path / "x" / "videos" / f"{name}.mp4", 1, options=("-vf", f"hue=h={25 * number}"))
    pairs = read_pairs(read, official, tmp_path / "x", videos, tmp_path)
    assert any(text.startswith("=1+1") for _, text in pairs["train"])
    assert any(text.startswith("=1+1") for _, text in pairs["test"])
