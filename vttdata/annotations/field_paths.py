"""Say by short texts where the rows of a file lie, and where in a row its values do.

A path is names of keys or columns with dots, such as ``answer.text``; a number in brackets takes one item of a list,
and ``[]`` all of them: ``choices[].text``. A path that ends in ``?`` may lead to nothing. Text with braces is a
template, whose braces hold paths: ``{folder}/{video}``. Text after ``=`` is itself: ``=yes``.

The path to the rows has a step for each level of the file: a key, ``[name]`` for the items of a list, ``{name}`` for
the values of an object, or ``{name:first|second}`` for those of two keys. The name, if there is one, then stands for
the index or the key, and ``name.key`` for what the item holds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from vttdata.annotations.files import key_path
from vttdata.errors import VttdataError
from vttdata.json_types import JsonObject

_STEP = re.compile(
    r"\[(?P<items>\w*)\]|\{(?P<values>\w*)(?::(?P<keys>[^{}]+))?\}|\.?(?P<key>[^][{}.?|=]+)(?=[][{}.]|$)"
)
_HOLE = re.compile(r"\{([^{}]*)\}")
_NAMED_HOLE = re.compile(r"\{(\w+)(?::([^{}]+))?\}")
_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class FileRow:
    """Row of a file.

    Fields:
        location: file and line or key, which begins messages.
        value: content of the row.
        names: name of a step or of a file -> index, key or text.
        holders: name of a step -> item or value there.
    """

    location: str
    value: JsonObject
    names: dict[str, object] = field(default_factory=dict)
    holders: dict[str, object] = field(default_factory=dict)

    def find(self, setting: str, text: str) -> object:
        """Return what a path, a template or a constant gives in this row; None for nothing.

        `setting` is the key of the recipe, for messages.

        Raises:
            VttdataError: when there is nothing, and the path does not end in ``?``.
        """
        if text.startswith("="):
            return text[1:]
        if "{" not in text:
            return self._follow(setting, text)
        literals = _HOLE.split(text)
        values = [self.text(setting, path) for path in literals[1::2]]
        if None in values:
            return None
        literals[1::2] = [value or "" for value in values]
        return "".join(literals)

    def text(self, setting: str, text: str) -> str | None:
        """Return what `find` gives as a text: a text or a number, or several of them with commas.

        Raises:
            VttdataError: when it is anything else, or as `find`.
        """
        value = self.find(setting, text)
        items = value if isinstance(value, list) else [value]
        if value is not None and not all(isinstance(each, str | int | float) for each in items):
            raise VttdataError(
                f"{self.location}: {setting}: {text!a} is {str(value)[:_MAX_SHOWN]!a}, which is neither a text nor a "
                "number."
            )
        return None if value is None else ", ".join(map(str, items))

    def match(self, setting: str, patterns: Mapping[str, str]) -> FileRow:
        """Return the row with the names of patterns such as ``{number}_{part:pos|neg}``, which the texts of paths fit.

        Raises:
            VttdataError: when one does not fit.
        """
        names = dict(self.names)
        for path, pattern in patterns.items():
            text = self.text(f"{setting}.{path}", path) or ""
            found = compile_pattern(pattern).fullmatch(text)
            if found is None:
                raise VttdataError(
                    f"{self.location}: {setting}.{path}: {text[:_MAX_SHOWN]!a} does not have the form {pattern!a}."
                )
            names |= found.groupdict()
        return FileRow(self.location, self.value, names, self.holders)

    def _follow(self, setting: str, path: str) -> object:
        steps = split_path(path.removesuffix("?"))
        first, *rest = steps
        value: object = self.value
        if first in self.holders and rest:
            value, steps = self.holders[first], rest
        elif first in self.names:
            value, steps = self.names[first], rest
        found = _descend(value, steps)
        if found is None and not path.endswith("?"):
            there = ", ".join(map(str, [*self.value, *self.names]))[:300]
            raise VttdataError(
                f"{self.location}: {setting}: the row has nothing under {path!a}; it has {there}. A path that ends in "
                "'?' may lead to nothing."
            )
        return found


def _descend(value: object, steps: list[str]) -> object:
    for number, step in enumerate(steps):
        if step == "[]":
            items = [_descend(item, steps[number + 1 :]) for item in value] if isinstance(value, list) else [None]
            return None if None in items else items
        if isinstance(value, list) and step.isdecimal():
            value = value[int(step)] if int(step) < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return None if isinstance(value, str) and not value.strip() else value


def find_rows(
    content: object, path: str, file: str, names: dict[str, object], lines: list[str] | None
) -> list[FileRow]:
    """Return the rows that a path leads to in the content of a file.

    Args:
        content: list or object.
        path: see the module.
        file: for messages.
        names: what stands for itself in every row.
        lines: place of each item of `content`, where it is a list of lines.

    Raises:
        VttdataError: when the path does not lead to objects.
    """
    rows = []
    for place, value, row in _walk(content, [*_STEP.finditer(path)], (), FileRow(file, {}, names)):
        location = _locate(file, place, lines)
        if not isinstance(value, dict):
            raise VttdataError(
                f"{location}: fields.rows: {path!a} leads to {str(value)[:_MAX_SHOWN]!a}, not to an object with keys."
            )
        rows.append(FileRow(location, value, {**row.names}, row.holders))
    return rows


def _locate(file: str, place: tuple[str | int, ...], lines: list[str] | None) -> str:
    if lines is not None and place and isinstance(place[0], int):
        location, place = lines[place[0]], place[1:]
        return f"{location}: {key_path(place)}" if place else location
    if place and isinstance(place[0], int):
        place = (f"[{place[0]}]", *place[1:])
    return f"{file}: {key_path(place)}"


def _walk(
    value: object, steps: list[re.Match[str]], place: tuple[str | int, ...], row: FileRow
) -> Iterator[tuple[tuple[str | int, ...], object, FileRow]]:
    if not steps:
        yield place, value, row
        return
    step, *rest = steps
    inner: list[tuple[str | int, object]] | None = None
    if step["items"] is not None:
        inner = [*enumerate(value)] if isinstance(value, list) else None
    elif isinstance(value, dict):
        keys = [step["key"]] if step["key"] else step["keys"].split("|") if step["keys"] else list(value)
        inner = [(key, value[key]) for key in keys] if value.keys() >= set(keys) else None
    if inner is None:
        raise VttdataError(
            f"{_locate(row.location, place, None)}: fields.rows: there is no {step[0]!a}; found "
            f"{str(value)[:_MAX_SHOWN]!a}."
        )
    name = step["items"] or step["values"]
    for key, item in inner:
        named = row
        if name:
            named = FileRow(row.location, {}, {**row.names, name: key}, {**row.holders, name: item})
        yield from _walk(item, rest, (*place, key), named)


@functools.cache
def split_path(path: str) -> list[str]:
    """Return the steps of a path; an index is a number, and all items are ``[]``.

    Raises:
        ValueError: when it is no path.
    """
    steps = []
    position = 0
    for match in _STEP.finditer(path):
        if match.start() != position or match["values"] is not None:
            break
        position = match.end()
        steps.append(match["key"] or match["items"] or "[]")
    if not steps or position < len(path):
        raise ValueError(
            f"found {path!a}; a path is names with dots, such as answer.text, choices[0] or choices[].text"
        )
    return steps


@functools.cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a regular expression for a pattern such as ``{number}_{part:pos|neg}``, with its names as groups.

    Raises:
        ValueError: when it has no name, one twice, or two beside each other.
    """
    pieces = _NAMED_HOLE.split(pattern)
    names = pieces[1::3]
    if not names or len(names) > len(set(names)) or "" in pieces[3:-1:3] or set("{}") & set("".join(pieces[::3])):
        raise ValueError(f"found {pattern!a}; a pattern has names with text between them, such as {{id}}_{{part:a|b}}")
    expression = re.escape(pieces[0])
    for name, words, literal in zip(names, pieces[2::3], pieces[3::3], strict=True):
        choice = "|".join(map(re.escape, words.split("|"))) if words else ".+"
        expression += f"(?P<{name}>{choice}){re.escape(literal)}"
    return re.compile(expression)


def check_rows(path: str) -> None:
    """Raise ValueError unless a text is a path to rows."""
    if "".join(match[0] for match in _STEP.finditer(path)) != path:
        raise ValueError(f"found {path!a}; a path to rows is such as [], questions[], {{video}}[n] or [].qa[]")


def check_field(text: str) -> None:
    """Raise ValueError unless a text is a path, a template or a constant."""
    if text.startswith("="):
        return
    if "{" not in text:
        split_path(text.removesuffix("?"))
    elif set("{}") & set(_HOLE.sub("", text)):
        raise ValueError(f"found {text!a}; braces hold paths, such as {{folder}}/{{video}}")
    for path in _HOLE.findall(text):
        split_path(path.removesuffix("?"))
