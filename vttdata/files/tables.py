"""Read the tables that users bring (CSV, TSV, JSON, Excel) row by row, with file and line in every error.

Spreadsheets write tables in many ways. What can be told without doubt is read: delimiters, UTF-16, names of columns in
another case, empty columns and rows at the end. Everything else is refused with what to do. No table is held in memory,
but for Excel workbooks and tables that are one JSON object: JSON lists and JSON lines are read value by value.
"""

from __future__ import annotations

import difflib
import itertools
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from vttdata.errors import VttdataError
from vttdata.files.delimited import MAX_CELL_CHARACTERS, read_records, strip_header
from vttdata.files.reading import read_regular
from vttdata.files.workbooks import read_workbook
from vttdata.json_types import JsonObject, Row

JSON_LINES = frozenset({".jsonl", ".ndjson"})
"""File name extensions of JSON lines."""

# Delimiters by extension; the first one divides a header in which there is none of them.
_DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".txt": "\t;,"}
WORKBOOK = ".xlsx"
"""File name extension of workbooks that are read, with the extra ``xlsx``."""
WORKBOOK_SUFFIXES = frozenset({WORKBOOK, ".xls", ".xlsm", ".ods", ".numbers"})
READ_SUFFIXES = (*_DELIMITERS, ".json", *sorted(JSON_LINES), WORKBOOK)
"""File name extensions of the tables that are read."""
TABLE_SUFFIXES = frozenset(READ_SUFFIXES) | WORKBOOK_SUFFIXES
"""File name extensions of tables, also of those that can only be refused."""

MAX_COLUMNS = 4096
"""Limit on the columns of a table."""

SAMPLE_ROWS = 50
_PLACEHOLDER = "COLUMN"
MAX_LAYOUTS = 1000
# First line by which a table tells Excel its delimiter; saved again, it may be quoted and followed by empty cells.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[,;\t]*[\r\n]*', re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_CLOCK = re.compile(
    r"(?:(?P<hours>[0-9]+):(?=[0-5]?[0-9]:))?(?P<minutes>[0-9]+):(?P<seconds>[0-5]?[0-9](?:[.,][0-9]+)?)"
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

