"""Divide delimited text, CSV and TSV, into records of cells; tell quotes that enclose cells from quotes that do not.

A stray quote at the start of one cell and another one at the end of a later cell look like one quoted cell, which takes
the rows between them. Between tabs quotes are text unless they enclose a whole cell that is no sequence of rows.
Between commas and semicolons, where cells with the delimiter in them need quotes, such a cell is refused.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from vttdata.errors import VttdataError

MAX_CELL_CHARACTERS = 2**20
"""Limit on the characters of a cell."""

# From behind an opening quote to the quote that closes it: one that is not doubled.
_TO_CLOSING_QUOTE = re.compile(r'(?:[^"]|"")*+"(?!")')
_END_OF_CELL = re.compile(r"\t|[\r\n]*\Z")
_LINE_END = re.compile(r"[\r\n]")
_WHOLE_CELL = re.compile(r'"(?:[^"]|"")*+"')
_TAB_CELL = re.compile(r'"((?:[^"]|"")*+)"(?=\t|\Z)|([^\t]*)')


def read_records(
    place: str, stream: Iterable[str], delimiter: str, first_line: int = 1, *, keep_spaces: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield each record of a table with the number of its last line. Records are as wide as the first that has text.

    Args:
        place: name of the file, with which errors begin.
        stream: lines with their ends.
        delimiter: a tab, or what else is between cells.
        first_line: number of the first line.
        keep_spaces: leave the spaces between a delimiter and a text to the cell, unless the first line has such spaces.

    Raises:
        VttdataError: when quotes do not fit, or a quoted cell seems to have taken rows; names file and lines.
    """
    if delimiter == "\t":
        yield from _read_tab_records(place, stream, delimiter, first_line)
    else:
        yield from _read_quoted_records(place, stream, delimiter, first_line, keep_spaces=keep_spaces)


def _read_quoted_records(
    place: str, stream: Iterable[str], delimiter: str, first_line: int, *, keep_spaces: bool
) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    lines: list[str] = []
    remaining = iter(stream)
    start = list[str]()
    while not "".join(start).strip() and (line := next(remaining, "")):
        start.append(line)

    def keep_lines() -> Iterator[str]:
        for line in itertools.chain(start, remaining):
            lines.append(line)
            yield line

    skips_spaces = not keep_spaces or f"{delimiter} " in "".join(start)
    reader = csv.reader(keep_lines(), delimiter=delimiter, strict=True, skipinitialspace=skips_spaces)
    width, number, is_spaced = 0, first_line - 1, False
    try:
        for cells in reader:
            first, number = number + 1, reader.line_num + first_line - 1
            if not width:
                width, is_spaced = len(strip_header(cells)), f"{delimiter} " in lines[0]
            looks = [_looks_like_row(text, delimiter, width, is_spaced=is_spaced) for text in lines if len(lines) > 1]
            inside = (look for look, text in zip(looks[1:-1], lines[1:-1], strict=True) if '"' not in text)
            if any(inside) or (looks and looks[0] and looks[-1]):
                raise VttdataError(
                    f"{place}:{first}: a quoted cell begins on this line and ends on line {number}, and the lines in "
                    f"it look like rows; if its first quote is text, put the cell into quotes and double that quote, "
                    "else put the cell on one line."
                )
            yield number, cells
            lines.clear()
    except csv.Error as error:
        place = f"{place}:{number + 1}"
        raise VttdataError(f"{place}: not valid CSV in the row that begins on this line ({error}).") from error


def strip_header(cells: Sequence[str]) -> list[str]:
    """Return the names of columns, without those at the end that are empty."""
    names = [name.strip() for name in cells]
    while names and not names[-1]:
        names.pop()
    return names


