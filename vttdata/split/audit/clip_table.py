"""The clips of all splits as columns, an entry for each clip in each split, so that millions of them can be judged.

A clip that stands in two splits has two entries. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.records import Clip

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Columns of equal length n, and the names that their numbers stand for.

    Fields:
        splits: the names of the splits.
        split: n numbers of splits.
        video_id: n ids (Arrow).
        source: n numbers of sources. `source_ids` are their ids (Arrow); a clip of an unknown source has its own.
        start, end: n times in seconds; NaN where unknown.
        homeless: how many entries have an unknown source.
    """

    splits: tuple[str, ...]
    split: Integers
    video_id: Any
    source: Integers
    source_ids: Any
    start: Floats
    end: Floats
    homeless: int

    def __len__(self) -> int:
        return len(self.split)

    def per_split(self, chosen: Flags) -> dict[str, int]:
        """How many of the chosen entries each split has."""
        numbers = np.bincount(self.split[chosen], minlength=len(self.splits))
        return {name: int(number) for name, number in zip(self.splits, numbers, strict=True)}

    def clip(self, place: int) -> dict[str, str]:
        """An entry for people: ``video_id`` and ``split``."""
        return {"video_id": self.video_id[place].as_py(), "split": self.splits[self.split[place]]}

    def presence(self) -> Flags:
        """Which source feeds which split: sources x splits."""
        there = np.zeros((len(self.source_ids), len(self.splits)), dtype=np.bool_)
        there[self.source, self.split] = True
        return there


def entries_of_table(table: Any, split: Integers, splits: Sequence[str]) -> Entries:
    """Entries from an Arrow table with columns ``video_id``, ``source_id``, ``start`` and ``end``, a row an entry."""
    video_id = table.column("video_id").cast(pa.large_string()).combine_chunks().fill_null("")
    source_id = table.column("source_id").cast(pa.large_string()).combine_chunks()
    prefix, nothing = (pa.scalar(text, pa.large_string()) for text in ("source of ", ""))
    alone = pc.binary_join_element_wise(prefix, video_id, nothing)
    sources = pc.coalesce(source_id, alone).dictionary_encode()
    return Entries(
        tuple(splits),
        split,
        video_id,
        sources.indices.to_numpy().astype(np.int64),
        sources.dictionary,
        _seconds(table.column("start")),
        _seconds(table.column("end")),
        source_id.null_count,
    )


def _seconds(column: Any) -> Floats:
    times: Floats = column.cast(pa.float64()).fill_null(float("nan")).to_numpy()
    return times


def entries_of_clips(clips: Iterable[Clip]) -> Entries:
    """Entries from records; a clip without a split counts as ``train``, as in a published dataset."""
    clips = list(clips)
    names = [clip.split or "train" for clip in clips]
    splits = list(dict.fromkeys(sorted(names)))
    number = {name: place for place, name in enumerate(splits)}
    kinds = {"video_id": pa.large_string(), "source_id": pa.large_string(), "start": pa.float64(), "end": pa.float64()}
    table = pa.table({name: pa.array([getattr(clip, name) for clip in clips], kind) for name, kind in kinds.items()})
    return entries_of_table(table, np.array([number[name] for name in names], dtype=np.int64), splits)