# Characters of JSON that are read at once, and the most that a value has.
_JSON_CHUNK = 2**16
_MAX_VALUE_CHARACTERS, _MAX_OBJECT_CHARACTERS = 2**24, 2**30
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns that a reader knows by name.

    The name of a column in a table may differ in case, and have spaces or hyphens for underscores.

    Fields:
        names: names by which the reader finds cells in a row; without any, a row has all columns as they are called.
        required: groups of names; a table has at least one column of each group.
        numbers: columns of numbers, in which a semicolon-separated table may have decimal commas.
        mapping: name -> name of that column in the table, or the names of which it has one, as the user says; none
            where the user cannot.
        any_table: the mapping is for several tables, so that one of them may have usual names, and lack columns that
            are not required.
        others: columns that are left out; any further one that resembles a name is refused. None leaves out all.
        pairs: columns of the keys and of the values of a JSON object that is a table by itself; None for none.
        keep_spaces: cells have the spaces around their text that the file has, for readers whom these tell something.
    """

    names: Sequence[str] = ()
    required: Sequence[Sequence[str]] = ()
    numbers: Sequence[str] = ()
    mapping: Mapping[str, str | Sequence[str]] | None = None
    any_table: bool = False
    others: Sequence[str] | None = None
    pairs: tuple[str, str] | None = None
    keep_spaces: bool = False

    def lay_out(self, header: Sequence[str], location: str, *, partial: bool = False) -> dict[str, str]:
        """Return the column of a header, or key of a JSON object, behind each name of a row.

        Errors begin with `location`, file and line. A `partial` header may lack mapped columns.

        Raises:
            VttdataError: when a mapped column or each of a required group is missing, two columns differ from a name
                only in case, or a column is probably misspelled.
        """
        if not self.names:
            return {column: column for column in header if column}
        located: dict[str, str] = {}
        for name in self.names:
            column = self._find(name, header, location, partial=partial)
            if column is not None:
                located[name] = column
        groups = [group for group in self.required if not any(name in located for name in group)]
        if groups:
            raise VttdataError(f"{location}: {_missing(groups, header, by_option=self.mapping is not None)}.")
        if self.others is not None:
            missing = [name for name in self.names if name not in located]
            expected = {*self.names, *self.others}
            for column in header:
                near = difflib.get_close_matches(fold_name(column), missing, n=1)
                if near and column not in located.values() and fold_name(column) not in expected:
                    raise VttdataError(f"{location}: unknown column '{column}' (did you mean '{near[0]}'?).")
        return located

    def _find(self, name: str, header: Sequence[str], location: str, *, partial: bool) -> str | None:
        given = (self.mapping or {}).get(name, name)
        wanted = [given] if isinstance(given, str) else list(given)
        found = [column for each in wanted if (column := find_column(each, header, location)) is not None]
        if len(found) > 1:
            raise VttdataError(
                f"{location}: the columns '{found[0]}' and '{found[1]}' could both be '{name}'; keep one."
            )
        if found or name not in (self.mapping or {}):
            return found[0] if found else None
        alike = [other for group in self.required if name in group for other in group]
        column = find_column(name, header, location) if self.any_table else None
        if self.any_table and (not alike or any(find_column(other, header, location) for other in alike)):
            return column
        if column is None and not partial:
            raise VttdataError(f"{location}: {_missing([wanted], header)}.")
        return column


def find_column(name: str, header: Sequence[str], location: str) -> str | None:
    """Return the column that a name means; raise VttdataError when it may be two."""
    if name in header:
        return name
    alike = [column for column in header if fold_name(column) == fold_name(name)]
    if len(alike) > 1:
        raise VttdataError(f"{location}: the columns '{alike[0]}' and '{alike[1]}' could both be '{name}'; rename one.")
    return alike[0] if alike else None


def fold_name(name: str) -> str:
    """Return a name in lower case with underscores for spaces and hyphens."""
    return re.sub(r"[\s_-]+", "_", name.strip().casefold())


_SHOWN_NAMES = 4
# Of names of which any would do.
_OFFERED_NAMES = 2


def _missing(groups: Sequence[Sequence[str]], header: Sequence[str], *, by_option: bool = False) -> str:
    """Return the half sentence that says which columns are missing, what there is, and what to do."""
    by_folded = {fold_name(name): name for name in header}
    near: dict[str, str] = {}
    for name in itertools.chain(*groups):
        for match in difflib.get_close_matches(fold_name(name), by_folded, n=1):
            near.setdefault(name, by_folded[match])
    wanted = " and none ".join(" or ".join(f"'{name}'" for name in group[:_SHOWN_NAMES]) for group in groups)
    present = ", ".join(f"'{name}'" for name in header)[:400] or "none"
    hint = f" (did you mean {' and '.join(f'{match!r}' for match in dict.fromkeys(near.values()))}?)" if near else ""
    sentence = f"there is no column {wanted}; the columns are {present}{hint}"
    if not by_option:
        return sentence
    options = ""
    for group in groups:
        name, *others = [name for name in group if name in near][:1] or group[:_OFFERED_NAMES]
        options += f" --columns {shlex.quote(f'{name}={near.get(name, _PLACEHOLDER)}')}"
        options += f" (or {others[0]})" if others else ""
    return f"{sentence}; name the right ones with{options}"


def read_table(path: Path, columns: Columns = Columns(), *, short_rows: bool = False) -> Iterator[tuple[int, Row]]:
    """Yield `(line number, row)` for each row of a table.

    Rows of delimited tables contain texts, without surrounding spaces unless the reader keeps them (cells without text
    are None); rows of JSON contain JSON values. A row has the known columns that the table has. In a JSON list, objects
    are numbered instead of lines.

    Args:
        path: CSV with commas, semicolons or tabs, TSV, JSON lines, a JSON list of objects or one object as of
            `unfold_table`, or an Excel workbook, by its extension; text in UTF-8 or UTF-16.
        columns: known columns.
        short_rows: treat cells that are missing at the end of a row as empty.

    Raises:
        VttdataError: when it is no such file, a required column is missing, or a row cannot be read; the message names
            file and line and says what to do.
    """
    suffix = path.suffix.lower()
    if suffix not in READ_SUFFIXES:
        hint = "; save it as 'CSV UTF-8'" if suffix in WORKBOOK_SUFFIXES else ""
        raise VttdataError(f"{path}: a table must end in one of {', '.join(READ_SUFFIXES)}, not '{suffix}'{hint}.")
    if suffix == WORKBOOK:
        yield from _lay_out_records(str(path), read_workbook(path), ",", columns, short_rows=True)
        return
    with open_text(path) as stream:
        yield from parse_table(str(path), suffix, stream, columns, short_rows=short_rows)


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file in UTF-8 or UTF-16, with or without a byte order mark, with its line ends as they are.

    Raises:
        VttdataError: also while it is read: when that fails, or the text is in another encoding.
    """
    encoding = "utf-8-sig"
    try:
        start = read_regular(path, 4)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
        # Text in UTF-8 has no null character, and the first two characters of a table are ASCII or a quote.
        elif len(start) == 4 and start[1::2] == b"\0\0":
            encoding = "utf-16-le"
        elif len(start) == 4 and start[::2] == b"\0\0":
            encoding = "utf-16-be"
        with path.open(encoding=encoding, newline="") as stream:
            yield stream
    except UnicodeDecodeError as error:
        if encoding != "utf-8-sig":
            raise VttdataError(f"{path}: damaged or cut off; it is not valid UTF-16 ({error.reason}).") from error
        raise VttdataError(_describe_encoding(path)) from error
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error


