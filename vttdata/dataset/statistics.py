"""Counts what is in a dataset folder: the figures of MSR-VTT's Table 1 (Xu et al., CVPR 2016), by split and in all.

Words are what white space separates, the vocabulary their distinct lower-cased forms, as the official 29,322 words of
MSR-VTT are counted. Tables are read piece by piece.
"""

from __future__ import annotations

import dataclasses
import statistics as numbers
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import open_parquet

_CLIP_COLUMNS = ("source_id", "duration", "shots", "category")
_MAIN = ("clips", "captions", "sources", "videos")
_ROWS_AT_A_TIME = 1_000


@dataclass(frozen=True, slots=True)
class SplitStatistics:
    """The figures of one split, or of all of them. Durations are seconds; None where there is nothing to measure."""

    sources: int
    clips: int
    hours: float
    sentences: int
    words: int
    vocabulary: int
    words_per_sentence: float | None
    sentences_per_clip: float | None
    shortest_clip: float | None
    median_clip: float | None
    mean_clip: float | None
    longest_clip: float | None
    median_shots: float | None
    categories: dict[str, int]


@dataclass(frozen=True, slots=True)
class Statistics:
    """The figures of each split, in the order of the dataset, and of all splits together.

    `configs` has those of the further configurations, by split: `clips`, `sources`, and the `sentences` of a protocol,
    the `mentions` and `classes` of concepts, or how many `sentences` are `degraded` and how many have which flag,
    or the `judgments` and `assessments` that people gave.
    """

    splits: dict[str, SplitStatistics]
    total: SplitStatistics
    configs: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain values: ``splits`` by name and ``total``, each with the fields of `SplitStatistics`; ``configs``."""
        return dataclasses.asdict(self)

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text: a head, the figures, then the clips of each category; columns are the splits and the total."""
        columns = [*self.splits.values(), self.total]
        rows: list[tuple[str, ...]] = [("", *self.splits, "total")]
        for name, (label, digits) in _SHOWN.items():
            rows.append((label, *(_show(getattr(column, name), digits) for column in columns)))
        for category in self.total.categories:
            rows.append((category, *(_show(column.categories.get(category, 0), 0) for column in columns)))
        return rows

    def config_table(self) -> list[tuple[str, ...]]:
        """Rows of text on the further configurations: a head, then a row for each of their splits; or no row."""
        figures = dict.fromkeys(name for own in self.configs.values() for split in own.values() for name in split)
        rows = [
            (config, split, *(_show(own.get(name), 0) for name in figures))
            for config, splits in self.configs.items()
            for split, own in splits.items()
        ]
        return [("configuration", "split", *figures), *rows] if rows else []

    def as_text(self) -> str:
        """The tables with aligned columns."""
        return "\n\n".join(aligned(rows) for rows in (self.table(), self.config_table()) if rows)


_SHOWN = {
    "sources": ("sources", 0),
    "clips": ("clips", 0),
    "hours": ("hours", 2),
    "sentences": ("sentences", 0),
    "words": ("words", 0),
    "vocabulary": ("vocabulary", 0),
    "words_per_sentence": ("words per sentence", 2),
    "sentences_per_clip": ("sentences per clip", 2),
    "shortest_clip": ("shortest clip, s", 2),
    "median_clip": ("median clip, s", 2),
    "mean_clip": ("mean clip, s", 2),
    "longest_clip": ("longest clip, s", 2),
    "median_shots": ("median shots", 1),
}


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A table of text: its first column to the left, the others to the right."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )


