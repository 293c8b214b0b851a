"""Videos of the benchmark with their truth: composed ones, and real ones that were annotated by eye."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.shots.footage import Half
from vttdata.media.probe import probe
from vttdata.media.shots.scoring import Change


@dataclass(frozen=True, slots=True)
class Annotation:
    """Boundaries of real footage, judged by eye frame by frame.

    Attributes:
        files: encodings of the same frames, or edits that keep their boundaries, such as a logo.
        cuts: first frame of each new shot.
        gradual: first and last frame of each dissolve or fade.
    """

    files: tuple[str, ...]
    cuts: tuple[int, ...] = ()
    gradual: tuple[tuple[int, int], ...] = ()


def _near_duplicates(*names: str) -> tuple[str, ...]:
    return tuple(f"near-duplicates/{name}" for name in names)


_REAL: dict[Half, tuple[Annotation, ...]] = {
    "tune": (
        Annotation(
            ("shots/sintel-trailer-30s.mp4",), (286, 348, 372, 523, 573, 610),
            ((71, 95), (144, 176), (208, 260), (386, 428), (440, 505), (624, 650)),
        ),
        Annotation(_near_duplicates("cat.1.mp4", "cat.2.mp4", "cat.3.webm"), (), ((104, 126), (214, 243), (892, 925))),
        Annotation(("shots/vatex-sample.mp4",), (26, 60, 96, 121, 175)),
        Annotation(("codecs/nasa_13013.mp4",), (240,), ((150, 182),)),
        Annotation(_near_duplicates(
            "chair-orig-22-sd-bar.mp4", "chair-19-sd-bar.mp4", "chair-20-sd-bar.mp4", "chair-22-sd-grey-bar.mp4",
            "chair-22-sd-sepia-bar.mp4", "chair-22-with-large-logo-bar.mp4", "chair-22-with-small-logo-bar.mp4",
        )),
    ),
    "report": (
        Annotation(
            _near_duplicates("dog.1.mp4", "dog.2.mp4", "dog.3.webm"),
            (119, 149, 220, 372, 399, 431, 473, 489, 525, 824, 880, 955, 1032, 1067),
        ),
        Annotation(("shots/bikes.mp4",), (30, 76, 137, 187, 242)),
        Annotation(("shots/bigbuckbunny.mp4",)),
        Annotation(_near_duplicates(
            "pattern-longer-no-bar.mp4", "pattern-hd-no-bar.mp4", "pattern-sd-grey-bar.mp4",
            "pattern-sd-with-large-logo-bar.mp4", "pattern-sd-with-small-logo-bar.mp4",
        )),
        Annotation(_near_duplicates("doorknob-hd-no-bar.mp4")),
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

    def kind(self, index: int) -> str:
        """Return the kind of a change."""
        if self.planned:
            return str(self.planned["transitions"][index][2])
        return "cut" if self.changes[index].is_cut else "gradual"

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


def annotated(half: Half, footage: Path) -> tuple[list[Video], list[Video]]:
    """Return the real videos of a half that exist: the first file of each annotation, and the others."""
    videos: tuple[list[Video], list[Video]] = [], []
    for annotation in _REAL[half]:
        changes = sorted([*((cut, cut) for cut in annotation.cuts), *annotation.gradual])
        for number, path in enumerate(footage / file for file in annotation.files):
            if path.exists():
                videos[number > 0].append(real_video(path, changes))
    return videos


def real_video(path: Path, changes: Sequence[tuple[int, int]] = ()) -> Video:
    """Return a real video, of one shot unless its changes are given."""
    return Video(path.stem, path, probe(path).container_seconds, tuple(Change(*change) for change in changes))
