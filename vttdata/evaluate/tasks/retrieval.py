"""Text-to-video and video-to-text retrieval, scored from a matrix of similarities or from a run.

A query is relevant to its own video; for other relevance there are judgments. Ties are not broken: see
`vttdata.evaluate.ranks`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn, describe_guessing, is_worse_than_guessing
from vttdata.evaluate.items import ClipItems, read_clips
from vttdata.evaluate.predictions import (
    REFUSE,
    ItemCounts,
    MatchRule,
    Similarity,
    match_predictions,
    read_run,
    read_similarity,
)
from vttdata.evaluate.ranks import BestRanks, RelevantRanks, ndcg, r_precision, rank_columns, rank_rows, rank_run
from vttdata.evaluate.task import ObservedTask, Scored, Scoring, TextChoice
from vttdata.generate.blind.words import lower_words
from vttdata.statistics.arrays import Flags, Floats, Integers
from vttdata.statistics.scores import ColumnScores, MedianScores

CUTS = (1, 5, 10)

# Captions of other clips with which that of a clip is compared in learning.
_OTHER_CAPTIONS = 8
_MATRICES = (".npz", ".npy")
_RUNS = (".run", ".trec", ".txt")


class RetrievalPredictions(NamedTuple):
    """Predictions of retrieval, and the name of their file or baseline for messages.

    `scores` are similarities, or of a run query -> video -> score.
    """

    location: str
    scores: Similarity | Mapping[str, Mapping[str, float]]


class RetrievalTask(ObservedTask[ClipItems]):
    """Rankings of videos for texts, and of texts for videos."""

    options: Collection[str] = ("train_split", "relevance")
    headline = "t2v/r@1"
    needs_all = True

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return whether a file of predictions has the name of a matrix or a run."""
        return predictions is not None and predictions.suffix.lower() in (*_MATRICES, *_RUNS)

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> ClipItems:
        """Read the clips of a split; see `read_clips`."""
        return read_clips(dataset, config=config, split=split)

    def read_predictions(self, path: Path, scoring: Scoring[ClipItems]) -> RetrievalPredictions:  # noqa: ARG002
        """Read a matrix of similarities, or a run by any other file name; see `read_similarity` and `read_run`."""
        is_matrix = path.suffix.lower() in _MATRICES
        return RetrievalPredictions(str(path), read_similarity(path) if is_matrix else read_run(path))

    def score(self, predictions: RetrievalPredictions, scoring: Scoring[ClipItems]) -> Scored:
        """Score both directions from a matrix, text-to-video retrieval from a run.

        Raises:
            VttdataError: if ids do not match, or a similarity is NaN.
        """
        location, scores = predictions
        options = scoring.items, scoring.rule, scoring.relevance
        if isinstance(scores, Similarity):
            return Scored(*score_similarity(location, scores, *options))
        return Scored(*score_run(location, scores, *options))

    def from_baseline(self, name: str, scoring: Scoring[ClipItems]) -> Scored:
        """Score the similarities of a baseline."""
        ids = scoring.items.ids
        return self.score(RetrievalPredictions(name, Similarity(scoring.predict(name), ids, ids)), scoring)

    def guessing(self, items: ClipItems, metric: str) -> Sequence[float]:
        """Return the share of the places that count: of recall the first k, of other columns the first alone."""
        places = int(metric.rpartition("@")[2]) if "/r@" in metric else 1
        return [min(places / len(items.ids), 1.0)] * len(items.ids)

    def list_choices(
        self, scoring: Scoring[ClipItems], present: Sequence[int]
    ) -> tuple[Sequence[Sequence[str]], Sequence[TextChoice]]:
        """Return the words of first captions; each clip has its own one, and drawn ones of other sources."""
        items, choices = scoring.items, []
        for index in present:
            others = [other for other in present if items.sources[other] != items.sources[index]]
            draw = scoring.setting.draw(items.ids[index], "other captions")
            drawn = draw.sample(others, min(_OTHER_CAPTIONS, len(others)))
            choices.append(TextChoice((index, *drawn), 0))
        return [lower_words(references[0]) for references in items.references], choices

    def observe(self, scoring: Scoring[ClipItems], scores: Mapping[int, Floats]) -> RetrievalPredictions:
        """Return the similarities of all captions and clips."""
        ids = scoring.items.ids
        return RetrievalPredictions("observer", Similarity(np.column_stack(list(scores.values())), ids, ids))

    def solve_blindly(self, items: ClipItems) -> None:
        """Return None: blind attackers rank no clips."""


