"""Videos of the benchmark with their truth: composed ones, and real ones that were annotated by eye."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.shots.takes import Half
from vttdata.media.shots.scoring import Change

# File, frames, rate, cuts and fades by eye; the extent of fades is read off the mean luma.
_REAL: dict[Half, tuple[tuple[str, int, float, tuple[int, ...], tuple[tuple[int, int], ...]], ...]] = {
    "tune": (
        (
            "shots/sintel-trailer-30s.mp4", 720, 24.0, (286, 348, 372, 523, 573, 610),
            ((70, 76), (144, 176), (386, 428), (440, 505), (624, 650)),
        ),
    ),
    "report": (
        (
            "near-duplicates/dog.1.mp4", 1080, 24000 / 1001,
            (119, 149, 220, 372, 399, 431, 473, 489, 525, 824, 880, 955, 1032, 1067), (),
        ),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Video:
    """Video and its truth: seconds, changes in order, and for composed ones everything that was planned."""

    label: str
    path: Path
    seconds: float
    changes: tuple[Change, ...]
    planned: dict[str, Any] | None = None

    def describe(self, frame: int) -> str:
        """Return what was planned around a frame."""
        if self.planned is None:
            return ""
        shots = [shot for shot in self.planned["shots"] if shot[0] <= frame + 1][-1:]
        near = [shot for shot in self.planned["shots"] if frame + 1 < shot[0]][:1]
        events = [kind for kind, first, last in self.planned["events"] if first - 2 <= frame <= last + 2]
        kinds = [kind for first, last, kind in self.planned["transitions"] if first - 5 <= frame <= last + 5]
        return f"{kinds} in {shots}, next {near}, {events}"


def composed(path: Path) -> Video:
    """Return a composed video with the truth in the file beside it."""
    planned = json.loads(path.with_suffix(".json").read_text("utf-8"))
    changes = tuple(Change(first, last) for first, last, _ in planned["transitions"])
    return Video(path.stem, path, planned["frames"] / planned["rate"], changes, planned)


def annotated(half: Half, footage: Path) -> list[Video]:
    """Return the real videos of a half that exist."""
    videos = []
    for file, frames, rate, cuts, fades in _REAL[half]:
        changes = sorted([*(Change(cut, cut) for cut in cuts), *(Change(first, last) for first, last in fades)])
        videos.append(Video(Path(file).stem, footage / file, frames / rate, tuple(changes)))
    return [video for video in videos if video.path.exists()]
