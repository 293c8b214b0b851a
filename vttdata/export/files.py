"""Write the parts of an export: JSON too large for memory, a README, and checksums.

The same rows give the same bytes: files contain no time, no path, and JSON only ASCII characters, so that a reader that
opens a file in its locale's encoding, or takes a line separator for the end of a line, reads the same.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TextIO

from vttdata.files.own_folder import FolderKind
from vttdata.files.reading import file_sha256
from vttdata.json_types import JsonObject

CHECKSUMS = "vttdata-export.sha256"
"""Name of the checksum file, which marks a folder as an export; readable by ``sha256sum --check``."""

# `sha256sum` passes over lines that begin so.
_ABOUT = "# vttdata export "

# The tokenizer of coco-caption (Stanford CoreNLP 3.4.1) reads one caption per line and starts a new line at each of
# these characters, so that one inside a caption shifts all captions after it. Found by trying every control character.
LINE_BREAKS = re.compile("[\n\r\v\f\u2028\u2029]+")


def one_line(text: str) -> str:
    """Replace every run of line breaks by a space."""
    return LINE_BREAKS.sub(" ", text)


def as_json(value: object) -> str:
    """Return a value as one line of ASCII JSON.

    Raises:
        ValueError: if a number is not finite, which JSON cannot represent.
    """
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


@contextmanager
def text_file(path: Path) -> Iterator[TextIO]:
    """Create a UTF-8 text file whose line ends are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        yield stream


@dataclass(slots=True)
class JsonList:
    """Items of a JSON list, written one by one; the brackets are the caller's."""

    stream: IO[str]
    length: int = 0

    def append(self, item: Mapping[str, object]) -> None:
        """Write an item."""
        self.stream.write(f"{',' if self.length else ''}\n{as_json(item)}")
        self.length += 1


@contextmanager
def json_with_two_lists(
    path: Path, head: Mapping[str, object], first: str, second: str
) -> Iterator[tuple[JsonList, JsonList]]:
    """Create a file with a JSON object that ends in two lists, `first` and `second`, which grow side by side.

    The second list is kept in a temporary file until the first one is complete.
    """
    with text_file(path) as stream, tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as scratch:
        fields = "".join(f"{as_json(name)}: {as_json(value)},\n" for name, value in head.items())
        stream.write(f"{{{fields}{as_json(first)}: [")
        yield JsonList(stream), JsonList(scratch)
        stream.write(f"\n],\n{as_json(second)}: [")
        scratch.seek(0)
        shutil.copyfileobj(scratch, stream)
        stream.write("\n]}\n")


def readme_text(title: str, paragraphs: Iterable[str], notes: Sequence[str]) -> str:
    """Return the README of an export: how to read it, the rules it follows, and notes about this one."""
    note_list = "## Notes\n\n" + "\n".join(f"- {note}" for note in notes) if notes else ""
    last = (
        f"Made by `vttdata export`; `sha256sum --check {CHECKSUMS}` checks the files. They are for programs: "
        "no text is escaped for spreadsheets."
    )
    return "\n\n".join(part for part in (f"# {title}", *paragraphs, note_list, last) if part) + "\n"


def _export_names(folder: Path) -> frozenset[str]:
    _, names = read_checksums(folder)
    return frozenset({CHECKSUMS, *names} if names else ())


EXPORT = FolderKind("an export", CHECKSUMS, _export_names)


def write_checksums(folder: Path, about: Mapping[str, object]) -> None:
    """Write the SHA-256 of every file of an export, after a comment that says of what it is an export, and how."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = (f"{file_sha256(folder / path)}  {path}\n" for path in paths)
    (folder / CHECKSUMS).write_text("".join([f"{_ABOUT}{as_json(about)}\n", *lines]), encoding="utf-8", newline="\n")


def read_checksums(folder: Path) -> tuple[JsonObject, dict[str, str]]:
    """Return what an export is of, and name -> SHA-256 of its files; nothing where the list is not of an export."""
    text = (folder / CHECKSUMS).read_text(encoding="utf-8")
    found = re.match(re.escape(_ABOUT) + r"(\{.*\})\n", text)
    if found is None:
        return {}, {}
    digests = re.findall(r"^([0-9a-f]{64})  (.+)$", text, re.MULTILINE)
    return json.loads(found[1]), {name: sha256 for sha256, name in digests}
