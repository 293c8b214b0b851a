"""List the video files of a folder, or the videos of a table by URL or path. Nothing is fetched or decoded."""

from __future__ import annotations

import math
import os
import unicodedata
import urllib.parse
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from vttdata.errors import DescribeOSErrors, VttdataError, VttdataWarning
from vttdata.files.tables import Columns, parse_seconds, read_table
from vttdata.ids import MAX_EXTERNAL_ID_LENGTH, VIDEO_EXTENSIONS, is_safe_id
from vttdata.json_types import Row
from vttdata.media.file_signatures import looks_like_film
from vttdata.records import Candidate, Span
from vttdata.settings import check_date

_ALIASES = {"id": "source_id", "license": "licence", "upload_date": "uploaded"}
_ATTRIBUTES = ("source_id", "title", "category", "query", "uploader", "licence")
# Files that are left out which a warning names.
_SHOWN = 3
_TRUTH = {"true": "true", "yes": "true", "1": "true", "false": "false", "no": "false", "0": "false"}
COLUMNS = ("url", "path", *_ATTRIBUTES, "uploaded", "synthetic", "start", "end", "video_id")
# Columns of captions, which people keep in the same table.
_OTHER_COLUMNS = ("source", "caption", "annotator", "language", "sen_id", "author", "split")

MISSING = "missing"
"""Stamp of a file that is not there or cannot be looked at."""


def list_folder(folder: Path, *, categories: bool = False) -> Iterator[Candidate]:
    """Yield every video file below `folder`, sorted by path.

    A file is a video by its extension, or else by its first bytes, unless it has the name of a video beside it, as the
    proxies of cameras do. A warning counts the other files. Hidden files and folders are left out. Links are followed;
    a folder that is reached twice is listed once. A dangling link with a video's name is yielded too, so that its
    failure is recorded with the others.

    Of each candidate, `locator` is the path below `folder` with forward slashes, `title` the file's name without
    extension in Unicode's composed form (NFC), since macOS may decompose names, and `stamp` its size and modification
    time. With `categories` its `category` is the name, in composed form, of the outermost subfolder it lies in.

    Raises:
        VttdataError: if `folder` or a subfolder cannot be read, a video's path is not valid UTF-8 and therefore cannot
            be stored in a table, or there is no video.
    """
    paths = list(_walk(str(folder)))
    named = {stem for stem, extension in map(os.path.splitext, paths) if extension.lower() in VIDEO_EXTENSIONS}
    videos, others = 0, []
    for path in paths:
        stem, extension = os.path.splitext(path)
        if extension.lower() not in VIDEO_EXTENSIONS and (stem in named or not looks_like_film(Path(path))):
            others.append(path)
            continue
        videos += 1
        relative = os.path.relpath(path, folder)
        try:
            relative.encode()
        except UnicodeEncodeError as error:
            raise VttdataError(
                f"{folder}: the file name {os.fsencode(relative)!r} is not valid UTF-8; rename it."
            ) from error
        locator = Path(relative)
        title = unicodedata.normalize("NFC", locator.stem)
        category = unicodedata.normalize("NFC", locator.parts[0]) if categories and len(locator.parts) > 1 else None
        stamp = file_stamp(folder / locator)
        yield Candidate(kind="file", locator=locator.as_posix(), title=title, category=category, stamp=stamp)
    if not videos:
        extensions = " ".join(sorted(VIDEO_EXTENSIONS))
        raise VttdataError(f"{folder}: no video among {len(others)} files; video names end in one of {extensions}.")
    if others:
        shown = [ascii(os.path.relpath(other, folder)) for other in others[:_SHOWN]]
        listed = ", ".join([*shown, *(["..."] if len(others) > _SHOWN else [])])
        message = f"{folder}: {len(others)} files that are no videos, or proxies of some, are left out: {listed}"
        warnings.warn(message, VttdataWarning, stacklevel=2)


def file_stamp(path: Path) -> str:
    """Return a short text that changes when a file does: size and modification time, or `MISSING`."""
    try:
        status = path.stat()
    except OSError:
        return MISSING
    return f"{status.st_size}-{status.st_mtime_ns}"


def _walk(root: str) -> Iterator[str]:
    """Yield all files below `root` that are not hidden, in the order of their paths, entering each folder once."""
    entered: set[tuple[int, int]] = set()
    # An explicit stack, because folders may be nested more deeply than Python recurses.
    pending = [(root, True)]
    while pending:
        path, is_folder = pending.pop()
        if not is_folder:
            yield path
            continue
        with DescribeOSErrors(f"{path}: the folder cannot be read"):
            status = os.stat(path)
            with os.scandir(path) as scan:
                visible = [entry for entry in scan if not entry.name.startswith(".")]
            entries = [(e.path, os.path.isdir(e) if e.is_symlink() else e.is_dir()) for e in visible]
        if (status.st_dev, status.st_ino) not in entered:
            entered.add((status.st_dev, status.st_ino))
            # A folder sorts as its path with a slash, which puts its files where their paths belong.
            pending += sorted(entries, key=lambda entry: entry[0] + "/" * entry[1], reverse=True)