def _looks_like_row(line: str, delimiter: str, width: int, *, is_spaced: bool = False) -> bool:
    """Return whether a line by itself has a cell for each of several columns, and is not prose with delimiters in it.

    In prose, commas and semicolons are followed by spaces, as between cells where the table `is_spaced`, or all that
    they divide are several words.
    """
    cells = line.strip("\r\n").split(delimiter)
    if width < 2 or len(cells) < width or any(cell.strip() for cell in cells[width:]):
        return False
    if delimiter == "\t":
        return any(map(str.strip, cells))
    is_prose = not is_spaced and all(cell.startswith(" ") for cell in cells[1:width])
    return not is_prose and any(len(cell.split()) == 1 for cell in cells[:width])


def _read_tab_records(
    place: str, stream: Iterable[str], delimiter: str, first_line: int
) -> Iterator[tuple[int, list[str]]]:
    lines = iter(stream)
    # Lines that were read and are not part of the record after all, the next one last.
    ahead: list[str] = []
    number = first_line - 1
    width = 0
    while (line := ahead.pop() if ahead else next(lines, None)) is not None:
        record = [line]
        is_open = '"' in line and _ends_in_quotes(line, 0)
        is_row, characters = is_open and _looks_like_row(line, delimiter, width), len(line)
        while is_open and (more := ahead.pop() if ahead else next(lines, None)) is not None:
            record.append(more)
            characters += len(more)
            closing = _TO_CLOSING_QUOTE.match(more)
            is_text = closing is not None and _END_OF_CELL.match(more, closing.end()) is None
            is_open = closing is None or (not is_text and _ends_in_quotes(more, closing.end()))
            if (
                is_text
                or characters > MAX_CELL_CHARACTERS
                or ((is_row if '"' in more else is_open) and _looks_like_row(more, delimiter, width))
            ):
                if is_row and not is_text and not is_open and _has_tab_in_first_line(record, width):
                    raise VttdataError(
                        f"{place}:{number + 1}: the quotes from this line to line {number + len(record)} may enclose a "
                        "cell with tabs and line ends, or be text of rows; put the cell on one line, or leave them out."
                    )
                is_open = True
                break
        if is_open:
            # The last quote at the start of a cell is text, since nothing closes it.
            ahead += reversed(record[1:])
            del record[1:]
        text = "".join(record).rstrip("\r\n")
        cells = text.split(delimiter)
        if '"' in text:
            cells = _unquote_tab_cells(text, cells, width)
        number += len(record)
        if max(map(len, cells)) > MAX_CELL_CHARACTERS:
            raise VttdataError(f"{place}:{number}: a cell has more than {MAX_CELL_CHARACTERS:,} characters.")
        width = width or len(strip_header(cells))
        yield number, cells


def _has_tab_in_first_line(record: Sequence[str], width: int) -> bool:
    """Return whether lines are as many cells as there are columns, one of which has a tab in the first of its lines."""
    text = "".join(record).rstrip("\r\n")
    cells = [_LINE_END.split(cell, 1) for cell in _unquote_tab_cells(text, [], width)]
    return len(cells) == width and any(len(lines) > 1 and "\t" in lines[0] for lines in cells)


def _ends_in_quotes(line: str, position: int) -> bool:
    """Return whether a line, from the start or end of a cell on, ends in a cell whose quotes are not closed."""
    while True:
        if line.startswith('"', position):
            closing = _TO_CLOSING_QUOTE.match(line, position + 1)
            if closing is None:
                return True
            position = closing.end()
        position = line.find("\t", position) + 1
        if not position:
            return False


def _unquote_tab_cells(text: str, cells: list[str], width: int) -> list[str]:
    """Return the cells of a record without quotes that enclose one; the tabs divide it into `cells`.

    Where these are as many as the columns, no cell has a tab in it.
    """
    if len(cells) == width:
        return [cell[1:-1].replace('""', '"') if _WHOLE_CELL.fullmatch(cell) else cell for cell in cells]
    unquoted: list[str] = []
    position = 0
    while position <= len(text):
        cell = _TAB_CELL.match(text, position)
        unquoted.append(cell[2] if cell[1] is None else cell[1].replace('""', '"'))  # type: ignore[index] # matches always
        position = cell.end() + 1  # type: ignore[union-attr]
    return unquoted
