"""Count the contents of a dataset folder: the figures of MSR-VTT's Table 1 (Xu et al., CVPR 2016), by split.

Words are separated by white space, as the official 29,322 distinct lower-cased words of MSR-VTT are counted, and are
letters in scripts that separate no words. Tables are read in batches.
"""

from __future__ import annotations

import dataclasses
import statistics
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.files.results import Result, ResultTable, Section
from vttdata.json_types import JsonObject, Row
from vttdata.text.word_spans import split_words

_MAIN_CONFIGS = ("clips", "captions", "sources", "videos", "errata", "withdrawn")


@dataclass(frozen=True, slots=True)
class SplitStatistics:
    """Figures of one split, or of all. Durations are seconds; None where there is nothing to measure."""

    sources: int
    clips: int
    hours: float | None
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
class Statistics(Result):
    """Figures of each split, in the order of the dataset, and of all splits together.

    `configs` are counts in further configurations by split and figure: `clips`, `sources` and `sentences` of a
    protocol, the `mentions` and `classes` of concepts, the `sentences` that are `degraded` and those with each flag,
    the `judgments` and `assessments` of people, the `questions`, or the
    `queries` and `windows` of moments.
    """

    splits: dict[str, SplitStatistics]
    total: SplitStatistics
    configs: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """Return plain values: ``splits`` by name and ``total`` with the fields of `SplitStatistics`; ``configs``."""
        return dataclasses.asdict(self)

    def table(self) -> list[tuple[str, ...]]:
        """Return rows of text: a header, the figures, then the clips of each category, for each split and in total."""
        columns = [*self.splits.values(), self.total]
        rows: list[tuple[str, ...]] = [("", *self.splits, "total")]
        for name, digits in _DIGITS.items():
            label = _LABELS.get(name, name.replace("_", " "))
            rows.append((label, *(_format(getattr(column, name), digits) for column in columns)))
        for category in self.total.categories:
            rows.append((category, *(_format(column.categories.get(category, 0), 0) for column in columns)))
        return rows

    def config_table(self) -> list[tuple[str, ...]]:
        """Return rows of text on the further configurations: a header, then a row for each of their splits; or none."""
        names = dict.fromkeys(
            name for splits in self.configs.values() for figures in splits.values() for name in figures
        )
        rows = [
            (config, split, *(_format(figures.get(name), 0) for name in names))
            for config, splits in self.configs.items()
            for split, figures in splits.items()
        ]
        return [("configuration", "split", *names), *rows] if rows else []

    def sections(self) -> Iterator[Section]:
        """Yield the figures, and those of further configurations."""
        for rows in filter(None, (self.table(), self.config_table())):
            yield Section(table=ResultTable.of_rows(rows))


# Number of digits after the decimal point.
_FIELDS = [field for field in dataclasses.fields(SplitStatistics) if field.name != "categories"]
_DIGITS = {field.name: 0 if field.type == "int" else 2 for field in _FIELDS} | {"median_shots": 1}
_LABELS = {f"{name}_clip": f"{name} clip, s" for name in ("shortest", "median", "mean", "longest")}


