"""Footage of which the benchmark is composed: takes, parts of video files without a shot boundary.

The table below names takes in the reference videos, looked at frame by frame; a table of other footage can be given as
JSON. The two halves share no take and no scene.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import av
import numpy as np
import numpy.typing as npt

Half = Literal["tune", "report"]
Pixels = npt.NDArray[np.uint8]
Planes = tuple[Pixels, Pixels, Pixels]
"""A picture as Y, Cb and Cr, each height x width, the last two halved in both directions."""

# Ten seconds of a take.
MAX_FRAMES = 300


@dataclass(frozen=True, slots=True)
class Take:
    """Frames `first` to `last` of a file. Takes of one `scene` are never used for adjacent shots."""

    file: str
    first: int
    last: int
    scene: str
    half: Half

    @property
    def frames(self) -> int:
        """Return the number of frames that are used."""
        return min(self.last - self.first + 1, MAX_FRAMES)


def _takes(half: Half, scene: str, file: str, *spans: tuple[int, int]) -> list[Take]:
    return [Take(file, first, last, scene, half) for first, last in spans]


TAKES = (
    *_takes("tune", "chair", "near-duplicates/chair-orig-22-sd-bar.mp4", (0, 220), (230, 450), (455, 672)),
    *_takes("tune", "hall", "codecs/nasa_13013.mp4", (0, 120)),
    *_takes("tune", "lift", "codecs/nasa_13013.mp4", (206, 324)),
    *_takes("tune", "window", "near-duplicates/cat.1.mp4", (255, 500), (505, 780)),
    *_takes("tune", "kitten", "near-duplicates/cat.1.mp4", (930, 1060)),
    *_takes("tune", "hob", "shots/vatex-sample.mp4", (27, 58), (61, 93), (97, 118)),
    *_takes("tune", "eggs", "shots/vatex-sample.mp4", (182, 249)),
    *_takes("tune", "snow", "shots/sintel-trailer-30s.mp4", (100, 142)),
    *_takes("tune", "old man", "shots/sintel-trailer-30s.mp4", (262, 284)),
    *_takes("tune", "girl", "shots/sintel-trailer-30s.mp4", (288, 308)),
    *_takes("tune", "leaves", "shots/sintel-trailer-30s.mp4", (526, 570)),
    *_takes("tune", "dragon", "shots/sintel-trailer-30s.mp4", (574, 606)),
    *_takes("report", "sofa", "near-duplicates/dog.1.mp4", (0, 117), (222, 286), (288, 370)),
    *_takes("report", "room", "near-duplicates/dog.1.mp4", (527, 820)),
    *_takes("report", "kiss", "near-duplicates/dog.1.mp4", (826, 878)),
    *_takes("report", "coat", "near-duplicates/dog.1.mp4", (957, 1030)),
    *_takes("report", "wood", "near-duplicates/pattern-longer-no-bar.mp4", (0, 234)),
    *_takes("report", "door", "near-duplicates/doorknob-hd-no-bar.mp4", (0, 119)),
    *_takes("report", "bonnet", "shots/bikes.mp4", (31, 74)),
    *_takes("report", "street", "shots/bikes.mp4", (77, 135)),
    *_takes("report", "fence", "shots/bikes.mp4", (138, 185)),
    *_takes("report", "wall", "shots/bikes.mp4", (188, 240)),
    *_takes("report", "rabbit", "shots/bigbuckbunny.mp4", (0, 131)),
)


def read_takes(table: Path) -> tuple[Take, ...]:
    """Read takes from a JSON list of objects with the fields of `Take`; files are relative to the footage folder."""
    return tuple(Take(**fields) for fields in json.loads(table.read_text("utf-8")))


class Reel:
    """Decoded frames of a take at the file's size, on disk rather than in memory."""

    def __init__(self, take: Take, footage: Path, folder: Path) -> None:
        self._store = folder / f"{take.file.replace('/', '-')}.{take.first}.yuv"
        self._shape = self._sizes(footage / take.file, take)
        size = sum(height * width for height, width in self._shape)
        self._pixels = np.memmap(self._store, np.uint8, "r").reshape(-1, size)

    def __len__(self) -> int:
        return len(self._pixels)

    def planes(self, index: int) -> Planes:
        """Return a frame by its index in the take."""
        row, planes = self._pixels[index], []
        for height, width in self._shape:
            planes.append(row[: height * width].reshape(height, width))
            row = row[height * width :]
        return planes[0], planes[1], planes[2]

    def _sizes(self, path: Path, take: Take) -> tuple[tuple[int, int], ...]:
        with av.open(str(path)) as container:
            context = container.streams.video[0].codec_context
            width, height = context.width // 2 * 2, context.height // 2 * 2
            if not self._store.exists():
                # Other processes may decode the same take.
                part = self._store.with_suffix(f".{os.getpid()}")
                with part.open("wb") as out:
                    for number, frame in enumerate(container.decode(video=0)):
                        if number >= take.first + take.frames:
                            break
                        if number >= take.first:
                            out.write(frame.reformat(width, height, "yuv420p").to_ndarray().data)
                part.replace(self._store)
        return (height, width), (height // 2, width // 2), (height // 2, width // 2)