class Relevant(NamedTuple):
    """Relevant pairs: numbers of their queries, ascending, and of their videos, and their relevance; p each."""

    queries: Integers
    videos: Integers
    gains: Floats


class Queries:
    """Queries of the clips of a split.

    Fields:
        ids: q ids: ``video_id``, or ``video_id#sen_id`` where captions are named.
        videos: number of the clip that each query describes, q.
        texts: the queries.
    """

    def __init__(self, items: ClipItems, *, every_caption: bool, named: bool) -> None:
        kept = None if every_caption else 1
        captions = [
            (f"{item}#{sen}" if named else item, clip, text)
            for clip, (item, sens, texts) in enumerate(zip(items.ids, items.sen_ids, items.references, strict=True))
            for sen, text in list(zip(sens, texts, strict=True))[:kept]
        ]
        self.ids = [name for name, _, _ in captions]
        self.videos = np.array([clip for _, clip, _ in captions], dtype=np.int64)
        self.texts = [text for _, _, text in captions]

    def own_video(self) -> Relevant:
        """Return the clip that each query was written about."""
        return Relevant(np.arange(len(self.ids)), self.videos, np.ones(len(self.ids)))

    def same_caption(self, items: ClipItems) -> Relevant | None:
        """Return the clips that have each query word for word among their captions; None if no other clip has one."""
        clips_of_text: dict[str, list[int]] = {}
        for clip, texts in enumerate(items.references):
            for text in dict.fromkeys(texts):
                clips_of_text.setdefault(text, []).append(clip)
        pairs = [(query, clip) for query, text in enumerate(self.texts) for clip in clips_of_text[text]]
        if len(pairs) == len(self.ids):
            return None
        relevant, clips = np.array(pairs, dtype=np.int64).T
        return Relevant(relevant, clips, np.ones(len(pairs)))

    def judged(self, items: ClipItems, judgments: Mapping[str, Mapping[str, float]]) -> Relevant:
        """Return the clips that judges found relevant to each query.

        Raises:
            VttdataError: if no judgment is about a query and a clip of the split.
        """
        number = {video: index for index, video in enumerate(items.ids)}
        pairs = [
            (query, number[video], gain)
            for query, name in enumerate(self.ids)
            for video, gain in judgments.get(name, {}).items()
            if video in number and gain > 0
        ]
        if not pairs:
            raise VttdataError("No judgment of relevance is about a query and a video of this split.")
        queries, videos, gains = zip(*pairs, strict=True)
        return Relevant(np.array(queries, dtype=np.int64), np.array(videos, dtype=np.int64), np.array(gains))

    def relevances(
        self, items: ClipItems, judgments: Mapping[str, Mapping[str, float]] | None
    ) -> list[tuple[str, Relevant]]:
        """Return each convention of relevance with the suffix of its columns."""
        conventions = [("", self.own_video()), ("-verbatim", self.same_caption(items))]
        if judgments is not None:
            conventions.append(("-judged", self.judged(items, judgments)))
        return [(suffix, relevant) for suffix, relevant in conventions if relevant is not None]


