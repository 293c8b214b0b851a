"""Clips of all splits as columns, so that an audit can handle millions of them.

A clip that is in two splits has two rows. Nothing is judged here.
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
class ClipTable:
    """Columns of n rows, one for each clip in each split.

    Fields:
        split_names: names of the splits.
        split: n indices of `split_names`.
        video_id: n ids (Arrow).
        source: n indices of `source_ids`.
        source_ids: distinct ids (Arrow); a clip of an unknown source has one of its own.
        start, end: n times in seconds; NaN where unknown.
        clips_without_source: number of rows of an unknown source.
    """

    split_names: tuple[str, ...]
    split: Integers
    video_id: Any
    source: Integers
    source_ids: Any
    start: Floats
    end: Floats
    clips_without_source: int

    @classmethod
    def from_arrow(cls, table: Any, split: Integers, split_names: Sequence[str]) -> ClipTable:
        """Create the table from an Arrow table with columns ``video_id``, ``source_id``, ``start`` and ``end``.

        Args:
            table: n rows.
            split: n indices of `split_names`.
            split_names: names of the splits.
        """
        video_id = table.column("video_id").cast(pa.large_string()).combine_chunks().fill_null("")
        source_id = table.column("source_id").cast(pa.large_string()).combine_chunks()
        prefix, separator = (pa.scalar(text, pa.large_string()) for text in ("source of ", ""))
        own_source = pc.binary_join_element_wise(prefix, video_id, separator)
        sources = pc.coalesce(source_id, own_source).dictionary_encode()
        start, end = (
            table.column(name).cast(pa.float64()).fill_null(float("nan")).to_numpy() for name in ("start", "end")
        )
        indices = sources.indices.to_numpy().astype(np.int64)
        return cls(tuple(split_names), split, video_id, indices, sources.dictionary, start, end, source_id.null_count)

    @classmethod
    def from_clips(cls, clips: Iterable[Clip]) -> ClipTable:
        """Create the table from records; a clip without a split counts as ``train``, as in a published dataset."""
        clips = list(clips)
        split_of_clip = [clip.split or "train" for clip in clips]
        split_names = sorted(set(split_of_clip))
        types = {"video_id": pa.large_string(), "source_id": pa.large_string()} | dict.fromkeys(
            ("start", "end"), pa.float64()
        )
        columns = {name: pa.array([getattr(clip, name) for clip in clips], type_) for name, type_ in types.items()}
        split = np.array([split_names.index(name) for name in split_of_clip], dtype=np.int64)
        return cls.from_arrow(pa.table(columns), split, split_names)

    def __len__(self) -> int:
        return len(self.split)

    def count_by_split(self, selected: Flags) -> dict[str, int]:
        """Return split name -> number of selected rows.

        Args:
            selected: n flags.
        """
        counts = np.bincount(self.split[selected], minlength=len(self.split_names))
        return {name: int(count) for name, count in zip(self.split_names, counts, strict=True)}

    def describe(self, row: int) -> dict[str, str]:
        """Return the ``video_id`` and ``split`` of a row for an example."""
        return {"video_id": self.video_id[row].as_py(), "split": self.split_names[self.split[row]]}

    def splits_of_sources(self) -> Flags:
        """Return flags, sources x splits: which source has clips in which split."""
        flags = np.zeros((len(self.source_ids), len(self.split_names)), dtype=np.bool_)
        flags[self.source, self.split] = True
        return flags

    def find_sources(self, source_ids: Sequence[str]) -> Integers:
        """Return the index of each source; -1 for those without clips."""
        indices_or_null = pc.index_in(pa.array(source_ids, self.source_ids.type), value_set=self.source_ids)
        indices: Integers = indices_or_null.fill_null(-1).to_numpy().astype(np.int64)
        return indices