def _describe_encoding(path: Path) -> str:
    """Return the sentence about a file that is not UTF-8: where, what it says in Windows' encoding, what to do."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                start, reason = error.start, error.reason
                break
        else:
            return f"{path}: cut off, or changed while it was read; it is not UTF-8 text."
    try:
        excerpt = " ".join(line[max(start - 20, 0) : start + 20].decode("cp1252").split())
    except UnicodeDecodeError:
        return f"{path}:{number}: not UTF-8 text ({reason}); save it in UTF-8."
    names = [shlex.quote(str(name)) for name in (path, path.with_stem(f"{path.stem}-utf8"))]
    return (
        f"{path}:{number}: not UTF-8 text; in Windows-1252 it says '{excerpt}'. If that is right, save it as 'CSV "
        f"UTF-8', or convert it: iconv -f WINDOWS-1252 -t UTF-8 {' > '.join(names)}"
    )


def parse_table(
    location: str, suffix: str, stream: TextIO, columns: Columns = Columns(), *, short_rows: bool = False
) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a seekable stream as `read_table` does; `location` names the file in errors."""
    if suffix in _DELIMITERS:
        delimiter, first_line = _find_delimiter(location, suffix, stream, columns)
        yield from parse_delimited(location, stream, delimiter, columns, first_line=first_line, short_rows=short_rows)
        return
    seen: dict[str, None] = {}
    layouts: dict[tuple[str, ...], list[tuple[str, str]] | None] = {}
    for number, row in _json_rows(parse_json(location, suffix, stream), suffix, columns):
        if not isinstance(row, dict):
            raise VttdataError(f"{location}:{number}: a JSON object is expected, found {type(row).__name__}.")
        header = tuple(row)
        if header not in layouts:
            if len(layouts) >= MAX_LAYOUTS:
                layouts.clear()
            # Rows need not have every column, so that a mapped one is missed only at the end.
            located = columns.lay_out(header, f"{location}:{number}", partial=True)
            is_plain = located == dict(zip(header, header, strict=True))
            layouts[header] = None if is_plain else list(located.items())
            seen |= dict.fromkeys(header)
        layout = layouts[header]
        yield number, row if layout is None else {name: row[column] for name, column in layout}
    if seen and columns.mapping:
        columns.lay_out(list(seen), location)


