from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.client import client
from vttdata.export.reader import DatasetReader

CLIENT = client("torchcodec", "torch")


def test_frames_are_those_that_were_measured(demo: Path) -> None:
    reader = DatasetReader(demo)
    columns = ["video_id", "frames", "width", "height", "duration"]
    rows = [row for split in reader.splits("clips") for row in reader.rows("clips", split, columns)]
    shown = CLIENT.run("torchcodec_frames.py", demo / "videos")
    assert set(shown) == {row["video_id"] for row in rows}
    for row in rows:
        frames, first, last, shape = shown[row["video_id"]]
        assert (frames, shape) == (row["frames"], [3, row["height"], row["width"]])
        assert first == 0
        # The last frame is shown until the end.
        assert last < row["duration"] == pytest.approx(last * frames / (frames - 1), abs=0.1)
    CLIENT.showed(
        'VideoDecoder("DATASET/videos/SPLIT/ID.mp4")',
        f"{sum(row['frames'] for row in rows)} frames of {len(rows)} videos, as many and as large as measured",
        "frames as measured when clips were cut",
    )
