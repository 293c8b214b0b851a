"""Reads one set of TRECVID judgments (a year, with single or multiple annotators) as its files have it.

Captions are lines of text files, one file a system; scores are a table that names systems and lines.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vttdata.annotations.files import OfficialFile, read_text
from vttdata.annotations.findings import Findings
from vttdata.errors import VttdataError

SCORES = "ad-seg-scores-en-en.csv"
_COLUMNS = ("SYS", "SID", "RAW.SCR", "Z.SCR", "N")
_SYSTEM = re.compile(r"trecvid\d\d-vtt\.en-en\.([\w-]+)", re.ASCII)
_REFERENCE = re.compile(r"trecvid\d\d-vtt(?:-enen-ref\.en|\.en-en\.HUMAN[-_]([A-Za-z]))", re.ASCII)
_HUMAN = re.compile(r"HUMAN[-_]([A-Za-z])", re.ASCII)


class Row(NamedTuple):
    """One row of scores; `line` is where it stands in its file."""

    line: int
    system: str
    number: int
    raw: float
    z: float
    assessments: int
    hit: str | None


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """One year of one kind of annotation.

    Fields:
        annotators: ``single`` or ``multiple``: whether many people assessed each caption.
        year: four digits.
        systems: name -> captions, one a line; human captions that were judged included.
        references: letter of the annotator -> captions, one a line.
        urls: addresses of the videos; empty where they are not usable.
        rows: the scores.
        file: of the scores.
    """

    annotators: str
    year: str
    systems: dict[str, list[str]]
    references: dict[str, list[str]]
    urls: list[str]
    rows: list[Row]
    file: OfficialFile

    @property
    def name(self) -> str:
        """Such as ``2016-single``."""
        return f"{self.year}-{self.annotators}"

    @property
    def size(self) -> int:
        """The number of videos."""
        return len(next(iter(self.systems.values())))


def human_letter(system: str) -> str | None:
    """The letter of a human annotator among the systems (``HUMAN-b`` and ``HUMAN_B`` are B), else None."""
    found = _HUMAN.fullmatch(system)
    return found[1].upper() if found else None


def read_set(folder: Path, annotators: str, findings: Findings, checksums: dict[str, str]) -> JudgedSet:
    """Read the folder of one year.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape, or systems have unequal numbers of captions.
    """
    name = f"{folder.name}-{annotators}"
    systems: dict[str, list[str]] = {}
    for file in _visible(folder / "systems", name, findings):
        found = _SYSTEM.fullmatch(file.name)
        if found is None:
            findings.add("stray_file", f"{name}/systems", file.name)
        else:
            systems[found[1]] = _lines(file, name, checksums)
    if not systems:
        raise VttdataError(f"{folder / 'systems'}: holds no captions; files trecvid16-vtt.en-en.SYSTEM are expected.")
    first, *others = systems
    for other in others:
        if len(systems[other]) != len(systems[first]):
            numbers = f"{len(systems[other])} captions of {other} and {len(systems[first])} of {first}"
            raise VttdataError(f"{folder / 'systems'}: {numbers}; every system has one line a video.")
    file = OfficialFile(folder / SCORES)
    rows = list(_rows(file, _text(file, name, checksums), len(systems[first]), name, findings))
    references = _references(folder, name, findings, checksums)
    urls = _urls(folder, name, len(systems[first]), findings, checksums)
    return JudgedSet(annotators, folder.name, systems, references, urls, rows, file)


def _visible(folder: Path, name: str, findings: Findings) -> list[OfficialFile]:
    """The files of a folder; hidden ones, such as locks of an editor, are noted."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise VttdataError(f"{folder}: cannot be read ({error.strerror or error}).") from error
    for path in paths:
        if path.name.startswith("."):
            findings.add("stray_file", f"{name}/{folder.name}", path.name)
    return [OfficialFile(path) for path in paths if not path.name.startswith(".")]


def _text(file: OfficialFile, name: str, checksums: dict[str, str]) -> str:
    own: dict[str, str] = {}
    text = read_text(file, own)
    checksums |= {f"{name}/{key}": value for key, value in own.items()}
    return text


def _lines(file: OfficialFile, name: str, checksums: dict[str, str]) -> list[str]:
    lines = _text(file, name, checksums).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _references(folder: Path, name: str, findings: Findings, checksums: dict[str, str]) -> dict[str, list[str]]:
    references: dict[str, list[str]] = {}
    for file in _visible(folder / "references", name, findings):
        found = _REFERENCE.fullmatch(file.name)
        if found is None:
            findings.add("stray_file", f"{name}/references", file.name)
        else:
            references[(found[1] or "A").upper()] = _lines(file, name, checksums)
    if not references:
        raise VttdataError(f"{folder / 'references'}: holds no human captions.")
    return references


def _urls(folder: Path, name: str, size: int, findings: Findings, checksums: dict[str, str]) -> list[str]:
    """The addresses, where there is one for each video."""
    file = next((folder / own for own in ("urls", "url") if (folder / own).is_file()), None)
    urls = [url.strip() for url in _lines(OfficialFile(file), name, checksums)] if file is not None else []
    if len(urls) == size:
        return urls
    findings.add("unusable_urls", name, f"{len(urls)} addresses for {size} videos")
    return []


def _rows(file: OfficialFile, text: str, size: int, name: str, findings: Findings) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""))
    head = next(reader, [])
    if tuple(head[:5]) != _COLUMNS or head[5:] not in ([], ["HIT"]):
        raise VttdataError(f"{file}: its columns are {','.join(head)[:80]!a}; {','.join(_COLUMNS)}[,HIT] is expected.")
    seen: set[tuple[str, ...]] = set()
    try:
        for cells in reader:
            if cells:
                row = _row(file, reader.line_num, cells, len(head), size)
                key = (row.system, str(row.number), row.hit or "")
                if key in seen:
                    findings.add("doubled_score", name, f"{row.system}/{row.number}")
                seen.add(key)
                yield row
    except csv.Error as error:
        raise VttdataError(f"{file}:{reader.line_num}: {error}.") from error


def _row(file: OfficialFile, line: int, cells: Sequence[str], width: int, size: int) -> Row:
    place = f"{file}:{line}"
    if len(cells) != width:
        raise VttdataError(f"{place}: {len(cells)} cells under {width} column names.")
    try:
        number, raw, z, assessments = int(cells[1]), float(cells[2]), float(cells[3]), int(cells[4])
    except ValueError as error:
        raise VttdataError(f"{place}: holds a cell that is no number ({error}).") from error
    if not 0 <= number <= size:
        raise VttdataError(f"{place}: is about line {number}, and there are {size} videos.")
    if not 0 <= raw <= 100 or not math.isfinite(z) or assessments < 1:
        raise VttdataError(f"{place}: a score of 0..100, a finite z and at least one assessment are expected.")
    return Row(line, cells[0], number, raw, z, assessments, cells[5] if width > 5 else None)
