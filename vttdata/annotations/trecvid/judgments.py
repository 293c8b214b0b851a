"""Read a set of TRECVID judgments: the scores and captions of one year, by single or by multiple annotators.

Captions are lines of text files, one file for each system; scores are a table that names systems and lines. Whether
these numbers lead to the right lines is not checked here. Videos of a set are matched with those of its whole year by
the captions of systems that both have.
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
from vttdata.errors import DescribeOSErrors, VttdataError

SCORES = "ad-seg-scores-en-en.csv"
_COLUMNS = ("SYS", "SID", "RAW.SCR", "Z.SCR", "N")
_SYSTEM_FILE = re.compile(r"trecvid\d\d-vtt\.en-en\.([\w-]+)", re.ASCII)
_REFERENCE_FILE = re.compile(r"trecvid\d\d-vtt(?:-enen-ref\.en|\.en-en\.HUMAN[-_]([A-Za-z]))", re.ASCII)
_HUMAN = re.compile(r"HUMAN[-_]([A-Za-z])", re.ASCII)


class ScoreRow(NamedTuple):
    """Row of a table of scores, with the line that it is on.

    `raw`, 0..100, and `z`, standardised by assessor, are means over a number of `assessments`; `caption_id` is as the
    file states it, and `hit` the task in which it was judged, where the file states it.
    """

    line: int
    system: str
    caption_id: int
    raw: float
    z: float
    assessments: int
    hit: str | None


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Captions of a year and the scores that single or multiple annotators gave them.

    Fields:
        annotators: ``single``, or ``multiple`` where many people assessed each caption.
        year: four digits.
        systems: name -> captions, one for each video; human captions that were judged are included.
        references: letter of a human annotator -> captions, one for each video.
        urls: addresses of the videos; empty where they are not usable.
        rows: the scores.
        file: that of the scores.
    """

    annotators: str
    year: str
    systems: dict[str, list[str]]
    references: dict[str, list[str]]
    urls: list[str]
    rows: list[ScoreRow]
    file: OfficialFile

    @property
    def name(self) -> str:
        """Return a name such as ``2016-single``."""
        return f"{self.year}-{self.annotators}"

    @property
    def size(self) -> int:
        """Return the number of videos."""
        return len(next(iter(self.systems.values())))


def human_letter(system: str) -> str | None:
    """Return the letter of a human annotator among the systems (``HUMAN-b`` and ``HUMAN_B`` are B), else None."""
    match = _HUMAN.fullmatch(system)
    return match[1].upper() if match else None


def read_set(folder: Path, annotators: str, findings: Findings, checksums: dict[str, str]) -> JudgedSet:
    """Read the folder of a year, judged by ``single`` or ``multiple`` annotators.

    The folder is named by the year and holds the scores, ``systems/``, ``references/``, and ``urls`` or ``url``.
    Irregularities are added to `findings`, and the SHA-256 of each file to `checksums`.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape, or systems have unequal numbers of captions.
    """
    return _SetReader(folder, annotators, findings, checksums).read()


@dataclass(frozen=True, slots=True)
class _SetReader:
    folder: Path
    annotators: str
    findings: Findings
    checksums: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.folder.name}-{self.annotators}"

    def read(self) -> JudgedSet:
        systems = {match[1]: lines for match, lines in self._captions("systems", _SYSTEM_FILE)}
        if not systems:
            raise VttdataError(
                f"{self.folder / 'systems'}: holds no captions; files trecvid16-vtt.en-en.SYSTEM are expected."
            )
        first, *others = systems
        for other in others:
            if len(systems[other]) != len(systems[first]):
                numbers = f"{len(systems[other])} captions of {other} and {len(systems[first])} of {first}"
                raise VttdataError(f"{self.folder / 'systems'}: {numbers}; every system has one line for each video.")
        size = len(systems[first])
        file = OfficialFile(self.folder / SCORES)
        rows = list(self._rows(file, size))
        references = {
            (match[1] or "A").upper(): lines for match, lines in self._captions("references", _REFERENCE_FILE)
        }
        if not references:
            raise VttdataError(f"{self.folder / 'references'}: holds no human captions.")
        return JudgedSet(self.annotators, self.folder.name, systems, references, self._urls(size), rows, file)

    def _captions(self, subfolder: str, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], list[str]]]:
        """Yield the lines of each file whose name fits; others, such as an editor's hidden locks, become findings."""
        folder = self.folder / subfolder
        with DescribeOSErrors(f"{folder}: cannot be read"):
            paths = sorted(path for path in folder.iterdir() if path.is_file())
        # Hidden files come first among the findings, in whatever order the names are sorted.
        for path in sorted(paths, key=lambda path: not path.name.startswith(".")):
            match = pattern.fullmatch(path.name)
            if match is None:
                self.findings.add("stray_file", f"{self.name}/{subfolder}", path.name)
            else:
                yield match, self._lines(OfficialFile(path))

    def _urls(self, size: int) -> list[str]:
        """Return the addresses where there is one for each video, else nothing."""
        path = next((path for path in (self.folder / "urls", self.folder / "url") if path.is_file()), None)
        urls = [url.strip() for url in self._lines(OfficialFile(path))] if path is not None else []
        if len(urls) == size:
            return urls
        self.findings.add("unusable_urls", self.name, f"{len(urls)} addresses for {size} videos")
        return []

    def _text(self, file: OfficialFile) -> str:
        checksums: dict[str, str] = {}
        text = read_text(file, checksums)
        self.checksums.update({f"{self.name}/{name}": sha256 for name, sha256 in checksums.items()})
        return text

    def _lines(self, file: OfficialFile) -> list[str]:
        lines = self._text(file).replace("\r\n", "\n").split("\n")
        return lines[:-1] if lines[-1] == "" else lines

    def _rows(self, file: OfficialFile, size: int) -> Iterator[ScoreRow]:
        reader = csv.reader(io.StringIO(self._text(file), newline=""))
        head = next(reader, [])
        if tuple(head[:5]) != _COLUMNS or head[5:] not in ([], ["HIT"]):
            raise VttdataError(
                f"{file}: its columns are {','.join(head)[:80]!a}; {','.join(_COLUMNS)}[,HIT] is expected."
            )
        seen: set[tuple[str, int, str]] = set()
        try:
            for cells in reader:
                if cells:
                    row = _parse_row(file, reader.line_num, cells, len(head), size)
                    key = (row.system, row.caption_id, row.hit or "")
                    if key in seen:
                        self.findings.add("doubled_score", self.name, f"{row.system}/{row.caption_id}")
                    seen.add(key)
                    yield row
        except csv.Error as error:
            raise VttdataError(f"{file}:{reader.line_num}: {error}.") from error


