"""Writes what an export consists of: JSON that grows without being held in memory, a README, and checksums.

The same rows give the same bytes: no time, no path, and of the characters in JSON only ASCII, so that a reader that
opens a file in its locale's encoding, or takes a line separator for the end of a line, reads the same.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from vttdata.dataset.shards import file_sha256

CHECKSUMS = "vttdata-export.sha256"
"""The file by which an export is known, for ``sha256sum --check``."""

LINE_BREAKS = re.compile("[\n\r\v\f\u2028\u2029]+")
"""Where the tokenizer of coco-caption (Stanford CoreNLP 3.4.1) starts a new line: found by trying it on every control
character and separator. It is given a caption a line, so a break within one shifts all that follow."""


def one_line(text: str) -> str:
    """The text with every run of line breaks as one space."""
    return LINE_BREAKS.sub(" ", text)


def as_json(value: Any) -> str:
    """Plain JSON on one line, in ASCII.

    Raises:
        ValueError: when a number is not finite, which JSON cannot say.
    """
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


@contextmanager
def text_file(path: Path) -> Iterator[TextIO]:
    """A new file for text, UTF-8, with line ends as they are written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        yield stream


class JsonObject:
    """A JSON object with two lists that grow side by side: the second waits in a temporary file for its turn."""

    def __init__(self, stream: TextIO, head: Mapping[str, Any], first: str, second: str) -> None:
        self._stream, self._names = stream, (first, second)
        self._waiting = tempfile.TemporaryFile("w+", encoding="utf-8", newline="")  # noqa: SIM115 - closed by close
        self._numbers = [0, 0]
        fields = "".join(f"{as_json(name)}: {as_json(value)},\n" for name, value in head.items())
        stream.write(f"{{{fields}{as_json(first)}: [")

    def add_first(self, item: Mapping[str, Any]) -> None:
        """Append to the first list."""
        self._add(0, self._stream, item)

    def add_second(self, item: Mapping[str, Any]) -> None:
        """Append to the second list."""
        self._add(1, self._waiting, item)

    def _add(self, place: int, stream: TextIO, item: Mapping[str, Any]) -> None:
        stream.write(f"{',' if self._numbers[place] else ''}\n{as_json(item)}")
        self._numbers[place] += 1

    def close(self) -> tuple[int, int]:
        """End the object; return the lengths of both lists."""
        self._stream.write(f"\n],\n{as_json(self._names[1])}: [")
        self._waiting.seek(0)
        shutil.copyfileobj(self._waiting, self._stream)
        self._waiting.close()
        self._stream.write("\n]}\n")
        return self._numbers[0], self._numbers[1]


def readme_text(title: str, paragraphs: Iterable[str], notes: Sequence[str]) -> str:
    """The text of an export's README: what reads it and how, the rules it follows, and what is odd in it."""
    listed = "## Notes\n\n" + "\n".join(f"- {note}" for note in notes) if notes else ""
    last = f"Made by `vttdata export`; `sha256sum --check {CHECKSUMS}` checks the files."
    return "\n\n".join(part for part in (f"# {title}", *paragraphs, listed, last) if part) + "\n"


def write_checksums(folder: Path) -> None:
    """List all files of an export with their SHA-256."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = (f"{file_sha256(folder / path)}  {path}\n" for path in paths)
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")
