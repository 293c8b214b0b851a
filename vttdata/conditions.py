"""Conditions in which models are shown clips, which frames each shows, and the record of what was shown.

The files are written by `vttdata.media.stimuli`; nothing here needs a library of videos.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le, MultipleOf

from vttdata.ids import digest
from vttdata.settings import Strict

CONDITIONS: Mapping[str, str] = {
    "text": "nothing",
    "first": "the first frame",
    "middle": "the frame in the middle",
    "random": "a frame drawn at random",
    "frames": "frames spread evenly, the first and the last among them",
    "shuffled-frames": "the same frames in an order drawn at random",
    "reversed-frames": "the same frames, the last one first",
    "all": "the whole clip with its sound",
    "muted": "the whole clip without its sound",
    "shuffled": "all frames in an order drawn at random, as a silent video",
    "reversed": "all frames, the last one first, as a silent video",
    "frozen": "the frame in the middle as a silent video as long as the clip",
    "other": "another clip of the same category and of another source, with its sound",
}
"""Condition -> what is shown."""

SINGLE_FRAMES = ("first", "middle", "random")
VIDEOS = ("all", "muted", "shuffled", "reversed", "frozen", "other")


@dataclass(frozen=True, slots=True)
class StimuliSettings(Strict):
    """What is made of each clip.

    Fields:
        conditions: of `CONDITIONS`.
        seed: of all draws, each of which depends on it, the clip and the condition alone.
        frames: number of frames in the conditions of several pictures; a shorter clip shows each of its frames once.
        pictures: format of pictures.
        height: lines of pictures and videos, as for clips; None keeps the clip's size, less one line if that is odd.
    """

    conditions: tuple[str, ...] = tuple(CONDITIONS)
    seed: int = 0
    frames: Annotated[int, Ge(1), Le(10_000)] = 8
    pictures: Literal["png", "jpeg"] = "png"
    height: Annotated[int, Ge(32), Le(4320), MultipleOf(2)] | None = None

    def draw(self, video_id: str, condition: str) -> random.Random:
        """Return the generator of a clip in a condition."""
        return random.Random(self.seed_of(video_id, condition))

    def seed_of(self, video_id: str, condition: str) -> str:
        """Return the seed of a clip in a condition, in hexadecimal."""
        return digest([self.seed, video_id, condition])[:16]


@dataclass(frozen=True, slots=True)
class Stimulus:
    """What is shown of a clip in a condition.

    Fields:
        video_id: clip that is asked about.
        condition: one of `CONDITIONS`.
        files: paths in the folder of the set, pictures in the order in which they are shown; none for ``text``.
        sha256: of the files.
        bytes: size of the files.
        shows: clip whose frames are shown: another one in ``other``.
        frames: number of frames that this clip has.
        indices: frames that are shown, in this order.
        times: when each of them is shown in its clip, in seconds since time zero. In a video each stays as long as in
            its clip, and in ``frozen`` the frame in the middle as long as all of them.
        seconds: length of the video; None for pictures.
        seed: of the draw; None where nothing is drawn.
    """

    video_id: str
    condition: str
    files: tuple[str, ...]
    sha256: tuple[str, ...]
    bytes: int
    shows: str
    frames: int
    indices: tuple[int, ...]
    times: tuple[float, ...]
    seconds: float | None
    seed: str | None


def choose_frames(condition: str, number: int, settings: StimuliSettings, video_id: str) -> list[int]:
    """Return the indices of the frames of a clip that a condition shows, in the order in which it shows them.

    An order that is drawn differs from that of the clip, unless there is one frame only.
    """
    draw, last = settings.draw(video_id, condition), number - 1
    count = settings.frames
    spread = list(dict.fromkeys(k * last // max(count - 1, 1) for k in range(count)))
    fixed = {
        "text": [],
        "first": [0],
        "middle": [last // 2],
        "random": [draw.randrange(number)],
        "frozen": [last // 2] * number,
    }
    if condition in fixed:
        return fixed[condition]
    chosen = spread if condition.endswith("frames") else list(range(number))
    if condition.startswith("reversed"):
        return chosen[::-1]
    order = chosen
    while condition.startswith("shuffled") and len(chosen) > 1 and order == chosen:
        order = draw.sample(chosen, len(chosen))
    return order
