"""Rows of built datasets decode to tensors."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest

from tests.helpers.builds import TINY_DEMO
from tests.helpers.needs import library
from vttdata.compose.build import Execution, Messages, build
from vttdata.load.load_dataset import load_dataset


@pytest.mark.parametrize("mode", ["files", "embedded"])
def test_rows_decode_to_all_frames_at_their_times(mode: str, tmp_path: Path) -> None:
    try:
        library("torchcodec")
    except (OSError, RuntimeError) as error:
        pytest.skip(f"torchcodec finds no FFmpeg or another PyTorch: {str(error).splitlines()[0]}")
    build(
        "demo",
        out=tmp_path / "build",
        settings=TINY_DEMO | {"publish.media": mode},
        execution=Execution(workers=1),
        messages=Messages(quiet=True),
    )
    (clip,) = load_dataset(tmp_path / "build", split="test")
    config = "videos" if mode == "embedded" else "clips"
    rows = load_dataset(tmp_path / "build", config, split="test")
    video = rows.cast_column("video", datasets.Video())[0]["video"]
    frames = video.get_frames_in_range(0, clip["frames"])
    assert len(video) == clip["frames"]
    assert tuple(frames.data.shape) == (clip["frames"], 3, clip["height"], clip["width"])
    times = frames.pts_seconds.tolist()
    assert times[0] == 0
    assert times == sorted(set(times))
    assert times[-1] < clip["duration"] <= times[-1] + 1