def _parse_row(file: OfficialFile, line: int, cells: Sequence[str], columns: int, size: int) -> ScoreRow:
    location = f"{file}:{line}"
    if len(cells) != columns:
        raise VttdataError(f"{location}: {len(cells)} cells under {columns} column names.")
    try:
        caption_id, raw, z, assessments = int(cells[1]), float(cells[2]), float(cells[3]), int(cells[4])
    except ValueError as error:
        raise VttdataError(f"{location}: holds a cell that is not a number ({error}).") from error
    if not 0 <= caption_id <= size:
        raise VttdataError(f"{location}: is about line {caption_id}, but there are {size} videos.")
    if not 0 <= raw <= 100 or not math.isfinite(z) or assessments < 1:
        raise VttdataError(f"{location}: a score of 0..100, a finite z and at least one assessment are expected.")
    return ScoreRow(line, cells[0], caption_id, raw, z, assessments, cells[5] if columns > 5 else None)


@dataclass(frozen=True, slots=True)
class MatchedSet:
    """Set of judgments, and the position of each of its videos in the list of the year, from 0."""

    judged: JudgedSet
    positions: Sequence[int]


def video_id(year: str, position: int) -> str:
    """Return the id of the video at a position (from 0) of a year's list."""
    return f"vtt{year}_{position + 1}"


def match_videos(judged: JudgedSet, base: JudgedSet, findings: Findings) -> MatchedSet:
    """Find the videos of a set among those of its year, `base`, by the captions of all systems that both have.

    The set may be about a part of the videos, in the order of the year; those that it lacks become findings.

    Raises:
        VttdataError: when the set is not a part of the year's, or could be one in several ways.
    """
    if judged is base:
        return MatchedSet(judged, range(judged.size))
    common = [system for system in judged.systems if system in base.systems]
    rows, base_rows = (
        list(zip(*([text.strip() for text in each.systems[system]] for system in common), strict=True))
        for each in (judged, base)
    )
    if not common or rows == base_rows:
        if judged.size != base.size:
            raise VttdataError(
                f"{judged.file}: no system is common to this set and {base.name}, so they cannot be matched."
            )
        return MatchedSet(judged, range(judged.size))
    folder = judged.file.path.parent
    first = _match_subsequence(rows, base_rows)
    last = _match_subsequence(rows[::-1], base_rows[::-1])
    if first is None or last is None:
        raise VttdataError(f"{folder}: its captions are not a part of those of {base.name} in the same order.")
    # The first and the last possible positions agree exactly if there is only one way to match.
    if first != [len(base_rows) - 1 - position for position in reversed(last)]:
        raise VttdataError(f"{folder}: its captions are a part of those of {base.name} in several ways.")
    for position in sorted(set(range(base.size)) - set(first)):
        findings.add("video_not_in_set", judged.name, video_id(judged.year, position))
    return MatchedSet(judged, first)


def _match_subsequence(rows: Sequence[tuple[str, ...]], base: Sequence[tuple[str, ...]]) -> list[int] | None:
    """Return the first positions in `base` at which the rows occur in order; None if they do not."""
    positions: list[int] = []
    position = -1
    for row in rows:
        position += 1
        while position < len(base) and base[position] != row:
            position += 1
        if position == len(base):
            return None
        positions.append(position)
    return positions
