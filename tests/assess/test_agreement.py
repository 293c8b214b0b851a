"""Agreement of annotators equals published figures, and those of another implementation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from vttdata.assess.agreement import krippendorff_alpha

nan = math.nan


def by_worker(ratings: Sequence[Sequence[float]]) -> Mapping[str, Mapping[str, float]]:
    return {
        str(item): {str(worker): value for worker, value in enumerate(values) if not math.isnan(value)}
        for item, values in enumerate(ratings)
    }


def test_alpha_equals_published_figures() -> None:
    # Krippendorff, Computing Krippendorff's Alpha-Reliability (2011): four observers and twelve units.
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    ratings = by_worker([list(unit) for unit in zip(*observers, strict=True)])
    for level, published in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        assert krippendorff_alpha(ratings, level) == pytest.approx(published, abs=5e-4)


def test_alpha_equals_the_package_krippendorff() -> None:
    ratings = [[4, nan, 1, 5], [3, nan, 4, 2], [nan, 2, 3, nan], [4, nan, 2, 2], [nan, 3, 3, 6]]
    ratings += [[nan, 4, 4, 2], [nan, 3, 2, 5], [2, nan, nan, 6], [nan, 3, 5, 4]]
    # By krippendorff 0.9.0 of PyPI.
    figures = [-0.07755102040816331, -0.31577156743620893, -0.31627056672760534]
    computed = [krippendorff_alpha(by_worker(ratings), level) for level in ("nominal", "ordinal", "interval")]
    assert computed == pytest.approx(figures, abs=1e-12)
    assert math.isnan(krippendorff_alpha(by_worker([[1, 1], [1, nan]]), "interval"))
