"""Dense captioning: the segments of a video and a sentence for each, by the rules of the challenge, and SODA.

Sentences are compared by the program of the ActivityNet challenge (Krishna et al., ICCV 2017): at a tIoU t, a predicted
sentence is paired with that of every annotated segment with which its own overlaps by t or more, of all annotators, and
where there is none with a word that nobody wrote. A metric scores the pairs of a video as a corpus of their own; scores
are averaged over videos, and over t of .3, .5, .7 and .9. How segments lie beside each other is told by
`vttdata.evaluate.segments`, among it SODA, whose program takes the annotated sentence for the one that METEOR scores,
and the predicted one for the reference.

Paragraphs are the sentences of a video in one text, scored against those of all annotators (Park et al., CVPR 2019).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import Items, describe_items, read_clips
from vttdata.evaluate.java_scores import JavaError
from vttdata.evaluate.metric import CaptioningMetric, load_metric
from vttdata.evaluate.predictions import USUAL, Matched, NamedColumns, match_predictions, read_strict_json
from vttdata.evaluate.segments import (
    TIOUS,
    Paragraph,
    Segment,
    average_tious,
    order_of_starts,
    overlaps,
    score_alignments,
    score_extents,
)
from vttdata.evaluate.task import EvaluationTask, Scored, Scoring
from vttdata.evaluate.tasks.grounding import describe_units
from vttdata.export.reader import DatasetReader
from vttdata.files.tables import Columns, open_text, parse_seconds, read_table
from vttdata.json_types import Row
from vttdata.statistics.arrays import Flags, Floats, Integers
from vttdata.statistics.scores import ColumnScores
from vttdata.text.tokenizers import load_tokenizer

MAX_SEGMENTS = 1000
"""Predicted segments of a video that count; the challenge's limit."""