def _format(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def compute_statistics(dataset: Path) -> Statistics:
    """Count the contents of a dataset folder.

    Raises:
        VttdataError: If the folder is not a dataset of vttdata, or a file of it is missing or damaged.
    """
    layout = read_layout(dataset)
    return count_files(layout.files, layout.categories, layout.classes)


def count_files(
    files: Mapping[str, Mapping[str, Sequence[Path]]], categories: Sequence[str], classes: Sequence[str] = ()
) -> Statistics:
    """Count the contents of Parquet files by configuration and split: of ``clips``, and of other configurations.

    `categories` and `classes` are the names of labels.

    Raises:
        VttdataError: If a file is damaged.
    """
    counters = {split: _SplitCounter() for split in files["clips"]}
    optional = ("shots", "category") if "captions" in files else ("shots", "category", "captions")
    for split, counter in counters.items():
        for row in read_parquet_rows(files["clips"][split], ("source_id", "duration"), optional=optional):
            counter.add_clip(row, categories)
            counter.add_captions(row.get("captions") or ())
        for row in read_parquet_rows(files.get("captions", {}).get(split, ()), ("caption",)):
            counter.add_captions((row["caption"],))
    total = _SplitCounter()
    for counter in counters.values():
        total.merge(counter)
    configs = {
        config: {
            split: _count_degraded(paths) if config == "degraded" else _count_config(paths, classes)
            for split, paths in splits.items()
        }
        for config, splits in files.items()
        if config not in _MAIN_CONFIGS
    }
    return Statistics({split: counter.result() for split, counter in counters.items()}, total.result(), configs)


def _count_config(paths: Iterable[Path], classes: Sequence[str]) -> dict[str, int]:
    """Count a protocol, the concepts, the judgments, the questions or the moments, which their columns tell apart."""
    sources: set[str] = set()
    judged_clips: set[str] = set()
    asked_clips: set[str] = set()
    counts: Counter[str] = Counter()
    has_mentions = False
    optional = ("captions", "classes", "assessments", "question_id", "starts")
    for row in read_parquet_rows(paths, ("video_id", "source_id"), optional=optional):
        sources.add(row["source_id"])
        counts["rows"] += 1
        if "assessments" in row:
            judged_clips.add(row["video_id"])
            counts["assessments"] += row["assessments"] or 0
        if "question_id" in row:
            asked_clips.add(row["video_id"])
        if "starts" in row:
            asked_clips.add(row["video_id"])
            counts["windows"] += len(row["starts"])
        counts["sentences"] += len(row.get("captions") or ())
        counts["mentions"] += len(row.get("classes") or ())
        has_mentions = has_mentions or "classes" in row
    if asked_clips:
        asked = {"queries": counts["rows"], "windows": counts["windows"]} if "windows" in counts else {}
        return {"clips": len(asked_clips), "sources": len(sources), **(asked or {"questions": counts["rows"]})}
    figures = {"clips": len(judged_clips) or counts["rows"], "sources": len(sources)}
    if judged_clips:
        return figures | {"judgments": counts["rows"], "assessments": counts["assessments"]}
    if has_mentions:
        return figures | {"mentions": counts["mentions"], "classes": len(classes)}
    return figures | {"sentences": counts["sentences"]}


def _count_degraded(paths: Iterable[Path]) -> dict[str, int]:
    clips: set[str] = set()
    sources: set[str] = set()
    counts: Counter[str] = Counter()
    for row in read_parquet_rows(paths, ("video_id", "source_id", "caption", "flag")):
        clips.add(row["video_id"])
        sources.add(row["source_id"])
        counts["sentences"] += 1
        counts["degraded"] += row["caption"] is not None
        if row["flag"] is not None:
            counts[row["flag"]] += 1
    return {"clips": len(clips), "sources": len(sources), **counts}


@dataclass(slots=True)
class _SplitCounter:
    """Counts of a split while its rows are read."""

    clips: int = 0
    sources: set[str] = field(default_factory=set)
    durations: array[float] = field(default_factory=lambda: array("d"))
    shots: array[int] = field(default_factory=lambda: array("q"))
    categories: Counter[str] = field(default_factory=Counter)
    sentences: int = 0
    words: int = 0
    vocabulary: set[str] = field(default_factory=set)

    def add_clip(self, row: Row, categories: Sequence[str]) -> None:
        self.clips += 1
        if row["source_id"] is not None:
            self.sources.add(row["source_id"])
        if row["duration"] is not None:
            self.durations.append(row["duration"])
        if row.get("shots") is not None:
            self.shots.append(row["shots"])
        label = row.get("category")
        if isinstance(label, int):
            if not 0 <= label < len(categories):
                raise VttdataError(
                    f"A clip of the source '{row['source_id']}' has the category {label}, but the card names "
                    f"{len(categories)} categories, counted from 0."
                )
            label = categories[label]
        if label is not None:
            self.categories[label] += 1

    def add_captions(self, captions: Iterable[str | None]) -> None:
        for caption in filter(None, captions):
            words = split_words(caption)
            self.sentences += 1
            self.words += len(words)
            self.vocabulary.update(map(str.lower, words))

    def merge(self, split: _SplitCounter) -> None:
        for part in dataclasses.fields(self):
            mine, theirs = getattr(self, part.name), getattr(split, part.name)
            setattr(self, part.name, mine | theirs if isinstance(mine, set) else mine + theirs)

    def result(self) -> SplitStatistics:
        seconds = sum(self.durations)
        return SplitStatistics(
            sources=len(self.sources),
            clips=self.clips,
            hours=seconds / 3600 if self.durations else None,
            sentences=self.sentences,
            words=self.words,
            vocabulary=len(self.vocabulary),
            words_per_sentence=self.words / self.sentences if self.sentences else None,
            sentences_per_clip=self.sentences / self.clips if self.clips else None,
            shortest_clip=min(self.durations, default=None),
            median_clip=statistics.median(self.durations) if self.durations else None,
            mean_clip=seconds / len(self.durations) if self.durations else None,
            longest_clip=max(self.durations, default=None),
            median_shots=statistics.median(self.shots) if self.shots else None,
            categories=dict(sorted(self.categories.items())),
        )