@dataclass(slots=True)
class _Video:
    """One video with the attributes and clips of the rows read so far; `line` is that of the first row."""

    line: int
    kind: Literal["file", "url"]
    attributes: dict[str, str | None]
    spans: dict[tuple[float, float], Span] = field(default_factory=dict)


def list_manifest(path: Path, columns: Mapping[str, str] | None = None) -> Iterator[Candidate]:
    """Yield each video of a table once, in the order of first mention.

    The table (CSV, TSV or JSON) has a column ``url`` (http or https) or ``path`` (absolute, or relative to the table's
    folder; it may lead out of it), and optionally ``source_id`` (or ``id``), ``title``, ``category``, ``query``,
    ``uploader``, ``licence`` (or ``license``), ``uploaded`` (or ``upload_date``; YYYY-MM-DD or YYYYMMDD), ``synthetic``
    (true or false), and ``start``, ``end`` (seconds, m:ss or h:mm:ss) and ``video_id`` of a clip. Several rows may list
    clips of the same video, as in MSR-VTT, or the same video with its captions. Further columns are left out, unless
    one looks like a misspelled name.

    `columns` maps names of columns to those in the table. Spans of candidates are sorted by time; the `locator` of a
    file is its path as written.

    Raises:
        VttdataError: on the first invalid row, with file and line, and if there is no row. A listed file that does not
            exist is not an error here.
    """
    reader = _Reader(path)
    known = Columns((*COLUMNS, *_ALIASES), (("url", "path"),), ("start", "end"), columns or {}, others=_OTHER_COLUMNS)
    for line, cells in read_table(path, known):
        reader.add(line, cells)
    if not reader.videos:
        raise VttdataError(f"{path}: the manifest lists no video.")
    for locator, video in reader.videos.items():
        stamp = file_stamp(path.parent / locator) if video.kind == "file" else ""
        spans = tuple(span for _, span in sorted(video.spans.items()))
        texts = dict(video.attributes)
        synthetic = texts.pop("synthetic")
        is_synthetic = None if synthetic is None else synthetic == "true"
        yield Candidate(video.kind, locator, **texts, spans=spans, stamp=stamp, synthetic=is_synthetic)


def parse_day(value: object) -> str | None:
    """Return a day written as YYYY-MM-DD or, as yt-dlp does, as YYYYMMDD in the form YYYY-MM-DD; None for others."""
    text = f"{value[:4]}-{value[4:6]}-{value[6:]}" if isinstance(value, str) and len(value) == 8 else value
    if not isinstance(text, str):
        return None
    try:
        check_date(text)
    except ValueError:
        return None
    return text


def _used_before(name: str, text: str, earlier: str, line: int, use: str = "") -> str:
    """Return what is wrong with an id that an earlier line has, in the same letters or in another case."""
    if text == earlier:
        return f"{name} '{text}' is already used{use} on line {line}"
    return (
        f"{name} '{text}' differs from '{earlier}' on line {line} only by case, and macOS and Windows take files of "
        "such names for one"
    )


