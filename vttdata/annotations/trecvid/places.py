"""Finds the videos of one set of TRECVID judgments among all videos of its year, by what systems said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vttdata.annotations.findings import Findings
from vttdata.annotations.trecvid.lists import JudgedSet
from vttdata.errors import VttdataError


@dataclass(frozen=True, slots=True)
class Placed:
    """A set, and for each of its lines the place of that video among the year's."""

    own: JudgedSet
    places: Sequence[int]


def video_name(year: str, place: int) -> str:
    """The id of the video at a place (from 0) of a year's list."""
    return f"vtt{year}_{place + 1}"


def place_among(own: JudgedSet, base: JudgedSet, findings: Findings) -> Placed:
    """Find the videos of a set among those of the year, by what all common systems said of them.

    Raises:
        VttdataError: when the set is no part of the year's, or could be one in several ways.
    """
    if own is base:
        return Placed(own, range(own.size))
    common = [system for system in own.systems if system in base.systems]
    rows, known = ([tuple(line) for line in _stripped(which, common)] for which in (own, base))
    if not common or rows == known:
        if own.size != base.size:
            raise VttdataError(
                f"{own.file}: no system is common to this set and {base.name}, so they cannot be matched."
            )
        return Placed(own, range(own.size))
    forward = _subsequence(rows, known)
    backward = _subsequence(rows[::-1], known[::-1])
    if forward is None or backward is None:
        raise VttdataError(f"{own.file.path.parent}: its captions are no part of those of {base.name} in their order.")
    if forward != [len(known) - 1 - place for place in reversed(backward)]:
        raise VttdataError(f"{own.file.path.parent}: its captions are a part of those of {base.name} in several ways.")
    for place in sorted(set(range(base.size)) - set(forward)):
        findings.add("video_not_in_set", own.name, video_name(own.year, place))
    return Placed(own, forward)


def _stripped(which: JudgedSet, systems: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*([text.strip() for text in which.systems[system]] for system in systems), strict=True)


def _subsequence(rows: Sequence[tuple[str, ...]], known: Sequence[tuple[str, ...]]) -> list[int] | None:
    """The first places at which the rows stand among the known ones, in order."""
    places: list[int] = []
    place = -1
    for row in rows:
        place += 1
        while place < len(known) and known[place] != row:
            place += 1
        if place == len(known):
            return None
        places.append(place)
    return places