def _json_rows(values: Iterator[tuple[int, Any]], suffix: str, columns: Columns) -> Iterable[tuple[int, Any]]:
    """Return numbered rows: JSON values as they are, or what a single object of ``.json`` unfolds to."""
    first = list(itertools.islice(values, 2))
    if suffix == ".json" and len(first) == 1 and isinstance(first[0][1], dict):
        rows: Sequence[Any] | None = unfold_table(first[0][1], columns.names)
        located = {fold_name(name) for name in first[0][1]}
        if rows is None and columns.pairs and located.isdisjoint(map(fold_name, columns.names)):
            rows = [dict(zip(columns.pairs, pair, strict=True)) for pair in first[0][1].items()]
        first = first if rows is None else list(enumerate(rows, 1))
    return itertools.chain(first, values)


def unfold_table(value: JsonObject, names: Sequence[str] = ()) -> list[Any] | None:
    """Return the rows of a table that a program wrote as one JSON object; None if it is none.

    These are COCO's object with ``annotations``, and what pandas writes with ``orient`` split, table, columns, list and
    index. Where columns and rows could be taken for each other, the keys among `names` are columns, or else the rows
    are numbered from 0.
    """
    known = set(map(fold_name, names))
    rows = value.get("annotations", value.get("data") if "schema" in value else None)
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        return rows
    if value.keys() >= {"columns", "data"} and all(isinstance(value[key], list) for key in ("columns", "data")):
        header, data = value["columns"], value["data"]
        is_table = all(isinstance(row, list) and len(row) == len(header) for row in data)
        return [dict(zip(map(str, header), row, strict=True)) for row in data] if is_table else None
    inner = list(value.values())
    is_named = not known.isdisjoint(map(fold_name, value))
    if inner and all(isinstance(cells, list) for cells in inner):
        is_table = (is_named or not known) and len(set(map(len, inner))) == 1
        return [dict(zip(value, cells, strict=True)) for cells in zip(*inner, strict=True)] if is_table else None
    if not inner or not all(isinstance(cells, dict) and cells.keys() == inner[0].keys() for cells in inner):
        return None
    if is_named if known else _is_numbered(inner[0]):
        return [{name: cells[key] for name, cells in value.items()} for key in inner[0]]
    return inner if _is_numbered(value) else None


def _is_numbered(keys: Iterable[str]) -> bool:
    return all(key == str(number) for number, key in enumerate(keys))


def parse_delimited(
    location: str,
    stream: TextIO,
    delimiter: str,
    columns: Columns = Columns(),
    *,
    first_line: int = 1,
    short_rows: bool = False,
) -> Iterator[tuple[int, Row]]:
    """Yield the rows of CSV or TSV with a known delimiter as `read_table` does; the stream begins at `first_line`."""
    records = read_records(location, stream, delimiter, first_line, keep_spaces=columns.keep_spaces)
    yield from _lay_out_records(location, records, delimiter, columns, first_line=first_line, short_rows=short_rows)


def _lay_out_records(
    location: str,
    records: Iterator[tuple[int, list[str]]],
    delimiter: str,
    columns: Columns,
    *,
    first_line: int = 1,
    short_rows: bool = False,
) -> Iterator[tuple[int, Row]]:
    """Yield the rows under the header that is the first record with text; the delimiter is for messages and numbers."""
    line, header = next(((line, cells) for line, cells in records if any(map(str.strip, cells))), (first_line, []))
    if not header:
        return
    header = strip_header(header)
    width = len(header)
    if width > MAX_COLUMNS:
        raise VttdataError(f"{location}:{line}: has {width} columns, more than {MAX_COLUMNS}.")
    layout = columns.lay_out(header, f"{location}:{line}")
    duplicates = [name for name in header if name and header.count(name) > 1]
    if duplicates:
        raise VttdataError(f"{location}:{line}: the column '{min(duplicates)}' is duplicated.")
    cells_of = [(name, header.index(column)) for name, column in layout.items()]
    decimals = [name for name in columns.numbers if name in layout] if delimiter == ";" else []
    for line, cells in records:
        if len(cells) != width:
            _fit(cells, header, delimiter, f"{location}:{line}", short_rows=short_rows)
        row: Row = {name: cells[index].strip() or None for name, index in cells_of}
        if columns.keep_spaces:
            row = {name: text and cells[index] for (name, index), text in zip(cells_of, row.values(), strict=True)}
        for name in decimals:
            if (number := row[name]) is not None and _DECIMAL_COMMA.fullmatch(number):
                row[name] = number.replace(",", ".")
        # Spreadsheets write empty rows at the end as delimiters only.
        if any(row.values()) or any(map(str.strip, cells)):
            yield line, row