def choose_queries(items: ClipItems, query_ids: Sequence[str] | None, rows: int) -> Queries:
    """Return the queries that predictions are about.

    Ids with ``#`` name captions: all of them, or the first one of each clip where no other is named. Other ids name
    clips, whose first captions are the queries. `query_ids` are None for predictions without ids, which are about a
    number of `rows`.
    """
    if query_ids is not None:
        clips = set(items.ids)
        named = {query for query in query_ids if "#" in query and query not in clips}
        others = {f"{item}#{sen}" for item, sens in zip(items.ids, items.sen_ids, strict=True) for sen in sens[1:]}
        return Queries(items, every_caption=not named.isdisjoint(others), named=bool(named))
    captions = sum(map(len, items.sen_ids))
    if rows not in (len(items.ids), captions):
        raise VttdataError(
            f"The matrix has no ids and {rows:,} rows, but the split has {len(items.ids):,} clips and {captions:,} "
            "captions; use an .npz file with query_ids and video_ids."
        )
    every_caption = rows != len(items.ids)
    return Queries(items, every_caption=every_caption, named=every_caption)


def score_similarity(
    location: str,
    similarity: Similarity,
    items: ClipItems,
    rule: MatchRule = REFUSE,
    relevance: Mapping[str, Mapping[str, float]] | None = None,
) -> tuple[dict[str, ScoreColumn], ItemCounts, list[str]]:
    """Score both directions from a matrix.

    Args:
        location: name of the file, for messages.
        similarity: of queries and videos, in any order.
        items: clips with their captions.
        rule: what happens to missing and unknown queries and videos; the worst score is the last rank.
        relevance: query id -> video id -> relevance by judges.

    Returns:
        Columns by name, such as ``t2v/r@1``; counts of queries; findings.

    Raises:
        VttdataError: if ids do not match, or a similarity is NaN.
    """
    scores, findings = similarity.scores, []
    queries = choose_queries(items, similarity.query_ids, len(scores))
    if similarity.query_ids is None:
        findings.append("The matrix has no ids; its rows and columns are taken to be in the order of the dataset.")
        if scores.shape[1] != len(items.ids):
            raise VttdataError(
                f"{location}: the matrix has {scores.shape[1]:,} columns, but the split has {len(items.ids):,} clips."
            )
    query_ids = queries.ids if similarity.query_ids is None else similarity.query_ids
    video_ids = items.ids if similarity.video_ids is None else similarity.video_ids
    of_queries, of_videos = (
        match_predictions(
            location,
            zip(names, range(len(names)), strict=True),
            expected,
            rule,
            other_split=items.other_split,
            noun=noun,
        )
        for names, expected, noun in ((query_ids, queries.ids, "row"), (video_ids, items.ids, "column"))
    )
    rows, columns = list(of_queries.values), list(of_videos.values)
    if of_queries.counts.unknown or of_videos.counts.unknown:
        kept = [index for index in rows if index is not None], [index for index in columns if index is not None]
        scores = scores[np.ix_(*map(np.array, kept))]
        rows, columns = _renumber(rows), _renumber(columns)
    for start in range(0, len(scores), 4096):
        if (nan := np.argwhere(np.isnan(scores[start : start + 4096]))).size:
            row, column = nan[0].tolist()
            query, video = queries.ids[rows.index(start + row)], items.ids[columns.index(column)]
            raise VttdataError(f"{location}: the similarity of {query!a} and {video!a} is not a number (NaN).")
    result: dict[str, ScoreColumn] = {}
    every_video = np.arange(len(items.ids))
    for suffix, relevant in queries.relevances(items, relevance):
        judged = suffix == "-judged"
        text_to_video = _rank(relevant, rows, columns, scores, rank_rows)
        order = np.lexsort((relevant.queries, relevant.videos))
        swapped = Relevant(relevant.videos[order], relevant.queries[order], relevant.gains[order])
        video_to_text = _rank(swapped, columns, rows, scores, rank_columns)
        if not suffix:
            findings += _describe_ties(len(queries.ids), text_to_video, "text to video")
            findings += _describe_ties(len(items.ids), video_to_text, "video to text")
            has_row = np.array([row is not None for row in rows])
            has_column = np.array([column is not None for column in columns])[queries.videos]
            findings += _describe_reversal(
                text_to_video, has_row & has_column, queries.videos, np.full(len(queries.ids), len(columns))
            )
        result |= measure_ranks(f"t2v{suffix}", text_to_video, queries.videos, queries.ids, judged=judged)
        result |= measure_ranks(f"v2t{suffix}", video_to_text, every_video, judged=judged)
    counts, without_column = of_queries.counts, of_videos.counts.missing
    if without_column:
        findings.append(f"Videos without a column, which come last in every ranking: {without_column:,}.")
    # A query is scored if both its row and the column of its video are there.
    present = np.array([row is not None for row in rows])
    scored = int((present & np.array([column is not None for column in columns])[queries.videos]).sum())
    unknown = counts.unknown + of_videos.counts.unknown
    return result, ItemCounts(counts.expected, scored, counts.expected - scored, unknown), findings


