"""Corpus scores of samples of items."""

from __future__ import annotations

import numpy as np

from vttdata.statistics.scores import MedianScores, ScoredRows


def test_median_of_a_draw_is_that_of_the_repeated_items() -> None:
    values = np.array([3.0, 1.0, 10.0, 4.0, 4.0, 9.0])
    sources = np.array([0, 0, 1, 2, 2, 2])
    selection = ScoredRows(MedianScores(values), sources)
    for weights in ([1, 1, 1], [2, 0, 1], [0, 0, 3], [1, 2, 0]):
        repeated = np.repeat(values, np.array(weights)[sources])
        score = selection.score(np.array([weights], dtype=np.float64), np.empty((1, 0)))
        assert score[0] == np.median(repeated), weights
    nothing = ScoredRows(MedianScores(values[:2]), sources[:2]).score(np.array([[0.0, 1.0, 2.0]]), np.empty((1, 0)))
    assert np.isnan(nothing).all()
