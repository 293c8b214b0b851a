"""Read JSON lists and JSON lines value by value, so that a large file takes no more memory than a small one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, TextIO

from vttdata.errors import VttdataError

JSON_LINES = frozenset({".jsonl", ".ndjson"})
"""File name extensions of JSON lines."""

_CHUNK = 2**16
_MAX_VALUE_CHARACTERS = 2**24
_SPACE = re.compile(r"\s*")


def refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, as `object_pairs_hook` of `json`; raise ValueError if it has a key twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        duplicate, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {json.dumps(duplicate)} is duplicated in an object")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=refuse_duplicate_keys)


def parse_json(place: str, suffix: str, stream: TextIO) -> Iterator[tuple[int, Any]]:
    """Yield the values of a JSON list or of JSON lines in seekable text, with their number in the list or their line.

    In ``.json`` without a list, objects may span several lines and are numbered. Errors begin with `place`.

    Raises:
        VttdataError: when it is not JSON, or an object has a key twice; names the value or line.
    """
    start = stream.read(_CHUNK).lstrip()
    stream.seek(0)
    if suffix not in JSON_LINES or start.startswith("["):
        yield from _parse_values(place, stream)
        return
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            yield number, _DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            raise VttdataError(f"{place}:{number}: not a JSON object ({error}).") from error


def _parse_values(place: str, stream: TextIO) -> Iterator[tuple[int, Any]]:
    """Yield the values of a list, or of values one after another."""
    text, position = _skip_space(stream, "", 0)
    in_list = text.startswith("[", position)
    position += in_list
    number = 0
    while True:
        text, position = _skip_space(stream, text, position)
        character = text[position : position + 1]
        if in_list and number and character == ",":
            text, position = _skip_space(stream, text, position + 1)
        elif in_list and character == "]":
            text, position = _skip_space(stream, text, position + 1)
            if position < len(text):
                raise VttdataError(f"{place}: damaged or not JSON; there is more after the list.")
            return
        elif in_list and number:
            raise VttdataError(f"{place}: cut off, damaged or not JSON after value {number} of the list.")
        elif not character:
            return
        number += 1
        value, text, position = _decode(f"{place}:{number}", stream, text, position)
        yield number, value


def _skip_space(stream: TextIO, text: str, position: int) -> tuple[str, int]:
    """Return the text and the position of its next character that is no space, after reading more if need be."""
    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr] # it matches nothing too
        if position < len(text) or not (more := stream.read(_CHUNK)):
            return text, position
        text, position = more, 0


def _decode(place: str, stream: TextIO, text: str, position: int) -> tuple[Any, str, int]:
    """Return the value at a position, with the text and the position behind it, after reading more if need be."""
    while True:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            more = stream.read(max(_CHUNK, len(text)))
            if not more or len(text) - position > _MAX_VALUE_CHARACTERS:
                raise VttdataError(f"{place}: cut off, damaged or not JSON ({error}).") from error
            text, position = text[position:] + more, 0
        else:
            return value, text, end
