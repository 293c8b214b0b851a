"""Read predictions as systems write them, and match them with the items that are expected.

Nothing is dropped in silence: missing, unknown and duplicated predictions are counted, and refused unless the caller
says otherwise.
"""

from __future__ import annotations

import dataclasses
import json
import math
import struct
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError
from vttdata.evaluate.harness_logs import how_to_complete, is_harness_log, read_harness_log
from vttdata.files.delimited import MAX_CELL_CHARACTERS
from vttdata.files.reading import ZIP_ERRORS, refuse_special
from vttdata.files.tables import Columns, fold_name, open_text, read_number, read_table, refuse_duplicate_keys
from vttdata.ids import find_video_id
from vttdata.json_types import Row

T = TypeVar("T")
Missing = Literal["refuse", "worst"]
Unknown = Literal["refuse", "ignore"]

_ID_COLUMNS = ("video_id", "image_id", "id")
OUTPUT_COLUMNS = (
    "prediction",
    "video_llm_prediction",
    "pred",
    "predict",
    "predicted",
    "response",
    *(f"{of}_{what}" for of in ("model", "predicted", "pred", "generated") for what in ("answer", "caption", "text")),
    "model_response",
    "model_prediction",
    "model_output",
    "llm_output",
    "output",
    "generated",
    "generation",
    "completion",
    "hypothesis",
)
"""Folded names of columns that can only be what a system wrote, in the order in which they are looked for."""

_CAPTION_COLUMNS = ("caption", "text", "answer")
_CAPTIONS = Columns(
    (*_ID_COLUMNS, *OUTPUT_COLUMNS, *_CAPTION_COLUMNS),
    (_ID_COLUMNS, (*_CAPTION_COLUMNS, *OUTPUT_COLUMNS)),
    pairs=("video_id", "caption"),
)
_PAIRS = Columns(
    ("foil_id", "video_id", "true_score", "foil_score", "preferred"),
    (("foil_id", "video_id"), ("true_score", "preferred")),
    ("true_score", "foil_score"),
)
PREFERENCES = {"true": (1.0, 0.0), "foil": (0.0, 1.0), "tie": (0.0, 0.0)}
_MAX_JSON_BYTES = 2**30
# What NumPy and zipfile raise for files that are damaged, encrypted or of another kind.
_NOT_NUMPY = (*ZIP_ERRORS, MemoryError)


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """Numbers of expected items, scored ones, missing, unknown and duplicated predictions."""

    expected: int
    scored: int
    missing: int = 0
    unknown: int = 0
    duplicated: int = 0


class MatchRule(NamedTuple):
    """Treatment of predictions that do not fit the items.

    Fields:
        missing: ``worst`` scores items without a prediction at the bottom instead of refusing them.
        unknown: ``ignore`` leaves out predictions about other items instead of refusing them.
    """

    missing: Missing = "refuse"
    unknown: Unknown = "refuse"


REFUSE = MatchRule()


class NamedColumns(NamedTuple):
    """What columns of tables of predictions are called, name -> column, as ``--columns`` says.

    `any_table` says that a table may have the usual names instead, as that of another system.
    """

    mapping: Mapping[str, str] = {}
    any_table: bool = False

    def of(self, columns: Columns) -> Columns:
        """Return the columns of a reader under these names."""
        mapping = {name: column for name, column in self.mapping.items() if name in columns.names}
        return dataclasses.replace(columns, mapping=mapping, any_table=self.any_table)

    def name_cells(self, cells: Row) -> Row:
        """Return cells under folded names, those of named columns under theirs."""
        folded = {fold_name(name): cell for name, cell in cells.items()}
        found = {name: fold_name(column) for name, column in self.mapping.items() if fold_name(column) in folded}
        left = {*found.values(), *(found if self.any_table else self.mapping)}
        return {name: cell for name, cell in folded.items() if name not in left} | {
            name: folded[column] for name, column in found.items()
        }

    def check(self, path: Path, rows: Iterable[Row]) -> None:
        """Check that renamed rows have every named column.

        Raises:
            VttdataError: if a column is missing, of tables that may not have the usual names instead.
        """
        header = list(dict.fromkeys(name for row in rows for name in row))
        missing = {name: column for name, column in self.mapping.items() if name not in header}
        if not self.any_table and header:
            Columns((*missing,), mapping=missing).lay_out(header, str(path))

    def refuse(self, path: Path) -> None:
        """Refuse a file that is no table with columns, when columns are named.

        Raises:
            VttdataError: for it.
        """
        if self.mapping and not self.any_table:
            raise VttdataError(f"{path}: is no table whose columns have other names; leave out --columns.")