def score_run(
    location: str,
    run: Mapping[str, Mapping[str, float]],
    items: ClipItems,
    rule: MatchRule = REFUSE,
    relevance: Mapping[str, Mapping[str, float]] | None = None,
) -> tuple[dict[str, ScoreColumn], ItemCounts, list[str]]:
    """Score text-to-video retrieval from a run; see `score_similarity`.

    Videos that the run leaves out of a ranking share the places after it.
    """
    queries = choose_queries(items, list(run), len(run))
    matched = match_predictions(location, run.items(), queries.ids, rule, other_split=items.other_split, noun="ranking")
    names = dict.fromkeys(video for ranking in run.values() for video in ranking)
    # A run need not list every video.
    listed = MatchRule("worst", rule.unknown)
    videos = match_predictions(
        location,
        zip(names, names, strict=True),
        items.ids,
        listed,
        other_split=items.other_split,
        noun="ranked video",
    )
    # Files may name videos with their endings.
    number = {name: index for index, name in enumerate(videos.values) if name is not None}
    rankings = [
        {number[video]: score for video, score in (ranking or {}).items() if video in number}
        for ranking in matched.values
    ]
    counts = replace(matched.counts, unknown=matched.counts.unknown + videos.counts.unknown)
    findings = ["A run ranks videos for texts, so only text-to-video retrieval is scored."]
    lengths = [len(ranking) for ranking, given in zip(rankings, matched.values, strict=True) if given is not None]
    unlisted = sum(
        given is not None and video not in ranking
        for ranking, given, video in zip(rankings, matched.values, queries.videos.tolist(), strict=True)
    )
    if unlisted:
        findings.append(
            f"Rankings were cut: they list {min(lengths):,} to {max(lengths):,} of {len(items.ids):,} videos, and "
            f"{unlisted:,} of {len(lengths):,} lack the query's own video. It counts as if it shared the places behind "
            "the cut in mdr and mnr, and as not found in mrr, ndcg and recall, which are therefore not comparable with "
            "those of whole rankings."
        )
    result: dict[str, ScoreColumn] = {}
    for suffix, relevant in queries.relevances(items, relevance):
        ranks = rank_run(rankings, len(items.ids), *relevant)
        if not suffix:
            findings += _describe_ties(len(queries.ids), ranks, "text to video")
            findings += _describe_reversal(ranks, ranks.found, queries.videos, np.array(list(map(len, rankings))))
        result |= measure_ranks(f"t2v{suffix}", ranks, queries.videos, queries.ids, judged=suffix == "-judged")
    return result, counts, findings


def _describe_ties(queries: int, ranks: RelevantRanks, direction: str) -> list[str]:
    ties = BestRanks(ranks).count_ties()
    finding = (
        f"Ties, {direction}: in {ties:,} of {queries:,} rankings the best relevant item scores the same as others; "
        "measures are expectations over their orders."
    )
    return [finding] if ties else []


