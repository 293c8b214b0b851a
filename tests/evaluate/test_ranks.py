"""Measures of rankings with ties, compared with the mean over all orders of tied items."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from vttdata.evaluate.ranks import BestRanks, RelevantRanks, ndcg, r_precision, rank_columns, rank_rows, rank_run

# Few different values, so that most scores are tied.
SCORES = np.random.default_rng(5).integers(0, 3, (7, 6)).astype(np.float32)
RELEVANT = {
    0: {1: 1.0},
    1: {0: 1.0, 4: 2.0},
    2: {5: 3.0},
    3: {2: 1.0, 3: 1.0, 0: 2.0},
    4: {4: 1.0},
    5: {0: 1.0},
    6: {1: 2.0},
}
PAIRS = [(query, item, gain) for query, items in RELEVANT.items() for item, gain in sorted(items.items())]
QUERY, ITEM, GAIN = (np.array(column) for column in zip(*PAIRS, strict=True))


def orders(scores: np.ndarray) -> list[tuple[int, ...]]:
    """Return every ranking that agrees with the scores."""
    groups = [np.flatnonzero(scores == value).tolist() for value in sorted(set(scores.tolist()), reverse=True)]
    ways = itertools.product(*(itertools.permutations(group) for group in groups))
    return [tuple(itertools.chain(*parts)) for parts in ways]


def dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def literal(ranking: tuple[int, ...], relevant: dict[int, float]) -> dict[str, float]:
    """Return the measures of one ranking by their definitions."""
    found_ranks = [rank for rank, item in enumerate(ranking, 1) if item in relevant]
    gains = [relevant.get(item, 0.0) for item in ranking]
    ideal = sorted(relevant.values(), reverse=True)
    return {
        "hit@1": float(found_ranks[0] <= 1),
        "hit@3": float(found_ranks[0] <= 3),
        "rank": found_ranks[0],
        "reciprocal": 1 / found_ranks[0],
        "ndcg": dcg(gains) / dcg(ideal),
        "ndcg@2": dcg(gains[:2]) / dcg(ideal[:2]),
        "r-precision": sum(rank <= len(relevant) for rank in found_ranks) / len(relevant),
    }


def measured(ranks: RelevantRanks) -> dict[str, np.ndarray]:
    best = BestRanks(ranks)
    return {
        "hit@1": best.hit(1),
        "hit@3": best.hit(3),
        "rank": best.rank(),
        "reciprocal": best.reciprocal(),
        "ndcg": ndcg(ranks),
        "ndcg@2": ndcg(ranks, 2),
        "r-precision": r_precision(ranks),
    }


def graded(ranks: RelevantRanks, gains: np.ndarray) -> RelevantRanks:
    return RelevantRanks(ranks.candidates, ranks.query, ranks.above, ranks.tied, gains, ranks.found)


def test_measures_are_means_over_all_orders_of_ties() -> None:
    values = measured(graded(rank_rows(SCORES, QUERY, ITEM), GAIN))
    for query, relevant in RELEVANT.items():
        every = [literal(ranking, relevant) for ranking in orders(SCORES[query])]
        for name in every[0]:
            assert values[name][query] == pytest.approx(np.mean([row[name] for row in every]), abs=1e-12), name


@pytest.mark.parametrize("seed", range(30))
def test_relevant_items_may_be_tied_with_each_other_or_left_out_of_a_run(seed: int) -> None:
    draw = np.random.default_rng(seed)
    scores = draw.integers(0, 2, 6).tolist()
    listed = draw.permutation(6)[: draw.integers(1, 7)].tolist()
    items = draw.permutation(6)[: draw.integers(1, 5)]
    relevant = dict(zip(items.tolist(), [1.0, 2.0, 1.0, 3.0], strict=False))
    found = {item: gain for item, gain in relevant.items() if item in listed}
    ideal = sorted(relevant.values(), reverse=True)
    expected: list[dict[str, float]] = []
    # All other items follow a run in any order, but count for ranks alone.
    for ranking in orders(np.array([score if item in listed else -1 for item, score in enumerate(scores)])):
        gains = [found.get(item, 0.0) for item in ranking]
        measures = literal(ranking, relevant)
        measures |= {} if found else {"hit@1": 0.0, "hit@3": 0.0, "reciprocal": 0.0}
        measures |= {"ndcg": dcg(gains) / dcg(ideal), "ndcg@2": dcg(gains[:2]) / dcg(ideal[:2])}
        measures["r-precision"] = np.count_nonzero(gains[: len(relevant)]) / len(relevant)
        expected.append(measures)
    gain = np.array([*relevant.values()])
    run = rank_run([{item: scores[item] for item in listed}], 6, np.zeros(len(items), dtype=np.int64), items, gain)
    for name, values in measured(run).items():
        assert values.tolist() == pytest.approx([np.mean([row[name] for row in expected])], abs=1e-12), name


@pytest.mark.parametrize("queries", ["one pair each", "some, one pair each", "all"])
def test_columns_are_ranked_as_rows_of_the_transpose(queries: str) -> None:
    keep = np.arange(len(QUERY)) if queries == "all" else np.unique(QUERY, return_index=True)[1]
    keep = keep[1::2] if queries.startswith("some") else keep
    by_rows = rank_rows(np.ascontiguousarray(SCORES), QUERY[keep], ITEM[keep])
    by_columns = rank_columns(np.ascontiguousarray(SCORES.T), QUERY[keep], ITEM[keep])
    assert by_rows.above.tolist() == by_columns.above.tolist()
    assert by_rows.tied.tolist() == by_columns.tied.tolist()


def test_ranking_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [
        rank(scores, QUERY, ITEM).above.tolist() for rank, scores in ((rank_rows, SCORES), (rank_columns, SCORES.T))
    ]
    monkeypatch.setattr("vttdata.evaluate.ranks._BLOCK_BYTES", 50)
    blocks = [
        rank(scores, QUERY, ITEM).above.tolist() for rank, scores in ((rank_rows, SCORES), (rank_columns, SCORES.T))
    ]
    assert blocks == whole


def test_constant_matrix_scores_like_guessing() -> None:
    numbers = np.arange(50)
    best = BestRanks(rank_rows(np.zeros((50, 50)), numbers, numbers))
    assert best.hit(1).tolist() == pytest.approx([1 / 50] * 50)
    assert best.hit(10).tolist() == pytest.approx([10 / 50] * 50)
    assert best.rank().tolist() == [25.5] * 50


def test_complete_run_is_ranked_as_its_matrix() -> None:
    rankings = [{item: float(score) for item, score in enumerate(row)} for row in SCORES]
    run = rank_run(rankings, SCORES.shape[1], QUERY, ITEM, GAIN)
    matrix = measured(graded(rank_rows(SCORES, QUERY, ITEM), GAIN))
    for name, values in measured(run).items():
        assert values.tolist() == pytest.approx(matrix[name].tolist()), name


def test_items_that_a_run_leaves_out_are_not_found_but_share_the_last_ranks() -> None:
    best = BestRanks(rank_run([{0: 2.0, 1: 1.0}], 6, np.array([0]), np.array([4]), np.ones(1)))
    assert (best.hit(6).tolist(), best.reciprocal().tolist()) == ([0.0], [0.0])
    assert best.rank().tolist() == [np.mean([3, 4, 5, 6])]


def test_found_item_counts_before_one_that_the_run_leaves_out() -> None:
    ranks = rank_run([{0: 2.0, 1: 1.0}], 6, np.array([0, 0]), np.array([1, 4]), np.ones(2))
    assert BestRanks(ranks).reciprocal().tolist() == [0.5]