USUAL = NamedColumns()


class Matched(NamedTuple):
    """Predictions in the order of the items, None where one is missing, their counts, and notes on what was read."""

    values: Sequence[Any]
    counts: ItemCounts
    notes: Sequence[str] = ()


class Similarity(NamedTuple):
    """Similarity of queries and videos.

    Fields:
        scores: queries x videos, higher is more similar; may be memory-mapped.
        query_ids: of the rows; None where the file has none.
        video_ids: of the columns; None where the file has none.
    """

    scores: npt.NDArray[np.floating]
    query_ids: Sequence[str] | None
    video_ids: Sequence[str] | None


def match_predictions(
    location: str,
    predictions: Iterable[tuple[str, T]],
    expected: Sequence[str],
    rule: MatchRule = REFUSE,
    *,
    other_split: Mapping[str, str] | None = None,
    noun: str = "caption",
    hint: str = "",
) -> Matched:
    """Match predictions with the expected items.

    Args:
        location: name of the file, for messages.
        predictions: id and value of each.
        expected: ids of the items.
        rule: what happens to missing and unknown predictions.
        other_split: id -> split, for ids of other splits.
        noun: what a prediction is called in messages.
        hint: what to do where no prediction is about an item.

    Raises:
        VttdataError: if an item is predicted twice, or missing or unknown ones are refused; the message has all three
            numbers and the first ids.
    """
    missing, unknown = rule
    if missing not in get_args(Missing) or unknown not in get_args(Unknown):
        raise VttdataError(f"missing is 'refuse' or 'worst', and unknown 'refuse' or 'ignore', not {tuple(rule)}.")
    values, duplicated, unknown_ids = _assign(predictions, set(expected))
    total = len(values) + len(duplicated) + len(unknown_ids)
    if not total:
        completed = how_to_complete(Path(location))
        raise VttdataError(f"{location}: contains no {noun}s{completed and '; '}{completed}.")
    if expected and not values:
        raise VttdataError(
            f"{location}: none of the {total:,} {noun}s is about one of the {len(expected):,} items: an id in the file "
            f"is {unknown_ids[0][:80]!a}{_of_splits(unknown_ids[:1], other_split)}, and one of the items "
            f"{expected[0][:80]!a}{hint and '; '}{hint}."
        )
    absent = [item for item in expected if item not in values]
    problems = []
    if absent and missing == "refuse":
        problems.append(f"{len(absent):,} of {len(expected):,} items have no {noun} ({_first(absent)})")
    if duplicated:
        problems.append(f"{len(duplicated):,} {noun}s are about an item that has one already ({_first(duplicated)})")
    if unknown_ids and unknown == "refuse":
        where = _of_splits(unknown_ids, other_split)
        problems.append(f"{len(unknown_ids):,} {noun}s are about unknown items ({_first(unknown_ids)}{where})")
    if problems:
        # Where most are missing, the predictions are about something else.
        is_minority = 0 < 2 * len(absent) <= len(expected)
        hints = [completed] if absent and (completed := how_to_complete(Path(location))) else []
        hints += ["--missing worst scores missing ones at the bottom"] if is_minority and missing == "refuse" else []
        hints += ["--unknown ignore leaves unknown ones out"] if unknown_ids and unknown == "refuse" else []
        problems += [" and ".join(hints)] if hints else []
        raise VttdataError(f"{location}: {'; '.join(problems)}.")
    counts = ItemCounts(len(expected), len(expected) - len(absent), len(absent), len(unknown_ids), 0)
    return Matched([values.get(item) for item in expected], counts)


