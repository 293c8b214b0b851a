"""Test significance, clusters, correlations and Williams' test."""

from __future__ import annotations

import functools
import random
import subprocess
import sys

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from vttdata.assess import (
    compare_metrics,
    correlate,
    metric_agreement,
    replication,
    significance,
    system_scores,
    williams,
)
from vttdata.assess.significance import Significance
from vttdata.errors import VttdataError
from vttdata.records import CaptionScore


def captions(**means: float) -> list[CaptionScore]:
    random.seed(7)
    return [
        CaptionScore(f"v{n}", system, 50 + 10 * z, z, 1)
        for system, mean in means.items()
        for n in range(100)
        for z in [random.gauss(mean, 1)]
    ]


def test_better_system_wins_and_equal_systems_share_a_cluster() -> None:
    tested = significance(captions(middle=0.01, best=1.0, other=0.0, worst=-1.0))
    assert tested.systems[0] == "best"
    assert tested.systems[3] == "worst"
    assert [set(cluster) for cluster in tested.clusters()] == [{"best"}, {"middle", "other"}, {"worst"}]
    assert [tested.rank_range(row) for row in range(4)] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert tested.p[0][0] != tested.p[0][0]
    scores = captions(middle=0.01, best=1.0, other=0.0, worst=-1.0)
    first, second = ([score.z for score in scores if score.system == tested.systems[n]] for n in (1, 2))
    assert tested.p[1][2] == scipy.stats.mannwhitneyu(first, second, alternative="greater").pvalue


def test_over_shared_compares_only_common_videos() -> None:
    first, second = range(20, 30), [n - 0.5 for n in range(20, 30)]
    scores = [CaptionScore(f"v{n}", "A", 0, float(n), 1) for n in range(30)]
    scores += [CaptionScore(f"v{n}", "B", 0, n - 0.5, 1) for n in range(20, 60)]
    test = functools.partial(scipy.stats.mannwhitneyu, alternative="greater", method="asymptotic")
    assert significance(scores).systems == ("B", "A")
    assert significance(scores, over="shared").p[1][0] == test(first, second).pvalue
    assert significance(scores).p[0][1] < 0.05 < significance(scores, over="shared").p[0][1]
    apart = significance([CaptionScore("x", "A", 0, 1.0, 1), CaptionScore("y", "B", 0, 0.0, 1)], over="shared")
    assert not apart.wins(0, 1)


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.floats(0, 1), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_clusters_have_every_system_once_and_never_split_a_tie(p: list[list[float]]) -> None:
    names = tuple("abcdef"[: len(p)])
    tested = Significance(names, tuple(map(tuple, p)))
    clusters = tested.clusters()
    assert [name for cluster in clusters for name in cluster] == list(names)
    cluster_of = {name: number for number, cluster in enumerate(clusters) for name in cluster}
    for row in range(len(p)):
        for column in range(len(p)):
            if cluster_of[names[row]] < cluster_of[names[column]]:
                assert tested.wins(row, column)


def test_single_system_is_a_cluster() -> None:
    tested = significance(captions(alone=0.0))
    assert (tested.systems, tested.clusters(), tested.rank_range(0)) == (("alone",), (("alone",),), (1, 1))
    assert significance([]).clusters() == ()


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


def test_replication_compares_common_systems_except_those_left_out() -> None:
    first = system_scores(captions(a=0.0, b=0.5, c=1.0, HUMAN=5.0))
    second = system_scores(captions(c=0.9, b=0.6, a=0.1, HUMAN=-5.0, d=9.0))
    raw, z = replication(first, second, leave_out=["HUMAN"])
    assert (raw.n, z.n) == (3, 3)
    assert z.spearman == pytest.approx(1)
    assert replication(first, second)[1].pearson < 0
    with pytest.raises(VttdataError, match="share 0 systems"):
        replication(first, second, leave_out=["a", "b", "c", "HUMAN"])


def test_metrics_are_compared_with_people_by_system_and_caption() -> None:
    scores = captions(a=-1.0, b=-0.5, c=0.0, d=0.5, e=1.0)
    good = {(score.system, score.video_id): score.z + random.gauss(0, 0.3) for score in scores}
    poor = {key: random.gauss(0, 1) for key in good}
    agreement = metric_agreement({key: value for key, value in good.items() if key[1] != "v3"}, scores)
    assert (agreement.system.n, agreement.caption.n, agreement.unscored) == (5, 495, 5)
    assert agreement.caption.pearson > 0.9
    tests = compare_metrics({"good": good, "poor": poor}, scores, "caption")
    assert tests["good", "poor"].p < 1e-6
    assert tests["poor", "good"].p > 0.99
    assert compare_metrics({"good": good, "poor": poor}, scores)["good", "poor"].t > 0
    with pytest.raises(VttdataError, match="at least 4 systems"):
        compare_metrics({"good": good}, captions(a=0.0))


def test_error_without_scipy_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['scipy'] = None; from vttdata.assess import correlate, caption_scores\n"
        "from vttdata.errors import VttdataError\n"
        "try: correlate([1, 2], [2, 1])\nexcept VttdataError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'vttdata[assess]'" in done.stdout
