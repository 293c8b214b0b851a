"""Reads a list of videos from a table: addresses or paths, with what is known about each. Fetches and opens nothing."""

from __future__ import annotations

import contextlib
import difflib
import math
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from vttdata.collect.folder import file_stamp
from vttdata.errors import VttdataError
from vttdata.files.tables import read_table
from vttdata.ids import MAX_EXTERNAL_ID_LENGTH, is_safe_id
from vttdata.records import Candidate, Span

_ALIASES = {"id": "source_id", "license": "licence"}
_FACTS = ("source_id", "title", "category", "query", "licence")
_COLUMNS = ("url", "path", *_FACTS, "start", "end", "video_id", *_ALIASES)


@dataclass(slots=True)
class _Listed:
    """What the rows about one video have said so far."""

    line: int
    kind: Literal["file", "url"]
    facts: dict[str, str | None]
    spans: dict[tuple[float, float], Span] = field(default_factory=dict)


def list_manifest(path: Path) -> Iterator[Candidate]:
    """Yield each video of a table once, in the order in which the table first names them.

    The table (CSV, TSV or JSON lines) has a column ``url`` (http or https) or ``path`` (absolute, or relative to the
    table's folder; it may lead out of it), and optionally ``source_id`` (or ``id``), ``title``, ``category``,
    ``query``, ``licence`` (or ``license``), and ``start``, ``end`` (seconds) and ``video_id`` of a given clip. Several
    rows may give clips of one video, as in MSR-VTT.

    Args:
        path: the table.

    Returns:
        Candidates with their spans sorted by time. The `locator` of a file is its path as written.

    Raises:
        VttdataError: on the first row that is wrong, naming file and line, and when there is no row at all. A file
            that does not exist is no error here.
    """
    reader = _Reader(path)
    for line, cells in read_table(path):
        reader.add(line, cells)
    if not reader.listed:
        raise VttdataError(f"{path}: the manifest lists no video.")
    yield from reader.candidates()


class _Reader:
    """Gathers the rows of one manifest and refuses what contradicts an earlier row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 0
        self.listed: dict[str, _Listed] = {}
        self.sources: dict[str, tuple[str, int]] = {}
        self.clips: dict[str, int] = {}

    def add(self, line: int, cells: dict[str, Any]) -> None:
        self.line = line
        row = self._named(cells)
        kind, locator = self._locator(row)
        facts = {name: self._text(row, name) for name in _FACTS}
        span = self._span(row)
        known = self.listed.get(locator)
        if known is None:
            known = self.listed[locator] = _Listed(line, kind, facts)
        elif span is None or not known.spans:
            raise self._error(f"the same video stands on line {known.line}; only rows with start and end may share one")
        else:
            self._merge(known, facts)
        self._claim_id(known.facts["source_id"], locator)
        if span is not None:
            self._add_span(known, span)

    def candidates(self) -> Iterator[Candidate]:
        for locator, listed in self.listed.items():
            stamp = file_stamp(self.path.parent / locator) if listed.kind == "file" else ""
            spans = tuple(span for _, span in sorted(listed.spans.items()))
            yield Candidate(listed.kind, locator, **listed.facts, spans=spans, stamp=stamp)

    def _error(self, message: str) -> VttdataError:
        return VttdataError(f"{self.path}:{self.line}: {message}.")

    def _named(self, cells: dict[str, Any]) -> dict[str, Any]:
        """The row under the columns' own names."""
        row: dict[str, Any] = {}
        for column, value in cells.items():
            if column not in _COLUMNS:
                near = difflib.get_close_matches(column.lower(), _COLUMNS, 1)
                hint = f"; did you mean '{near[0]}'?" if near else f"; known are {', '.join(_COLUMNS)}"
                raise self._error(f"unknown column {column!r}{hint}")
            name = _ALIASES.get(column, column)
            if name in row:
                raise self._error(f"the columns '{name}' and '{column}' mean the same; keep one")
            row[name] = value
        return row

    def _text(self, row: dict[str, Any], name: str) -> str | None:
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        if not isinstance(value, str):
            raise self._error(f"{name} must be text, found {value!r}")
        if "\0" in value or not _encodable(value):
            raise self._error(f"{name} holds characters that fit into no table: {value!a}")
        if name in ("source_id", "video_id") and not is_safe_id(value.strip(), MAX_EXTERNAL_ID_LENGTH):
            raise self._error(
                f"{name} {value!r} must be 1-120 of A-Z a-z 0-9 . _ - and start with no dot or '..' in it"
            )
        return value if name == "path" else value.strip()

    def _locator(self, row: dict[str, Any]) -> tuple[Literal["file", "url"], str]:
        url, path = self._text(row, "url"), self._text(row, "path")
        if (url is None) == (path is None):
            raise self._error(
                "each row needs either url or path, " + ("found neither" if url is None else "found both")
            )
        if url is not None:
            self._check_url(url)
            return "url", url
        if "://" in str(path):
            raise self._error(f"path {path!r} is an address; put it under url")
        return "file", Path(str(path)).as_posix()

    def _check_url(self, url: str) -> None:
        try:
            parts = urllib.parse.urlsplit(url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable()
        except ValueError:
            good = False
        if not good:
            raise self._error(f"url {url!r} is not an http or https address")
        if parts.username is not None:
            raise self._error("the url holds a user name or password, which would be published; use cookies instead")

    def _span(self, row: dict[str, Any]) -> Span | None:
        start, end = self._seconds(row, "start"), self._seconds(row, "end")
        video_id = self._text(row, "video_id")
        if start is None and end is None:
            if video_id is not None:
                raise self._error("video_id names a clip and needs start and end; a whole video has a source_id")
            return None
        if start is None or end is None:
            raise self._error("start and end are only good together")
        if end <= start:
            raise self._error(f"end ({end:g}) must come after start ({start:g})")
        return Span(start, end, video_id)

    def _seconds(self, row: dict[str, Any], name: str) -> float | None:
        value = row.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        seconds = math.nan
        if not isinstance(value, bool) and "_" not in str(value):
            with contextlib.suppress(TypeError, ValueError, OverflowError):
                seconds = float(value)
        if not math.isfinite(seconds) or seconds < 0:
            raise self._error(f"{name} must be seconds from 0 on, found {value!r}")
        return seconds

    def _merge(self, known: _Listed, facts: dict[str, str | None]) -> None:
        for name, value in facts.items():
            said = known.facts[name]
            if value is not None and said is not None and value != said:
                raise self._error(f"{name} is {value!r} here and {said!r} on line {known.line} for the same video")
            known.facts[name] = value if said is None else said

    def _claim_id(self, source_id: str | None, locator: str) -> None:
        if source_id is None:
            return
        owner, line = self.sources.setdefault(source_id, (locator, self.line))
        if owner != locator:
            raise self._error(f"source_id '{source_id}' already stands for another video on line {line}")

    def _add_span(self, known: _Listed, span: Span) -> None:
        if (span.start, span.end) in known.spans:
            raise self._error(f"this video already has a clip from {span.start:g} to {span.end:g} s")
        if span.video_id is not None:
            line = self.clips.setdefault(span.video_id, self.line)
            if line != self.line:
                raise self._error(f"video_id '{span.video_id}' already stands on line {line}")
        known.spans[span.start, span.end] = span


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