def _assign(predictions: Iterable[tuple[str, T]], wanted: Collection[str]) -> tuple[dict[str, T], list[str], list[str]]:
    """Return the first prediction of each item, the items of further ones, and the ids that are of no item."""
    values: dict[str, T] = {}
    duplicated, unknown = [], []
    for name, value in predictions:
        item = find_video_id(name, wanted)
        if item is None:
            unknown.append(name)
        elif item in values:
            duplicated.append(item)
        else:
            values[item] = value
    return values, duplicated, unknown


def _of_splits(unknown_ids: Sequence[str], other_split: Mapping[str, str] | None) -> str:
    splits = sorted({other_split[name] for name in unknown_ids if name in other_split}) if other_split else []
    return f", of the split {' and '.join(splits)}" if splits else ""


def _first(ids: Sequence[str]) -> str:
    return f"first {', '.join(ascii(name[:80]) for name in list(dict.fromkeys(ids))[:3])}"


def read_captions(path: Path, columns: NamedColumns = USUAL) -> Iterator[tuple[str, str]]:
    """Yield the id and the caption of each prediction.

    Args:
        path: table with ``image_id`` or ``video_id``, and ``caption``, such as COCO results, see
            `vttdata.files.tables.read_table`; or a JSON object from ids to captions; or a log of a harness, see
            `vttdata.evaluate.harness_logs`. One of `OUTPUT_COLUMNS` in which any row has a text is read before
            ``caption``, which is then that of the dataset.
        columns: other names of ``video_id`` and ``caption``.

    Raises:
        VttdataError: if it cannot be read, or a row has no id or no caption.
    """
    rows = list(_caption_rows(path, columns))
    names = _caption_columns(rows, columns)[:1] or _CAPTION_COLUMNS
    for line, row in rows:
        name = _cell(path, line, row, _ID_COLUMNS)
        caption = _cell(path, line, row, names, empty="")
        # Some code writes a list of one caption for each id, as pycocoevalcap takes it.
        caption = caption[0] if isinstance(caption, list) and len(caption) == 1 else caption
        if not isinstance(name, (str, int)) or isinstance(name, bool) or not isinstance(caption, str):
            raise VttdataError(f"{path}:{line}: the id or the caption is not a text.")
        yield str(name), check_length(path, name, caption)


def describe_caption_column(path: Path, columns: NamedColumns = USUAL) -> list[str]:
    """Return a sentence on which column of a file `read_captions` reads where it could be several, else nothing."""
    is_named = "caption" in columns.mapping and not columns.any_table
    found = [] if is_named else _caption_columns(list(_caption_rows(path, columns)), columns)
    others = ", ".join(map(repr, found[1:]))
    return [f"{path.name}: the captions are those of {found[0]!r}, not of {others}."] if others else []


def _caption_columns(rows: Sequence[tuple[int, Mapping[str, object]]], columns: NamedColumns) -> list[str]:
    """Return the columns that may hold captions and do so in any row, that of the predictions first."""
    filled = {column for _, row in rows for column, value in row.items() if value not in (None, "")}
    named = ["caption"] if "caption" in columns.mapping and not columns.any_table else []
    return [column for column in (*named, *OUTPUT_COLUMNS, *_CAPTION_COLUMNS) if column in filled]


def _caption_rows(path: Path, columns: NamedColumns) -> Iterable[tuple[int, Mapping[str, object]]]:
    if not is_harness_log(path):
        return read_table(path, columns.of(_CAPTIONS))
    columns.refuse(path)
    return read_harness_log(path)


def check_length(path: Path, name: object, caption: str) -> str:
    """Return a caption that is no longer than a cell of a table may be.

    Raises:
        VttdataError: if it is longer.
    """
    if len(caption) > MAX_CELL_CHARACTERS:
        raise VttdataError(
            f"{path}: the caption of {str(name)[:80]!a} has {len(caption):,} characters; at most "
            f"{MAX_CELL_CHARACTERS:,} are scored."
        )
    return caption