def _show(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def compute_statistics(dataset: Path) -> Statistics:
    """Count what is in a dataset folder of our layout.

    Raises:
        VttdataError: when the folder is no dataset of ours, or a file of it is missing or damaged.
    """
    layout = read_layout(dataset)
    return count(layout.files, layout.categories, layout.classes)


def count(
    files: Mapping[str, Mapping[str, Sequence[Path]]], categories: Sequence[str], classes: Sequence[str] = ()
) -> Statistics:
    """Count what is in Parquet files.

    Args:
        files: configuration -> split -> files; ``clips`` is counted, and ``captions`` where there is such a one.
        categories: the names of the category labels.
        classes: the names of all classes of concepts.
    """
    tallies = {split: _Tally() for split in files["clips"]}
    columns = _CLIP_COLUMNS if "captions" in files else (*_CLIP_COLUMNS, "captions")
    for split, tally in tallies.items():
        for row in read_rows(files["clips"][split], columns):
            tally.add_clip(row, categories)
            tally.add_captions(row.get("captions") or ())
        for row in read_rows(files.get("captions", {}).get(split, ()), ("caption",)):
            tally.add_captions((row["caption"],))
    total = _Tally()
    for tally in tallies.values():
        total.merge(tally)
    configs = {
        config: {
            split: _degraded_figures(paths) if config == "degraded" else _config_figures(paths, classes)
            for split, paths in splits.items()
        }
        for config, splits in files.items()
        if config not in _MAIN
    }
    return Statistics({split: tally.result() for split, tally in tallies.items()}, total.result(), configs)


def _config_figures(paths: Iterable[Path], classes: Sequence[str]) -> dict[str, int]:
    sources: set[str] = set()
    judged: set[str] = set()
    numbers: Counter[str] = Counter()
    mentions = False
    for row in read_rows(paths, ("video_id", "source_id", "captions", "classes", "assessments")):
        sources.add(row["source_id"])
        numbers["clips"] += 1
        if "assessments" in row:
            judged.add(row["video_id"])
            numbers["assessments"] += row["assessments"]
        numbers["sentences"] += len(row.get("captions") or ())
        numbers["mentions"] += len(row.get("classes") or ())
        mentions = mentions or "classes" in row
    if judged:
        figures = {"clips": len(judged), "sources": len(sources), "judgments": numbers["clips"]}
        return figures | {"assessments": numbers["assessments"]}
    figures = {"clips": numbers["clips"], "sources": len(sources)}
    if mentions:
        return figures | {"mentions": numbers["mentions"], "classes": len(classes)}
    return figures | {"sentences": numbers["sentences"]}


def _degraded_figures(paths: Iterable[Path]) -> dict[str, int]:
    clips: set[str] = set()
    sources: set[str] = set()
    numbers: Counter[str] = Counter()
    for row in read_rows(paths, ("video_id", "source_id", "caption", "flag")):
        clips.add(row["video_id"])
        sources.add(row["source_id"])
        numbers["sentences"] += 1
        numbers["degraded"] += row["caption"] is not None
        if row["flag"] is not None:
            numbers[row["flag"]] += 1
    return {"clips": len(clips), "sources": len(sources), **numbers}


def read_rows(paths: Iterable[Path], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of Parquet files, of those columns that they have.

    Raises:
        VttdataError: when a file is damaged.
    """
    for path in paths:
        with open_parquet(path) as table:
            there = [column for column in columns if column in table.schema_arrow.names]
            for batch in table.iter_batches(_ROWS_AT_A_TIME, columns=there):
                yield from batch.to_pylist()


@dataclass(slots=True)
class _Tally:
    sources: set[str] = field(default_factory=set)
    durations: array[float] = field(default_factory=lambda: array("d"))
    shots: array[int] = field(default_factory=lambda: array("q"))
    categories: Counter[str] = field(default_factory=Counter)
    sentences: int = 0
    words: int = 0
    vocabulary: set[str] = field(default_factory=set)

    def add_clip(self, row: Mapping[str, Any], categories: Sequence[str]) -> None:
        self.sources.add(row["source_id"])
        self.durations.append(row["duration"])
        if row.get("shots") is not None:
            self.shots.append(row["shots"])
        label = row.get("category")
        if label is not None:
            self.categories[categories[label] if isinstance(label, int) else label] += 1

    def add_captions(self, captions: Iterable[str]) -> None:
        for caption in captions:
            words = caption.split()
            self.sentences += 1
            self.words += len(words)
            self.vocabulary.update(word.lower() for word in words)

    def merge(self, other: _Tally) -> None:
        self.sources |= other.sources
        self.durations += other.durations
        self.shots += other.shots
        self.categories += other.categories
        self.sentences += other.sentences
        self.words += other.words
        self.vocabulary |= other.vocabulary

    def result(self) -> SplitStatistics:
        clips = len(self.durations)
        seconds = sum(self.durations)
        return SplitStatistics(
            sources=len(self.sources),
            clips=clips,
            hours=seconds / 3600,
            sentences=self.sentences,
            words=self.words,
            vocabulary=len(self.vocabulary),
            words_per_sentence=self.words / self.sentences if self.sentences else None,
            sentences_per_clip=self.sentences / clips if clips else None,
            shortest_clip=min(self.durations, default=None),
            median_clip=numbers.median(self.durations) if clips else None,
            mean_clip=seconds / clips if clips else None,
            longest_clip=max(self.durations, default=None),
            median_shots=numbers.median(self.shots) if self.shots else None,
            categories=dict(sorted(self.categories.items())),
        )