def _find_delimiter(location: str, suffix: str, stream: TextIO, columns: Columns) -> tuple[str, int]:
    """Return the delimiter of a table, and the line at which it begins; the stream is there."""
    first = stream.readline(MAX_CELL_CHARACTERS)
    if stated := _SEPARATOR_LINE.fullmatch(first):
        return stated[1], 2
    while first and not first.strip():
        first = stream.readline(MAX_CELL_CHARACTERS)
    unquoted = re.sub(r'"[^"]*"', "", first)
    candidates = [delimiter for delimiter in _DELIMITERS[suffix] if delimiter in unquoted]
    if len(candidates) > 1:
        candidates = [*_delimiters_that_fit(candidates, stream, columns)]
    stream.seek(0)
    if len(candidates) > 1:
        shown = " and at ".join(repr(delimiter) for delimiter in candidates)
        raise VttdataError(
            f"{location}: its columns could be divided at {shown}; put the line sep={candidates[0]} before the first "
            "one."
        )
    return (candidates or _DELIMITERS[suffix])[0], 1


def _delimiters_that_fit(candidates: Sequence[str], stream: TextIO, columns: Columns) -> Sequence[str]:
    """Return the delimiters that give the columns that a reader needs, and where possible rows of one width."""
    with_columns, even = [], []
    for delimiter in candidates:
        stream.seek(0)
        rows: list[list[str]] = []
        records = read_records("", stream, delimiter)
        with suppress(VttdataError):
            rows.extend(cells for _, cells in itertools.islice(records, SAMPLE_ROWS) if any(cells))
        header = strip_header(rows[0]) if rows else []
        try:
            columns.lay_out(header, "")
        except VttdataError:
            continue
        with_columns.append(delimiter)
        if all(len(header) == len(row) or not any(row[len(header) :]) for row in rows):
            even.append(delimiter)
    return even or with_columns or candidates


def _fit(cells: list[str], header: Sequence[str], delimiter: str, location: str, *, short_rows: bool) -> None:
    """Make a row as wide as the header, where no text is lost or made up."""
    width = len(header)
    if not any(cell.strip() for cell in cells[width:]):
        del cells[width:]
    if short_rows or not any(cell.strip() for cell in cells):
        cells.extend([""] * (width - len(cells)))
    if len(cells) > width:
        extra = next(cell for cell in cells[width:] if cell.strip())
        raise VttdataError(
            f"{location}: {len(cells)} cells under {width} column names; put a text with {delimiter!r} in it into "
            f"double quotes, or name the column of {extra[:40]!r}."
        )
    if len(cells) < width:
        raise VttdataError(
            f"{location}: {len(cells)} cells under {width} column names; a cell for '{header[len(cells)]}' is missing."
        )


def required_text(file: Path, line: int, row: Mapping[str, object], name: str) -> str:
    """Return the text of a cell.

    Raises:
        VttdataError: if the column is missing or the cell is empty.
    """
    if name not in row:
        raise VttdataError(f"{file}:{line}: the column '{name}' is missing.")
    if row[name] is None or str(row[name]).strip() == "":
        raise VttdataError(f"{file}:{line}: '{name}' is empty.")
    return str(row[name])


