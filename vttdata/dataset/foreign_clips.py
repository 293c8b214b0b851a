"""Read the clips of a dataset that vttdata did not write, for an audit of its splits: a table, or a folder of tables.

Splits are named by a column, by the card of a dataset of the HuggingFace Hub, or by the names of files and folders, as
the Hub reads them. Lists of ids are as of `vttdata.files.id_lists`. A folder with videos and no table is a dataset too:
each file is a clip.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.dataset.foreign_tables import SUFFIXES, list_tables, stream_table
from vttdata.dataset.front_matter import read_front_matter
from vttdata.errors import VttdataError
from vttdata.files.id_lists import SPLIT_WORDS, is_id_list, read_splits, split_in_name
from vttdata.files.reading import file_sha256
from vttdata.files.tables import fold_name, parse_seconds
from vttdata.ids import VIDEO_EXTENSIONS, fold_id
from vttdata.split.audit.clip_table import Integers
from vttdata.split.audit.evidence import COLUMNS, find_placeholders

_UNLISTED = "unlisted"
# `<id>_<start>_<end>`, as in VATEX and MSVD, with the id of a YouTube video.
_SPAN_IN_ID = re.compile(r"\s*(?=[a-z_-]{0,10}[0-9A-Z])([\w-]{11})_(\d+)_(\d+)(?:\.\w+)?\s*", re.ASCII)
_MIN_SHARE_OF_SPANS = 0.8
# The id of a YouTube video has letters of both cases, but for one in 150.
_YOUTUBE_ID = re.compile(r"\s*(?:v_|youtube[-_:]|yt[-_:])?(?=[\w-]*[a-z])(?=[\w-]*[A-Z])([\w-]{11})\s*", re.ASCII)
_RUNNING_NUMBER = re.compile(r"(.*?)(\d{1,15})")
_TEXT = pa.large_string()


class ForeignClips(NamedTuple):
    """Clips of a foreign dataset.

    Fields:
        table: n clips with ``video_id``, ``source_id``, ``start``, ``end`` and the columns of evidence that exist.
        split: n indices of `split_names`.
        captions: as many batches as files had, of (clip of each, texts).
        row_numbers: columns of ids that count the rows of each split, and say nothing of the videos.
    """

    table: pa.Table
    split: Integers
    split_names: list[str]
    captions: list[tuple[Integers, pa.Array]]
    row_numbers: list[str]


def read_foreign_clips(path: Path, columns: Mapping[str, str], default: str | None = None) -> ForeignClips:
    """Read a table or a folder; `columns` are names in it by those of `vttdata.dataset.foreign_tables.NAMES`.

    Rows of one split with the same ids and times are captions of one clip. `default` is the split of rows of which
    nothing says it.

    Raises:
        VttdataError: when a table cannot be read, or nothing says which split a row is in.
    """
    tables, captions = [], []
    # A file without rows makes its split an empty one.
    splits: dict[str | None, None] = {}
    has_column = False
    is_list = not columns and is_id_list(path)
    for file, stated_split in [(path, None)] if is_list else _split_files(path):
        file_split = stated_split or default
        splits[file_split] = None
        batches = stream_table(file, columns) if file.name.lower().endswith(SUFFIXES) else _video_row(file)
        for batch in [_listed_rows(path)] if is_list else batches:
            if file_split is None and "split" not in batch.column_names:
                raise VttdataError(
                    f"{file}: nothing says which split a row is in; name a column with --columns split=COLUMN, or name "
                    "files or folders by their splits, such as train.csv and test.csv."
                )
            has_column |= "split" in batch.column_names
            captions.append(batch.column("caption").combine_chunks() if "caption" in batch.column_names else None)
            tables.append(_as_evidence(batch, file_split, file.parent))
    if not tables:
        raise VttdataError(f"{path}: has no clips.")
    table = _without_placeholders(pa.concat_tables(tables, promote_options="default"))
    stated = table.column("split").to_pylist()
    listed = () if has_column else filter(None, splits)
    number_of = {name: number for number, name in enumerate(dict.fromkeys([*listed, *stated]))}
    names, split_of_row = list(number_of), np.array([number_of[name] for name in stated], np.int64)
    table = _add_derived(table.drop_columns(["split"]), split_of_row, path)
    first_rows, clip_of_row = _group_rows(table, split_of_row)
    table, split = table.take(pa.array(first_rows)), split_of_row[first_rows]
    row_numbers = [name for name in ("source_id", "video_id") if _counts_rows(table.column(name), split)]
    flattened, first = [], 0
    for texts, part in zip(captions, tables, strict=True):
        rows = clip_of_row[first : first + len(part)]
        first += len(part)
        if texts is not None:
            flattened.append(_flatten(rows, texts))
    return ForeignClips(table, split, names, flattened, row_numbers)


def _split_files(path: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield the files of a dataset, each with its split; None where only its rows can say."""
    stated = _files_of_card(path) if (path / "README.md").is_file() else []
    if stated:
        yield from stated
        return
    videos = sorted(file for file in path.rglob("*") if file.suffix.lower() in VIDEO_EXTENSIONS)
    for file in list_tables(path, needed=not videos) or videos:
        parts = file.relative_to(path).parts if path.is_dir() else (file.name,)
        # The name of a file says more than those of its folders.
        yield file, next(filter(None, map(split_in_name, reversed(parts))), None)


