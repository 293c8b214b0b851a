"""Match the videos of a set of TRECVID judgments with all videos of its year, by the captions of common systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vttdata.annotations.findings import Findings
from vttdata.annotations.trecvid.judgments import JudgedSet
from vttdata.errors import VttdataError


@dataclass(frozen=True, slots=True)
class MatchedSet:
    """Set of judgments whose videos are known.

    Fields:
        judged: the set.
        positions: position of each of its videos in the list of the year, from 0.
    """

    judged: JudgedSet
    positions: Sequence[int]


def video_id(year: str, position: int) -> str:
    """Return the id of the video at a position (from 0) of a year's list."""
    return f"vtt{year}_{position + 1}"


def match_videos(judged: JudgedSet, base: JudgedSet, findings: Findings) -> MatchedSet:
    """Find the videos of a set among those of its year, `base`, by the captions of all systems that both have.

    The set may be about a part of the videos, in the order of the year; those that it lacks become findings.

    Raises:
        VttdataError: when the set is not a part of the year's, or could be one in several ways.
    """
    if judged is base:
        return MatchedSet(judged, range(judged.size))
    common = [system for system in judged.systems if system in base.systems]
    rows, base_rows = (list(_caption_rows(each, common)) for each in (judged, base))
    if not common or rows == base_rows:
        if judged.size != base.size:
            raise VttdataError(
                f"{judged.file}: no system is common to this set and {base.name}, so they cannot be matched."
            )
        return MatchedSet(judged, range(judged.size))
    folder = judged.file.path.parent
    first = _match_subsequence(rows, base_rows)
    last = _match_subsequence(rows[::-1], base_rows[::-1])
    if first is None or last is None:
        raise VttdataError(f"{folder}: its captions are not a part of those of {base.name} in the same order.")
    # The first and the last possible positions agree exactly if there is only one way to match.
    if first != [len(base_rows) - 1 - position for position in reversed(last)]:
        raise VttdataError(f"{folder}: its captions are a part of those of {base.name} in several ways.")
    for position in sorted(set(range(base.size)) - set(first)):
        findings.add("video_not_in_set", judged.name, video_id(judged.year, position))
    return MatchedSet(judged, first)


def _caption_rows(judged: JudgedSet, systems: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*([text.strip() for text in judged.systems[system]] for system in systems), strict=True)


def _match_subsequence(rows: Sequence[tuple[str, ...]], base: Sequence[tuple[str, ...]]) -> list[int] | None:
    """Return the first positions in `base` at which the rows occur in order; None if they do not."""
    positions: list[int] = []
    position = -1
    for row in rows:
        position += 1
        while position < len(base) and base[position] != row:
            position += 1
        if position == len(base):
            return None
        positions.append(position)
    return positions
