"""Audit the splits of a dataset folder, or other splits of its clips, for leaks.

Parquet files are read column by column. `vttdata.split.audit.leaks` defines what a leak is. Sources are compared by
their published fingerprints, or else by those of their clips' files.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import open_parquet, read_parquet_rows
from vttdata.dataset.protocol_file import is_protocol_file, read_protocol_file
from vttdata.dataset.rows import is_protocol
from vttdata.errors import MediaError, VttdataError
from vttdata.files.id_lists import read_split
from vttdata.ids import find_video_id, is_safe_id
from vttdata.records import HASH_SCHEME, Fingerprint
from vttdata.split import Audit
from vttdata.split.audit.clip_table import ClipTable, Integers
from vttdata.split.audit.evidence import COLUMNS
from vttdata.split.audit.leaks import audit_table
from vttdata.split.audit.repeated_captions import CaptionBatches
from vttdata.split.near_duplicates.matches import NearDuplicate, SimilarSources, match_sources

Files = Mapping[str, Mapping[str, Sequence[Path]]]
"""Configuration -> split -> Parquet files."""

_COLUMNS = ("video_id", "source_id", "start", "end")
_BATCH_ROWS = 10_000
# A clip may have dozens of captions.
_CAPTION_ROWS = 1_000


@dataclasses.dataclass(frozen=True, slots=True)
class AuditedClips:
    """Clips in splits with what an audit knows of them: captions, and near-duplicates or None.

    `row_numbers` are columns of a foreign dataset that count rows.
    """

    table: ClipTable
    captions: CaptionBatches
    near: SimilarSources | None = None
    row_numbers: Sequence[str] | None = None

    def audit(self) -> Audit:
        """Return the leaks between the splits."""
        found = audit_table(self.table, self.captions, self.near)
        known = {} if self.row_numbers is None else {"row_numbers": self.row_numbers}
        return dataclasses.replace(found, unknown=found.unknown | known)


def audit_dataset(dataset: Path, splits: Mapping[str, Path | None] | None = None, *, config: str = "clips") -> Audit:
    """Audit the splits of a dataset folder, those of one of its protocols, or other splits of its clips.

    Arguments and errors are those of `clips_of_dataset`.
    """
    return clips_of_dataset(dataset, splits, config=config).audit()


def clips_of_dataset(
    dataset: Path, splits: Mapping[str, Path | None] | None = None, *, config: str = "clips"
) -> AuditedClips:
    """Return the clips of a dataset folder in its splits, in those of one of its protocols, or in others.

    Args:
        dataset: Folder. Near-duplicates are found by the fingerprints in its ``sources``, or else by decoding the
            clips' files if it contains them.
        splits: Name -> file of ids (see `read_split`), or None for the dataset's split of this name; clips in none of
            them are left out. Without it, all splits of the dataset.
        config: ``clips``, or the protocol to audit; also the path of a protocol file.

    Raises:
        VttdataError: If the folder is not a dataset or has no such protocol, or a list cannot be read or contains ids
            that are not in the dataset.
    """
    files = read_layout(dataset).files
    if is_protocol_file(config) and config not in files:
        protocol = read_protocol_file(Path(config))
        unknown = [name for name, file in (splits or {}).items() if file is None and name not in protocol.splits]
        if unknown:
            raise VttdataError(f"{config}: has no split '{unknown[0]}'; it has {', '.join(protocol.splits)}.")
        chosen = splits or dict.fromkeys(protocol.splits)
        lists = {name: protocol.splits[name] if file is None else file for name, file in chosen.items()}
        return select_clips(files, lists, media=dataset)
    if config != "clips" and not (config in files and is_protocol(config)):
        known = ", ".join(filter(is_protocol, files)) or "none"
        raise VttdataError(f"{dataset}: has no protocol '{config}'; its protocols: {known}.")
    return select_clips(files, splits, config=config, media=dataset)


def audit_foreign(path: Path, columns: Mapping[str, str] = MappingProxyType({})) -> Audit:
    """Audit the splits of a table or a folder that vttdata did not write; see `read_foreign_clips`.

    Raises:
        VttdataError: As `read_foreign_clips`.
    """
    return clips_of_foreign(path, columns).audit()


def clips_of_foreign(path: Path, columns: Mapping[str, str] = MappingProxyType({})) -> AuditedClips:
    """Return the clips of a table or a folder that vttdata did not write, as `audit_foreign` takes them."""
    # Readers of CSV and JSON are imported only where they read.
    from vttdata.dataset.foreign_clips import read_foreign_clips

    foreign = read_foreign_clips(path, columns)
    evidence = [name for name in COLUMNS if name not in foreign.row_numbers]
    clips = ClipTable.from_arrow(foreign.table, foreign.split, foreign.split_names, evidence)
    return AuditedClips(clips, lambda: iter(foreign.captions), row_numbers=foreign.row_numbers)


def audit_all(files: Files) -> dict[str, Audit]:
    """Audit the dataset's own splits and those of each protocol: configuration -> audit, ``clips`` first."""
    return {config: audit_files(files, config=config) for config in ("clips", *filter(is_protocol, files))}


