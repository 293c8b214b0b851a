"""Items of an evaluation: the clips of a split with their references and sources, or the pairs of a set of foils.

Predictions are matched with exactly these; a report names them by a digest.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import Protocol, is_protocol_file, read_protocol_file
from vttdata.errors import VttdataError, list_choices
from vttdata.evaluate.answers import Asked
from vttdata.evaluate.metric import VideoSpan
from vttdata.export.reader import CaptionCounts, DatasetReader
from vttdata.generate.blind.accuracy import select_references
from vttdata.json_types import Row
from vttdata.statistics.arrays import Floats, Integers
from vttdata.text.questions import MAX_OPTIONS, MIN_OPTIONS, Choices, letters

UPLOADED = "uploaded"
"""Grouping of items by the year in which their source was uploaded."""

WORKERS = 3
"""Number of people who judged the saliency of each part of a video."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Items that predictions are expected for, in the order of the dataset.

    Fields:
        dataset: name of the dataset, or its folder where it has none.
        version: of the dataset.
        config: configuration that the items are read from.
        split: split that the items are read from.
        ids: ``video_id`` of each clip or ``foil_id`` of each pair, n.
        sources: number of each item's source, n.
        source_ids: ids of the sources by their numbers; a clip of an unknown source has one of its own.
        categories: category of each item, or supercategory of a pair; None where it is unknown.
        seconds: length of each clip, NaN where it is unknown; empty for pairs.
        spans: start and end of each clip in its source, NaN where they are unknown; empty for pairs.
        references: human captions of each clip, n; of a pair, for each of its captions, its references.
        sen_ids: number of each reference, as n lists.
        truths: captions of the true text of each pair, n; empty for clips.
        foils: captions of its false text, n; empty for clips.
        text_spans: start and end, in seconds, of what each text of a pair is about; empty where that is not known.
        languages: of the references, as far as known.
        questions: questions with their options and answers, n; empty for clips and pairs.
        queries: queries with their windows, n; empty for other items.
        marked: spans that the annotators of each clip marked, n, where they are known; else empty.
        groupings: name of a further grouping, such as ``place`` -> group of each item, None for none.
        blind: how far the blind attackers together answer each question, NaN where none tried; empty for other items.
        belongs_to: pair or group of each question, None alone; empty for other items.
        other_split: split of ids that belong to other splits of the configuration.
        notes: sentences on what is left out.
    """

    dataset: str
    version: str
    config: str
    split: str
    ids: Sequence[str]
    sources: Integers
    source_ids: Sequence[str]
    categories: Sequence[str | None]
    references: Sequence[Sequence[Any]]
    sen_ids: Sequence[Sequence[int]] = ()
    seconds: Sequence[float] = ()
    spans: Sequence[tuple[float, float]] = ()
    truths: Sequence[Sequence[str]] = ()
    foils: Sequence[Sequence[str]] = ()
    text_spans: Sequence[Sequence[tuple[float, float]]] = ()
    languages: Sequence[str] = ()
    questions: Sequence[Asked] = ()
    queries: Sequence[MomentQuery] = ()
    marked: Sequence[Sequence[tuple[float, float]]] = ()
    groupings: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    blind: Sequence[float] = ()
    belongs_to: Sequence[str | None] = ()
    other_split: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def digest(self) -> str:
        """First 12 hexadecimal digits of the SHA-256 of the sorted ids, one a line."""
        return digest_of(self.ids)

    @property
    def video_ids(self) -> Sequence[str]:
        """Return the clip of each question or query, ``VIDEO#SEN_ID``, n; of other items their ids."""
        if self.questions:
            return [asked.video_id for asked in self.questions]
        return [name.rpartition("#")[0] for name in self.ids] if self.queries else self.ids

    @property
    def clip_ids(self) -> Sequence[str]:
        """Return the clip that each item is about, n."""
        return [self.source_ids[source] for source in self.sources] if self.truths else self.video_ids

    @property
    def videos(self) -> list[VideoSpan]:
        """Return the video of each clip, n; of pairs, that of each of their texts, one pair after the other."""
        if not self.truths:
            return list(map(VideoSpan, self.ids))
        videos = self.clip_ids
        if self.text_spans:
            return [
                VideoSpan(name, *span) for name, spans in zip(videos, self.text_spans, strict=True) for span in spans
            ]
        return [VideoSpan(video) for video, texts in zip(videos, self.truths, strict=True) for _ in texts]


