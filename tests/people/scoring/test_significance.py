"""Test significance, clusters and ranges of ranks."""

from __future__ import annotations

import functools

import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.judgments import caption_scores_around
from vttdata.people import significance
from vttdata.people.scoring.significance import Significance
from vttdata.records import CaptionScore


def test_better_system_wins_and_equal_systems_share_a_cluster() -> None:
    tested = significance(caption_scores_around(middle=0.01, best=1.0, other=0.0, worst=-1.0))
    assert tested.systems[0] == "best"
    assert tested.systems[3] == "worst"
    assert [set(cluster) for cluster in tested.clusters()] == [{"best"}, {"middle", "other"}, {"worst"}]
    assert [tested.rank_range(row) for row in range(4)] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert tested.p[0][0] != tested.p[0][0]
    scores = caption_scores_around(middle=0.01, best=1.0, other=0.0, worst=-1.0)
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
    tested = significance(caption_scores_around(alone=0.0))
    assert (tested.systems, tested.clusters(), tested.rank_range(0)) == (("alone",), (("alone",),), (1, 1))
    assert significance([]).clusters() == ()