def audit_files(
    files: Files,
    splits: Mapping[str, Path | Sequence[str] | None] | None = None,
    *,
    config: str = "clips",
    media: Path | None = None,
) -> Audit:
    """Audit Parquet files by configuration and split; see `select_clips`."""
    return select_clips(files, splits, config=config, media=media).audit()


def select_clips(
    files: Files,
    splits: Mapping[str, Path | Sequence[str] | None] | None = None,
    *,
    config: str = "clips",
    media: Path | None = None,
) -> AuditedClips:
    """Return the clips in Parquet files by configuration and split, as `clips_of_dataset` those of a folder.

    `splits` may have ids in the place of a file of ids; names of the clips' files are relative to `media`.

    Raises:
        VttdataError: If a file is damaged, or a list cannot be read or contains ids that are not in the dataset.
    """
    clips = files[config]
    table, numbers = read_clip_columns(files, config)
    names, rows = list(clips), np.arange(table.num_rows)
    chosen, split = table, numbers
    if splits is not None:
        unknown = [name for name, file in splits.items() if file is None and name not in clips]
        if unknown:
            raise VttdataError(f"There is no split '{unknown[0]}'; the splits are {', '.join(clips)}.")
        rows_of_splits = [
            np.flatnonzero(numbers == names.index(name))
            if file is None
            else _rows_of_ids(
                table.column("video_id"), read_split(file, name) if isinstance(file, Path) else file, file
            )
            for name, file in splits.items()
        ]
        split = np.concatenate([np.full(len(own), number) for number, own in enumerate(rows_of_splits)])
        names, rows = list(splits), np.concatenate(rows_of_splits)
        chosen = table.take(pa.array(rows))
    clip_table = ClipTable.from_arrow(chosen, split, names)
    clip_paths = list(chain(*clips.values()))
    captions = caption_batches(clip_paths, clip_table, rows, table.num_rows)
    source_paths = list(chain(*files.get("sources", {}).values()))
    return AuditedClips(clip_table, captions, _find_near_duplicates(source_paths, clip_paths, clip_table, media))


def read_clip_columns(files: Files, config: str = "clips") -> tuple[pa.Table, Integers]:
    """Return what the clips of a configuration, and their sources, have of `ClipTable`, and the index of their split.

    Raises:
        VttdataError: If a file is damaged.
    """
    tables, numbers = [], []
    for number, paths in enumerate(files[config].values()):
        for path in paths:
            with open_parquet(path, *_COLUMNS, "captions") as file:
                optional = [name for name in COLUMNS if name in file.schema_arrow.names and name not in _COLUMNS]
                tables.append(file.read(columns=[*_COLUMNS, *optional]))
                numbers.append(np.full(tables[-1].num_rows, number))
    # A column may be of integers in one file, or of nothing but nulls.
    table = pa.concat_tables(tables, promote_options="permissive")
    return _add_sources(table, list(chain(*files.get("sources", {}).values()))), np.concatenate(numbers)


