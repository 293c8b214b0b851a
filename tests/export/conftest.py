"""Provide a small dataset with hostile texts, a system's caption, a clip without captions, and a protocol."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vttdata.dataset import Metadata, OfficialLayout, write_dataset
from vttdata.records import Caption, Clip, Source

HOSTILE = [
    'says "hello", then\nleaves',
    "=HYPERLINK(1)",
    "-1+1|cmd",
    "one\rtwo\r\nthree",
    "nul\0here",
    "sépar\u2028ated \U0001f600 字",
    "'; DROP TABLE clips; --",
    "</script>{{7*7}}%s%n",
]
SPLITS = {"video7": "train", "video8": "train", "video10": "validation", "video11": "test", "video12": "test"}
BARE = "video13"
PROTOCOL = {"one-k": {"test": ["video12", "video7"], "train": ["video8"]}}

Write = Callable[..., Path]


def clips() -> list[Clip]:
    splits = SPLITS | {BARE: "test"}
    return [
        Clip(
            video_id,
            f"s{number}",
            number + 0.1,
            number + 9.25,
            None,
            None,
            None,
            url=None if number == 1 else f"https://www.youtube.com/watch?v=abcdefghij{number}",
            category=("music", "sports/actions")[number % 2],
            split=split,
        )
        for number, (video_id, split) in enumerate(splits.items())
    ]


def captions() -> list[Caption]:
    """Return four captions per clip, numbered against their order, and one by a system; the last clip has none."""
    human = []
    for number, video_id in enumerate(SPLITS):
        texts = [f"a person does thing {number} in the park", "a man is singing", *HOSTILE[number::4]]
        human += [Caption(video_id, 100 * number + 50 - index, text) for index, text in enumerate(texts)]
    return [*human, Caption("video11", 1, "a robot wrote this", author="captioner-3")]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Provide a function that writes a dataset with changed arguments and returns its folder."""

    def written(folder: Path = tmp_path / "dataset", **changes: object) -> Path:
        sources = [Source(clip.source_id, "", "nowhere", "", 0) for clip in changes.get("clips", clips())]
        arguments = {
            "clips": clips(),
            "captions": captions(),
            "sources": sources,
            "metadata": Metadata("me/small", version="2.0.1", licence="cc-by-4.0"),
            "media": None,
            "official": OfficialLayout(categories=("sports/actions", "unused", "music"), protocols=PROTOCOL),
        }
        write_dataset(folder, **(arguments | changes))
        return folder

    return written


@pytest.fixture
def dataset(write: Write) -> Path:
    return write()


def texts_of(video_id: str) -> list[str]:
    """Return the human captions of a clip by ascending `sen_id`."""
    human = [caption for caption in captions() if caption.video_id == video_id and caption.author == "human"]
    return [caption.caption for caption in sorted(human, key=lambda caption: caption.sen_id)]
