"""Pools of systems' first items, fused rankings, and what a sample says of the pairs that nobody judged."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from vttdata.errors import VttdataError
from vttdata.evaluate.pooling import estimate_missed, fuse_rankings, pool_pairs, read_rankings

POOL = ["a", "b", "c", "d"]


def test_first_items_of_all_systems_and_directions_are_pooled(tmp_path: Path) -> None:
    scores = np.array([[4.0, 3, 2, 1], [1, 4, 3, 2], [9, 1, 4, 3], [3, 2, 1, 4]])
    np.savez(tmp_path / "one.npz", similarity=scores, query_ids=POOL, video_ids=POOL)
    lines = [f"{query} Q0 {video} 1 {score} t" for query in POOL for video, score in (("d", 2.5), ("a", 2.5), ("x", 9))]
    (tmp_path / "two.run").write_text("\n".join(lines))
    one, two = (read_rankings(tmp_path / name, POOL) for name in ("one.npz", "two.run"))
    assert one.videos["b"] == ["b", "c", "d", "a"]
    # The column of the video a is 4, 1, 9, 3.
    assert one.captions["a"] == ["c", "a", "d", "b"]
    # Equal scores keep the order of the pool, and videos that it lacks do not count.
    assert two.videos["c"] == ["a", "d"]
    assert two.captions == {}
    by_hand = {("a", "a"), ("b", "b"), ("c", "a"), ("d", "d"), ("c", "c"), *((query, "a") for query in POOL)}
    assert pool_pairs([one, two], 1) == by_hand


def test_run_without_a_caption_of_the_pool_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.run").write_text("a Q0 b 1 2 t\n")
    with pytest.raises(VttdataError, match="nothing for 3 of the 4 captions of the pool \\(first 'b'\\)"):
        read_rankings(tmp_path / "t.run", POOL)


def test_borda_sums_ranks_and_breaks_ties_by_their_median() -> None:
    # Sums of N - r: a 4+1+3 = 8, b 3+4+1 = 8, c 2+3+4 = 9, d 1+2+2 = 5; medians of the ranks of a and b are 1 and 1.
    rankings = [["a", "b", "c", "d"], ["b", "c", "d", "a"], ["c", "a", "d", "b"]]
    assert fuse_rankings(rankings, POOL) == ["c", "a", "b", "d"]
    # Ranks of x are 0, 0, 6 and of y 2, 2, 2, so that their sums tie and the median decides.
    items = ["y", *"pqrst", "x"]
    tied = [["x", "p", "y", *"qrst"], ["x", "q", "y", *"prst"], ["r", "s", "y", *"pqt", "x"]]
    fused = fuse_rankings(tied, items)
    assert fused.index("x") < fused.index("y")


def test_interval_of_missed_pairs_holds_the_truth_as_often_as_it_says() -> None:
    draw = Random(4)
    relevant = [True] * 300 + [False] * 9_700
    held = 0
    for _ in range(300):
        sample = set(draw.sample(range(10_000), 400))
        found = sum(relevant[index] for index in sample)
        missed = estimate_missed(found, 400, 9_600)
        held += missed.low <= 300 - found <= missed.high
    assert held / 300 > 0.9
    assert np.isnan(estimate_missed(0, 0, 10).number)
