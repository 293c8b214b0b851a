"""Read which original videos the official files of a benchmark are about, as `vttdata.recipe.sources` says where.

Nothing is compared or judged here, and no builder is needed: a benchmark is read in a second.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pydantic

from vttdata.annotations.files import OfficialFile, list_files, read_json, read_text
from vttdata.errors import VttdataError
from vttdata.files.id_lists import SPLIT_WORDS
from vttdata.files.tables import fold_name, parse_seconds
from vttdata.recipe.sources import SourceTable, StatedSources

_SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".parquet", ".txt")
_ANY: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(Any)


class StatedSource(NamedTuple):
    """Part of a source that an item is about.

    Fields:
        item: official id.
        split: its split.
        names: at most two names of the source, see `vttdata.recipe.sources.StatedName`; none where it is not known.
        source_id: the id in the first of them, as the files have it.
        start, end: in seconds; NaN where not known.
    """

    item: str
    split: str
    names: tuple[str, ...]
    source_id: str | None
    start: float
    end: float


class OfficialSources(NamedTuple):
    """What official files state: distinct sources of items, split -> captions or questions, patterns without files."""

    sources: list[StatedSource]
    texts: dict[str, list[str]]
    missing: list[str]


def read_official_sources(stated: StatedSources, folder: Path) -> OfficialSources:
    """Read a folder of official files.

    Raises:
        VttdataError: when a file is damaged, or none of the files is there.
    """
    available = {file.name: file for file in reversed(list_files(folder, _SUFFIXES))}
    chosen = {
        pattern: [file for name, file in sorted(available.items()) if fnmatchcase(name, pattern)]
        for table in stated.tables
        for pattern in table.files
    }
    if not any(chosen.values()):
        raise VttdataError(f"{folder}: has none of {', '.join(chosen)}.")
    rows: list[tuple[SourceTable, StatedSource, list[str]]] = []
    for table in stated.tables:
        for file in dict.fromkeys(file for pattern in table.files for file in chosen[pattern]):
            rows += ((table, row, texts) for row, texts in _read_table(table, file))
    # What one table says of an item without its split is in the splits that another table says.
    splits: dict[str, dict[str, None]] = {}
    for _, row, _ in rows:
        if row.split:
            splits.setdefault(row.item, {})[row.split] = None
    default = {"unlisted" if splits else "test": None}
    sources: dict[StatedSource, None] = {}
    by_split: dict[str, list[str]] = {}
    for table, row, texts in rows:
        for split in [row.split] if row.split else splits.get(row.item, default):
            by_split.setdefault(split, []).extend(texts)
            if table.names:
                sources[row._replace(split=split)] = None
    return OfficialSources(list(sources), by_split, [pattern for pattern, files in chosen.items() if not files])


def _read_table(table: SourceTable, file: OfficialFile) -> Iterator[tuple[StatedSource, list[str]]]:
    """Yield what the rows of a file say, once for each span, with the texts at the first span."""
    forms = [(name, re.compile(name.form, re.DOTALL)) for name in table.names]
    numbers = {form: sorted({*range(1, form.groups + 1)} - {*form.groupindex.values()}) for _, form in forms}
    for key, row in _rows(_read_values(file), table.rows.split(".")):

        def find(path: str | None, key: str = key, row: object = row) -> list[Any]:
            return [] if path is None else [key] if path == "@" else [*_values(row, path.split(".") if path else [])]

        matches = [
            (name, match)
            for name, form in forms
            for value in find(name.at)[:1]
            if (match := form.fullmatch(str(value).strip()))
        ][:2]
        stated = matches[0][1].groupdict() if matches else {}
        ids = ["_".join(filter(None, (match[number] for number in numbers[match.re]))) for _, match in matches]
        names = tuple(name.name.replace("{}", own) for (name, _), own in zip(matches, ids, strict=True))
        # Some matches are of a form that nobody named, so that the item is known and its source is not.
        item = next(iter(find(table.item) or ids or (find(table.names[0].at) if table.names else [])), key)
        split = table.split or next(map(str, find(table.split_at)), "")
        split = SPLIT_WORDS.get(fold_name(split), split)
        texts = [text for text in (stated.get("text"), *find(table.text)) if isinstance(text, str)]
        starts, ends = ([stated[end]] if stated.get(end) else find(getattr(table, end)) for end in ("start", "end"))
        if not ends:
            starts, ends = ([0.0], find(table.duration)[:1]) if table.duration else ([None], [None])
        for number, (start, end) in enumerate(zip_longest(starts, ends)):
            span = (parse_seconds(start), parse_seconds(end))
            yield StatedSource(str(item), split, names, ids[0] if ids else None, *span), [] if number else texts


def _read_values(file: OfficialFile) -> object:
    """Return the content of a file: the values of JSON, rows as objects, or lines as keys of an object."""
    suffix = Path(file.name).suffix.lower()
    if suffix == ".json":
        return read_json(file, _ANY, {})
    if suffix == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_table(io.BytesIO(file.read())).to_pylist()
    text = read_text(file, {})
    if suffix == ".txt":
        return dict.fromkeys(text.splitlines())
    if suffix == ".jsonl":
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise VttdataError(f"{file}: a line of it is not JSON ({error}).") from error
    return [*csv.DictReader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ",")]


def _rows(value: object, path: Sequence[str], key: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values at a path, each with the last key or index that a ``*`` of the path stands for."""
    if not path:
        yield key, value
    elif path[0] == "*" and isinstance(value, (dict, list)):
        for own, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _rows(inner, path[1:], str(own))
    elif isinstance(value, dict) and path[0] in value:
        yield from _rows(value[path[0]], path[1:], key)
    elif isinstance(value, list) and path[0].isdecimal() and int(path[0]) < len(value):
        yield from _rows(value[int(path[0])], path[1:], key)


def _values(value: object, path: Sequence[str]) -> Iterator[Any]:
    return (found for _, found in _rows(value, path) if found is not None)
