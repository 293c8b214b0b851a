"""Take out of files of any kind whatever names or quotes certain items: lines, rows, entries, or the file itself.

Tables, JSON, lines of text and SQLite databases lose what is about the items and keep the rest; a file of another kind
that mentions one, such as a page or a video, is removed. Each file is replaced in one step, and scrubbing it again
changes nothing, so that an interrupted scrub is simply repeated.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from vttdata.errors import VttdataError
from vttdata.files.output_file import write_whole
from vttdata.files.reading import file_sha256
from vttdata.ids import VIDEO_EXTENSIONS
from vttdata.partial_file import partial_file

Action = Literal["kept", "changed", "removed", "unread"]

_TOKEN = re.compile(r"[A-Za-z0-9_.-]+")
_JSON_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_DELIMITED = {".csv": ",", ".tsv": "\t"}
_LINES = (".jsonl", ".ndjson", ".txt", ".md", ".yaml", ".yml", ".log", ".run", ".json")
_DATABASES = (".sqlite", ".sqlite3", ".db")
_PACKED = (".zip", ".gz", ".npz", ".tar", ".xz", ".bz2", ".7z", ".zst")
_MEDIA = (*VIDEO_EXTENSIONS, ".jpg", ".jpeg", ".png", ".wav")
# Shorter names, and numbers, occur by chance: they count as a whole cell, text or file name only.
_MIN_WORD = 4
# Shorter texts occur by chance in what is packed.
_MIN_BYTES = 16
# Of a file that is no table so much is in memory; what is looked for is shorter than the overlap.
_BLOCK, _OVERLAP = 2**24, 2**12
_GONE: Final = object()


@dataclass(frozen=True, slots=True)
class Needles:
    """What is looked for.

    Fields:
        names: ids, addresses and checksums; they count wherever they stand as a word, with or without an extension.
        texts: captions and questions; they count where a cell, or a text in JSON, is exactly this.
    """

    names: frozenset[str]
    texts: frozenset[str] = frozenset()
    _words: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        words = frozenset(name for name in self.names if len(name) >= _MIN_WORD and not name.isdecimal())
        object.__setattr__(self, "_words", words)

    def mention(self, text: str) -> bool:
        """Return whether a text is a name, or has one as a word."""
        if text in self.names:
            return True
        for token in _TOKEN.findall(text):
            if not self._words.isdisjoint((token, token.strip("."), os.path.splitext(token)[0])):
                return True
        return False

    def matches(self, text: str) -> bool:
        """Return whether a text is one that is looked for, or mentions a name."""
        return text in self.texts or self.mention(text)

    def in_line(self, line: str) -> bool:
        """Return whether a line of JSON, or of plain text, mentions a name or quotes a text."""
        if self.matches(line.strip()):
            return True
        for quoted in _JSON_TEXT.findall(line):
            with contextlib.suppress(ValueError):
                text = json.loads(quoted)
                if text in self.texts or text in self.names:
                    return True
        return False

    def in_name(self, path: Path) -> bool:
        """Return whether a file, or a folder, is named after one of the items."""
        return path.name in self.names or path.stem in self.names or self.mention(path.name)

    def in_bytes(self, path: Path) -> bool:
        """Return whether a file that is no table mentions a name, or has a text of some length."""
        texts = [text.encode("utf-8", "replace") for text in self.texts if len(text) >= _MIN_BYTES]
        rest = b""
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                content = rest + block
                if self.mention(content.decode("latin-1")) or any(text in content for text in texts):
                    return True
                rest = content[-_OVERLAP:]
        return False

    def blank(self, text: str) -> str:
        """Return a text with ``(withdrawn)`` in the place of each name."""
        for name in sorted(self._words, key=len, reverse=True):
            if name in text:
                text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "(withdrawn)", text)
        return text


def scrub_file(path: Path, needles: Needles) -> Action:
    """Take out of one file what is looked for, and return what became of the file.

    Raises:
        VttdataError: If a database cannot be changed, such as while a program uses it.
        OSError: If the file cannot be written.
    """
    if needles.in_name(path):
        path.unlink()
        return "removed"
    suffix = path.suffix.lower()
    if suffix in _PACKED:
        return "unread"
    if suffix in _DATABASES:
        return _scrub_database(path, needles)
    with contextlib.suppress(ValueError, pa.ArrowException, csv.Error):
        if suffix in (".parquet", *_DELIMITED, *_LINES):
            return (_scrub_parquet if suffix == ".parquet" else _scrub_text)(path, needles)
    # No table, or not what its name says.
    is_found = file_sha256(path) in needles.names if suffix in _MEDIA else needles.in_bytes(path)
    if is_found:
        path.unlink()
    return "removed" if is_found else "kept"


def _scrub_text(path: Path, needles: Needles) -> Action:
    text = path.read_bytes().decode("utf-8")
    suffix = path.suffix.lower()
    if suffix in _DELIMITED:
        scrubbed = _scrub_cells(text, _DELIMITED[suffix], needles)
    else:
        scrubbed = _scrub_json(text, needles) if suffix == ".json" else _scrub_lines(text, needles)
    if scrubbed == text:
        return "kept"
    write_whole(path, scrubbed)
    return "changed"


def scrub_folder(folder: Path, needles: Needles, *, skipped: Collection[str] = ()) -> Iterator[tuple[Path, Action]]:
    """Scrub every file in a folder and below, but not behind links; yield those that did not stay as they were.

    `skipped` are names in the folder that are left alone.
    """
    for parent, folders, names in os.walk(folder):
        is_top = Path(parent) == folder
        folders[:] = sorted(name for name in folders if not (is_top and name in skipped))
        names = [name for name in names if not (is_top and name in skipped)]  # noqa: PLW2901
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_symlink():
                if needles.in_name(path):
                    path.unlink()
                    yield path, "removed"
                continue
            if path.is_file() and (action := scrub_file(path, needles)) != "kept":
                yield path, action


def _scrub_lines(text: str, needles: Needles) -> str:
    """Leave out lines that match; of a line of JSON only what matches, unless it is about the item as a whole."""
    kept = []
    for line in text.splitlines(keepends=True):
        if not needles.in_line(line):
            kept.append(line)
            continue
        with contextlib.suppress(ValueError):
            pruned = _prune(json.loads(line), needles)
            kept += [json.dumps(pruned, ensure_ascii=False) + "\n"] if isinstance(pruned, dict | list) else []
    return "".join(kept)


def _scrub_cells(text: str, delimiter: str, needles: Needles) -> str:
    """Leave out the records of which a cell matches; the others keep their bytes, and a cell may hold line breaks."""
    lines = text.splitlines(keepends=True)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    kept: list[str] = []
    first = 0
    for record in reader:
        if first == 0 or not any(needles.matches(cell.removeprefix("'")) for cell in record):
            kept += lines[first : reader.line_num]
        first = reader.line_num
    return "".join(kept)


def _scrub_json(text: str, needles: Needles) -> str:
    content = json.loads(text)
    pruned = _prune(content, needles, is_root=True)
    if pruned == content:
        return text
    if isinstance(pruned, dict) and isinstance(splits := pruned.get("splits"), dict) and "protocol" in pruned:
        # A protocol states the digest of its ids; see `vttdata.dataset.protocol_file`.
        pairs = sorted(f"{split}\t{video_id}\n" for split, ids in splits.items() for video_id in ids)
        pruned["digest"] = hashlib.sha256("".join(pairs).encode()).hexdigest()
    indent = 1 if "\n" in text.strip() else None
    return json.dumps(pruned, indent=indent, ensure_ascii=False) + ("\n" if text.endswith("\n") else "")


def _prune(value: Any, needles: Needles, *, is_root: bool = False) -> Any:
    """Return a value of JSON without what is about an item: entries under its name, and records that mention it.

    A record goes whole where one of its texts matches, and a list of names loses those names alone.
    """
    if isinstance(value, str):
        return _GONE if needles.matches(value) else value
    if isinstance(value, list):
        if any(isinstance(item, str) and item in needles.texts for item in value) and not is_root:
            return _GONE
        kept = [pruned for item in value if (pruned := _prune(item, needles)) is not _GONE]
        return kept if kept or not value or is_root else _GONE
    if isinstance(value, dict):
        kept_entries = {}
        for key, item in value.items():
            pruned = _GONE if needles.mention(key) else _prune(item, needles)
            if pruned is not _GONE:
                kept_entries[key] = pruned
            elif not is_root and not needles.mention(key):
                return _GONE
        return kept_entries if kept_entries or not value or is_root else _GONE
    return value


def _scrub_parquet(path: Path, needles: Needles) -> Action:
    with pq.ParquetFile(path) as file:
        texts = [field.name for field in file.schema_arrow if _holds_text(field.type)]
        table = file.read()
    rows = table.select(texts).to_pylist()
    keep = [not any(map(needles.matches, _texts_in(row))) for row in rows]
    if all(keep):
        return "kept"
    with partial_file(path) as partial:
        pq.write_table(table.filter(pa.array(keep)), partial)
    return "changed"


def _holds_text(type_: pa.DataType) -> bool:
    types = pa.types
    if types.is_list(type_) or types.is_large_list(type_):
        return _holds_text(type_.value_type)
    return bool(types.is_string(type_) or types.is_large_string(type_) or types.is_dictionary(type_))


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _texts_in(part)


def _scrub_database(path: Path, needles: Needles) -> Action:
    """Delete the rows of all tables of which a text matches, and what the file keeps of deleted rows."""
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            found = {
                name: [
                    row[0]
                    for row in connection.execute(f'SELECT rowid, * FROM "{name}"')  # noqa: S608
                    if any(needles.in_line(cell) for cell in row[1:] if isinstance(cell, str))
                ]
                for name in names
            }
            if not any(found.values()):
                return "kept"
            connection.execute("BEGIN IMMEDIATE")
            for name, rowids in found.items():
                connection.executemany(f'DELETE FROM "{name}" WHERE rowid = ?', [(rowid,) for rowid in rowids])  # noqa: S608
            connection.execute("COMMIT")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise VttdataError(f"{path}: cannot be changed ({error}); end the program that uses it.") from error
    return "changed"