def number_or_nan(value: Any) -> float:
    """Convert a number or its text to a float, and anything else to NaN."""
    # Python takes booleans for the numbers 0 and 1.
    if isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def read_number(path: Path, line: int, column: str, value: object) -> float:
    """Return the finite number in a cell.

    Raises:
        VttdataError: if it is anything else.
    """
    if value is None:
        raise VttdataError(f"{path}:{line}: '{column}' is empty.")
    number = number_or_nan(value)
    if not math.isfinite(number):
        hint = "; write it without the per cent sign" if str(value).strip().endswith("%") else ""
        raise VttdataError(f"{path}:{line}: '{column}' is {str(value)[:40]!a}, which is not a finite number{hint}.")
    return number


def parse_seconds(value: object) -> float:
    """Return the seconds of a number, or of a text ``12.5``, ``m:ss`` or ``h:mm:ss.fff``; NaN for anything else.

    A clock time may have more than 59 minutes without hours, and a decimal comma, as in subtitles.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.nan
    text = value.strip() if isinstance(value, str) else ""
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = clock["hours"] or "0", clock["minutes"], clock["seconds"].replace(",", ".")
        return 3600.0 * float(hours) + 60.0 * float(minutes) + float(seconds)
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def refuse_duplicate_keys(pairs: list[tuple[str, object]]) -> JsonObject:
    """Return an object, as `object_pairs_hook` of `json`; raise ValueError if it has a key twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        duplicate, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {json.dumps(duplicate)} is duplicated in an object")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=refuse_duplicate_keys)


def parse_json(location: str, suffix: str, stream: TextIO) -> Iterator[tuple[int, Any]]:
    """Yield the values of a JSON list or of JSON lines in seekable text, with their number in the list or their line.

    In ``.json`` without a list, objects may span several lines and are numbered. Errors begin with `location`.

    Raises:
        VttdataError: when it is not JSON, or an object has a key twice; names the value or line.
    """
    start = stream.read(_JSON_CHUNK).lstrip()
    stream.seek(0)
    if suffix not in JSON_LINES or start.startswith("["):
        yield from _parse_values(location, stream)
        return
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            yield number, _DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            raise VttdataError(f"{location}:{number}: not a JSON object ({error}).") from error


def _parse_values(location: str, stream: TextIO) -> Iterator[tuple[int, Any]]:
    """Yield the values of a list, or of values one after another."""
    text, position = _skip_space(stream, "", 0)
    in_list = text.startswith("[", position)
    position += in_list
    number = 0
    while True:
        text, position = _skip_space(stream, text, position)
        character = text[position : position + 1]
        if in_list and number and character == ",":
            text, position = _skip_space(stream, text, position + 1)
        elif in_list and character == "]":
            text, position = _skip_space(stream, text, position + 1)
            if position < len(text):
                raise VttdataError(f"{location}: damaged or not JSON; there is more after the list.")
            return
        elif in_list and number:
            raise VttdataError(f"{location}: cut off, damaged or not JSON after value {number} of the list.")
        elif not character:
            return
        number += 1
        # A table that is one object is a value by itself.
        limit = _MAX_VALUE_CHARACTERS if in_list or number > 1 else _MAX_OBJECT_CHARACTERS
        value, text, position = _decode(f"{location}:{number}", stream, text, position, limit)
        yield number, value


def _skip_space(stream: TextIO, text: str, position: int) -> tuple[str, int]:
    """Return the text and the position of its next character that is no space, after reading more if need be."""
    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr] # it matches nothing too
        if position < len(text) or not (more := stream.read(_JSON_CHUNK)):
            return text, position
        text, position = more, 0


def _decode(location: str, stream: TextIO, text: str, position: int, limit: int) -> tuple[Any, str, int]:
    """Return the value at a position, with the text and the position behind it, after reading more if need be."""
    while True:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            more = stream.read(max(_JSON_CHUNK, len(text)))
            if not more or len(text) - position > limit:
                raise VttdataError(f"{location}: cut off, damaged or not JSON ({error}).") from error
            text, position = text[position:] + more, 0
        else:
            return value, text, end
