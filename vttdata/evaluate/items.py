"""Items of an evaluation: what all tasks' items have in common, and the clips of a split with their references.

Predictions are matched with exactly these; a report names them by a digest. Items of one task alone are in its file in
`vttdata.evaluate.tasks`.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import Protocol, is_protocol_file, read_protocol_file
from vttdata.errors import VttdataError
from vttdata.evaluate.metric import VideoSpan
from vttdata.export.reader import CaptionCounts, DatasetReader
from vttdata.files.tables import number_or_nan
from vttdata.json_types import JsonObject
from vttdata.statistics.arrays import Integers

UPLOADED = "uploaded"
"""Grouping of items by the year in which their source was uploaded."""


class ItemTexts(NamedTuple):
    """Clip of an item, and the texts with which its predictions are compared."""

    video_id: str
    texts: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Items:
    """Items that predictions are expected for, in the order of the dataset.

    Fields:
        dataset: name of the dataset, or its folder where it has none.
        version: of the dataset.
        config: configuration that the items are read from.
        split: split that the items are read from.
        ids: id of each item, n.
        sources: number of each item's source, n.
        source_ids: ids of the sources by their numbers; an item of an unknown source has one of its own.
        table: of the dataset, which `config` is, or is a choice of.
        categories: category of each item, n, None where it is unknown; empty where items have none.
        languages: of human captions, as far as known.
        groupings: name of a further grouping, such as ``place`` -> group of each item, None for none.
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
    table: str = "clips"
    categories: Sequence[str | None] = ()
    languages: Sequence[str] = ()
    groupings: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    other_split: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def digest(self) -> str:
        """First 12 hexadecimal digits of the SHA-256 of the sorted ids, one a line."""
        return digest_of(self.ids)

    @property
    def clip_ids(self) -> Sequence[str]:
        """Clip that each item is about, n."""
        return self.ids

    @property
    def clip_config(self) -> str:
        """Configuration of the clips that the items are, or are about."""
        return "clips"

    @property
    def captions(self) -> Sequence[Sequence[str]]:
        """Human captions of each item, n; empty where items have none."""
        return ()

    @property
    def facts(self) -> Mapping[str, object]:
        """What else the signature of a report says of the items."""
        return {}

    def show(self, index: int) -> Sequence[str]:  # noqa: ARG002
        """Return the texts of an item for a page, by its place."""
        return ()

    def texts_of(self, index: int) -> ItemTexts:
        """Return the clip of an item and its texts, by its place."""
        return ItemTexts(self.clip_ids[index], self.show(index))


ItemsT = TypeVar("ItemsT", bound=Items)
"""Items of a task."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClipItems(Items):
    """Clips of a split.

    Fields:
        references: human captions of each clip, n.
        sen_ids: number of each reference, as n lists.
        spans: start and end of each clip in its source, seconds, n; NaN where they are unknown.
    """

    references: Sequence[Sequence[str]]
    sen_ids: Sequence[Sequence[int]] = ()
    spans: Sequence[tuple[float, float]] = ()

    @property
    def clip_config(self) -> str:
        """Configuration of the clips themselves."""
        return self.config

    @property
    def captions(self) -> Sequence[Sequence[str]]:
        """References of each clip, n."""
        return self.references

    @property
    def facts(self) -> Mapping[str, object]:
        """Least and greatest number of references of a clip."""
        numbers = sorted({len(references) for references in self.references})
        return {"refs": f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else numbers[0]}

    def show(self, index: int) -> Sequence[str]:
        """Return the human captions of a clip."""
        return self.references[index]

    @property
    def videos(self) -> list[VideoSpan]:
        """Video of each clip, n."""
        return list(map(VideoSpan, self.ids))


def describe_items(
    dataset: DatasetReader, config: str, split: str, ids: Sequence[str], source_ids: Iterable[str | None]
) -> JsonObject:
    """Return the fields of `Items` that have no default; `source_ids` are those of each item, None where unknown."""
    sources, names = number_sources(source_ids, ids)
    return {
        "dataset": dataset.name,
        "version": dataset.version,
        "config": config,
        "split": split,
        "ids": ids,
        "sources": sources,
        "source_ids": names,
    }


def number_sources(source_ids: Iterable[str | None], ids: Iterable[str]) -> tuple[Integers, list[str]]:
    """Number the sources of items by their first occurrence, and return the numbers and the sources' ids."""
    numbers: dict[str, int] = {}
    names = (source or f"source of {item}" for source, item in zip(source_ids, ids, strict=True))
    sources = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
    return sources, list(numbers)


def digest_of(ids: Iterable[str]) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of the sorted ids, one a line."""
    return hashlib.sha256("".join(f"{item}\n" for item in sorted(ids)).encode()).hexdigest()[:12]


def read_clips(folder: Path, *, config: str = "clips", split: str | None = None) -> ClipItems:
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
    label, source_of = dataset.categories, [clip["source_id"] for clip, _ in rows]
    is_protocol = chosen.position_of is not None
    return ClipItems(
        **describe_items(dataset, chosen.label, chosen.split, [clip["video_id"] for clip, _ in rows], source_of),
        categories=[_category(clip["category"], label) for clip, _ in rows],
        references=[[reference.text for reference in references] for _, references in rows],
        languages=[language for language in counts.languages if language != "unknown"],
        spans=[(number_or_nan(clip["start"]), number_or_nan(clip["end"])) for clip, _ in rows],
        sen_ids=[[reference.sen_id for reference in references] for _, references in rows],
        groupings=_by_year(dataset, source_of),
        other_split={} if is_protocol else other_splits(dataset, chosen.label, chosen.split, "video_id"),
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


def read_item_protocol(config: str, default: str) -> tuple[str, Protocol | None]:
    """Return the configuration that a protocol file of pairs or questions is about, and the protocol; else as given."""
    if not is_protocol_file(config):
        return config, None
    protocol = read_protocol_file(Path(config))
    return str(protocol.about.get("config", default)), protocol


def select_listed(protocol: Protocol, split: str, known: Sequence[str]) -> set[str]:
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


def _category(value: Any, names: Sequence[str]) -> str | None:
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else value


def other_splits(dataset: DatasetReader, config: str, split: str, column: str) -> dict[str, str]:
    """Return the ids in a column of the other splits of a configuration, each with its split."""
    return {
        row[column]: other
        for other in dataset.splits(config)
        if other != split
        for row in dataset.rows(config, other, [column])
    }