def _add_sources(table: pa.Table, paths: Sequence[Path]) -> pa.Table:
    """Add to clips what the table of sources says of their sources: ``source_url`` and ``source_sha256``."""
    stated = []
    for path in paths:
        with open_parquet(path, "source_id") as file:
            columns = [name for name in ("source_id", "url", "sha256") if name in file.schema_arrow.names]
            stated.append(file.read(columns=columns))
    sources = pa.concat_tables(stated, promote_options="permissive") if stated else pa.table({"source_id": []})
    ids, names = (each.column("source_id").cast(pa.string()).combine_chunks() for each in (sources, table))
    rows = pc.index_in(names, value_set=ids)
    for column in sources.column_names[1:]:
        table = table.append_column(f"source_{column}", sources.column(column).combine_chunks().take(rows))
    return table


def _find_near_duplicates(
    sources: Sequence[Path], clips: Sequence[Path], table: ClipTable, media: Path | None
) -> SimilarSources | None:
    """Compare the published fingerprints of the sources, or else the clips' files; None if there are neither."""
    presence = table.splits_of_sources()
    splits_of = {
        name: tuple(presence[source])
        for name, source in zip(table.names.to_pylist(), table.source_of_name.tolist(), strict=True)
    }
    matches = match_sources(read_fingerprints(sources, splits_of))
    compared = len(matches.samples.ids)
    if compared:
        return dataclasses.replace(matches.similar_sources(splits_of), without_fingerprint=len(splits_of) - compared)
    return compare_clips(media, clips, splits_of) if media is not None and (media / "videos").is_dir() else None


def read_fingerprints(sources: Sequence[Path], wanted: Collection[str]) -> Iterator[tuple[str, Fingerprint]]:
    """Yield the fingerprint of each wanted source once; those of another scheme cannot be compared."""
    seen: set[str] = set()
    optional = ("hash_scheme", "hashes")
    for row in read_parquet_rows(sources, ("source_id",), optional=optional, batch_rows=_BATCH_ROWS):
        source_id = row["source_id"]
        is_comparable = row.get("hash_scheme") == HASH_SCHEME and row.get("hashes")
        if is_comparable and source_id in wanted and source_id not in seen:
            seen.add(source_id)
            yield source_id, Fingerprint(HASH_SCHEME, row["hashes"])


def _rows_of_ids(video_ids: pa.Array, ids: Sequence[str], file: Path | Sequence[str]) -> Integers:
    """Return all rows of these ids, each row once; official files may list an id more than once."""
    known = set(video_ids.to_pylist())
    ids = [find_video_id(name, known) or name for name in ids]
    wanted = pa.array(ids, pa.string())
    unknown = pc.invert(pc.is_in(wanted, value_set=video_ids.cast(pa.string())))
    if pc.any(unknown).as_py():
        number, first = pc.sum(unknown).as_py(), ids[pc.index(unknown, True).as_py()]
        subject = file if isinstance(file, Path) else "The protocol"
        hint = "; if that is the head of the list, call it video_id" if first == ids[0] and number == 1 else ""
        raise VttdataError(f"{subject}: {number} of its ids are not in the dataset, the first is {first!a}{hint}.")
    is_wanted = pc.is_in(video_ids.cast(pa.string()), value_set=wanted)
    return np.flatnonzero(is_wanted.to_numpy()).astype(np.int64)