def _cell(path: Path, line: int, row: Mapping[str, object], names: Sequence[str], empty: object = None) -> Any:
    name = next((name for name in names if name in row), None)
    if name is None:
        raise VttdataError(f"{path}:{line}: the column '{names[0]}' is missing; there are {', '.join(row) or 'none'}.")
    value = row[name]
    if value is None and empty is None:
        raise VttdataError(f"{path}:{line}: the column '{name}' is empty.")
    return empty if value is None else value


def read_strict_json(path: Path) -> Any:
    """Read a JSON file in UTF-8 or UTF-16.

    Raises:
        VttdataError: if it cannot be read, is too large, or an object has a key twice.
    """
    try:
        with open_text(path) as stream:
            if path.stat().st_size > _MAX_JSON_BYTES:
                raise VttdataError(f"{path}: larger than {_MAX_JSON_BYTES:,} bytes; use JSON lines instead.")
            return json.load(stream, object_pairs_hook=refuse_duplicate_keys)
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{path}: not JSON ({error}).") from error


def read_foil_scores(path: Path, columns: NamedColumns = USUAL) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the id of each pair with the scores of its true text and of its foil.

    Args:
        path: CSV, TSV or JSON lines table with ``foil_id`` (or ``video_id`` for paragraphs), and either ``true_score``
            and ``foil_score``, or ``preferred``: ``true``, ``foil`` or ``tie``; or a log of a harness, see
            `vttdata.evaluate.harness_logs`. Of a row with both, the scores count.
        columns: other names of these columns.

    Raises:
        VttdataError: if it cannot be read, a column is missing, a score is not a finite number, or another text is
            preferred than has the higher score.
    """
    if is_log := is_harness_log(path):
        columns.refuse(path)
    for line, row in read_harness_log(path) if is_log else read_table(path, columns.of(_PAIRS)):
        name = str(_cell(path, line, row, ("foil_id", "video_id")))
        stated = str(row.get("preferred") or "").strip().lower()
        if "preferred" in row and stated not in PREFERENCES:
            raise VttdataError(f"{path}:{line}: 'preferred' is {stated[:40]!a}, not true, foil or tie.")
        if "preferred" in row and row.get("true_score") is None and row.get("foil_score") is None:
            yield name, PREFERENCES[stated]
            continue
        true, foil = (
            read_number(path, line, column, _cell(path, line, row, (column,)))
            for column in ("true_score", "foil_score")
        )
        if stated and PREFERENCES[stated] != (float(true > foil), float(foil > true)):
            raise VttdataError(
                f"{path}:{line}: 'preferred' is {stated}, but the scores are {true:g} for the true text and {foil:g} "
                "for the foil; leave out the column that is not meant."
            )
        yield name, (true, foil)


def read_run(path: Path) -> dict[str, dict[str, float]]:
    """Read a run in TREC's format: ``query Q0 video rank score tag`` on each line; ranks follow from the scores.

    Returns:
        Query -> video -> score.

    Raises:
        VttdataError: if it cannot be read, a line has other columns, a score is not finite, or a video occurs twice for
            a query.
    """
    run: dict[str, dict[str, float]] = {}
    hint = (
        ", of a run of retrieval (TREC). Captions are read from a table (.csv, .tsv, .json, .jsonl) with the columns "
        "video_id and caption, also a .txt with --task captioning"
    )
    for line, (query, _, video, _, score, _) in _read_cells(path, "query Q0 video rank score tag", hint):
        ranking = run.setdefault(query, {})
        if video in ranking:
            raise VttdataError(f"{path}:{line}: {video!a} is duplicated in the ranking of {query!a}.")
        ranking[video] = read_number(path, line, "score", score)
    return run


def read_relevance(path: Path) -> dict[str, dict[str, float]]:
    """Read judgments of relevance in TREC's format: ``query 0 video relevance`` on each line.

    Returns:
        Query -> video -> relevance.

    Raises:
        VttdataError: if it cannot be read, a line has other columns, or a pair has two different judgments.
    """
    relevance: dict[str, dict[str, float]] = {}
    for line, (query, _, video, grade) in _read_cells(path, "query 0 video relevance"):
        gain = read_number(path, line, "relevance", grade)
        if relevance.setdefault(query, {}).setdefault(video, gain) != gain:
            raise VttdataError(f"{path}:{line}: {video!a} has two different judgments for {query!a}.")
    return relevance


def _read_cells(path: Path, columns: str, hint: str = "") -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not empty, which has as many as there are `columns`."""
    width = len(columns.split())
    with open_text(path) as stream:
        for line, cells in enumerate(map(str.split, stream), 1):
            if len(cells) not in (0, width):
                raise VttdataError(f"{path}:{line}: {len(cells)} columns instead of these {width}: {columns}{hint}.")
            if cells:
                yield line, cells


