"""Clips of all splits as columns, so that an audit can handle millions of them, and their overlaps in time.

A clip that is in two splits has two rows. `vttdata.split.audit.evidence` says which clips are of one source. Overlaps
are counted by one sweep over the ends of spans and never by comparing all pairs. Nothing is judged here.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.json_types import JsonObject
from vttdata.records import Clip
from vttdata.split.audit.evidence import (
    COLUMNS,
    OF_SOURCES,
    StatedKeys,
    find_conflicts,
    ignore_pages,
    join_rows,
    read_evidence,
)

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# Pairs that are looked at for examples, at most; all are counted.
_MAX_COMPARED_PAIRS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class ClipTable:
    """Columns of n rows, one for each clip in each split.

    Fields:
        split: n indices of `split_names`.
        video_id: n ids (Arrow); ``clip NUMBER`` where there is none.
        source: n numbers of sources, from 0 in the order of first rows: equal for clips that evidence connects.
        source_ids: an id for each source, the first that is stated (Arrow); one of its own where none is.
        names: distinct ids of sources as stated (Arrow); evidence may give several of them one source.
        source_of_name: the source of each.
        start, end: n times in seconds; NaN where unknown.
        evidence: keys of the rows by which clips are known.
        conflicts: columns that contradict each other, with examples.
        has_source: n flags: whether anything says what original video a clip is of.
        clips_of_pages: number of rows whose address is left out, since most sources have it.
    """

    split_names: tuple[str, ...]
    split: Integers
    video_id: pa.Array
    source: Integers
    source_ids: pa.Array
    names: pa.Array
    source_of_name: Integers
    start: Floats
    end: Floats
    evidence: tuple[StatedKeys, ...]
    conflicts: list[JsonObject]
    has_source: Flags
    clips_of_pages: int

    @classmethod
    def from_arrow(
        cls, table: pa.Table, split: Integers, split_names: Sequence[str], columns: Collection[str] = COLUMNS
    ) -> ClipTable:
        """Create the table from an Arrow table with columns ``video_id``, ``source_id``, ``start`` and ``end``.

        Its other columns among `columns` of `vttdata.split.audit.evidence` say too which clips are of one source.
        `split` are as many indices of `split_names`.
        """
        video_id = table.column("video_id").cast(pa.large_string()).combine_chunks()
        if video_id.null_count:
            video_id = pc.coalesce(video_id, pa.array([f"clip {row + 1}" for row in range(len(table))], video_id.type))
        source_id = table.column("source_id").cast(pa.large_string()).combine_chunks()
        start, end = (
            table.column(name).cast(pa.float64()).fill_null(float("nan")).to_numpy() for name in ("start", "end")
        )
        evidence, clips_of_pages = ignore_pages(
            read_evidence(table.select([*filter(columns.__contains__, table.column_names)]))
        )
        source = join_rows(evidence, len(table))
        prefix, separator = (pa.scalar(text, pa.large_string()) for text in ("source of ", ""))
        names = pc.coalesce(source_id, pc.binary_join_element_wise(prefix, video_id, separator)).dictionary_encode()
        codes = names.indices.to_numpy()
        source_of_name = np.zeros(len(names.dictionary), np.int64)
        source_of_name[codes[::-1]] = source[::-1]
        _, first_rows = np.unique(source, return_index=True)
        has_source = np.zeros(len(table), np.bool_)
        for each in evidence:
            if each.column in OF_SOURCES:
                has_source |= each.keys >= 0
        return cls(
            tuple(split_names),
            split,
            video_id,
            source,
            names.take(pa.array(first_rows)).dictionary_decode() if len(table) else names.dictionary,
            names.dictionary,
            source_of_name,
            start,
            end,
            tuple(evidence),
            find_conflicts(evidence, table),
            has_source,
            clips_of_pages,
        )

    @classmethod
    def from_clips(cls, clips: Iterable[Clip]) -> ClipTable:
        """Create the table from records; a clip without a split counts as ``train``, as in a published dataset."""
        clips = list(clips)
        split_of_clip = [clip.split or "train" for clip in clips]
        split_names = sorted(set(split_of_clip))
        string, time = pa.large_string(), pa.float64()
        schema = pa.schema({"video_id": string, "source_id": string, "url": string, "start": time, "end": time})
        columns = {name: [getattr(clip, name) for clip in clips] for name in schema.names}
        split = np.array([split_names.index(name) for name in split_of_clip], dtype=np.int64)
        table = pa.table(columns, schema)
        checksums = pa.array([clip.media and clip.media.sha256 for clip in clips], string)
        return cls.from_arrow(table.append_column("sha256", checksums), split, split_names)

    def __len__(self) -> int:
        return len(self.split)

    def count_by_split(self, selected: Flags) -> dict[str, int]:
        """Return split name -> number of selected rows, given n flags."""
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

    def find_shared_keys(self) -> dict[str, Flags]:
        """Return evidence -> n flags: whether a clip has a key that clips of several splits have, in any column."""
        stated = [np.stack([each.keys, self.split], 1)[each.keys >= 0] for each in self.evidence]
        keys, splits = np.unique(np.unique(np.concatenate(stated), axis=0)[:, 0], return_counts=True)
        return {each.column: np.isin(each.keys, keys[splits > 1]) for each in self.evidence}

    def find_sources(self, source_ids: Sequence[str]) -> Integers:
        """Return the number of each source by its id as stated; -1 for those without clips."""
        names = pc.index_in(pa.array(source_ids, self.names.type), value_set=self.names).fill_null(-1).to_numpy()
        sources: Integers = np.append(self.source_of_name, -1)[names]
        return sources


def has_span(start: Floats, end: Floats) -> Flags:
    """Return which spans are known and have a length in their source, which begins at 0."""
    known: Flags = np.isfinite(start) & np.isfinite(end) & (end > np.maximum(start, 0))
    return known


def count_overlaps(group: Integers, start: Floats, end: Floats) -> Integers:
    """Count for each of n spans in seconds the other spans of its group that it overlaps with, in n log n time.

    Two spans overlap when they share time: each starts before the other ends. Spans that only touch do not, nor does
    one without `has_span`. Half the sum of the n counts is the number of overlapping pairs.
    """
    counts = np.zeros(len(group), dtype=np.int64)
    known = np.flatnonzero(has_span(start, end))
    number = len(known)
    group, times = np.tile(group[known], 2), np.concatenate([end[known], start[known]])
    is_start = np.repeat([False, True], number)
    # At one moment ends come first, since spans are half-open.
    order = np.lexsort((is_start, times, group))
    rank = np.empty(2 * number, dtype=np.int64)
    rank[order] = np.arange(2 * number)
    # Spans of earlier groups count in both sums, and cancel out.
    started_before_end = np.cumsum(is_start[order])[rank[:number]]
    ended_before_start = np.cumsum(~is_start[order])[rank[number:]]
    counts[known] = started_before_end - ended_before_start - 1
    return counts


def longest_overlaps(clips: ClipTable, selected: Flags, number: int) -> list[tuple[float, int, int]]:
    """Return the longest overlaps in time between clips of one source and different splits, at most a number of them.

    They are the longest of the first 200,000 pairs that may be among them; `selected` are the rows of such overlaps.

    Returns:
        (seconds, row, row), the longest first.
    """
    # The smallest of the overlaps so far is on top; rows are negated, so that of equal ones the first rows stay.
    heap: list[tuple[float, int, int]] = []

    def overlapping_pairs() -> Iterator[tuple[float, int, int]]:
        rows = np.flatnonzero(selected)
        rows = rows[np.lexsort((rows, clips.start[rows], clips.source[rows]))]
        source, start, end = (column[rows].tolist() for column in (clips.source, clips.start, clips.end))
        for first in range(len(rows)):
            for second in range(first + 1, len(rows)):
                seconds = end[first] - start[second]
                # Later clips start later, so no overlap of theirs with the first clip is longer than this.
                is_too_short = len(heap) == number and seconds < heap[0][0]
                if source[second] != source[first] or seconds <= 0 or is_too_short:
                    break
                yield min(end[first], end[second]) - start[second], int(rows[first]), int(rows[second])

    for _, (seconds, row_a, row_b) in zip(range(_MAX_COMPARED_PAIRS), overlapping_pairs(), strict=False):
        if clips.split[row_a] != clips.split[row_b]:
            add = heapq.heappush if len(heap) < number else heapq.heappushpop
            add(heap, (seconds, -row_a, -row_b))
    return [(seconds, -row_a, -row_b) for seconds, row_a, row_b in sorted(heap, reverse=True)]
