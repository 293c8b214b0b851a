"""CLIP4Clip and X-Pool are no packages: their data sets are rewritten by the layout that they state, with pandas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.clients.client import client
from tests.clients.conftest import references
from vttdata.export import export
from vttdata.export.reader import DatasetReader
from vttdata.files.csv_safety import unescape_formula

CLIENT = client("pandas", "tables")


def split_of(dataset: Path, split: str) -> dict[str, list[str]]:
    ids = {row["video_id"] for row in DatasetReader(dataset).rows("clips", split, ["video_id"])}
    return {name: texts for name, texts in references(dataset).items() if name in ids}


def pairs(rows: list[Any]) -> list[tuple[str, str]]:
    return [(row[0], unescape_formula(row[1])) for row in rows]


def check(shown: dict[str, Any], train: dict[str, list[str]], test: dict[str, str]) -> None:
    every = [(name, text) for name, texts in train.items() for text in texts]
    assert pairs(shown["train"]) == pairs(shown["xpool_train"]) == every
    assert pairs(shown["test"]) == pairs(shown["xpool_test"]) == list(test.items())


def test_both_read_the_demo_with_its_videos(demo: Path, tmp_path: Path) -> None:
    export(demo, "retrieval", tmp_path / "x")
    shown = CLIENT.run("msrvtt_loaders.py", tmp_path / "x")
    train, test = split_of(demo, "train"), split_of(demo, "test")
    check(shown, train, {name: texts[0] for name, texts in test.items()})
    for split in ("train", "test"):
        for name, _, path in shown[split]:
            assert Path(path).read_bytes() == (demo / "videos" / split / f"{name}.mp4").read_bytes()
    CLIENT.showed(
        "vttdata export DATASET --format retrieval --out FOLDER",
        f"data sets of CLIP4Clip and X-Pool, rewritten by their layout: {len(shown['train'])} pairs for training, "
        f"{len(shown['test'])} for testing, with the videos of all",
    )


def test_official_ids_and_protocol_have_the_expected_names(official: Path, tmp_path: Path) -> None:
    warned: list[str] = []
    export(official, "retrieval", tmp_path / "x", warn=warned.append)
    assert len(warned) == 1
    shown_test = (tmp_path / "x" / "MSRVTT_JSFUSION_test.csv").read_text()
    assert shown_test == (tmp_path / "x" / "MSRVTT_1k-A.test.csv").read_text()
    export(official, "retrieval", tmp_path / "clips", config="clips")
    shown = CLIENT.run("msrvtt_loaders.py", tmp_path / "clips")
    check(shown, split_of(official, "train"), {name: texts[0] for name, texts in split_of(official, "test").items()})
    # Clips of one source have one parent, also where no link is known.
    data = json.loads((tmp_path / "clips" / "MSRVTT_data.json").read_text())
    assert len(set(shown["parents"].values())) < len(data["videos"])
