"""Retrieval in both directions: ids in any order, every caption as a query, other conventions of relevance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.leaking_dataset import TEST, captions_of
from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import ClipItems, read_clips
from vttdata.evaluate.predictions import MatchRule, Similarity, read_relevance
from vttdata.evaluate.tasks.retrieval import score_run, score_similarity


@pytest.fixture
def items(dataset: Path) -> ClipItems:
    return read_clips(dataset)


def score(columns: dict, name: str) -> float:
    scores = columns[name].scores
    return float(np.median(scores.items)) if name.endswith("mdr") else scores.score


def literal_recall(scores: np.ndarray, relevant: list[set[int]], k: int) -> float:
    """Return R@k of a matrix without ties."""
    return float(
        np.mean([bool(set(np.argsort(-row)[:k].tolist()) & own) for row, own in zip(scores, relevant, strict=True)])
    )


def test_perfect_and_reversed_rankings(items: ClipItems) -> None:
    eye = np.eye(6)
    for scores, hit, rank in ((eye, 1.0, 1.0), (-eye, 0.0, 6.0)):
        columns, counts, _ = score_similarity("s", Similarity(scores, TEST, TEST), items)
        for direction in ("t2v", "v2t"):
            assert (score(columns, f"{direction}/r@1"), score(columns, f"{direction}/mdr")) == (hit, rank)
    assert (counts.expected, counts.scored) == (6, 6)


def test_order_of_ids_does_not_matter(items: ClipItems) -> None:
    generator = np.random.default_rng(4)
    scores = generator.normal(size=(6, 6))
    straight, _, _ = score_similarity("s", Similarity(scores, TEST, TEST), items)
    rows, columns = generator.permutation(6), generator.permutation(6)
    shuffled = Similarity(scores[rows][:, columns], [TEST[i] for i in rows], [TEST[i] for i in columns])
    again, _, _ = score_similarity("s", shuffled, items)
    assert {name: score(straight, name) for name in straight} == {name: score(again, name) for name in again}


def test_every_caption_may_be_a_query(items: ClipItems) -> None:
    ids = [f"{clip}#{number}" for clip in TEST for number in (1, 2, 3)]
    scores = np.random.default_rng(8).normal(size=(18, 6))
    columns, counts, _ = score_similarity("s", Similarity(scores, ids, TEST), items)
    own = [{number // 3} for number in range(18)]
    captions = [{3 * number, 3 * number + 1, 3 * number + 2} for number in range(6)]
    for k in (1, 5):
        assert score(columns, f"t2v/r@{k}") == pytest.approx(literal_recall(scores, own, k))
        assert score(columns, f"v2t/r@{k}") == pytest.approx(literal_recall(scores.T, captions, k))
    assert counts.expected == 18


def test_first_caption_of_each_clip_may_be_the_query(items: ClipItems) -> None:
    scores = np.random.default_rng(9).normal(size=(6, 6))
    first = [f"{clip}#{numbers[0]}" for clip, numbers in zip(items.ids, items.sen_ids, strict=True)]
    columns, counts, _ = score_similarity("s", Similarity(scores, first, items.ids), items)
    by_clip, _, _ = score_similarity("s", Similarity(scores, items.ids, items.ids), items)
    assert (counts.expected, counts.scored, counts.missing) == (6, 6, 0)
    assert {name: score(columns, name) for name in columns} == {name: score(by_clip, name) for name in by_clip}


def test_hint_never_advises_to_count_most_as_worst(items: ClipItems) -> None:
    second = [f"{items.ids[0]}#{items.sen_ids[0][1]}"]
    for similarity in (Similarity(np.zeros((1, 6)), second, items.ids), Similarity(np.eye(6)[:2], TEST[:2], TEST)):
        with pytest.raises(VttdataError, match="have no row") as error:
            score_similarity("s", similarity, items)
        assert "worst" not in str(error.value)
    with pytest.raises(VttdataError, match="worst"):
        score_similarity("s", Similarity(np.eye(6)[:4], TEST[:4], TEST), items)


def test_clips_with_the_same_caption_are_relevant_by_the_second_convention(tmp_path: Path) -> None:
    texts = [["same words"], ["same words"], ["other words"]]
    items = ClipItems(
        dataset="d",
        version="1",
        config="clips",
        split="test",
        ids=["a", "b", "c"],
        sources=np.arange(3),
        source_ids=["x", "y", "z"],
        references=texts,
        sen_ids=[[1]] * 3,
    )
    swapped = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    columns, _, _ = score_similarity("s", Similarity(swapped, items.ids, items.ids), items)
    assert score(columns, "t2v/r@1") == pytest.approx(1 / 3)
    assert score(columns, "t2v-verbatim/r@1") == 1.0


def test_missing_videos_and_queries_come_last_on_request(items: ClipItems) -> None:
    scores = np.eye(6)[:5, :4]
    similarity = Similarity(scores, TEST[:5], TEST[:4])
    with pytest.raises(VttdataError, match=r"1 of 6 items have no row \(first 't5'\)"):
        score_similarity("s.npz", similarity, items)
    columns, counts, _ = score_similarity("s.npz", similarity, items, MatchRule("worst"))
    assert columns["t2v/mnr"].scores.items.tolist() == [1, 1, 1, 1, 6, 6]
    assert columns["v2t/mnr"].scores.items.tolist() == [1, 1, 1, 1, 6, 6]
    assert (counts.scored, counts.missing) == (4, 2)


def test_unknown_videos_are_left_out_of_the_pool_on_request(items: ClipItems) -> None:
    scores = np.hstack([np.full((6, 1), 9.0), np.eye(6)])
    similarity = Similarity(scores, TEST, ["stranger", *TEST])
    with pytest.raises(VttdataError, match="unknown items"):
        score_similarity("s.npz", similarity, items)
    columns, _, _ = score_similarity("s.npz", similarity, items, MatchRule("refuse", "ignore"))
    assert score(columns, "t2v/r@1") == 1.0


def test_nan_is_refused(items: ClipItems) -> None:
    scores = np.eye(6)
    scores[3, 2] = np.nan
    with pytest.raises(VttdataError, match=r"s\.npz: the similarity of 't3' and 't2' is not a number"):
        score_similarity("s.npz", Similarity(scores, TEST, TEST), items)


def test_ties_are_counted(items: ClipItems) -> None:
    scores = np.eye(6)
    scores[2] = 1.0
    _, _, findings = score_similarity("s", Similarity(scores, TEST, TEST), items)
    assert [finding.partition(" rankings")[0] for finding in findings] == [
        "Ties, text to video: in 1 of 6",
        "Ties, video to text: in 5 of 6",
    ]
    run = {clip: {"t0": 1.0, "t1": 1.0, clip: 1.0} for clip in TEST}
    _, _, findings = score_run("s", run, items)
    assert any(finding.startswith("Ties, text to video: in 6 of 6 rankings") for finding in findings)
    assert not any("Ties" in finding for finding in score_similarity("s", Similarity(np.eye(6), TEST, TEST), items)[2])


def test_matrix_without_ids_needs_the_shape_of_the_split(items: ClipItems) -> None:
    _, _, findings = score_similarity("s.npy", Similarity(np.eye(6), None, None), items)
    assert "taken to be in the order of the dataset" in findings[0]
    for shape in ((5, 6), (6, 5), (17, 6)):
        with pytest.raises(VttdataError, match="6 clips"):
            score_similarity("s.npy", Similarity(np.zeros(shape), None, None), items)


def test_run_that_lists_all_videos_scores_as_its_matrix(items: ClipItems) -> None:
    scores = np.random.default_rng(6).integers(0, 3, (6, 6)).astype(float)
    matrix, _, _ = score_similarity("s", Similarity(scores, TEST, TEST), items)
    run = {query: dict(zip(TEST, map(float, row), strict=True)) for query, row in zip(TEST, scores, strict=True)}
    columns, _, _ = score_run("s.run", run, items)
    assert {name: score(columns, name) for name in columns} == pytest.approx({n: score(matrix, n) for n in columns})
    assert all(name.startswith("t2v") for name in columns)


def test_run_that_was_cut_says_so_beside_the_ranks(items: ClipItems) -> None:
    scores = np.random.default_rng(6).normal(size=(6, 6))
    order = np.argsort(-scores)
    lacking = [query for query, videos in enumerate(order.tolist()) if query not in videos[:3]]
    run = {TEST[query]: {TEST[v]: float(scores[query, v]) for v in videos[:3]} for query, videos in enumerate(order)}
    columns, _, findings = score_run("s.run", run, items)
    (cut,) = (finding for finding in findings if finding.startswith("Rankings were cut"))
    assert f"list 3 to 3 of 6 videos, and {len(lacking)} of 6 lack" in cut
    # They share the places 4, 5 and 6.
    ranks = [5.0 if query in lacking else 1.0 + videos.index(query) for query, videos in enumerate(order.tolist())]
    assert score(columns, "t2v/mnr") == pytest.approx(np.mean(ranks))
    whole = {TEST[query]: dict(zip(TEST, row, strict=True)) for query, row in enumerate(scores.tolist())}
    assert not any("cut" in finding for finding in score_run("s.run", whole, items)[2])
    own = {query: {query: 1.0} for query in TEST}
    assert not any("cut" in finding for finding in score_run("s.run", own, items)[2])


def test_unknown_video_in_a_run_is_refused_and_left_out_on_request(items: ClipItems) -> None:
    run = {query: {"stranger": 9.0, query: 1.0} for query in TEST}
    with pytest.raises(VttdataError, match="1 ranked videos are about unknown items"):
        score_run("s.run", run, items)
    columns, _, _ = score_run("s.run", run, items, MatchRule("refuse", "ignore"))
    assert score(columns, "t2v/r@1") == 1.0


def test_judged_relevance_adds_the_measures_of_ranking_sets(items: ClipItems, tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("t0 0 t0 1\nt0 0 t1 1\nt1 0 t1 1\nt2 0 t9 1\nt3 0 t3 0\n")
    scores = np.tile(np.arange(6.0, 0.0, -1.0), (6, 1))
    columns, _, _ = score_similarity("s", Similarity(scores, TEST, TEST), items, relevance=read_relevance(path))
    # Queries t0 (relevant: ranks 1 and 2) and t1 (rank 2) have judgments.
    assert columns["t2v-judged/r-precision"].scores.items.tolist() == [1.0, 0.0]
    assert columns["t2v-judged/s@1"].scores.items.tolist() == [1.0, 0.0]
    assert columns["t2v-judged/mnr"].scores.items.tolist() == [1.0, 2.0]
    path.write_text("t0 0 t0\n")
    with pytest.raises(VttdataError, match=r"qrels:1: 3 columns instead of these 4: query 0 video relevance"):
        read_relevance(path)


def test_not_a_number_is_refused_wherever_it_stands(items: ClipItems) -> None:
    texts = [[f"caption {number} of {clip}" for number in range(1_000)] for clip in TEST]
    clips = replace(items, references=texts, sen_ids=[range(1_000)] * 6)
    scores = np.zeros((6_000, 6))
    scores[-1, -1] = np.nan
    with pytest.raises(VttdataError, match="the similarity of 't5#999' and 't5' is not a number"):
        score_similarity("s.npy", Similarity(scores, None, None), clips)


def test_verbatim_captions_are_a_convention_only_where_clips_share_one(items: ClipItems) -> None:
    def columns_of(references: list[list[str]]) -> dict[str, ScoreColumn]:
        clips = replace(items, references=references, sen_ids=[range(len(texts)) for texts in references])
        return score_similarity("s", Similarity(np.eye(6) + np.eye(6, k=1), TEST, TEST), clips)[0]

    own = [[f"caption {number}", f"another {number}"] for number in range(6)]
    assert not any("verbatim" in name for name in columns_of(own))
    # The second clip has the query of the first one twice, and counts once.
    columns = columns_of([own[0], [*own[1], own[0][0], own[0][0]], *own[2:]])
    assert columns["t2v-verbatim/ndcg"].scores.items[0] == 1.0
    assert columns["t2v/mnr"].scores.items.tolist() == [1.5, 1.5, 1.5, 1.5, 1.5, 1.0]
    assert columns["t2v-verbatim/mnr"].scores.items.tolist() == [1.0, 1.5, 1.5, 1.5, 1.5, 1.0]


def test_first_caption_is_the_query_of_a_clip(items: ClipItems) -> None:
    assert [texts[0] for texts in items.references] == [captions_of(clip)[0] for clip in TEST]


def test_missing_and_unknown_videos_are_counted(items: ClipItems) -> None:
    similarity = Similarity(np.eye(6)[:5, :4], TEST[:5], TEST[:4])
    _, counts, findings = score_similarity("s.npz", similarity, items, MatchRule("worst"))
    assert (counts.expected, counts.scored, counts.missing) == (6, 4, 2)
    assert "Videos without a column, which come last in every ranking: 2." in findings
    with_unknown = Similarity(np.hstack([np.eye(6), np.zeros((6, 1))]), TEST, [*TEST, "stranger"])
    assert score_similarity("s.npz", with_unknown, items, MatchRule("refuse", "ignore"))[1].unknown == 1
    run = {query: {"stranger": 9.0, query: 1.0} for query in TEST}
    assert score_run("s.run", run, items, MatchRule("refuse", "ignore"))[1].unknown == 1


def test_run_may_name_queries_and_videos_with_their_endings(items: ClipItems) -> None:
    run = {f"{query}.mp4": {f"{video}.mp4": float(query == video) for video in TEST} for query in TEST}
    columns, _, _ = score_run("s.run", run, items)
    assert score(columns, "t2v/r@1") == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t0 0 t0 nan\n", "'relevance' is 'nan', which is not a finite number"),
        ("t0 0 t0 inf\n", "not a finite number"),
        ("t0 0 t0 1\nt0 0 t0 0\n", "qrels:2: 't0' has two different judgments for 't0'"),
    ],
)
def test_malformed_relevance_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "qrels").write_text(text)
    with pytest.raises(VttdataError, match=message):
        read_relevance(tmp_path / "qrels")


def large_items(items: ClipItems, number: int) -> ClipItems:
    ids = [f"v{index}" for index in range(number)]
    every = {"references": [["a"]] * number, "sen_ids": [[0]] * number, "categories": [None] * number}
    return replace(items, ids=ids, sources=np.arange(number), source_ids=ids, **every)


def guesses(findings: list[str]) -> list[str]:
    return [finding for finding in findings if "worse than guessing" in finding]


def test_negated_distances_are_said_to_be_worse_than_guessing(items: ClipItems) -> None:
    many = large_items(items, 60)
    scores = np.eye(60) + np.random.default_rng(1).normal(size=(60, 60)) / 3
    run = {name: dict(zip(many.ids, row.tolist(), strict=True)) for name, row in zip(many.ids, scores, strict=True)}
    reversed_run = {name: {video: -score for video, score in ranking.items()} for name, ranking in run.items()}
    for sign, found in ((1, 0), (-1, 1)):
        similarity = Similarity(sign * scores, many.ids, many.ids)
        assert len(guesses(score_similarity("s", similarity, many)[2])) == found
        assert len(guesses(score_run("r", run if sign == 1 else reversed_run, many)[2])) == found


def test_drawn_scores_are_hardly_ever_said_to_be_worse_than_guessing(items: ClipItems) -> None:
    many, generator = large_items(items, 40), np.random.default_rng(7)
    said = 0
    for _ in range(150):
        # Some videos are near to every query, as in models that collapse.
        scores = generator.normal(size=(40, 40)) + 3 * generator.normal(size=40)
        said += len(guesses(score_similarity("s", Similarity(scores, many.ids, many.ids), many)[2]))
    assert said <= 1
