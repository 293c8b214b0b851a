"""Read the table of an Excel workbook (.xlsx) as the cells of the CSV that Excel would save."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.reading import ZIP_ERRORS, refuse_special

# Limit on the unpacked size of a workbook, which is read as a whole.
_MAX_BYTES = 2**28
_EXACT = 2**53


def read_workbook(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row of the only sheet that is not empty.

    Raises:
        VttdataError: if it is no such workbook, is too large, has several sheets with content, or a cell is a date or a
            time, whose text depends on its format.
    """
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        refuse_special(path)
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > _MAX_BYTES:
            raise VttdataError(
                f"{path}: has {size:,} bytes unpacked, more than {_MAX_BYTES:,}; save it as 'CSV UTF-8'."
            )
        workbook = CalamineWorkbook.from_path(path)
        sheets = {
            name: workbook.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in workbook.sheet_names
        }
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (*ZIP_ERRORS, CalamineError) as error:
        raise VttdataError(f"{path}: is no Excel workbook, or damaged.") from error
    filled = {name: rows for name, rows in sheets.items() if any(map(any, rows))}
    if len(filled) > 1:
        raise VttdataError(
            f"{path}: the sheets {', '.join(map(ascii, filled))} have content; keep one, or save it as CSV."
        )
    for rows in filled.values():
        for number, row in enumerate(rows, 1):
            yield number, [_as_text(f"{path}:{number}", cell) for cell in row]


def _as_text(location: str, cell: object) -> str:
    if isinstance(cell, bool):
        return str(cell).upper()
    # Excel keeps every number as a float, and writes those that are whole without a fraction.
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return str(int(cell))
    if isinstance(cell, (str, int, float)):
        return str(cell)
    raise VttdataError(f"{location}: the cell {cell!s:.40} is a date or a time; format its column as text.")
