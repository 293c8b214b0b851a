"""Plans of the benchmark's videos: content and transition of each shot, and events in it that are no boundary.

A plan depends on its name, its half and the seed alone, and its truth is known before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

from benchmarks.shots.footage import Half, Take

Entry = Literal["start", "cut", "dissolve", "fade", "wipe"]
Move = Literal["none", "pan", "whip", "zoom", "shake", "twos", "fifths", "still"]

_ENTRIES: dict[Entry, float] = {"cut": 0.62, "dissolve": 0.18, "fade": 0.1, "wipe": 0.1}
_MOVES: dict[Move, float] = {
    "none": 0.35, "pan": 0.14, "whip": 0.06, "zoom": 0.14, "shake": 0.14, "twos": 0.07, "fifths": 0.05, "still": 0.05,
}  # fmt: skip
_CONTENTS = {"take": 0.72, "drawn": 0.18, "slide": 0.1}
_SECONDS = {"dissolve": (0.25, 1.5), "fade": (0.4, 1.6), "wipe": (0.3, 1.0)}
# Seconds between an event in a shot and the shot's transitions.
_MARGIN = 0.6


@dataclass(frozen=True, slots=True)
class Event:
    """Event in a shot that is no boundary, a flash or a caption: first and last frame in the video."""

    kind: Literal["flash", "text"]
    first: int
    last: int
    seed: int


@dataclass(frozen=True, slots=True)
class PlannedShot:
    """Planned shot of a video.

    Attributes:
        first: the first frame at which it is shown at least as much as the shot before.
        mixed: first and last frame that belong to the transition into it; of a cut none.
        content: ``take``, ``drawn`` or ``slide``.
    """

    first: int
    entry: Entry
    mixed: tuple[int, int] | None
    content: str
    take: Take | None
    move: Move
    seed: int
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Planned video: `frames` at `rate` per second, letterboxed to `shape` (width by height) where it is given."""

    name: str
    rate: float
    frames: int
    shape: float | None
    shots: tuple[PlannedShot, ...]

    def truth(self) -> dict[str, Any]:
        """Return transitions as [first frame, first frame of the new shot alone, kind], and all other plans."""
        transitions = [
            [*((shot.first, shot.first) if shot.mixed is None else (shot.mixed[0], shot.mixed[1] + 1)), shot.entry]
            for shot in self.shots[1:]
        ]
        events = [[event.kind, event.first, event.last] for shot in self.shots for event in shot.events]
        shots = [[shot.first, shot.take.scene if shot.take else shot.content, shot.move] for shot in self.shots]
        return {
            "frames": self.frames, "rate": self.rate, "transitions": transitions, "events": events, "shots": shots,
        }  # fmt: skip


def plan_video(name: str, half: Half, takes: Sequence[Take], *, seconds: float, rate: float, seed: int) -> Plan:
    """Plan a video of shots of 2 to 8 s, about `seconds` in all, from the takes of one half."""
    random = Random(f"{seed}\0{half}\0{name}")
    takes_of_half = [take for take in takes if take.half == half]
    shape = random.choice((None, None, None, 2.0, 2.35, 4 / 3))
    lengths: list[int] = []
    while sum(lengths) < seconds * rate:
        lengths.append(round(random.triangular(2, 8, 3) * rate))
    shots: list[PlannedShot] = []
    first = 0
    for number, length in enumerate(lengths):
        entry: Entry = "start" if number == 0 else _draw(random, _ENTRIES)
        content, take = _content(random, takes_of_half, shots[-1] if shots else None)
        move: Move = "still" if content == "slide" else _draw(random, _MOVES)
        mixed = _mixed(random, entry, first, rate)
        shots.append(PlannedShot(first, entry, mixed, content, take, move, random.randrange(2**32)))
        first += length
    ends = [shot.mixed[0] if shot.mixed else shot.first for shot in shots[1:]] + [first]
    shots = [_eventful(random, shot, end, rate) for shot, end in zip(shots, ends, strict=True)]
    return Plan(name, rate, first, shape, tuple(shots))


def _draw(random: Random, weights: dict[Any, float]) -> Any:
    return random.choices(list(weights), list(weights.values()))[0]


def _content(random: Random, takes: Sequence[Take], before: PlannedShot | None) -> tuple[str, Take | None]:
    content = _draw(random, _CONTENTS)
    if content != "take" or not takes:
        return ("drawn" if content == "take" else content), None
    scene = before.take.scene if before and before.take else None
    return "take", random.choice([take for take in takes if take.scene != scene])


def _mixed(random: Random, entry: Entry, first: int, rate: float) -> tuple[int, int] | None:
    if entry not in _SECONDS:
        return None
    length = max(round(random.uniform(*_SECONDS[entry]) * rate), 4)
    return first - length // 2, first - length // 2 + length - 1


def _eventful(random: Random, shot: PlannedShot, end: int, rate: float) -> PlannedShot:
    """Return the shot with events of at most one kind, away from its transitions."""
    kind = random.choices(("none", "flash", "text"), (0.64, 0.18, 0.18))[0]
    begin, end = (shot.mixed[1] + 1 if shot.mixed else shot.first) + round(_MARGIN * rate), end - round(_MARGIN * rate)
    events = []
    for _ in range({"none": 0, "flash": random.choice((1, 1, 2, 3)), "text": 1}[kind]):
        length = random.randint(1, 3) if kind == "flash" else round(random.uniform(0.8, 2) * rate)
        if end - begin > length:
            at = random.randrange(begin, end - length)
            events.append(Event(kind, at, at + length - 1, random.randrange(2**32)))  # type: ignore[arg-type]
    return replace(shot, events=tuple(events))
