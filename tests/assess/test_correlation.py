"""Test correlations, replication and Williams' test."""

from __future__ import annotations

import math
import random
import subprocess
import sys

import pytest

from tests.helpers.judgments import caption_scores_around
from tests.helpers.needs import library
from vttdata.assess import (
    cohen_kappa,
    correlate,
    replication,
    system_scores,
    williams,
)
from vttdata.errors import VttdataError


def test_williams_test_gives_published_values() -> None:
    assert williams(0.65, 0.55, 0.3, 50) == pytest.approx((0.8160782, 0.2092862), abs=5e-8)
    assert williams(0.65, 0.55, 0.3, 50, "n-2").p == pytest.approx(0.209243482964009, abs=1e-13)
    assert williams(0.55, 0.65, 0.3, 50).p == pytest.approx(1 - 0.2092862, abs=5e-8)
    with pytest.raises(ValueError, match="at least 4"):
        williams(0.65, 0.55, 0.3, 3)


def test_correlations_of_constants_are_undefined() -> None:
    assert correlate([1, 2, 3], [2, 4, 6]).pearson == pytest.approx(1)
    for constant in (correlate([1, 1], [1, 2]), correlate([1], [1]), correlate([], [])):
        assert constant.pearson != constant.pearson
    with pytest.raises(ValueError, match="3 scores"):
        correlate([1, 2, 3], [1, 2])


def test_kappa_is_that_of_a_peer() -> None:
    metrics = library("sklearn.metrics")
    draw = random.Random(2)
    for agreement in (0.1, 0.5, 0.95):
        first = [draw.random() < 0.3 for _ in range(200)]
        second = [yes if draw.random() < agreement else draw.random() < 0.6 for yes in first]
        assert cohen_kappa(first, second) == pytest.approx(metrics.cohen_kappa_score(first, second), abs=1e-12)


def test_kappa_of_one_answer_to_all_is_undefined() -> None:
    for answers in ([], [True, True], [False]):
        assert math.isnan(cohen_kappa(answers, answers))
    assert cohen_kappa([True, True], [False, False]) == 0
    with pytest.raises(ValueError, match="there are 2 values and 1 to compare them with"):
        cohen_kappa([True, False], [True])


def test_replication_compares_common_systems_except_those_left_out() -> None:
    first = system_scores(caption_scores_around(a=0.0, b=0.5, c=1.0, HUMAN=5.0))
    second = system_scores(caption_scores_around(c=0.9, b=0.6, a=0.1, HUMAN=-5.0, d=9.0))
    raw, z = replication(first, second, leave_out=["HUMAN"])
    assert (raw.n, z.n) == (3, 3)
    assert z.spearman == pytest.approx(1)
    assert replication(first, second)[1].pearson < 0
    with pytest.raises(VttdataError, match="share 0 systems"):
        replication(first, second, leave_out=["a", "b", "c", "HUMAN"])


def test_error_without_scipy_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['scipy'] = None; from vttdata.assess import correlate, caption_scores\n"
        "from vttdata.errors import VttdataError\n"
        "try: correlate([1, 2], [2, 1])\nexcept VttdataError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'vttdata[assess]'" in done.stdout