_CELLS = 32
_ENGLISH = "ptb-3.4.1"
# What the challenge's program of 2018 compares a sentence with that overlaps with nothing; three tokens.
_PLACEHOLDER_2018 = "abc123!@#"
_NOT_ASCII, _NOT_LETTERS = re.compile(r"[^\x00-\x7f]"), re.compile("[^a-zA-Z]")
_COLUMNS = Columns(
    ("video_id", "start", "end", "timestamp", "sentence", "caption"),
    (("video_id",), ("start", "timestamp"), ("end", "timestamp"), ("sentence", "caption")),
    ("start", "end"),
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DenseItems(Items):
    """Videos of a split, n.

    Fields:
        paragraphs: segments of each annotator of a video, in the order of the dataset.
        first_clips: a clip of each video.
        seconds: length of each video; NaN where it is not known.
    """

    paragraphs: Sequence[Sequence[Paragraph]]
    first_clips: Sequence[str]
    seconds: Sequence[float]

    @property
    def clip_ids(self) -> Sequence[str]:
        """A clip of each video, n."""
        return self.first_clips

    @property
    def clip_config(self) -> str:
        """Configuration of the clips."""
        return self.config

    @property
    def captions(self) -> Sequence[Sequence[str]]:
        """Sentences about each video, n."""
        return [[each.sentence for each in chain(*paragraphs)] for paragraphs in self.paragraphs]

    @property
    def facts(self) -> Mapping[str, object]:
        """Least and greatest number of annotators of a video."""
        numbers = sorted({len(paragraphs) for paragraphs in self.paragraphs})
        return {"refs": f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else numbers[0]}

    def known_lengths(self) -> Sequence[float]:
        """Return the length of each video, seconds.

        Raises:
            VttdataError: if that of a video is not known.
        """
        unknown = [name for name, seconds in zip(self.ids, self.seconds, strict=True) if math.isnan(seconds)]
        if unknown:
            raise VttdataError(f"The lengths of {len(unknown):,} videos are not known, such as {unknown[0][:80]!a}.")
        return self.seconds

    def show(self, index: int) -> Sequence[str]:
        """Return the annotated segments of a video as lines of a timeline."""
        return self.draw(index, [*chain(*self.paragraphs[index])])

    def draw(self, index: int, segments: Paragraph) -> list[str]:
        """Return a line for each segment: where it lies in the video, its times, its sentence."""
        ends = [each.end for each in chain(*self.paragraphs[index])]
        length = max([self.seconds[index]] if math.isfinite(self.seconds[index]) else ends) or 1.0
        lines = []
        for start, end, sentence in segments:
            first = min(int(start / length * _CELLS), _CELLS - 1)
            last = min(max(math.ceil(end / length * _CELLS), first + 1), _CELLS)
            bar = "░" * first + "█" * (last - first) + "░" * (_CELLS - last)
            lines.append(f"{bar} {start:g} to {end:g} s: {sentence.strip()}")
        return lines


class DenseCaptioningTask(EvaluationTask[DenseItems]):
    """Segments and sentences of videos."""

    options: Collection[str] = ("train_split", "human")
    columns: Sequence[str] = ("video_id", "sentence", "start", "end", "timestamp")
    headline = "cider-d"
    solves_items = False

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return whether a JSON file begins with sentences that have a time."""
        if predictions is None or predictions.suffix.lower() not in (".json", ".jsonl") or not predictions.is_file():
            return False
        with open_text(predictions) as stream:
            head = stream.read(4096)
        return '"timestamp"' in head and ('"sentence"' in head or '"caption"' in head)

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> DenseItems:
        """Read the videos of a split, whose clips are their segments.

        Raises:
            VttdataError: if a clip has no start or no end.
        """
        clips, reader = read_clips(dataset, config=config, split=split), DatasetReader(dataset)
        if np.isnan(clips.spans).any():
            name = clips.ids[int(np.isnan(clips.spans).any(axis=1).argmax())]
            raise VttdataError(f"{dataset}: the clip {name!a} of '{clips.split}' has no start or no end.")
        names = ("video_id", "sen_id", "annotator")
        rows = chain.from_iterable(reader.rows("captions", part, names) for part in reader.splits("captions"))
        annotators = {(row["video_id"], row["sen_id"]): row["annotator"] for row in rows}
        by_video: list[dict[object, list[Segment]]] = [{} for _ in clips.source_ids]
        first = [-1] * len(by_video)
        for index, (name, video) in enumerate(zip(clips.ids, clips.sources.tolist(), strict=True)):
            first[video] = index if first[video] < 0 else first[video]
            for number, sentence in zip(clips.sen_ids[index], clips.references[index], strict=True):
                paragraph = by_video[video].setdefault(annotators.get((name, number)), [])
                paragraph.append(Segment(*clips.spans[index], sentence))
        lengths = {
            row["source_id"]: row["seconds"] or row["stated_seconds"]
            for part in reader.configs.get("sources", ())
            for row in reader.rows("sources", part, ("source_id", "seconds", "stated_seconds"))
        }
        return DenseItems(
            **describe_items(reader, clips.config, clips.split, clips.source_ids, clips.source_ids),
            paragraphs=[list(paragraphs.values()) for paragraphs in by_video],
            first_clips=[clips.ids[index] for index in first],
            seconds=[lengths.get(video) or math.nan for video in clips.source_ids],
            categories=[clips.categories[index] for index in first],
            languages=clips.languages,
            groupings={key: [labels[index] for index in first] for key, labels in clips.groupings.items()},
            notes=clips.notes,
        )

    def read_predictions(self, path: Path, scoring: Scoring[DenseItems]) -> Matched:
        """Read segments; see `read_segments`."""
        segments = read_segments(path, scoring.columns)
        return match_predictions(str(path), segments, scoring.items.ids, scoring.rule, noun="predicted video")

    def score(self, predictions: Matched, scoring: Scoring[DenseItems]) -> Scored:
        """Score segments and sentences; a missing video has none."""
        items = scoring.items
        given = [each or [] for each in predictions.values]
        counted = [each[:MAX_SEGMENTS] for each in given]
        failed: dict[str, str] = {}
        scores = score_segments(counted, items.paragraphs, scoring, failed)
        columns = {name: ScoreColumn(values, np.arange(len(counted))) for name, values in scores.items()}
        pairs = [*zip(given, items.seconds, strict=True)]
        numbers = {
            f"Videos with more than {MAX_SEGMENTS:,} predicted segments, of which the first count": sum(
                len(segments) > MAX_SEGMENTS for segments in given
            ),
            "Videos with a prediction without segments": sum(each == [] for each in predictions.values),
            "Predicted segments without a word": sum(not each.sentence.strip() for each in chain(*given)),
            "Predicted segments that end more than a second after their video": sum(
                each.end > seconds + 1 for segments, seconds in pairs for each in segments
            ),
            "Videos whose predicted segments are not in the order of their starts, in which SODA takes them; "
            "paragraphs have them as they are in the file": sum(
                order_of_starts(each) != [*range(len(each))] for each in given
            ),
        }
        findings = [f"{what}: {number:,}." for what, number in numbers.items() if number]
        spans = [[each[:2] for each in segments] for segments in given]
        findings += describe_units(spans, [each[:2] for each in chain(*chain(*items.paragraphs))])
        versions = {} if failed else {"meteor": "1.5"}
        settings = {"tok": scoring.tokenizer, "tiou": "0.3,0.5,0.7,0.9", **versions, "v": "1"}
        shown = [items.draw(place, segments) for place, segments in enumerate(given)]
        return Scored(columns, predictions.counts, findings, counted, failed, settings, texts=shown)

    def score_human_ceiling(self, scored: Scored, scoring: Scoring[DenseItems]) -> dict[tuple[str, str], ScoreColumn]:
        """Score each annotator against the others of the video, and the system against as many.

        Videos of one annotator are left out.

        Raises:
            VttdataError: if every video has only one.
        """
        several = [index for index, each in enumerate(scoring.items.paragraphs) if len(each) > 1]
        paragraphs = [scoring.items.paragraphs[index] for index in several]
        if not several:
            raise VttdataError("Every video has one annotator only, who cannot be scored against others.")
        scores: dict[tuple[str, str], list[ColumnScores]] = {}
        for rank in range(min(map(len, paragraphs))):
            others = [[*each[:rank], *each[rank + 1 :]] for each in paragraphs]
            by_author: dict[str, list[Paragraph]] = {
                "human": [each[rank] for each in paragraphs],
                "system": [scored.captions[index] for index in several],
            }
            for who, segments in by_author.items():
                for name, column in score_segments(segments, others, scoring, {}).items():
                    scores.setdefault((who, name), []).append(column)
        rows = np.array(several)
        return {key: ScoreColumn(ColumnScores.average(columns), rows) for key, columns in scores.items()}


def read_segments(path: Path, columns: NamedColumns = USUAL) -> Iterator[tuple[str, list[Segment]]]:
    """Yield the id of each video and its predicted segments, in the order of the file.

    Args:
        path: JSON as the challenge has it, ``{"results": {video: [{"sentence", "timestamp"}]}}``, or the inner object
            alone; or a table with `video_id`, `sentence` (or `caption`), and `start` and `end` in seconds or
            `timestamp`, a row for each segment.
        columns: other names of the columns of a table.

    Raises:
        VttdataError: if it cannot be read, a sentence is no text, or a segment is not two numbers, starts below 0, or
            ends before it starts.
    """
    content = read_strict_json(path) if path.suffix.lower() == ".json" else None
    results = content.get("results", content) if isinstance(content, dict) else None
    if isinstance(results, dict) and results and all(isinstance(each, list) for each in results.values()):
        columns.refuse(path)
        for video, rows in results.items():
            yield video, [_segment(f"{path}: {video[:80]}, segment {number}", row) for number, row in enumerate(rows)]
        return
    segments: dict[str, list[Segment]] = {}
    for line, row in read_table(path, columns.of(_COLUMNS)):
        segments.setdefault(str(row["video_id"]), []).append(_segment(f"{path}:{line}", row))
    yield from segments.items()


def _segment(location: str, row: Row) -> Segment:
    if not isinstance(row, dict):
        raise VttdataError(f"{location}: {str(row)[:60]} is no object with 'sentence' and 'timestamp'.")
    span = row.get("timestamp", [row.get("start"), row.get("end")])
    # An empty cell of a table is None.
    sentence = next((row[name] or "" for name in ("sentence", "caption") if name in row), None)
    times = [parse_seconds(time) for time in span] if isinstance(span, list) else []
    if len(times) != 2 or not all(map(math.isfinite, times)):
        raise VttdataError(f"{location}: {str(span)[:60]} is no start and end in seconds, such as [0, 12.5].")
    if not 0 <= times[0] <= times[1]:
        raise VttdataError(f"{location}: the segment {times[0]:g} to {times[1]:g} s starts below 0 or after its end.")
    if not isinstance(sentence, str):
        raise VttdataError(f"{location}: 'sentence' is no text.")
    return Segment(times[0], times[1], sentence)


class _Pairs(NamedTuple):
    """Pairs of a predicted and an annotated sentence that overlap, and of a predicted one and the placeholder.

    Fields:
        texts: both sentences.
        video: number of the video.
        overlap: tIoU; of a placeholder the greatest of the predicted sentence.
        is_placeholder: whether the second sentence is the placeholder.
    """

    texts: Sequence[tuple[str, str]]
    video: Integers
    overlap: Floats
    is_placeholder: Flags

    def at(self, tiou: float) -> Integers:
        """Return the rows that are compared at a tIoU."""
        return np.flatnonzero((self.overlap >= tiou) != self.is_placeholder)


def score_segments(
    predictions: Sequence[Paragraph],
    references: Sequence[Sequence[Paragraph]],
    scoring: Scoring[Any],
    failed: dict[str, str],
) -> dict[str, ColumnScores]:
    """Return the columns of the predicted segments of n videos against the paragraphs of their annotators.

    Returns:
        Column -> scores of the videos. Of sentences ``meteor``, ``cider-d`` and ``bleu4``, at each tIoU such as
        ``meteor@0.3``, by the challenge's present program, ``meteor-2018`` and ``bleu4-2018`` by that of 2018, and
        ``cider-d-corpus``, whose document frequencies are of all pairs instead of those of a video; of segments
        `score_extents`; of both the F-measures of SODA, ``soda-d`` by tIoU alone, ``soda-c``, ``soda-c-best`` and
        ``soda-c-mean`` with METEOR of the annotated sentence against the predicted one, as SODA's program calls it, and
        ``soda-c-turned`` with that of the predicted one; and ``paragraph/meteor`` and so on. Why METEOR, and with it
        ``soda-c``, cannot be computed is put into `failed`.
    """
    is_english = scoring.tokenizer == _ENGLISH
    tokenize = load_tokenizer(scoring.tokenizer)
    sentences = {each.sentence for each in chain(*predictions, *chain(*references))}
    cut = {text: " ".join(tokenize(_NOT_ASCII.sub(" ", text) if is_english else text)) for text in sentences}
    placeholder = "x"
    while any(placeholder in text for text in cut.values()):
        placeholder += "x"
    matrices = [overlaps(given, [*chain(*each)]) for given, each in zip(predictions, references, strict=True)]
    pairs = _pair_sentences(matrices, predictions, references, cut, placeholder)
    old = " ".join(tokenize(_PLACEHOLDER_2018))
    # Paragraphs are cut by other rules.
    words = {text: " ".join(_NOT_LETTERS.sub(" ", text).lower().split()) if is_english else cut[text] for text in cut}
    texts = [" ".join(words[each.sentence] for each in given) for given in predictions]
    by_annotator = [[" ".join(words[each.sentence] for each in one) for one in of_video] for of_video in references]
    # Pairs, pairs with the placeholder of 2018, pairs turned round, and paragraphs, in one run of METEOR's program.
    number, met = len(pairs.texts), np.flatnonzero(~pairs.is_placeholder)
    turned = [(truth, text) for text, truth in (pairs.texts[row] for row in met.tolist())]
    together = [*pairs.texts, *((text, old) for text, _ in pairs.texts), *turned]
    candidates = [*(text for text, _ in together), *texts]
    compared = [*([text] for _, text in together), *by_annotator]
    columns = score_extents(matrices, references) | {"soda-d": score_alignments(matrices, predictions, references)[0]}
    for name in ("meteor", "bleu4"):
        if reason := load_metric(name, scoring.tokenizer).unavailable():
            failed[name] = reason
            continue
        try:
            found = load_metric(name, "none", scoring.cache).score(candidates, compared)[name]
        except JavaError as error:
            failed[name] = str(error)
            continue
        in_2018 = np.arange(number) + number * pairs.is_placeholder
        for column, rows in ((name, np.arange(number)), (f"{name}-2018", in_2018)):
            part = found.select(rows)
            columns |= average_tious(column, [_sum_pairs(part, pairs, tiou, len(texts)) for tiou in TIOUS])
        columns[f"paragraph/{name}"] = found.select(np.arange(len(together), len(candidates)))
        if name == "meteor":
            similarity = found.items[2 * number : len(together)]
            names = ("soda-c", "soda-c-best", "soda-c-mean")
            columns |= zip(names, score_alignments(matrices, predictions, references, similarity), strict=True)
            similarity = found.items[met]
            columns["soda-c-turned"] = score_alignments(matrices, predictions, references, similarity)[0]
    cider = load_metric("cider-d", "none")
    columns |= average_tious("cider-d", [_score_alone(cider, pairs, tiou, len(texts)) for tiou in TIOUS])
    columns |= average_tious("cider-d-corpus", [_score_together(cider, pairs, tiou, len(texts)) for tiou in TIOUS])
    columns["paragraph/cider-d"] = cider.score(texts, by_annotator)["cider-d"]
    return columns


def _pair_sentences(
    matrices: Sequence[Floats],
    predictions: Sequence[Paragraph],
    references: Sequence[Sequence[Paragraph]],
    cut: Mapping[str, str],
    placeholder: str,
) -> _Pairs:
    texts: list[tuple[str, str]] = []
    rows: list[tuple[int, float, bool]] = []
    for video, (matrix, given, paragraphs) in enumerate(zip(matrices, predictions, references, strict=True)):
        truths = [cut[each.sentence] for each in chain(*paragraphs)]
        for each, values in zip(given, matrix.tolist(), strict=True):
            met = [(value, text) for value, text in zip(values, truths, strict=True) if value > 0]
            met.append((max(values), placeholder))
            texts += [(cut[each.sentence], text) for _, text in met]
            rows += [(video, value, text == placeholder) for value, text in met]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return _Pairs(texts, columns[0].astype(np.int64), columns[1], columns[2].astype(np.bool_))


def _sum_pairs(scores: ColumnScores, pairs: _Pairs, tiou: float, number: int) -> Floats:
    """Return the corpus score of the pairs of each video, `number`; 0 of a video without any."""
    rows = pairs.at(tiou)
    sums = [np.bincount(pairs.video[rows], column, number) for column in scores.statistics[rows].T]
    counts = np.bincount(pairs.video[rows], minlength=number)
    return np.nan_to_num(scores.corpus(np.stack(sums, axis=1), counts))


def _score_alone(cider: CaptioningMetric, pairs: _Pairs, tiou: float, number: int) -> Floats:
    """Return CIDEr-D with document frequencies of the pairs of each video, as the challenge has it."""
    values = np.zeros(number)
    rows = pairs.at(tiou)
    videos, starts = np.unique(pairs.video[rows], return_index=True)
    for video, chosen in zip(videos, np.split(rows, starts[1:]), strict=False):
        given, others = zip(*(pairs.texts[row] for row in chosen), strict=True)
        # Every word of a single pair is in all documents, and has no weight.
        values[video] = cider.score(given, [[text] for text in others])["cider-d"].score if len(chosen) > 1 else 0.0
    return values


def _score_together(cider: CaptioningMetric, pairs: _Pairs, tiou: float, number: int) -> Floats:
    """Return the mean CIDEr-D of the pairs of each video with document frequencies of those of all videos."""
    rows = pairs.at(tiou)
    items = cider.score([pairs.texts[row][0] for row in rows], [[pairs.texts[row][1]] for row in rows])["cider-d"].items
    sums, counts = (np.bincount(pairs.video[rows], weights, number) for weights in (items, None))
    return sums / np.maximum(counts, 1)


TASK = DenseCaptioningTask()
