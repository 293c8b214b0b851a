"""Moments: all windows of a video that a query is about, and its highlights, by the rules of QVHighlights.

R1 at tIoU t is the share of queries whose first window overlaps by t or more with the true window that it overlaps with
most. Average precision is that of detection: windows in the order of their scores, the first 10 of a query, each take
the true window of the highest tIoU that no earlier one took; it is averaged over queries, and for ``map`` over tIoU .5
to .95 in steps of .05. ``short``, ``middle`` and ``long`` are the queries with true windows of more than 0, 10 and 30 s
up to 10, 30 and 150 s, and only these windows count there (Lei et al., NeurIPS 2021, and its ``standalone_eval``).

Highlights are parts of 2 s with the saliency of each worker; from 2 (fair), 3 (good) or 4 (very good) on they count.
``hit1`` is the share of queries whose part of the highest predicted saliency counts for a worker, and ``map`` the mean
average precision over workers and queries.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import Items, describe_items
from vttdata.evaluate.predictions import USUAL, Matched, NamedColumns, match_predictions
from vttdata.evaluate.task import EvaluationTask, Scored, Scoring
from vttdata.evaluate.tasks.grounding import Span, describe_units, read_marked_spans, read_spans
from vttdata.export.reader import DatasetReader
from vttdata.files.tables import read_table
from vttdata.json_types import Row
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores

THRESHOLDS = tuple(percent / 100 for percent in range(50, 100, 5))
LENGTHS: Mapping[str, tuple[float, float]] = {"short": (0, 10), "middle": (10, 30), "long": (30, 150)}
LEVELS: Mapping[str, int] = {"fair": 2, "good": 3, "very-good": 4}
MAX_WINDOWS = 10
PART_SECONDS = 2
WORKERS = 3
"""Number of people who judged the saliency of each part of a video."""
TABLE = "moments"


@dataclass(frozen=True, slots=True)
class MomentQuery:
    """True windows of a query, the judged parts of its video with three judgments each, and its number of parts."""

    spans: Sequence[tuple[float, float]]
    salient: Sequence[int]
    saliency: Sequence[int]
    parts: int

    def judgments(self) -> Floats:
        """Return the saliency of all parts by each worker, parts x workers; 0 where nobody was asked."""
        values = np.zeros((self.parts, WORKERS))
        inside = [index for index, part in enumerate(self.salient) if part < self.parts]
        judged = np.array(self.saliency, dtype=float).reshape(-1, WORKERS)
        values[[self.salient[index] for index in inside]] = judged[inside]
        return values


class Windows(NamedTuple):
    """Prediction for a query: windows, the best first, and the saliency of each part of the video, if there is one."""

    spans: Sequence[Span]
    saliency: Sequence[float] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MomentItems(Items):
    """Queries of a split with their windows and sentences, n; their ids are ``VIDEO#SEN_ID``."""

    queries: Sequence[MomentQuery]
    sentences: Sequence[str]

    @property
    def clip_ids(self) -> Sequence[str]:
        """Clip of each query, n."""
        return [name.rpartition("#")[0] for name in self.ids]

    def show(self, index: int) -> Sequence[str]:
        """Return the sentence of a query."""
        return [self.sentences[index]]


