"""Agreement of metrics with people while the quality of captions drifts (Shi et al., CVPR 2022, section 5.1).

Five biased sets are drawn from the judged captions: one of quality k in 1..5 is in set I with the probability
1 / (abs(I - k) + 1). A metric that is only good at telling bad captions from good ones loses agreement from set to set.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.meta.agreement import Draws, estimate_draws
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.evaluate.report import Estimate
from vttdata.statistics.arrays import Flags, Integers
from vttdata.statistics.bootstrap import effective_number
from vttdata.statistics.correlation import correlate_draws
from vttdata.statistics.scores import ColumnScores

DRIFT_SETS = 5
"""Number of sets, and of steps of quality, as in the paper."""


def quality_levels(table: JudgmentTable, scale: tuple[float, float]) -> Integers:
    """Return the quality of each judged caption of the n rows, 1..`DRIFT_SETS`, and 0 of those that nobody judged.

    `scale` has the lowest and the highest score that people could give; on a scale of 1 to 5 the quality is the mean
    score, rounded (halves up), and other scales are stretched to it.

    Raises:
        VttdataError: if a score lies outside of the scale.
    """
    low, high = scale
    raw = table.raw[table.judged]
    if raw.min() < low or raw.max() > high:
        raise VttdataError(
            f"{table.name}: people's scores are {raw.min():g} to {raw.max():g}, which a scale of {low:g} to {high:g} "
            "does not hold."
        )
    levels = np.zeros(len(table.raw), dtype=np.int64)
    levels[table.judged] = np.floor(1 + (DRIFT_SETS - 1) * (raw - low) / (high - low) + 0.5).astype(np.int64)
    return levels


def draw_drift_set(table: JudgmentTable, levels: Integers, number: int, seed: int) -> Flags:
    """Return which of the n rows are in the set `number`, 1..`DRIFT_SETS`; whether one is depends on no other row."""
    chosen = np.zeros(len(levels), dtype=np.bool_)
    for row in np.flatnonzero(levels).tolist():
        key = f"{seed} {number} {table.video_ids[row]} {table.systems[row]} {table.candidates[row]}"
        chosen[row] = Random(key).random() * (abs(number - int(levels[row])) + 1) < 1
    return chosen


def measure_quality_drift(
    table: JudgmentTable, columns: Mapping[str, ColumnScores], scale: tuple[float, float], draws: Draws, seed: int
) -> dict[str, dict[int, Estimate]]:
    """Return metric -> set -> Kendall's tau-b of its scores with people's raw ones, with the number of captions.

    Metrics score all captions of the table, so that document frequencies are those of all sets. A set in which either
    side is constant has NaN.
    """
    levels = quality_levels(table, scale)
    drift: dict[str, dict[int, Estimate]] = {name: {} for name in columns}
    for number in range(1, DRIFT_SETS + 1):
        chosen = draw_drift_set(table, levels, number, seed)
        for name, scores in columns.items():
            rows = chosen & np.isfinite(scores.items)
            both = [scores.items[rows], table.raw[rows]]
            [values] = correlate_draws(both, [(0, 1)], table.sources[rows], draws.weights)
            drift[name][number] = estimate_draws(
                values["kendall_b"], int(rows.sum()), effective_number(np.bincount(table.sources[rows]))
            )
    return drift
