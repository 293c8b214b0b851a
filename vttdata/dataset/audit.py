"""Audits a dataset folder from its Parquet files, read by column, or other splits of its clips.

What a leak is, is said in `vttdata.split.audit.leaks`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.dataset.columns import CLIPS, CONFIGS, columns_of
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import open_parquet
from vttdata.errors import VttdataError
from vttdata.files.id_lists import read_ids
from vttdata.records import HASH_SCHEME, Fingerprint
from vttdata.split import Audit, SimilarSources
from vttdata.split.audit.clip_table import ClipTable, Integers
from vttdata.split.audit.leaks import audit_table
from vttdata.split.audit.repeated_captions import CaptionBatches

Files = Mapping[str, Mapping[str, Sequence[Path]]]
"""Configuration -> split -> Parquet files."""

_COLUMNS = ("video_id", "source_id", "start", "end")
_ROWS_AT_A_TIME = 10_000


def audit_dataset(dataset: Path, splits: Mapping[str, Path] | None = None, *, config: str = "clips") -> Audit:
    """Judge the splits of a dataset folder, those of one of its protocols, or others of its clips.

    Args:
        dataset: a folder of our layout; near-duplicates are judged where its ``sources`` have fingerprints, or else
            where the clips' files are there, which are then decoded.
        splits: name -> file of ids (see `read_ids`), in the place of the dataset's own splits; clips in none of them
            are left out.
        config: ``clips``, or the protocol whose splits are judged.

    Raises:
        VttdataError: when the folder is no dataset or has no such protocol, or a list cannot be read or names clips
            that are not in it.
    """
    files = read_layout(dataset).files
    if config != "clips" and config not in protocols_of(files):
        known = ", ".join(protocols_of(files)) or "none"
        raise VttdataError(f"{dataset}: has no protocol '{config}'; its protocols: {known}.")
    return audit_files(files, splits, config=config, media=dataset)


def protocols_of(files: Iterable[str]) -> list[str]:
    """Which of these configurations are protocols: further divisions of the clips."""
    return [config for config in files if config not in CONFIGS and columns_of(config) is CLIPS]


def audit_all(files: Files) -> dict[str, Audit]:
    """Judge the dataset's own splits and those of each protocol: configuration -> judgement, ``clips`` first."""
    return {config: audit_files(files, config=config) for config in ("clips", *protocols_of(files))}


def audit_files(
    files: Files, splits: Mapping[str, Path] | None = None, *, config: str = "clips", media: Path | None = None
) -> Audit:
    """Judge Parquet files: configuration -> split -> files; else as `audit_dataset`, whose folder is `media`."""
    clips = files[config]
    tables, numbers = [], []
    for number, own in enumerate(clips.values()):
        for path in own:
            with open_parquet(path, *_COLUMNS, "captions") as file:
                tables.append(file.read(columns=list(_COLUMNS)))
                numbers.append(np.full(tables[-1].num_rows, number))
    table, names, chosen = pa.concat_tables(tables), list(clips), np.arange(sum(map(len, numbers)))
    if splits is not None:
        rows = [_rows(table.column("video_id"), read_ids(file), file) for file in splits.values()]
        numbers = [np.full(len(own), number) for number, own in enumerate(rows)]
        names, chosen = list(splits), np.concatenate(rows)
    split = np.concatenate(numbers)
    entries = ClipTable.from_arrow(table if splits is None else table.take(pa.array(chosen)), split, names)
    paths = list(chain(*clips.values()))
    captions = _captions(paths, entries, chosen, table.num_rows)
    near = _resemblance(list(chain(*files.get("sources", {}).values())), paths, entries, media)
    return audit_table(entries, captions, near)


def _resemblance(
    sources: Sequence[Path], clips: Sequence[Path], entries: ClipTable, media: Path | None
) -> SimilarSources | None:
    """What the published fingerprints of the sources say, or else the clips; None where there are neither."""
    from vttdata.dataset.clip_fingerprints import resemblance_of_clips
    from vttdata.split.near_duplicates.matches import match_sources

    there = entries.splits_of_sources()
    sides = {name: tuple(there[place]) for place, name in enumerate(entries.source_ids.to_pylist())}
    matches = match_sources(_fingerprints(sources, sides))
    seen = len(matches.samples.ids)
    if seen:
        return dataclasses.replace(matches.similar_sources(sides), without_fingerprint=len(sides) - seen)
    return resemblance_of_clips(media, clips, sides) if media is not None and (media / "videos").is_dir() else None


def _fingerprints(sources: Sequence[Path], wanted: Collection[str]) -> Iterator[tuple[str, Fingerprint]]:
    """Each wanted source's fingerprint, once; those of another scheme cannot be compared."""
    seen: set[str] = set()
    for path in sources:
        with open_parquet(path, "source_id") as file:
            if not {"hash_scheme", "hashes"} <= set(file.schema_arrow.names):
                continue
            for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=["source_id", "hash_scheme", "hashes"]):
                for row in batch.to_pylist():
                    name = row["source_id"]
                    if row["hash_scheme"] == HASH_SCHEME and row["hashes"] and name in wanted and name not in seen:
                        seen.add(name)
                        yield name, Fingerprint(row["hash_scheme"], row["hashes"])


def _rows(known: Any, ids: Sequence[str], file: Path) -> Integers:
    """All rows of these ids, each once; official files may list an id more than once."""
    wanted = pa.array(ids, pa.string())
    lost = pc.invert(pc.is_in(wanted, value_set=known.cast(pa.string())))
    if pc.any(lost).as_py():
        number, first = pc.sum(lost).as_py(), ids[pc.index(lost, True).as_py()]
        raise VttdataError(f"{file}: {number} of its ids are not in the dataset, the first is {first!a}.")
    there = pc.is_in(known.cast(pa.string()), value_set=wanted)
    return np.flatnonzero(there.to_numpy()).astype(np.int64)


def _captions(paths: Sequence[Path], entries: ClipTable, chosen: Integers, rows: int) -> CaptionBatches:
    """The captions of the chosen rows, read piece by piece; a row that is chosen twice is told twice."""
    entry_of = np.full((len(entries.split_names), rows), -1, dtype=np.int64)
    entry_of[entries.split, chosen] = np.arange(len(chosen))

    def read() -> Iterator[tuple[Integers, Any]]:
        first = 0
        for path in paths:
            for number, parents, texts in _lists(path):
                for places in entry_of[:, first : first + number]:
                    own = places[parents]
                    if (own >= 0).any():
                        yield own[own >= 0], texts.filter(pa.array(own >= 0))
                first += number

    return read


def _lists(path: Path) -> Iterator[tuple[int, Integers, Any]]:
    """Piece by piece the number of clips, and of each caption its clip's place in the piece and its text."""
    with open_parquet(path, "captions") as file:
        for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=["captions"]):
            lists = batch.column(0)
            texts = lists.flatten()
            parents = pc.list_parent_indices(lists).filter(texts.is_valid())
            yield len(lists), parents.to_numpy().astype(np.int64), texts.drop_null()