def digest_of(ids: Iterable[str]) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of the sorted ids, one a line."""
    return hashlib.sha256("".join(f"{item}\n" for item in sorted(ids)).encode()).hexdigest()[:12]


def read_clips(folder: Path, *, config: str = "clips", split: str | None = None) -> Items:
    """Read the clips of a split that have human captions.

    `config` is ``clips``, a protocol, or the path of a protocol file; `split` is ``test``, or the only one, if omitted.

    Raises:
        VttdataError: if there is no such configuration or split, or no clip in it has a human caption.
    """
    dataset = DatasetReader(folder)
    dataset.require_captions()
    chosen = _choose_clips(dataset, config, split)
    counts = CaptionCounts()
    rows, without_captions = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for clip, references, repeated in chain.from_iterable(
            dataset.references(*part, Path(scratch), counts) for part in chosen.parts
        ):
            if chosen.position_of is not None and clip["video_id"] not in chosen.position_of:
                continue
            if references:
                rows.append((clip, references))
            without_captions += not references and not repeated
    if not rows:
        raise VttdataError(f"{folder}: no clip of '{chosen.split}' has a human caption, so nothing can be scored.")
    notes = list(counts.notes())
    if without_captions:
        notes.append(f"Clips without a human caption, which cannot be scored: {without_captions:,}.")
    if chosen.position_of is not None:
        position_of = chosen.position_of
        rows.sort(key=lambda row: position_of[row[0]["video_id"]])
    ids = [clip["video_id"] for clip, _ in rows]
    sources, source_ids = number_sources([clip["source_id"] for clip, _ in rows], ids)
    label = dataset.categories
    is_protocol = chosen.position_of is not None
    return Items(
        dataset=dataset.name,
        version=dataset.version,
        config=chosen.label,
        split=chosen.split,
        ids=ids,
        sources=sources,
        source_ids=source_ids,
        categories=[_category(clip["category"], label) for clip, _ in rows],
        references=[[reference.text for reference in references] for _, references in rows],
        languages=[language for language in counts.languages if language != "unknown"],
        seconds=[_time(clip["end"]) - _time(clip["start"]) for clip, _ in rows],
        spans=[(_time(clip["start"]), _time(clip["end"])) for clip, _ in rows],
        sen_ids=[[reference.sen_id for reference in references] for _, references in rows],
        groupings=_by_year(dataset, [clip["source_id"] for clip, _ in rows]),
        other_split={} if is_protocol else _other_splits(dataset, chosen.label, chosen.split, "video_id"),
        notes=notes,
    )


def _by_year(dataset: DatasetReader, sources: Sequence[str]) -> dict[str, list[str | None]]:
    """Return the year in which the source of each item was uploaded, as a grouping; empty where none is known."""
    paths = [path for files in dataset.configs.get("sources", {}).values() for path in files]
    rows = read_parquet_rows(paths, ("source_id",), optional=("uploaded",))
    years = {row["source_id"]: row["uploaded"][:4] for row in rows if row.get("uploaded")}
    return {UPLOADED: [years.get(source) for source in sources]} if years else {}


class _ClipChoice(NamedTuple):
    """Clips of a split.

    Fields:
        label: name of the configuration or protocol.
        split: that of the configuration or protocol.
        parts: configurations and splits whose tables hold the clips.
        position_of: `video_id` -> position in the split of a protocol file; None for all clips of the parts.
    """

    label: str
    split: str
    parts: Sequence[tuple[str, str]]
    position_of: Mapping[str, int] | None = None


def _choose_clips(dataset: DatasetReader, config: str, split: str | None) -> _ClipChoice:
    if config in dataset.configs or not is_protocol_file(config):
        split = dataset.single_split(config, split)
        return _ClipChoice(config, split, [(config, split)])
    protocol = read_protocol_file(Path(config))
    requested_split, split = split, split or ("test" if "test" in protocol.splits else next(iter(protocol.splits)))
    if split not in protocol.splits or (requested_split is None and split != "test" and len(protocol.splits) > 1):
        raise VttdataError(f"{protocol.name}: choose a split with --split; it has {', '.join(protocol.splits)}.")
    parts = [("clips", part) for part in dataset.splits("clips")]
    protocol.check_ids({row["video_id"] for part in parts for row in dataset.rows(*part, ["video_id"])}, config)
    position_of = {video_id: position for position, video_id in enumerate(protocol.splits[split])}
    return _ClipChoice(protocol.label, split, parts, position_of)


def read_foil_pairs(folder: Path, *, config: str = "foils", split: str | None = None) -> Items:
    """Read the pairs of a set of foils.

    Args:
        folder: dataset folder.
        config: ``foils``, whose texts are captions, ``paragraphs``, whose texts are lists of captions, or the path of a
            protocol file of such pairs.
        split: ``test``, or the only one, if omitted.

    Raises:
        VttdataError: if the dataset is no set of foils, or there is no such configuration or split.
    """
    dataset = DatasetReader(folder)
    config, protocol = _read_protocol(config, "foils")
    if config not in ("foils", "paragraphs") or config not in dataset.configs:
        known = ", ".join(name for name in ("foils", "paragraphs") if name in dataset.configs) or "none"
        raise VttdataError(f"{folder}: '{config}' holds no pairs of texts; configurations that do: {known}.")
    split = dataset.single_split(config, split)
    pairs = list(dataset.pairs(config, split))
    if protocol is not None:
        wanted = _listed_items(protocol, split, [name for name, _ in pairs])
        pairs = [(name, row) for name, row in pairs if name in wanted]
    rows = [row for _, row in pairs]
    videos = [row["video_id"] for row in rows]
    sources, source_ids = number_sources(videos, videos)
    items = Items(
        dataset=dataset.name,
        version=dataset.version,
        config=config if protocol is None else protocol.label,
        split=split,
        ids=[name for name, _ in pairs],
        sources=sources,
        source_ids=source_ids,
        categories=[None] * len(rows),
        references=(),
    )
    if config == "foils":
        return dataclasses.replace(
            items,
            categories=[row["supercategory"] for row in rows],
            references=[[row["references"]] for row in rows],
            truths=[[row["caption"]] for row in rows],
            foils=[[row["foil"]] for row in rows],
            other_split=_other_splits(dataset, config, split, "foil_id"),
        )
    return dataclasses.replace(
        items,
        references=[_select_for_each(row) for row in rows],
        truths=[row["captions"] for row in rows],
        foils=[row["foils"] for row in rows],
        text_spans=[list(zip(row["starts"], row["ends"], strict=True)) for row in rows],
    )


def read_question_items(folder: Path, *, config: str = "questions", split: str | None = None) -> Items:
    """Read the questions of a dataset.

    `config` is ``questions``, ``questions/KIND`` for those of one kind, or the path of a protocol file of questions;
    `split` is ``test``, or the only one, if omitted.

    Raises:
        VttdataError: if the dataset has no questions, or none of this kind, or there is no such split.
    """
    dataset = DatasetReader(folder)
    config, protocol = _read_protocol(config, "questions")
    table, _, kind = config.partition("/")
    if table != "questions" or table not in dataset.configs:
        raise VttdataError(f"{folder}: '{config}' holds no questions; a dataset of them has the table 'questions'.")
    split = dataset.single_split(table, split)
    rows = list(dataset.rows(table, split))
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    if kind and kind not in kinds:
        raise VttdataError(f"{folder}: no question is of the kind {kind!a}; choose from {list_choices(kind, kinds)}.")
    rows = [row for row in rows if kind in ("", row["kind"])]
    if protocol is not None:
        wanted = _listed_items(protocol, split, [row["question_id"] for row in rows])
        rows = [row for row in rows if row["question_id"] in wanted]
    damaged = next((row["question_id"] for row in rows if not _is_answerable(row)), None)
    if damaged is not None:
        raise VttdataError(
            f"{folder}: the question {damaged[:80]!a} has no text, no options, or an answer beyond them."
        )
    sources, source_ids = number_sources([row["source_id"] for row in rows], [row["video_id"] for row in rows])
    return Items(
        dataset=dataset.name,
        version=dataset.version,
        config=config if protocol is None else protocol.label,
        split=split,
        ids=[row["question_id"] for row in rows],
        sources=sources,
        source_ids=source_ids,
        categories=[None] * len(rows),
        references=(),
        questions=[
            Asked(
                row["question_id"],
                row["video_id"],
                row["kind"],
                row["question"],
                Choices(row["options"], row["labels"]),
                row["answer"],
            )
            for row in rows
        ],
        groupings={
            "type": [row["type"] for row in rows],
            "place": [letters(row["answer"] + 1)[-1] for row in rows],
        },
        blind=[_time(row["blind"]) for row in rows],
        belongs_to=[row["group"] for row in rows],
        other_split=_other_splits(dataset, table, split, "question_id"),
    )


def _read_protocol(config: str, default: str) -> tuple[str, Protocol | None]:
    """Return the configuration that a protocol file of pairs or questions is about, and the protocol; else as given."""
    if not is_protocol_file(config):
        return config, None
    protocol = read_protocol_file(Path(config))
    return str(protocol.about.get("config", default)), protocol


def _listed_items(protocol: Protocol, split: str, known: Sequence[str]) -> set[str]:
    """Return the items of a split that a protocol lists.

    Raises:
        VttdataError: if it has no such split, or an item is not known.
    """
    if split not in protocol.splits:
        raise VttdataError(f"{protocol.name}: has no split {split!a}; it has {', '.join(protocol.splits)}.")
    wanted, names = set(protocol.splits[split]), set(known)
    if unknown := sorted(wanted - names):
        raise VttdataError(
            f"{protocol.name}: no item of '{split}' has the id {unknown[0]!a} ({len(unknown):,} are unknown); it "
            "is a protocol of another dataset or version."
        )
    return wanted


def _is_answerable(row: Row) -> bool:
    """Return whether a row of questions has a text, 2 to 26 options with their labels, and an answer among them."""
    options, labels, answer = row["options"] or (), row["labels"] or (), row["answer"]
    is_complete = isinstance(row["question"], str) and isinstance(row["kind"], str) and None not in (*options, *labels)
    is_sized = MIN_OPTIONS <= len(options) <= MAX_OPTIONS and len(options) == len(labels)
    return is_complete and is_sized and answer is not None and 0 <= answer < len(options)


def _select_for_each(row: Row) -> list[Sequence[str]]:
    """Return for each caption of a pair of paragraphs the captions of the reference at the same time."""
    spans = list(zip(row["reference_starts"], row["reference_ends"], strict=True))
    return [select_references(span, spans, row["references"]) for span in zip(row["starts"], row["ends"], strict=True)]


class ItemTexts(NamedTuple):
    """Video of an item, and its texts: human captions, or a true text and its foil."""

    video_id: str
    texts: Sequence[str]


def read_clip_texts(folder: Path, config: str, ids: Collection[str]) -> dict[str, ItemTexts]:
    """Return the human captions of clips by `video_id`."""
    rows = _read_item_rows(folder, config, ids, ("video_id", "captions"))
    return {row["video_id"]: ItemTexts(row["video_id"], row["captions"] or ()) for row in rows}


def read_pair_texts(folder: Path, config: str, ids: Collection[str]) -> dict[str, ItemTexts]:
    """Return the true text and the foil of pairs by `foil_id`."""
    rows = _read_item_rows(folder, config, ids, ("foil_id", "video_id", "caption", "foil"))
    return {row["foil_id"]: ItemTexts(row["video_id"], (str(row["caption"]), str(row["foil"]))) for row in rows}


def read_question_texts(folder: Path, config: str, ids: Collection[str]) -> dict[str, ItemTexts]:
    """Return the text, the right option and the other ones of questions by `question_id`."""
    columns = ("question_id", "video_id", "question", "options", "answer")
    texts = {}
    for row in _read_item_rows(folder, config.partition("/")[0], ids, columns):
        others = [option for index, option in enumerate(row["options"]) if index != row["answer"]]
        shown = (
            str(row["question"]),
            f"right: {row['options'][row['answer']]}",
            *(f"wrong: {text}" for text in others),
        )
        texts[row["question_id"]] = ItemTexts(row["video_id"], shown)
    return texts


def _read_item_rows(folder: Path, config: str, ids: Collection[str], columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of items of all splits, known by the first of the columns."""
    tables: Mapping[str, Mapping[str, Sequence[Path]]] = read_layout(folder, needs=None).files
    for files in (tables.get(config) or tables.get("clips", {})).values():
        yield from (row for row in read_parquet_rows(files, columns) if row[columns[0]] in ids)


def read_marked_spans(folder: Path, split: str) -> dict[str, list[tuple[float, float]]]:
    """Return the span that each annotator of a clip marked in its video, seconds; empty without annotators."""
    files = read_layout(folder, needs=None).files.get("moments", {}).get(split, ())
    rows = read_parquet_rows(files, ("video_id", "starts", "ends"), optional=("annotators",))
    return {
        row["video_id"]: list(zip(row["starts"], row["ends"], strict=True)) for row in rows if row.get("annotators")
    }


def number_sources(source_ids: Iterable[str | None], ids: Iterable[str]) -> tuple[Integers, list[str]]:
    """Number the sources of items by their first occurrence, and return the numbers and the sources' ids."""
    numbers: dict[str, int] = {}
    names = (source or f"source of {item}" for source, item in zip(source_ids, ids, strict=True))
    sources = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
    return sources, list(numbers)


def _time(seconds: float | None) -> float:
    return math.nan if seconds is None else seconds


def _category(value: Any, names: Sequence[str]) -> str | None:
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else value


def _other_splits(dataset: DatasetReader, config: str, split: str, column: str) -> dict[str, str]:
    return {
        row[column]: other
        for other in dataset.splits(config)
        if other != split
        for row in dataset.rows(config, other, [column])
    }