def read_similarity(path: Path) -> Similarity:
    """Read a similarity matrix of queries and videos.

    A ``.npy`` file and an uncompressed ``.npz`` file are mapped into memory, so that they may be larger than it.

    Args:
        path: ``.npz`` with ``similarity`` (queries x videos), ``query_ids`` and ``video_ids``, or ``.npy`` with the
            matrix alone.

    Raises:
        VttdataError: if it cannot be read, holds Python objects, or the shapes do not fit.
    """
    try:
        refuse_special(path)
        loaded = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return Similarity(_check_matrix(path, loaded), None, None)
        with loaded as arrays:
            missing = [name for name in ("similarity", "query_ids", "video_ids") if name not in arrays.files]
            if missing:
                raise VttdataError(
                    f"{path}: has no array '{missing[0]}'; similarity (queries x videos), query_ids and video_ids are "
                    "needed."
                )
            query_ids, video_ids = (_texts(path, name, arrays[name]) for name in ("query_ids", "video_ids"))
            scores = _map_stored(path, "similarity.npy")
            scores = _check_matrix(path, arrays["similarity"] if scores is None else scores)
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except _NOT_NUMPY as error:
        # NumPy takes any other content for a pickle, and recommends to load it.
        is_large = isinstance(error, MemoryError)
        reason = "larger than memory" if is_large else "damaged, no NumPy file, or it holds Python objects"
        raise VttdataError(f"{path}: cannot be read as NumPy arrays ({reason}).") from error
    if scores.shape != (len(query_ids), len(video_ids)):
        raise VttdataError(
            f"{path}: the matrix is {scores.shape[0]:,} x {scores.shape[1]:,}, but there are {len(query_ids):,} query "
            f"ids and {len(video_ids):,} video ids."
        )
    return Similarity(scores, query_ids, video_ids)


def _check_matrix(path: Path, scores: npt.NDArray[Any]) -> npt.NDArray[np.floating]:
    if scores.ndim != 2 or scores.dtype.kind not in "fiu":
        raise VttdataError(f"{path}: a matrix of numbers is expected, found shape {scores.shape} of {scores.dtype}.")
    return scores


def _texts(path: Path, name: str, values: object) -> list[str]:
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "USiu":
        raise VttdataError(f"{path}: '{name}' is not a list of texts.")
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values.tolist()]


def _map_stored(path: Path, name: str) -> npt.NDArray[Any] | None:
    """Map an array that is stored in a zip file without compression; None if it is compressed."""
    with zipfile.ZipFile(path) as archive, path.open("rb") as stream:
        entry = archive.getinfo(name)
        if entry.compress_type != zipfile.ZIP_STORED:
            return None
        stream.seek(entry.header_offset)
        # The local header is 30 bytes, followed by the name and an extra field whose lengths are its last fields.
        name_length, extra_length = struct.unpack("<HH", stream.read(30)[26:30])
        stream.seek(entry.header_offset + 30 + name_length + extra_length)
        version = np.lib.format.read_magic(stream)
        readers: dict[tuple[int, int], Callable[..., Any]] = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        if version not in readers:
            return None
        shape, fortran, dtype = readers[version](stream)
        if dtype.hasobject or math.prod(shape) == 0:
            return None
        order: Literal["F", "C"] = "F" if fortran else "C"
        return np.memmap(path, dtype=dtype, mode="r", offset=stream.tell(), shape=shape, order=order)
