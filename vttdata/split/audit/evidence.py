"""What a dataset says of which clips are one: ids, addresses, checksums and declared copies, compared in one form.

Every statement is a key. Rows that share a key are of one original video, whichever column states it, and so are rows
that others connect; a key that two rows state differently is a conflict. Placeholders such as ``unknown`` and values
that cannot be what their column says are no keys.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from vttdata.files.addresses import hide_secrets
from vttdata.files.folded_addresses import fold_address
from vttdata.ids import fold_id, is_placeholder
from vttdata.json_types import JsonObject
from vttdata.split.groups import DisjointSets
from vttdata.statistics.arrays import Integers

# How lists write the YouTube id of a video.
_PREFIXED_ID = re.compile(r"(?:v_|youtube[-_:]|yt[-_:])([\w-]{11})", re.ASCII)
_CHECKSUM = re.compile(r"(?:(?:sha-?(?:1|256|512)|md5)[:-])?([0-9a-f]{32,128})")
# What columns of copies say of a clip that is none.
_FLAGS = frozenset({"false", "true", "no", "yes", "0", "-1"})
# A column of numbers in which some are missing is written with fractions, and one read as numbers loses zeros.
_WHOLE = re.compile(r"0*([0-9]+?)(?:\.0+)?", re.ASCII)
# SHA-256, SHA-1 and MD5 of nothing.
_EMPTY_FILE = frozenset(
    {
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "d41d8cd98f00b204e9800998ecf8427e",
    }
)
# An address up to an id, and the id.
_ENDING = re.compile(r"(.*[/=])([^/=]+)")
# Characters of 64 bits in hexadecimal.
_MIN_FINGERPRINT = 16
# An id of so many letters of both cases, drawn at random, has a large one after a small one three times in ten or more.
_MIXED_CASE = re.compile("[a-z][A-Z]")
_MAX_BASE_62 = 8
# An address that more than a half of at least so many sources have is a page about the dataset.
_MIN_SOURCES_OF_PAGE = 5
_MAX_EXAMPLES = 3

# Pairs of columns of which the first is expected to decide the second.
_DECIDES = (
    ("video_id", "source_id"),
    ("video_id", "sha256"),
    ("source_id", "url"),
    ("source_id", "source_sha256"),
    ("url", "source_id"),
    ("sha256", "video_id"),
    ("source_sha256", "source_id"),
)


class StatedKeys(NamedTuple):
    """Keys that one column states of n rows.

    Fields:
        column: its name, or that of a further meaning of it.
        keys: n numbers, equal for what is the same in any column; -1 where nothing usable is stated.
        malformed: number of rows with a value that cannot be what the column says.
    """

    column: str
    keys: Integers
    malformed: int


def fold_source(text: str) -> str | None:
    """Return the key of an original video, given as its id or address; None for a placeholder.

    A YouTube id is the same with the prefixes ``v_`` and ``youtube-``.
    """
    if "://" in text:
        return fold_address(text)
    folded = fold_known_id(text)
    prefixed = _PREFIXED_ID.fullmatch(folded or "")
    return prefixed[1] if prefixed else folded


def fold_known_id(text: str) -> str | None:
    """Return `vttdata.ids.fold_id` of an id, of numbers without leading zeros and ``.0``; None for a placeholder."""
    folded = fold_id(text)
    if is_placeholder(folded):
        return None
    number = _WHOLE.fullmatch(folded)
    return number[1] if number else folded


def fold_checksum(text: str) -> str | None:
    """Return a checksum in hexadecimal, in lower case; None for what is none, and for that of an empty file."""
    match = _CHECKSUM.fullmatch(text.strip().lower())
    return match[1] if match and len(set(match[1])) > 1 and match[1] not in _EMPTY_FILE else None


def fold_fingerprint(text: str) -> str | None:
    """Return a fingerprint of pictures; None for one that is too short, or of a single picture of one colour."""
    return text.strip() if len(text.strip()) >= _MIN_FINGERPRINT and len(set(text.strip())) > 2 else None


class _Statement(NamedTuple):
    """How keys are read: the column of a table, what its values name, and the function that makes keys of them."""

    column: str
    kind: str
    fold: Callable[[str], str | None]


# Evidence -> how it is read; a key of one kind is none of another. Those that name the original video come first.
_STATEMENTS: Mapping[str, _Statement] = {
    "source_id": _Statement("source_id", "video", fold_source),
    "url": _Statement("url", "video", fold_address),
    "source_url": _Statement("source_url", "video", fold_address),
    "name_in_id": _Statement("name_in_id", "video", fold_source),
    "source_sha256": _Statement("source_sha256", "file", fold_checksum),
    "video_id": _Statement("video_id", "clip", fold_known_id),
    "sha256": _Statement("sha256", "file", fold_checksum),
    "fingerprint": _Statement("fingerprint", "pictures", fold_fingerprint),
    "duplicate_of": _Statement("duplicate_of", "clip", fold_known_id),
    # A copy may be declared of a clip or of a source.
    "duplicate_of_source": _Statement("duplicate_of", "video", fold_source),
}
COLUMNS = tuple(dict.fromkeys(statement.column for statement in _STATEMENTS.values()))
"""Columns that can be evidence."""
OF_SOURCES = ("source_id", "url", "source_url", "name_in_id", "source_sha256")
"""Evidence that says of which original video a clip is."""


def read_evidence(table: pa.Table) -> list[StatedKeys]:
    """Return the evidence in the columns of `COLUMNS` that a table has, which are of texts or numbers."""
    numbers: dict[tuple[str, str], int] = {}
    folds = {statement.fold: functools.cache(statement.fold) for statement in _STATEMENTS.values()}
    read = []
    for name, (column, kind, fold) in _STATEMENTS.items():
        if column not in table.column_names:
            continue
        values = table.column(column).cast(pa.large_string()).combine_chunks().dictionary_encode()
        # The last entry is that of rows without a value.
        key_of = np.full(len(values.dictionary) + 1, -1, np.int64)
        is_stated = np.zeros(len(key_of), np.bool_)
        texts = values.dictionary.to_pylist()
        is_of_ids = fold in (fold_source, fold_known_id)
        tells_case = is_of_ids and _tells_case(texts)
        placeholders = find_placeholders(texts) if is_of_ids else _find_unfinished(texts, folds[fold])
        for index, text in enumerate(texts):
            if text in placeholders or (column == "duplicate_of" and fold_known_id(text) in _FLAGS):
                continue
            key = folds[fold](text)
            if key is not None and tells_case:
                # What is left out before an id, such as a zero, has no case.
                start = max(0, text.casefold().find(key))
                key = text[start : start + len(key)]
            is_stated[index] = key is not None or not is_placeholder(fold_id(text))
            if key is not None:
                key_of[index] = numbers.setdefault((kind, key), len(numbers))
        codes = values.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        keys = key_of[codes]
        read.append(StatedKeys(name, keys, int((is_stated[codes] & (keys < 0)).sum())))
    return read


def find_placeholders(texts: Iterable[str]) -> frozenset[str]:
    """Return those of the values of a column of ids that stand for no id.

    A zero is one unless there is another number below ten, from which on ids may be counted.
    """
    keys = {text: fold_known_id(text) for text in texts}
    is_counted = any(key is not None and len(key) == 1 and key in "123456789" for key in keys.values())
    return frozenset(text for text, key in keys.items() if key is None or (key == "0" and not is_counted))


def _find_unfinished(texts: Iterable[str], fold: Callable[[str], str | None]) -> frozenset[str]:
    """Return the addresses to which others add an id: those of their folder, and with a zero in the place of the id."""
    keys = {text: fold(text) for text in texts}
    endings: dict[str, set[str]] = defaultdict(set)
    for key in {*keys.values()}:
        if key is not None and (match := _ENDING.fullmatch(key)):
            endings[match[1]].add(match[2])
    stems = {stem: ids for stem, ids in endings.items() if len(ids) > 2}
    unfinished = {stem.rstrip("/") for stem in stems}
    unfinished |= {
        f"{stem}{zero}"
        for stem, ids in stems.items()
        if ids.isdisjoint("123456789")
        for zero in ids
        if not zero.strip("0.")
    }
    return frozenset(text for text, key in keys.items() if key in unfinished)


def _tells_case(ids: Sequence[str]) -> bool:
    """Return whether ids are short and of base 62, so that many differ in case only."""
    short = sum(len(text) <= _MAX_BASE_62 and _MIXED_CASE.search(text) is not None for text in ids)
    return short > len(ids) / 4


def ignore_pages(evidence: list[StatedKeys]) -> tuple[list[StatedKeys], int]:
    """Drop addresses that more than a half of all sources have, and return the number of rows that have one."""
    by_column = {each.column: each for each in evidence}
    rows = 0
    for column in ("url", "source_url"):
        if "source_id" not in by_column or column not in by_column:
            continue
        names, keys = by_column["source_id"].keys, by_column[column].keys
        pairs = _distinct_pairs(keys, names)
        addresses, counts = np.unique(pairs[:, 0], return_counts=True)
        sources = len(np.unique(names[names >= 0]))
        pages = addresses[(counts > sources / 2) & (counts >= _MIN_SOURCES_OF_PAGE)]
        is_page = np.isin(keys, pages)
        rows += int(is_page.sum())
        by_column[column] = by_column[column]._replace(keys=np.where(is_page, -1, keys))
    return list(by_column.values()), rows


def join_rows(evidence: list[StatedKeys], rows: int) -> Integers:
    """Return a number for each row, the same for all rows that keys connect, in the order of their first rows."""
    size = 1 + max((int(each.keys.max(initial=-1)) for each in evidence), default=-1)
    first, *others = evidence or [StatedKeys("", np.full(rows, -1), 0)]
    labels = np.where(first.keys >= 0, first.keys, size + np.arange(rows))
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *(_distinct_pairs(labels, each.keys) for each in others)])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    # A key that occurs with one label only, and is none itself, connects nothing.
    keys, counts = np.unique(np.unique(pairs, axis=0)[:, 1], return_counts=True)
    connecting = np.union1d(keys[counts > 1], np.intersect1d(keys, labels))
    linked = pairs[np.isin(pairs[:, 1], connecting)]
    nodes = DisjointSets()
    for label, key in linked.tolist():
        nodes.join(nodes.node("", str(label)), nodes.node("", str(key)))
    first_of: dict[int, int] = {}
    joined = {
        number: first_of.setdefault(nodes.root(nodes.node("", str(number))), number)
        for number in np.unique(linked).tolist()
    }
    distinct, inverse = np.unique(labels, return_inverse=True)
    labels = (
        np.array([joined.get(label, label) for label in distinct.tolist()], np.int64)[inverse] if joined else labels
    )
    _, first_rows, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first_rows), np.int64)
    rank[np.argsort(first_rows)] = np.arange(len(first_rows))
    numbered: Integers = rank[inverse]
    return numbered


def find_conflicts(evidence: list[StatedKeys], table: pa.Table) -> list[JsonObject]:
    """Return the pairs of columns that contradict each other: values of one with several values of the other."""
    by_column = {each.column: each.keys for each in evidence}
    conflicts: list[JsonObject] = []
    for column, other in _DECIDES:
        if column not in by_column or other not in by_column:
            continue
        pairs = _distinct_pairs(by_column[column], by_column[other])
        keys, counts = np.unique(pairs[:, 0], return_counts=True)
        several = keys[counts > 1]
        if not len(several):
            continue
        examples = []
        for key in several[:_MAX_EXAMPLES]:
            rows = np.flatnonzero(by_column[column] == key)
            stated = table.column(other).take(pa.array(rows)).drop_null().unique().to_pylist()
            texts = [hide_secrets(str(value)) for value in (table.column(column)[int(rows[0])], *stated)]
            examples.append({column: texts[0], other: texts[1:5]})
        conflicts.append({"column": column, "other": other, "values": len(several), "examples": examples})
    return conflicts


def _distinct_pairs(a: Integers, b: Integers) -> Integers:
    """Return the distinct pairs of known numbers, (m, 2), sorted."""
    known = (a >= 0) & (b >= 0)
    a, b = a[known], b[known]
    if not len(a):
        return np.zeros((0, 2), np.int64)
    width = int(b.max()) + 1
    packed = np.unique(a * width + b)
    return np.stack([packed // width, packed % width], 1)