class MomentsTask(EvaluationTask[MomentItems]):
    """Windows and highlights of queries."""

    default_config = TABLE
    options: Collection[str] = ("train_split",)
    columns: Sequence[str] = ("video_id", "start", "end", "score")

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return whether the dataset has queries with several windows, all of which are true."""
        if not (dataset / TABLE).is_dir():
            return False
        return not any(read_marked_spans(dataset, split) for split in DatasetReader(dataset).splits(TABLE))

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> MomentItems:
        """Read the queries of a split.

        Raises:
            VttdataError: if the dataset has none, or there is no such split.
        """
        reader = DatasetReader(dataset)
        if config != TABLE or config not in reader.configs:
            raise VttdataError(f"{dataset}: '{config}' holds no queries with windows; the table of them is '{TABLE}'.")
        split = reader.single_split(config, split)
        rows = list(reader.rows(config, split))
        durations = {row["video_id"]: row["duration"] for row in reader.rows("clips", split, ["video_id", "duration"])}
        ids = [f"{row['video_id']}#{row['sen_id']}" for row in rows]
        sentences = {f"{row['video_id']}#{row['sen_id']}": row["caption"] for row in reader.rows("captions", split)}
        return MomentItems(
            **describe_items(reader, config, split, ids, [row["source_id"] for row in rows]),
            table=TABLE,
            sentences=[sentences.get(name, "") for name in ids],
            queries=[_query(row, durations.get(row["video_id"]) or 0.0) for row in rows],
        )

    def read_predictions(self, path: Path, scoring: Scoring[MomentItems]) -> Matched:
        """Read windows; see `read_windows`."""
        windows = read_windows(path, scoring.items.ids, scoring.columns)
        return match_predictions(str(path), windows, scoring.items.ids, scoring.rule, noun="prediction")

    def score(self, predictions: Matched, scoring: Scoring[MomentItems]) -> Scored:
        """Score windows and saliency; a missing prediction is one without either."""
        predicted = [each or Windows(()) for each in predictions.values]
        columns = score_windows(predicted, scoring.items.queries)
        findings = describe_units(
            [each.spans for each in predicted], [span for query in scoring.items.queries for span in query.spans]
        )
        if any(each.saliency for each in predicted):
            columns |= score_highlights(predicted, scoring.items.queries)
        more = sum(len(each.spans) > MAX_WINDOWS for each in predicted)
        if more:
            findings.append(
                f"Queries with more than {MAX_WINDOWS} predicted windows, of which the first count: {more:,}."
            )
        return Scored(columns, predictions.counts, findings)


def _query(row: Row, seconds: float) -> MomentQuery:
    spans = list(zip(row["starts"], row["ends"], strict=True))
    if len(row["saliency"]) != WORKERS * len(row["salient"]):
        raise VttdataError(f"The query {row['sen_id']} of {row['video_id']} has not {WORKERS} judgments of each part.")
    return MomentQuery(spans, row["salient"], row["saliency"], int(seconds / PART_SECONDS))


def read_windows(path: Path, ids: Sequence[str], columns: NamedColumns = USUAL) -> Iterator[tuple[str, Windows]]:
    """Yield the id of each query with its predicted windows and saliency.

    Args:
        path: JSON lines as QVHighlights' systems write them, with ``qid``, ``pred_relevant_windows`` (start, end,
            score) and ``pred_saliency_scores``; or a table of spans as of grounding, whose ``video_id`` is
            ``VIDEO#SEN_ID``.
        ids: those of the queries, ``VIDEO#SEN_ID``.
        columns: other names of the columns of a table of spans.

    Raises:
        VttdataError: if it cannot be read, or a window is none.
    """
    rows = read_table(path)
    first = next(rows, None)
    if first is None or "pred_relevant_windows" not in first[1]:
        yield from ((name, Windows(spans)) for name, spans in read_spans(path, columns))
        return
    columns.refuse(path)
    by_number = {name.rpartition("#")[2]: name for name in ids}
    for line, row in (first, *rows):
        name, location = str(row.get("qid")), f"{path}:{line}"
        windows = [_window(location, window) for window in _listed(path, line, row, "pred_relevant_windows")]
        saliency = [_number(location, value) for value in _listed(path, line, row, "pred_saliency_scores")]
        ranked = sorted(windows, key=lambda window: -window[2])
        yield by_number.get(name, name), Windows([(start, end) for start, end, _ in ranked], saliency)


def _listed(path: Path, line: int, row: Row, column: str) -> list[Any]:
    value = row.get(column)
    if not isinstance(value, list) and value is not None:
        raise VttdataError(f"{path}:{line}: '{column}' is no list.")
    return value or []


def _window(location: str, value: object) -> tuple[float, float, float]:
    if not isinstance(value, list) or len(value) not in (2, 3):
        raise VttdataError(f"{location}: {str(value)[:60]} is no window: start, end and score.")
    start, end, *score = (_number(location, each) for each in value)
    if not 0 <= start <= end:
        raise VttdataError(f"{location}: the window {start:g} to {end:g} s ends before its start, or starts below 0.")
    return start, end, score[0] if score else 0.0


def _number(location: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise VttdataError(f"{location}: {str(value)[:40]!a} is no finite number.")
    return float(value)


def score_windows(predictions: Sequence[Windows], queries: Sequence[MomentQuery]) -> dict[str, ScoreColumn]:
    """Return ``moments/r1@t``, ``moments/map@t`` and ``moments/map`` of all queries, and of each length of windows."""
    columns: dict[str, ScoreColumn] = {}
    overlaps = [
        cross_overlaps(predicted.spans[:MAX_WINDOWS], query.spans).tolist()
        for predicted, query in zip(predictions, queries, strict=True)
    ]
    for name, (above, limit) in {"": (-math.inf, math.inf), **LENGTHS}.items():
        hits, precisions, items = [], [], []
        for index, (rows_of_query, query) in enumerate(zip(overlaps, queries, strict=True)):
            chosen = [place for place, span in enumerate(query.spans) if above < span[1] - span[0] <= limit]
            if chosen or not name:
                ranked = [[row[place] for place in chosen] for row in rows_of_query]
                best = max(ranked[0], default=0.0) if ranked else 0.0
                hits.append([best >= threshold for threshold in THRESHOLDS])
                precisions.append(detection_precisions(ranked, len(chosen), THRESHOLDS))
                items.append(index)
        if items:
            family, rows = f"moments{'-' if name else ''}{name}", np.array(items)
            r1, precision = np.array(hits, dtype=float), np.array(precisions)
            for place, threshold in enumerate(THRESHOLDS):
                means = ColumnScores.from_means(r1[:, place])
                columns[f"{family}/r1@{threshold:g}"] = ScoreColumn(means, rows, binary=True)
            columns[f"{family}/map"] = ScoreColumn(ColumnScores.from_means(precision.mean(axis=1)), rows)
            for place, threshold in enumerate(THRESHOLDS):
                columns[f"{family}/map@{threshold:g}"] = ScoreColumn(ColumnScores.from_means(precision[:, place]), rows)
    return columns


def cross_overlaps(spans: Sequence[Span], truths: Sequence[Span]) -> Floats:
    """Return the tIoU of predicted and true windows, n x m; 0 where both have no length."""
    first, second = (np.array(list(each), dtype=float).reshape(-1, 2) for each in (spans, truths))
    start = np.maximum(first[:, None, 0], second[None, :, 0])
    end = np.minimum(first[:, None, 1], second[None, :, 1])
    shared = np.maximum(end - start, 0)
    lengths = (first[:, 1] - first[:, 0])[:, None] + (second[:, 1] - second[:, 0])[None]
    overlaps: Floats = np.divide(shared, lengths - shared, out=np.zeros_like(shared), where=lengths > shared)
    return overlaps


def detection_precisions(overlaps: Sequence[Sequence[float]], number: int, thresholds: Sequence[float]) -> list[float]:
    """Return the average precision of ranked windows at each threshold; 0 without true windows.

    Precision is interpolated: at each recall the highest one at that recall or more.

    Args:
        overlaps: tIoU of each window, the best first, with each true one, n x `number`.
        number: of true windows.
        thresholds: of tIoU, ascending.
    """
    # Most windows reach no threshold, and are no hits at any.
    near = [(rank, row) for rank, row in enumerate(overlaps, 1) if row and max(row) >= thresholds[0]]
    return [_average_precision(near, number, threshold) for threshold in thresholds]


def _average_precision(ranked: Sequence[tuple[int, Sequence[float]]], number: int, threshold: float) -> float:
    taken: set[int] = set()
    precisions: list[float] = []
    for rank, row in ranked:
        reached = [(overlap, truth) for truth, overlap in enumerate(row) if overlap >= threshold and truth not in taken]
        if reached:
            taken.add(max(reached)[1])
            precisions.append(len(taken) / rank)
    highest = total = 0.0
    for precision in reversed(precisions):
        highest = max(highest, precision)
        total += highest
    return total / number if number else 0.0


def score_highlights(predictions: Sequence[Windows], queries: Sequence[MomentQuery]) -> dict[str, ScoreColumn]:
    """Return ``highlights-LEVEL/map`` and ``highlights-LEVEL/hit1`` of the queries; none predicted is saliency 0."""
    rows = np.arange(len(queries))
    judged = [query.judgments() for query in queries]
    saliency = [np.array(each.saliency, dtype=float) for each in predictions]
    precisions, hits = np.zeros((len(queries), len(LEVELS))), np.zeros((len(queries), len(LEVELS)))
    for index, (values, judgments) in enumerate(zip(saliency, judged, strict=True)):
        parts = len(judgments)
        # Parts x levels x workers.
        counts = judgments[:, None] >= np.array([*LEVELS.values()])[None, :, None]
        part = int(values.argmax()) if len(values) else parts
        if part < parts:
            hits[index] = counts[part].any(axis=1)
        if parts:
            # Parts that a prediction lacks have a saliency of 0, and those beyond the video are left out.
            fitted = np.zeros(parts)
            fitted[: len(values)] = values[:parts]
            reached = ranking_precision(fitted, counts.reshape(parts, -1))
            precisions[index] = reached.reshape(len(LEVELS), -1).mean(axis=1)
    columns: dict[str, ScoreColumn] = {}
    for place, level in enumerate(LEVELS):
        columns[f"highlights-{level}/map"] = ScoreColumn(ColumnScores.from_means(precisions[:, place]), rows)
        means = ColumnScores.from_means(hits[:, place])
        columns[f"highlights-{level}/hit1"] = ScoreColumn(means, rows, binary=True)
    return columns


def ranking_precision(values: Floats, counts: np.ndarray[Any, np.dtype[np.bool_]]) -> Floats:
    """Return the average precision of the parts ranked by predicted saliency, for each judge, such as a worker.

    Precision is interpolated, and parts of one value are taken together. Where all parts count it is 1, and where none
    does 0.

    Args:
        values: predicted saliency of n parts, ``(n,)``.
        counts: whether each part counts, n x judges.
    """
    order = np.argsort(-values, kind="stable")
    last = np.flatnonzero(np.append(np.diff(values[order]) != 0, True))
    hits = np.cumsum(counts[order], axis=0)[last]
    precision = np.maximum.accumulate((hits / (last + 1)[:, None])[::-1])[::-1]
    gained = np.diff(hits, axis=0, prepend=0) > 0
    averages: Floats = (precision * gained).sum(axis=0) / np.maximum(gained.sum(axis=0), 1)
    return averages


TASK = MomentsTask()
