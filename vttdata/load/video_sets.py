"""Read what benchmarks, datasets, builds, tables and lists of ids say of their sources, as sets that are compared.

A benchmark whose official files are described in ``recipes/sources`` is read from them, without building anything.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from vttdata.annotations.stated_sources import read_official_sources
from vttdata.dataset.foreign_clips import read_foreign_clips
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.leak_audit import read_clip_columns, read_fingerprints
from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.files.id_lists import SPLIT_WORDS
from vttdata.load.lookup import find_dataset
from vttdata.load.official_files import fetch_files, origins_named, put_together
from vttdata.recipe.origins import all_origins
from vttdata.recipe.sources import StatedSources, all_sources, read_stated_sources
from vttdata.split.audit.atlas import VideoSet
from vttdata.split.audit.evidence import fold_known_id

ALL = "all"
"""Reference to all benchmarks that are at hand."""

_TEXT = pa.large_string()
# Ids with a span, and names of files as Flickr gives them.
_SPAN_IN_ID = re.compile(r"(?:v_|youtube[-_:]|yt[-_:])?([\w-]{11})_\d+(?:\.\d+)?_\d+(?:\.\d+)?", re.ASCII)
_FLICKR_FILE = re.compile(r"\d+[@-]n\d\d_(\d+)_[0-9a-f]{8,}|(\d{8,})_[0-9a-f]{10}(?:_[a-z])?", re.ASCII)
_FLICKR = "https://www.flickr.com/photos/_/{}"
# An id that any collection may have, such as video_12, or a number.
_COUNTED = re.compile(r"[a-z]*[_-]?\d{1,7}", re.ASCII)
_MIN_LENGTH = 8
_KINDS_OF_TEXT = (("clips", "captions"), ("questions", "question"))


def read_video_sets(
    references: Sequence[str],
    note: Callable[[str], None],
    columns: Mapping[str, str] | None = None,
    trained: Container[str] = (),
) -> tuple[list[VideoSet], dict[str, str]]:
    """Return the sets of references under distinct names, and of `ALL` why a benchmark is not among them.

    A reference is the name of a benchmark in ``recipes/sources``, ``NAME=FOLDER`` with the folder of its official
    files, a dataset as `vttdata.load.lookup.find_dataset` takes it, a table, a folder of tables, a list of ids, or
    `ALL`: the benchmarks whose files have been fetched or are in a mirror. `columns` are names in tables, and tables
    and lists among `trained` that state no split are trained on.

    Raises:
        VttdataError: when one cannot be read, or two have the same name.
    """
    named = [each for each in dict.fromkeys(references) if each != ALL]
    sets = [_read_set(each, note, columns or {}, is_training=each in trained) for each in named]
    if len({own.name for own in sets}) < len(sets):
        raise VttdataError(f"Two of {', '.join(named)} have the same name; rename a file or folder.")
    absent: dict[str, str] = {}
    for name in all_sources() if ALL in references else ():
        if name not in {own.name for own in sets}:
            try:
                sets.append(read_benchmark(name, lambda _: None, offline=True))
            except VttdataError as error:
                absent[name] = read_stated_sources(all_sources()[name]).unknown or str(error).removeprefix(f"{name}: ")
    if not sets:
        raise VttdataError("No official files have been fetched yet; 'vttdata fetch NAME' gets those of a benchmark.")
    return _adopt_spans(adopt_names(sets)), absent


def read_benchmark(
    name: str, note: Callable[[str], None], folder: Path | None = None, *, offline: bool | None = None
) -> VideoSet:
    """Read a benchmark of ``recipes/sources`` from its official files, which are fetched unless `folder` has them.

    Raises:
        VttdataError: when its files say nothing of sources, or cannot be had or read.
    """
    stated = read_stated_sources(all_sources()[name])
    if not stated.tables:
        raise VttdataError(f"{name}: {stated.unknown}")
    found = read_official_sources(stated, folder or _fetch(name, stated, note, offline=offline))
    rows = found.sources
    columns = {
        "item": pa.array([row.item for row in rows], _TEXT),
        "split": pa.array([row.split for row in rows], _TEXT),
        "source_id": pa.array([next(iter(row.names), None) for row in rows], _TEXT),
        "name_in_id": pa.array([next(iter(row.names[1:]), None) for row in rows], _TEXT),
        "official_id": pa.array([row.source_id for row in rows], _TEXT),
        "start": pa.array([row.start for row in rows], pa.float64()),
        "end": pa.array([row.end for row in rows], pa.float64()),
    }
    unknown = [*filter(None, [stated.unknown]), *(f"Without {missing}." for missing in found.missing)]
    return VideoSet(name, pa.table(columns), found.texts, unknown=unknown)


def _adopt_spans(sets: Sequence[VideoSet]) -> list[VideoSet]:
    """Return sets, whose rows without a span have that of the clip of another set that they name."""
    of_clip: dict[str, set[tuple[float, float]]] = defaultdict(set)
    for own in sets:
        columns = ("name_in_id", "start", "end")
        if set(columns) <= set(own.table.column_names):
            for name, *span in zip(*(own.table.column(column).to_pylist() for column in columns), strict=True):
                if name is not None and all(time is not None and math.isfinite(time) for time in span):
                    of_clip[name].add((span[0], span[1]))
    adopted = []
    for own in sets:
        table, names = own.table, own.table.column("source_id").to_pylist()
        spans = [next(iter(found)) if len(found := of_clip.get(name, ())) == 1 else None for name in names]
        for column, place in (("start", 0), ("end", 1)) if any(spans) else ():
            stated = table.column(column).to_pylist()
            times = [
                span[place] if span is not None and (time is None or math.isnan(time)) else time
                for span, time in zip(spans, stated, strict=True)
            ]
            index = table.schema.get_field_index(column)
            table = table.set_column(index, column, pa.array(times, pa.float64()))
        adopted.append(dataclasses.replace(own, table=table))
    return adopted


def _fetch(name: str, stated: StatedSources, note: Callable[[str], None], *, offline: bool | None) -> Path:
    if name not in all_origins():
        raise VttdataError(
            f"{name}: its official files are not fetched; give their folder as {name}=FOLDER, or a dataset or list."
        )
    origins = origins_named(name)
    patterns = [pattern for table in stated.tables for pattern in table.files]
    # A set is compared by what there is of it.
    files = [
        dataclasses.replace(file, is_optional=True)
        for file in origins.files
        if file.name.endswith(".zip") or any(fnmatchcase(Path(file.name).name, pattern) for pattern in patterns)
    ]
    paths = fetch_files(origins, note, files, offline=offline)
    if not paths:
        raise VttdataError(f"{name}: its official files have not been fetched: vttdata fetch {name}")
    return put_together(origins, paths)


def _read_set(
    reference: str, note: Callable[[str], None], columns: Mapping[str, str], *, is_training: bool
) -> VideoSet:
    name, mark, folder = reference.partition("=")
    if mark and name in all_sources() and not Path(reference).exists():
        return read_benchmark(name, note, Path(folder))
    path = Path(reference)
    if reference in all_sources() and not path.exists():
        return read_benchmark(reference, note)
    if path.is_file():
        return _read_foreign(path, columns, is_training=is_training)
    try:
        return _read_dataset(find_dataset(reference))
    except VttdataError:
        if not path.is_dir():
            raise
        return _read_foreign(path, columns, is_training=is_training)


def _read_dataset(folder: Path) -> VideoSet:
    """Read a dataset folder."""
    files = read_layout(folder, needs="clips").files
    table, numbers = read_clip_columns(files)
    splits = list(files["clips"])
    table = table.append_column("item", table.column("video_id").cast(_TEXT))
    table = table.append_column("split", pa.array([splits[number] for number in numbers], _TEXT))
    texts: dict[str, list[str]] = defaultdict(list)
    for config, column in _KINDS_OF_TEXT:
        for split, paths in files.get(config, {}).items():
            for row in read_parquet_rows(paths, (), optional=(column,)):
                value = row.get(column) or ()
                texts[split] += [value] if isinstance(value, str) else value
    sources = set(table.column("source_id").to_pylist())
    prints = [*read_fingerprints(list(chain(*files.get("sources", {}).values())), sources)]
    # Datasets that others wrote have no manifest.
    stated = read_dataset_manifest(folder).get("name") if (folder / MANIFEST).exists() else None
    return VideoSet(str(stated or folder.name).rpartition("/")[2], table.drop_columns(["video_id"]), texts, prints)


def _read_foreign(path: Path, columns: Mapping[str, str], *, is_training: bool) -> VideoSet:
    """Read a table, a folder of tables or a list of ids; an id is that of a source where no column has one."""
    clips = read_foreign_clips(path, columns, "listed")
    table = clips.table.append_column("item", clips.table.column("video_id"))
    table = table.append_column("split", pa.array([clips.split_names[number] for number in clips.split], _TEXT))
    ids = pa.chunked_array([pa.nulls(len(table), _TEXT)]) if "video_id" in clips.row_numbers else table["video_id"]
    stated = pc.coalesce(table.column("source_id"), ids)
    table = table.drop_columns(["source_id", "video_id"]).append_column("source_id", stated)
    texts: dict[str, list[str]] = defaultdict(list)
    for rows, captions in clips.captions:
        for row, caption in zip(rows.tolist(), captions.to_pylist(), strict=True):
            texts[clips.split_names[clips.split[row]]].append(caption)
    is_stated = not set(clips.split_names).isdisjoint(SPLIT_WORDS.values())
    return VideoSet(path.name, table, texts, is_training=is_training and not is_stated)


def adopt_names(sets: Sequence[VideoSet]) -> list[VideoSet]:
    """Return sets, of which datasets and lists name sources as those benchmarks do that have the same official ids."""
    names: dict[str, set[str]] = defaultdict(set)
    for own in sets:
        if "official_id" in own.table.column_names:
            first = own.table.column("source_id").to_pylist()
            for column in ("official_id", "item"):
                for text, name in zip(own.table.column(column).to_pylist(), first, strict=True):
                    if name is not None and (key := fold_known_id(text or "")) is not None:
                        names[key].add(name)
    return [_name_sources(own, names) for own in sets]


def _name_sources(own: VideoSet, names: Mapping[str, set[str]]) -> VideoSet:
    table = own.table
    if "official_id" in table.column_names:
        return own
    if "name_in_id" not in table.column_names:
        table = table.append_column("name_in_id", pa.nulls(len(table), _TEXT))
    ids = (text or "" for text in table.column("source_id").to_pylist())
    keys = [fold_known_id(re.split(r"[/\\]", text)[-1]) or "" if "://" not in text else "" for text in ids]
    # A list of most of a collection's ids is one of this collection, however short they are.
    is_of_collection = sum(len(names.get(key, ())) == 1 for key in keys) > len(keys) / 2
    named = []
    for key, stated in zip(keys, table.column("name_in_id").to_pylist(), strict=True):
        is_distinctive = len(key) >= _MIN_LENGTH and _COUNTED.fullmatch(key) is None
        known = names.get(key, set()) if is_of_collection or is_distinctive else set()
        span, flickr = _SPAN_IN_ID.fullmatch(key), _FLICKR_FILE.fullmatch(key)
        in_text = span[1] if span else _FLICKR.format(flickr[1] or flickr[2]) if flickr else None
        named.append(next(iter(known)) if len(known) == 1 else stated or in_text)
    index = table.schema.get_field_index("name_in_id")
    return dataclasses.replace(own, table=table.set_column(index, "name_in_id", pa.array(named, _TEXT)))
