"""The newest `datasets` with PyTorch and torchcodec: rows, batches of worker processes, decoded videos."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest

from tests.clients.client import client
from tests.clients.conftest import plain_rows_are_those_of_evaluate, references
from vttdata.dataset import Metadata, write_dataset
from vttdata.records import Caption, Clip

CLIENT = client("datasets", "torch")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset with as many captions as three row groups have."""
    folder = tmp_path_factory.mktemp("large") / "dataset"
    write_dataset(
        folder,
        clips=[Clip(f"video{number}", f"s{number}", 0.0, 9.0, None, None, None) for number in range(50)],
        captions=[Caption(f"video{number % 50}", number, f"sentence {number}") for number in range(5_000)],
        sources=(),
        metadata=Metadata("me/large", version="1.0.0"),
        media=None,
    )
    return folder


@pytest.mark.parametrize("mode", ["whole", "streaming"])
def test_rows_are_those_of_evaluate(demo: Path, official: Path, tmp_path: Path, mode: str) -> None:
    plain_rows_are_those_of_evaluate(CLIENT, demo, official, tmp_path, mode)


def test_workers_read_batches_and_videos_are_decoded(demo: Path, large: Path, tmp_path: Path) -> None:
    shown = CLIENT.run("torch_batches.py", demo, large, tmp_path / "cache")
    clips = datasets.load_dataset(str(demo), "clips", split="train", cache_dir=str(tmp_path / "ours"))
    wanted = {name: texts for name, texts in references(demo).items() if name in set(clips["video_id"])}
    assert shown["clips"] == wanted
    assert shown["ids"] == list(wanted)
    assert shown["captions"] == [text for texts in wanted.values() for text in texts]
    assert len(shown["numbers"]) == len(shown["captions"])
    assert shown["shards"] == [1, 3, 4]
    assert shown["streamed"] == shown["cut"] == sorted(f"sentence {number}" for number in range(5_000))
    assert {name: values[0] for name, values in shown["pixels"].items()} == frames(clips)
    CLIENT.showed(
        "DataLoader(rows, num_workers=2)",
        f"{len(shown['captions'])} captions and {len(wanted)} clips with 2 workers, 5,000 streamed captions in "
        f"{shown['shards'][1]} shards, {sum(frames(clips).values())} frames of {len(clips)} videos decoded",
        "captions as `evaluate` reads them; frames as measured when clips were cut",
    )


def frames(clips: datasets.Dataset) -> dict[str, int]:
    """Return the number of frames of each clip, as measured when it was cut."""
    return dict(zip(clips["video_id"], clips["frames"], strict=True))