def _describe_reversal(ranks: RelevantRanks, scored: Flags, videos: Integers, lengths: Integers) -> list[str]:
    """Return a sentence where the ranks of own videos are worse than guessing, by one query of each video.

    Args:
        ranks: of the own video of each query, q.
        scored: whether it is in the ranking of the query, q.
        videos: own video of each query, q.
        lengths: number of videos in the ranking of each query, q.
    """
    chosen = np.flatnonzero(scored)
    chosen = chosen[np.unique(videos[chosen], return_index=True)[1]]
    rank, length = (ranks.above + (ranks.tied + 1) / 2)[chosen], lengths[chosen]
    if not is_worse_than_guessing(-rank, -(length + 1) / 2, (length**2 - 1) / 12):
        return []
    hint = "where lower is better, as of distances, losses and ranks, negate the scores"
    means = float(rank.mean()), float((length + 1).mean() / 2)
    return [describe_guessing("the mean rank of a query's own video, text to video,", *means, hint)]


def measure_ranks(
    direction: str,
    ranks: RelevantRanks,
    items: Integers,
    query_ids: Sequence[str] | None = None,
    *,
    judged: bool = False,
) -> dict[str, ScoreColumn]:
    """Return the measures of a direction: R@k, median and mean rank, MRR, nDCG.

    Args:
        direction: first part of the names.
        ranks: of q queries.
        items: item that each query belongs to, q; queries without a relevant item are left out.
        query_ids: of the queries, q; None where they are the items.
        judged: relevance comes from judges: R@k is called S@k, and R-precision is added (Hodosh et al., JAIR 2013).
    """
    best, scored = BestRanks(ranks), np.unique(ranks.query)
    column = partial(
        ScoreColumn, items=items[scored], queries=None if query_ids is None else [query_ids[query] for query in scored]
    )
    rank, found = best.rank(), "s" if judged else "r"
    columns = {f"{found}@{k}": column(ColumnScores.from_means(best.hit(k)), binary=True) for k in CUTS}
    columns["mdr"] = column(MedianScores(rank), lower_is_better=True)
    columns["mnr"] = column(ColumnScores.from_means(rank), lower_is_better=True)
    means = {"mrr": best.reciprocal(), "mrr@10": best.reciprocal(10), "ndcg": ndcg(ranks), "ndcg@10": ndcg(ranks, 10)}
    if judged:
        means["r-precision"] = r_precision(ranks)
    columns |= {name: column(ColumnScores.from_means(values)) for name, values in means.items()}
    return {f"{direction}/{name}": scores for name, scores in columns.items()}


def _renumber(indices: Sequence[int | None]) -> list[int | None]:
    numbers = iter(range(len(indices)))
    return [None if index is None else next(numbers) for index in indices]


def _rank(
    relevant: Relevant,
    queries: Sequence[int | None],
    candidates: Sequence[int | None],
    scores: npt.NDArray[np.floating],
    rank: Callable[..., RelevantRanks],
) -> RelevantRanks:
    """Rank relevant pairs by a matrix that has expected queries and candidates at these places, or lacks them (None).

    Pairs that the matrix lacks come last of all.
    """
    query, candidate = (
        np.array([-1 if index is None else index for index in positions])[numbers]
        for positions, numbers in ((queries, relevant.queries), (candidates, relevant.videos))
    )
    present = np.flatnonzero((query >= 0) & (candidate >= 0))
    present = present[np.argsort(query[present], kind="stable")]
    ranks = rank(scores, query[present], candidate[present])
    above = np.full(len(query), len(candidates) - 1)
    tied = np.ones(len(query), dtype=np.int64)
    above[present], tied[present] = ranks.above, ranks.tied
    every = np.ones(len(query), dtype=np.bool_)
    return RelevantRanks(len(candidates), relevant.queries, above, tied, relevant.gains, every)


TASK = RetrievalTask()