class _Reader:
    """Collect the rows of one manifest and reject contradictions between them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 0
        self.columns: Collection[str] = ()
        self.videos: dict[str, _Video] = {}
        # Keys are ids without regard to case: macOS and Windows do not tell the names of their files apart.
        self.locator_and_line_by_source: dict[str, tuple[str, str, int]] = {}
        self.line_by_clip: dict[str, tuple[str, int]] = {}

    def add(self, line: int, cells: Row) -> None:
        self.line = line
        self.columns = cells.keys()
        row: Row = {}
        for column, value in cells.items():
            name = _ALIASES.get(column, column)
            if name in row:
                raise self._error(f"the columns '{name}' and '{column}' mean the same; remove one of them")
            row[name] = value
        kind, locator = self._locator(row)
        attributes = {name: self._text(row, name) for name in _ATTRIBUTES} | self._stated_facts(row)
        span = self._span(row)
        video = self.videos.get(locator)
        if video is None:
            video = self.videos[locator] = _Video(line, kind, attributes)
        elif (span is None) is not (not video.spans):
            rule = "either all of its rows have start and end, or none"
            raise self._error(f"the video is already listed on line {video.line}; {rule}")
        else:
            self._merge(video, attributes)
        source_id = video.attributes["source_id"]
        if source_id is not None:
            known = self.locator_and_line_by_source.setdefault(source_id.lower(), (source_id, locator, line))
            first_id, first_locator, first_line = known
            if first_locator != locator:
                raise self._error(
                    _used_before(self._written("source_id"), source_id, first_id, first_line, " for another video")
                )
        if span is not None:
            self._add_span(video, span)

    def _written(self, name: str) -> str:
        """Return the name that the table has for a column."""
        return next((alias for alias, of in _ALIASES.items() if of == name and alias in self.columns), name)

    def _error(self, message: str) -> VttdataError:
        return VttdataError(f"{self.path}:{self.line}: {message}.")

    def _text(self, row: dict[str, object], name: str) -> str | None:
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        if not isinstance(value, str):
            raise self._error(f"{name} must be text, found {value!r}")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise self._error(f"{name} contains an unpaired surrogate: {value!a}") from error
        if "\0" in value:
            raise self._error(f"{name} contains a null character: {value!a}")
        if name in ("source_id", "video_id") and not is_safe_id(value.strip(), MAX_EXTERNAL_ID_LENGTH):
            rule = "1-120 characters of A-Z a-z 0-9 . _ -, without a leading dot or '..'"
            raise self._error(f"{self._written(name)} {value!r} must consist of {rule}")
        return value if name == "path" else value.strip()

    def _stated_facts(self, row: Row) -> dict[str, str | None]:
        """Return the day of upload and whether a program made the video, in the one form of each."""
        synthetic = row.get("synthetic")
        row |= {"synthetic": str(synthetic)} if isinstance(synthetic, bool) else {}
        facts = {name: self._text(row, name) for name in ("uploaded", "synthetic")}
        day, truth = parse_day(facts["uploaded"]), _TRUTH.get((facts["synthetic"] or "").lower())
        if facts["uploaded"] is not None and day is None:
            raise self._error(f"uploaded must be a day such as 2026-11-21, found {facts['uploaded']!r}")
        if facts["synthetic"] is not None and truth is None:
            raise self._error(f"synthetic must be true or false, found {facts['synthetic']!r}")
        return {"uploaded": day, "synthetic": truth}

    def _locator(self, row: dict[str, object]) -> tuple[Literal["file", "url"], str]:
        url, path = self._text(row, "url"), self._text(row, "path")
        if url is not None and path is None:
            self._check_url(url)
            return "url", url
        if path is None or url is not None:
            raise self._error(f"each row needs either url or path, found {'neither' if path is None else 'both'}")
        if "://" in path:
            raise self._error("the path is a URL; move it to the column url")
        if not (self.path.parent / path).exists():
            # Tables from Windows; elsewhere a backslash may be part of a name.
            path = path.replace("\\", "/")
            # Names from macOS, or a table from there.
            forms = (unicodedata.normalize(form, path) for form in ("NFC", "NFD"))
            path = next((form for form in forms if (self.path.parent / form).exists()), path)
        return "file", Path(path).as_posix()

    def _check_url(self, url: str) -> None:
        try:
            parts = urllib.parse.urlsplit(url)
            valid = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable()
        except ValueError:
            valid = False
        if not valid:
            # The text may hold a password or a token.
            raise self._error("the url is not an http or https address")
        if parts.username is not None:
            raise self._error("the url contains a user name or password, which would be published; use cookies instead")

    def _span(self, row: Row) -> Span | None:
        start, end = self._seconds(row, "start"), self._seconds(row, "end")
        video_id = self._text(row, "video_id")
        if start is None and end is None:
            if video_id is not None:
                raise self._error("video_id names a clip and needs start and end; a whole video has a source_id")
            return None
        if start is None or end is None:
            missing = "start" if start is None else "end"
            raise self._error(
                f"start and end must be given together; the {missing} is empty, or its column has another name, which "
                f"--columns {missing}=COLUMN says"
            )
        if end <= start:
            raise self._error(f"end ({end:g}) must be after start ({start:g})")
        return Span(start, end, video_id)

    def _seconds(self, row: dict[str, object], name: str) -> float | None:
        value = row.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        seconds = parse_seconds(value)
        if not math.isfinite(seconds) or seconds < 0:
            raise self._error(f"{name} must be a time like 12.5, 1:05 or 1:02:03.5, found {value!r}")
        return seconds

    def _merge(self, video: _Video, attributes: dict[str, str | None]) -> None:
        for name, value in attributes.items():
            earlier = video.attributes[name]
            if value is not None and earlier is not None and value != earlier:
                raise self._error(f"{name} is {value!r} but {earlier!r} on line {video.line} for the same video")
            video.attributes[name] = value if earlier is None else earlier

    def _add_span(self, video: _Video, span: Span) -> None:
        if (span.start, span.end) in video.spans:
            raise self._error(f"this video already has a clip from {span.start:g} to {span.end:g} s")
        if span.video_id is not None:
            first_id, line = self.line_by_clip.setdefault(span.video_id.lower(), (span.video_id, self.line))
            if line != self.line:
                raise self._error(_used_before("video_id", span.video_id, first_id, line))
        video.spans[span.start, span.end] = span