def _files_of_card(folder: Path) -> list[tuple[Path, str | None]]:
    """Return the files that the card of a dataset of the Hub names for its default configuration, with their splits."""
    try:
        configs = read_front_matter(folder)["configs"]
        config = next((each for each in configs if each.get("default")), configs[0])
        return [
            (file, str(entry["split"]))
            for entry in config["data_files"]
            for pattern in ([entry["path"]] if isinstance(entry["path"], str) else entry["path"])
            for file in sorted(folder.glob(pattern))
            if file.name.lower().endswith(SUFFIXES)
        ]
    except (VttdataError, TypeError, KeyError, AttributeError, LookupError, ValueError, NotImplementedError):
        # A card need not say where the tables are.
        return []


def _listed_rows(path: Path) -> pa.Table:
    pairs = [(video_id, split) for split, ids in read_splits(path).items() for video_id in ids]
    return pa.table(dict(zip(("video_id", "split"), map(pa.array, zip(*pairs, strict=True)), strict=True)))


def _video_row(file: Path) -> Iterator[pa.Table]:
    yield pa.table({"video_id": [file.name]})


def _as_evidence(batch: pa.Table, split: str | None, folder: Path) -> pa.Table:
    """Return what an audit needs of a batch: texts, times in seconds, and the split and the file of each row."""
    values = {name: batch.column(name).cast(_TEXT) for name in batch.column_names if name in COLUMNS}
    if "hashes" in batch.column_names:
        values["fingerprint"] = batch.column("hashes").cast(_TEXT)
    empty = pa.nulls(len(batch), _TEXT)
    for name in ("video_id", "source_id"):
        values.setdefault(name, empty)
    for name in ("start", "end"):
        column = batch.column(name) if name in batch.column_names else empty
        values[name] = pa.array([parse_seconds(value) for value in column.to_pylist()], pa.float64())
    if "split" in batch.column_names:
        stated = (fold_name(str(value)) if value is not None else "" for value in batch.column("split").to_pylist())
        values["split"] = pa.array([SPLIT_WORDS.get(name, name) or _UNLISTED for name in stated], _TEXT)
    else:
        values["split"] = pa.array([split] * len(batch), _TEXT)
    files = pc.binary_join_element_wise(pa.scalar(f"{folder}/", _TEXT), values["video_id"], pa.scalar("", _TEXT))
    return pa.table({**values, "file": files})


def _without_placeholders(table: pa.Table) -> pa.Table:
    """Return a table without ids that stand for none, which would make one clip of many."""
    for name in ("video_id", "source_id"):
        column = table.column(name)
        placeholders = find_placeholders(column.unique().drop_null().to_pylist())
        if placeholders:
            is_one = pc.is_in(column, value_set=pa.array([*placeholders], _TEXT))
            table = table.set_column(
                table.schema.get_field_index(name), name, pc.if_else(is_one, pa.scalar(None, _TEXT), column)
            )
    return table


