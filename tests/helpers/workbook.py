"""Write Excel workbooks as spreadsheets do, with texts, numbers and truth values."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    """Write sheets of at most 26 columns; None is an empty cell."""
    names = [*sheets]
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
        + "".join(
            f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{_TYPES}.worksheet+xml"/>'
            for number in range(len(names))
        )
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r" '
        f'Type="{_RELATION}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets>'
        + "".join(
            f'<sheet name="{escape(name)}" sheetId="{number + 1}" r:id="r{number}"/>'
            for number, name in enumerate(names)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{number}" Type="{_RELATION}/worksheet" Target="worksheets/sheet{number}.xml"/>'
            for number in range(len(names))
        )
        + "</Relationships>",
    }
    for number, name in enumerate(names):
        rows = "".join(
            f'<row r="{row}">{"".join(map(_cell, (f"{letter}{row}" for letter in ascii_uppercase), cells))}</row>'
            for row, cells in enumerate(sheets[name], 1)
        )
        part = f"xl/worksheets/sheet{number}.xml"
        parts[part] = f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    with zipfile.ZipFile(path, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return path


def _cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, (int, float)):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    text = f'<is><t xml:space="preserve">{escape(str(value))}</t></is>'
    return f'<c r="{place}" t="inlineStr">{text}</c>'