def caption_batches(paths: Sequence[Path], table: ClipTable, rows: Integers, total: int) -> CaptionBatches:
    """Return a reader of the captions in batches of (entry of each, texts); a row in two splits gives them twice."""
    entry_of = np.full((len(table.split_names), total), -1, dtype=np.int64)
    entry_of[table.split, rows] = np.arange(len(rows))

    def read() -> Iterator[tuple[Integers, pa.Array]]:
        first = 0
        for path in paths:
            with open_parquet(path, "captions") as file:
                for batch in file.iter_batches(_CAPTION_ROWS, columns=["captions"]):
                    lists = batch.column(0)
                    texts = lists.flatten()
                    parents = pc.list_parent_indices(lists).filter(texts.is_valid()).to_numpy().astype(np.int64)
                    texts = texts.drop_null()
                    for entries_of_split in entry_of[:, first : first + len(lists)]:
                        entry = entries_of_split[parents]
                        if (entry >= 0).any():
                            yield entry[entry >= 0], texts.filter(pa.array(entry >= 0))
                    first += len(lists)

    return read


def compare_clips(
    dataset: Path, clips: Sequence[Path], splits_of: Mapping[str, tuple[bool, ...]]
) -> SimilarSources | None:
    """Return which sources are near-duplicates by their clips; None without files or without a decoder installed.

    Every file, whose name is relative to `dataset`, is decoded, at about twenty times its playing speed; nothing is
    stored. Sources that are not in `splits_of`, which says for each split whether a source feeds it, are left out.
    """
    source_of: dict[str, str] = {}
    matches = match_sources(_fingerprint_clips(dataset, clips, splits_of, source_of))
    if not source_of:
        return None
    most_similar: dict[tuple[str, str], NearDuplicate] = {}
    for pair in (_between_sources(pair, source_of) for pair in matches.duplicates()):
        key = pair.source_a, pair.source_b
        if key[0] != key[1] and (key not in most_similar or most_similar[key].similarity < pair.similarity):
            most_similar[key] = pair
    closest = matches.closest({video_id: splits_of[source_id] for video_id, source_id in source_of.items()})
    return SimilarSources(
        [most_similar[key] for key in sorted(most_similar)],
        closest and _between_sources(closest, source_of),
        without_fingerprint=len(splits_of) - len(set(source_of.values())),
    )


def _fingerprint_clips(
    dataset: Path, clips: Sequence[Path], splits_of: Mapping[str, tuple[bool, ...]], source_of: dict[str, str]
) -> Iterator[tuple[str, Fingerprint]]:
    """Yield each clip's fingerprint and note its source; files that cannot be decoded are left out."""
    try:
        from vttdata.media.fingerprint import fingerprint
    except ImportError:
        return
    columns = ("video_id", "source_id", "video")
    for row in read_parquet_rows(clips, columns):
        video_id, source_id, video = (row[column] for column in columns)
        folder, *names = video.split("/") if isinstance(video, str) else ("",)
        is_needed = source_id in splits_of and video_id not in source_of
        if is_needed and folder == "videos" and all(map(is_safe_id, names)):
            with contextlib.suppress(MediaError):
                clip_fingerprint = fingerprint(dataset.joinpath(folder, *names))
                source_of[video_id] = source_id
                yield video_id, clip_fingerprint


def _between_sources(pair: NearDuplicate, source_of: Mapping[str, str]) -> NearDuplicate:
    """Return a pair of clips as a pair of their sources, the smaller id first; times stay those of the clips."""
    source_a, source_b = source_of[pair.source_a], source_of[pair.source_b]
    if source_a <= source_b:
        return dataclasses.replace(pair, source_a=source_a, source_b=source_b)
    return dataclasses.replace(
        pair,
        source_a=source_b,
        source_b=source_a,
        offset_seconds=round(-pair.offset_seconds / pair.speed, 3),
        speed=round(1 / pair.speed, 4),
        start_seconds=round(pair.start_seconds * pair.speed + pair.offset_seconds, 3),
        overlap_seconds=round(pair.overlap_seconds * pair.speed, 3),
    )
