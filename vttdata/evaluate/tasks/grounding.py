"""Temporal grounding: where in its video a sentence happens, by the overlap of predicted and annotated spans.

A query is a clip's sentence, and its span is that of the clip. tIoU is the length of the intersection of two spans
divided by that of their union. R@n at tIoU m is the share of queries of which one of the first n predictions has a tIoU
of m or more (Gao et al., ICCV 2017), and mIoU the mean tIoU of the first prediction.

Where several annotators marked a span for a sentence, DiDeMo's measure takes those three with which a prediction agrees
best: the rank of a sentence is the mean rank of their spans among the predictions, R@n the share of sentences of rank n
or better, and mIoU the mean tIoU of the first prediction with them (Hendricks et al., ICCV 2017, and its
``utils/eval.py``).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path

import numpy as np

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn, describe_guessing, is_worse_than_guessing
from vttdata.evaluate.items import ClipItems, read_clips
from vttdata.evaluate.predictions import USUAL, Matched, NamedColumns, match_predictions
from vttdata.evaluate.task import EvaluationTask, Scored, Scoring
from vttdata.files.tables import Columns, parse_seconds, read_number, read_table
from vttdata.statistics.scores import ColumnScores

# Seconds from the start of the video.
Span = tuple[float, float]

CUTS = (1, 5)
THRESHOLDS = (Fraction(3, 10), Fraction(1, 2), Fraction(7, 10))

# Of DiDeMo's annotators of a sentence, those that agree best with a prediction.
_ANNOTATORS = 3

# An overlap of floats this near a threshold is computed exactly; its rounding error is far below.
_NEAR = 1e-6

_COLUMNS = Columns(
    ("video_id", "start", "end", "score"), (("video_id",), ("start",), ("end",)), ("start", "end", "score")
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GroundingItems(ClipItems):
    """Clips of a split, and the spans that the annotators of each one marked, n; empty where they are not known."""

    marked: Sequence[Sequence[Span]] = ()


class GroundingTask(EvaluationTask[GroundingItems]):
    """Spans of sentences in their videos."""

    options: Collection[str] = ("train_split",)
    columns: Sequence[str] = ("video_id", "start", "end", "score")

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> GroundingItems:
        """Read the clips of a split, with what annotators marked, if that is known; see `read_clips`."""
        clips = read_clips(dataset, config=config, split=split)
        spans = read_marked_spans(dataset, clips.split)
        known = {each.name: getattr(clips, each.name) for each in fields(clips)}
        return GroundingItems(**known, marked=[spans.get(name, ()) for name in clips.ids] if spans else ())

    def read_predictions(self, path: Path, scoring: Scoring[GroundingItems]) -> Matched:
        """Read spans; see `read_spans`."""
        items, spans = scoring.items, read_spans(path, scoring.columns)
        return match_predictions(
            str(path), spans, items.ids, scoring.rule, other_split=items.other_split, noun="predicted span"
        )

    def score(self, predictions: Matched, scoring: Scoring[GroundingItems]) -> Scored:
        """Score spans; see `score_spans`."""
        columns, findings = score_spans(predictions.values, scoring.items)
        return Scored(columns, predictions.counts, findings)


def read_marked_spans(folder: Path, split: str) -> dict[str, list[tuple[float, float]]]:
    """Return the span that each annotator of a clip marked in its video, seconds; empty without annotators."""
    files = read_layout(folder, needs=None).files.get("moments", {}).get(split, ())
    rows = read_parquet_rows(files, ("video_id", "starts", "ends"), optional=("annotators",))
    return {
        row["video_id"]: list(zip(row["starts"], row["ends"], strict=True)) for row in rows if row.get("annotators")
    }


def temporal_iou(prediction: Span, truth: Span) -> float:
    """Return the intersection over union of two spans; 0 where one of them has no length."""
    intersection = min(prediction[1], truth[1]) - max(prediction[0], truth[0])
    if not intersection > 0:
        return 0.0
    return intersection / (max(prediction[1], truth[1]) - min(prediction[0], truth[0]))


def meets_threshold(prediction: Span, truth: Span, threshold: Fraction) -> bool:
    """Return whether the tIoU of two spans is a threshold, above 0, or more.

    Times are taken as the decimal numbers that they are written as, so that what is exactly at it reaches it.
    """
    overlap = temporal_iou(prediction, truth)
    if abs(overlap - threshold) > _NEAR:
        return overlap > threshold
    (start, end), (true_start, true_end) = ([Fraction(repr(time)) for time in span] for span in (prediction, truth))
    intersection = min(end, true_end) - max(start, true_start)
    return intersection >= threshold * (max(end, true_end) - min(start, true_start))


def read_spans(path: Path, columns: NamedColumns = USUAL) -> Iterator[tuple[str, list[Span]]]:
    """Yield the id of each query and its predicted spans, the best first.

    Args:
        path: CSV, TSV or JSON lines table with `video_id`, `start` and `end` in seconds (or ``m:ss``), a row for each
            span; spans of one query are ranked by the column `score`, highest first, or else by their rows.
        columns: other names of these columns.

    Raises:
        VttdataError: if it cannot be read, a span is not two numbers, starts below 0, or ends before it starts.
    """
    ranked: dict[str, list[tuple[float, int, Span]]] = {}
    for line, row in read_table(path, columns.of(_COLUMNS)):
        start, end = parse_seconds(row["start"]), parse_seconds(row["end"])
        if not (math.isfinite(start) and math.isfinite(end)):
            raise VttdataError(f"{path}:{line}: 'start' and 'end' should be seconds, such as 12.5.")
        if start < 0:
            raise VttdataError(f"{path}:{line}: the span starts at {start:g} s, before its video; set it to 0.")
        if end < start:
            raise VttdataError(f"{path}:{line}: the span ends at {end:g} s, before its start at {start:g} s.")
        if row["video_id"] in (None, ""):
            raise VttdataError(f"{path}:{line}: the column 'video_id' is empty.")
        score = read_number(path, line, "score", row["score"]) if row.get("score") is not None else 0.0
        spans = ranked.setdefault(str(row["video_id"]), [])
        spans.append((-score, len(spans), (start, end)))
    for name, spans in ranked.items():
        yield name, [span for *_, span in sorted(spans)]


def score_spans(
    predictions: Sequence[Sequence[Span] | None], items: GroundingItems
) -> tuple[dict[str, ScoreColumn], list[str]]:
    """Score the predicted spans of each item.

    Args:
        predictions: ranked spans of each item, n; None for a missing prediction, which overlaps with nothing.
        items: clips with their spans and captions.

    Returns:
        Columns ``grounding/r1@0.5`` and so on, ``r5`` only where a query has several predictions, and
        ``grounding/miou``. Where a sentence occurs in other segments of its video, also ``grounding-verbatim/...``, for
        which any of these segments counts; where annotators marked spans, those of `score_marked`. Then findings.
    """
    alike = find_repeated_queries(items)
    truths = [[span] for span in items.spans]
    columns = _measure("grounding", predictions, truths)
    findings = [*describe_units(predictions, items.spans), *describe_order(predictions, items)]
    empty = sum(end <= start for start, end in items.spans)
    if empty:
        findings.append(f"Annotated spans that end where they start or before, which nothing can overlap: {empty:,}.")
    if alike:
        findings.append(
            f"Queries whose sentence occurs in another segment of the same video too: {len(alike):,}; "
            "grounding-verbatim accepts each of these segments."
        )
        accepted = [[items.spans[other] for other in (index, *alike.get(index, ()))] for index in range(len(truths))]
        columns |= _measure("grounding-verbatim", predictions, accepted)
    if items.marked:
        columns |= score_marked(predictions, items.marked)
    return columns, findings


def score_marked(
    predictions: Sequence[Sequence[Span] | None], marked: Sequence[Sequence[Span]]
) -> dict[str, ScoreColumn]:
    """Return ``grounding-annotators/r1``, ``r5`` and ``miou`` of ranked spans by the spans that annotators marked, n.

    A marked span that is not among the predictions of a sentence has no rank, so a sentence whose three best annotators
    have such a span is no hit. ``r5`` is there only where a query has several predictions.
    """
    ranks, overlaps = [], []
    for predicted, spans in zip(predictions, marked, strict=True):
        listed = [(float(start), float(end)) for start, end in predicted or ()]
        found = sorted(listed.index(span) + 1 if span in listed else math.inf for span in spans)
        agreed = sorted((temporal_iou(listed[0], span) if listed else 0.0 for span in spans), reverse=True)
        ranks.append(float(np.mean(found[:_ANNOTATORS])) if found else math.nan)
        overlaps.append(float(np.mean(agreed[:_ANNOTATORS])) if agreed else math.nan)
    rows = np.flatnonzero(np.isfinite(overlaps))
    rank, overlap = np.array(ranks, dtype=np.float64)[rows], np.array(overlaps, dtype=np.float64)[rows]
    several = any(len(spans or ()) > 1 for spans in predictions)
    hits = {cut: (rank <= cut).astype(np.float64) for cut in (CUTS if several else CUTS[:1])}
    columns = {
        f"grounding-annotators/r{cut}": ScoreColumn(ColumnScores.from_means(values), rows, binary=True)
        for cut, values in hits.items()
    }
    return columns | {"grounding-annotators/miou": ScoreColumn(ColumnScores.from_means(overlap), rows)}


def describe_units(predictions: Sequence[Sequence[Span] | None], spans: Sequence[Span]) -> list[str]:
    """Return a sentence where predicted spans are hardly in seconds: shares of videos, or numbers beyond any span."""
    ends = [end for predicted in predictions for _, end in predicted or ()]
    true_ends = [end for _, end in spans if math.isfinite(end)]
    if not ends or not true_ends:
        return []
    if max(ends) <= 1 < float(np.median(true_ends)):
        return [
            f"All predicted spans lie within 0 and 1, but annotated ones end at up to {max(true_ends):g} s; spans are "
            "in seconds, so multiply shares of a video by its length."
        ]
    if float(np.median(ends)) > 2 * max(true_ends):
        return [
            f"Most predicted spans end after {2 * max(true_ends):g}, but annotated ones end at up to "
            f"{max(true_ends):g} s; spans are in seconds, not in frames or milliseconds."
        ]
    return []


def describe_order(predictions: Sequence[Sequence[Span] | None], items: ClipItems) -> list[str]:
    """Return a sentence where the first span of a query overlaps less than a span of it that is drawn."""
    overlaps = [
        [temporal_iou(span, truth) for span in spans]
        for spans, truth in zip(predictions, items.spans, strict=True)
        if spans is not None and len(spans) > 1
    ]
    first, mean, variance = (np.array(list(map(each, overlaps))) for each in (lambda row: row[0], np.mean, np.var))
    if not is_worse_than_guessing(first, mean, variance):
        return []
    hint = "spans are ranked by 'score', highest first, so negate a rank or a loss, or leave it out"
    return [describe_guessing("the mean tIoU of the first spans", float(first.mean()), float(mean.mean()), hint)]


def find_repeated_queries(items: ClipItems) -> Mapping[int, Sequence[int]]:
    """Return the numbers of items with a caption of another item of their source and another span -> those items."""
    by_text: dict[tuple[int, str], list[int]] = defaultdict(list)
    for index, (source, texts) in enumerate(zip(items.sources.tolist(), items.references, strict=True)):
        for text in dict.fromkeys(texts):
            by_text[source, text].append(index)
    alike: dict[int, dict[int, None]] = defaultdict(dict)
    for indices in by_text.values():
        for index in indices if len(indices) > 1 else ():
            others = (other for other in indices if items.spans[other] != items.spans[index])
            alike[index] |= dict.fromkeys(others)
    return {index: list(others) for index, others in sorted(alike.items()) if others}


def _measure(
    family: str, predictions: Sequence[Sequence[Span] | None], truths: Sequence[Sequence[Span]]
) -> dict[str, ScoreColumn]:
    overlaps = [
        [max(temporal_iou(span, truth) for truth in accepted) for span in spans or ()]
        for spans, accepted in zip(predictions, truths, strict=True)
    ]
    every = np.arange(len(overlaps))
    several = any(len(values) > 1 for values in overlaps)
    columns = {}
    for cut in CUTS if several else CUTS[:1]:
        for threshold in THRESHOLDS:
            hits = [
                any(meets_threshold(span, truth, threshold) for span in (spans or ())[:cut] for truth in accepted)
                for spans, accepted in zip(predictions, truths, strict=True)
            ]
            column = ScoreColumn(ColumnScores.from_means(np.array(hits, dtype=float)), every, binary=True)
            columns[f"{family}/r{cut}@{float(threshold)}"] = column
    first = np.array([values[0] if values else 0.0 for values in overlaps])
    columns[f"{family}/miou"] = ScoreColumn(ColumnScores.from_means(first), every)
    return columns


TASK = GroundingTask()