def _add_derived(table: pa.Table, split: Integers, root: Path) -> pa.Table:
    """Take folders out of ids, and add what follows from ids and from files: a source, and a checksum."""
    if "sha256" not in table.column_names:
        table = table.append_column("sha256", _checksums(table.column("file").to_pylist(), table, root))
    ids = table.column("video_id").to_pylist()
    stems = [text if text is None or "://" in text else re.split(r"[/\\]", text)[-1] for text in ids]
    in_split = [{*zip(split.tolist(), names, strict=True)} for names in (ids, stems)]
    if len(in_split[0]) == len(in_split[1]):
        ids = stems
    spans = [_SPAN_IN_ID.fullmatch(text) if text else None for text in ids]
    are_spans = [bool(match) and int(match[2]) < int(match[3]) for match in spans if match]
    if sum(are_spans) > _MIN_SHARE_OF_SPANS * max(len(ids), 1):
        named = [match[1] if match else None for match in spans]
    else:
        named = [_named_video(text) for text in table.column("video_id").to_pylist()]
    if any(named):
        table = table.append_column("name_in_id", pa.array(named, _TEXT))
    index = table.schema.get_field_index("video_id")
    return table.set_column(index, "video_id", pa.array(ids, _TEXT)).drop_columns(["file"])


def _named_video(video_id: str | None) -> str | None:
    """Return the original video that an id of a clip is: an address, or the id of a YouTube video."""
    if video_id is None or "://" in video_id:
        return video_id
    stem = re.split(r"[/\\]", video_id)[-1]
    suffix = Path(stem.strip()).suffix
    match = _YOUTUBE_ID.fullmatch(stem.strip().removesuffix(suffix) if suffix.lower() in VIDEO_EXTENSIONS else stem)
    return match[1] if match else None


def _checksums(names: Sequence[str | None], table: pa.Table, root: Path) -> pa.Array:
    """Return the SHA-256 of the files of rows that have the size of another file; None for others."""
    folder = root if root.is_dir() else root.parent
    by_size: dict[int, set[Path]] = defaultdict(set)
    file_of: list[Path | None] = []
    for name, own in zip(names, table.column("video_id").to_pylist(), strict=True):
        candidates = [Path(name), folder / own] if name and own and Path(own).suffix.lower() in VIDEO_EXTENSIONS else []
        file = next(
            (path for path in candidates if path.is_file() and path.resolve().is_relative_to(folder.resolve())), None
        )
        file_of.append(file)
        if file is not None:
            by_size[file.stat().st_size].add(file)
    digests: dict[Path | None, str] = {}
    for files in by_size.values():
        for file in files if len(files) > 1 else ():
            digests[file] = file_sha256(file)
    return pa.array([digests.get(file) for file in file_of], _TEXT)


def _group_rows(table: pa.Table, split: Integers) -> tuple[Integers, Integers]:
    """Return the first row of each clip, and the clip of each row; a row without any id is a clip."""
    codes = [
        split,
        *(
            np.unique(np.nan_to_num(table.column(name).to_numpy(), nan=-1), return_inverse=True)[1]
            for name in ("start", "end")
        ),
    ]
    has_id = np.zeros(len(table), np.bool_)
    for name in table.column_names:
        if name not in ("start", "end"):
            indices = table.column(name).combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
            codes.append(indices)
            has_id |= indices >= 0
    codes.append(np.where(has_id, -1, np.arange(len(table))))
    _, first_rows, clip_of_row = np.unique(np.stack(codes, 1), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first_rows)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first_rows[order], rank[clip_of_row.reshape(-1)]


def _counts_rows(ids: pa.ChunkedArray, split: Integers) -> bool:
    """Return whether ids of several splits are numbers that begin anew in each, such as those of rows."""
    texts = ids.to_pylist()
    runs: dict[str, int] = defaultdict(int)
    for number in np.unique(split).tolist():
        matches = [
            _RUNNING_NUMBER.fullmatch(fold_id(texts[row])) if texts[row] else None
            for row in np.flatnonzero(split == number)
        ]
        prefixes = {match[1] if match else None for match in matches}
        numbers = {int(match[2]) for match in matches if match}
        if len(prefixes) == 1 and None not in prefixes and len(numbers) > 1 and min(numbers) < 2:
            runs[prefixes.pop() or ""] += max(numbers) - min(numbers) == len(numbers) - 1
    return any(count > 1 for count in runs.values())


def _flatten(rows: Integers, texts: pa.Array) -> tuple[Integers, pa.Array]:
    """Return captions, one a row or a list of them, as texts with the clip of each."""
    while pa.types.is_list(texts.type) or pa.types.is_large_list(texts.type):
        rows = rows[pc.list_parent_indices(texts).to_numpy()]
        texts = pc.list_flatten(texts)
    is_text = texts.is_valid().to_numpy(zero_copy_only=False)
    return rows[is_text], texts.drop_null().cast(_TEXT)
