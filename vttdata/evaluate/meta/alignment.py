"""Check that judgments are about the captions that their ids lead to, by comparing them with neighbouring captions.

Where ids are off by some lines, scores of people agree with the captions at that distance and not with their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from vttdata.annotations.trecvid.id_offsets import OFFSETS, OffsetScan, can_tell, peak, scan_offsets
from vttdata.errors import VttdataError
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.statistics.arrays import Floats

# Share of the captions of all systems and items that must be known for their neighbours to be compared.
_LEAST_KNOWN = 0.9


def scan_alignment(table: JudgmentTable) -> list[OffsetScan]:
    """Correlate people's scores with the words that captions and references share, at every distance of `OFFSETS`.

    Returns:
        A scan for each distance; empty where captions or references of neighbours are not known.
    """
    lines, items = rows_by_system(table)
    if lines is None:
        return []
    captions, references = {}, [list[str]() for _ in items]
    for system, rows in lines.items():
        captions[system] = [(table.candidates[row] or "") if row >= 0 else "" for row in rows]
        for position, row in enumerate(rows):
            if row >= 0 and len(table.references[row]) > len(references[position]):
                references[position] = list(table.references[row])
    people = next(iter(reversed(table.human_scores.values())))
    scores = (
        (system, position, float(people[row]))
        for system, rows in lines.items()
        for position, row in enumerate(rows)
        if row >= 0 and not math.isnan(people[row])
    )
    return scan_offsets(table.name, captions, references, scores)


def check_alignment(table: JudgmentTable) -> str | None:
    """Check that judged captions are among the candidates, and that ids lead to the right ones.

    Returns:
        A sentence where judgments fit no captions in the neighbourhood; None where they fit, or too little is known.

    Raises:
        VttdataError: if judgments fit captions at another distance, or candidates are missing.
    """
    scans = scan_alignment(table)
    offset = peak(scans) if scans else None
    if offset:
        at = {scan.offset: scan.correlation for scan in scans}
        raise VttdataError(
            f"{table.name}: ids of judgments are off by {-offset:+d}: scores agree with the captions {offset:+d} lines "
            f"from their own (r = {at[offset]:.3f}, {at[0]:.3f} with their own); --offset {offset} moves judgments to "
            "candidates from another file."
        )
    if table.missing:
        system, video_id = table.missing[0]
        raise VttdataError(
            f"{table.name}: {len(table.missing):,} of {int(table.judged.sum()) + len(table.missing):,} judgments are "
            f"about captions that the candidates do not have (first that of {video_id[:80]!a} by {system[:80]!a})."
        )
    if offset is None and can_tell(scans):
        highest = max(scan.correlation for scan in scans)
        return (
            f"At no distance from {OFFSETS[0]} to {OFFSETS[-1]} lines do judgments fit the words of captions (highest "
            f"r {highest:.3f}), so it cannot be told whether ids are right."
        )
    return None


def correlate_at_offsets(
    table: JudgmentTable, scores: Mapping[str, Floats], people: Floats
) -> dict[str, dict[int, float]]:
    """Return Pearson's r of people's scores and metrics' scores of the captions at every distance of `OFFSETS`.

    All are (n,), and NaN where nobody judged; the table has captions that nobody judged, too.

    Returns:
        Metric -> distance in items, 0 as the ids say -> r within systems: both sides are centred by system, so that
        better systems do not look like agreement. Empty where neighbours are not known.
    """
    lines, items = rows_by_system(table)
    if lines is None:
        return {}
    rows = np.array(list(lines.values()))
    known = np.where(rows >= 0, people[rows], math.nan)
    correlations: dict[str, dict[int, float]] = {name: {} for name in scores}
    for name, column in scores.items():
        values = np.where(rows >= 0, column[rows], math.nan)
        for offset in OFFSETS:
            moved = np.roll(values, -offset, axis=1)
            both = ~np.isnan(known) & ~np.isnan(moved)
            number = np.maximum(both.sum(axis=1, keepdims=True), 1)
            x, y = (
                np.where(both, side - np.where(both, side, 0).sum(axis=1, keepdims=True) / number, 0)
                for side in (known, moved)
            )
            spread = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
            covariance = float((x * y).sum())
            correlations[name][offset] = covariance / spread if spread and len(items) > len(OFFSETS) else math.nan
    return correlations


def rows_by_system(table: JudgmentTable) -> tuple[Mapping[str, Sequence[int]] | None, list[str]]:
    """Return for each system the row of every item in order, -1 where it has none; None where too few are known."""
    items = table.items
    position_of = {item: number for number, item in enumerate(items)}
    lines: dict[str, list[int]] = {}
    for row, (system, video_id) in enumerate(zip(table.systems, table.video_ids, strict=True)):
        if not table.human[row]:
            if system not in lines:
                lines[system] = [-1] * len(items)
            lines[system][position_of[video_id]] = row
    known = sum(row >= 0 for rows in lines.values() for row in rows)
    has_texts = all(candidate is not None for candidate in table.candidates) and all(table.references)
    enough = bool(lines) and "" not in lines and known >= _LEAST_KNOWN * len(lines) * len(items)
    return (lines if enough and has_texts else None), items
