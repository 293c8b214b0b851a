"""Says which rows two versions of a dataset do not share, and which version number the newer one needs.

Rows are compared by hashes of their values (see `vttdata.publish.row_hashes`), so that memory holds three numbers a
row. It judges rows and columns, and neither media nor cards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vttdata.dataset.shards import file_sha256
from vttdata.dataset.tables import ConfigTables, key_columns, read_tables
from vttdata.publish.changes import ConfigDifference, DatasetDifference
from vttdata.publish.row_hashes import Hashes, batches, column_hashes, combined

EXAMPLES = 5
_SHOWN = 60
_SHOWN_COLUMNS = 3

Places = NDArray[np.int64]
Pairs = tuple[Places, Places]
"""Rows of the older and of the newer dataset that belong together, counted from 0 over all files."""


def compare_datasets(old: Path, new: Path) -> DatasetDifference:
    """Compare two dataset folders row by row.

    A row is found again by its key (`vttdata.dataset.tables.KEYS`): it is the same, stands in another split, has
    other values, or both. What stands several times under one key is matched with its most similar counterparts
    first. Configurations without a key are compared as multisets of whole rows.

    Raises:
        VttdataError: when a folder is no dataset, or a file of it is missing or damaged.
    """
    before, after = read_tables(old), read_tables(new)
    return DatasetDifference(
        tuple(
            compare_contents(config, before.get(config), after.get(config))
            for config in dict.fromkeys([*before, *after])
        )
    )


def compare_contents(config: str, old: ConfigTables | None, new: ConfigTables | None) -> ConfigDifference:
    """Compare one configuration of two datasets; None is a dataset that has no such configuration."""
    if old is None or new is None:
        return _one_sided(config, old, new)
    rows = (sum(old.rows().values()), sum(new.rows().values()))
    schema = _schema_changes(old, new)
    if not schema and _checksums(old) == _checksums(new):
        return ConfigDifference(config, rows)
    common = [name for name in old.types if old.types[name] == new.types.get(name)]
    key = key_columns(config, old, new)
    names = list(dict.fromkeys([*old.files, *new.files]))
    left, right = (_Rows(side, key or common, common, names) for side in (old, new))
    same, moved, changed, both, removed, added = _matched(left, right)
    moved = _joined(moved, both)
    changed = _joined(changed, both)
    columns, told = _changed_columns(left, right, changed, common)
    return ConfigDifference(
        config,
        rows,
        added=len(added),
        removed=len(removed),
        changed=len(changed[0]),
        moved=len(moved[0]),
        columns=columns,
        moves=_moves(left, right, moved, names),
        examples={
            "added": right.ids(added[:EXAMPLES]),
            "removed": left.ids(removed[:EXAMPLES]),
            "changed": [
                f"{own} ({', '.join(told[place])})" for place, own in enumerate(left.ids(changed[0][:EXAMPLES]))
            ],
            "moved": left.ids(moved[0][:EXAMPLES]),
        },
        schema=schema,
        reordered=_reordered(left, same),
    )


class _Rows:
    """The rows of one side as hashes: of the key, of all values that both sides have, and the number of the split."""

    def __init__(self, contents: ConfigTables, key: Sequence[str], common: Sequence[str], names: Sequence[str]) -> None:
        self.contents = contents
        self._key = key
        numbers = list(contents.rows().items())
        self.split = np.repeat([names.index(name) for name, _ in numbers], [rows for _, rows in numbers])
        self.key = self.row = np.zeros(len(self.split), dtype=np.uint64)
        for name in common:
            own = column_hashes(contents.paths, name)
            self.row = combined([self.row, own], len(own))
            if name in key:
                self.key = combined([self.key, own], len(own))
        self.splits = combined([self.split.astype(np.uint64)], len(self.split))

    def ids(self, places: Places) -> list[str]:
        """What the key says of these rows, as text."""
        wanted = {int(place): "" for place in places}
        first = 0
        for path in self.contents.paths if wanted else ():
            for batch in batches(path, self._key[:_SHOWN_COLUMNS]):
                for place in [own for own in wanted if first <= own < first + batch.num_rows]:
                    values = batch.slice(place - first, 1).to_pylist()[0].values()
                    wanted[place] = " ".join(str(value)[:_SHOWN] for value in values)
                first += batch.num_rows
        return [wanted[int(place)] for place in places]


def _matched(old: _Rows, new: _Rows) -> tuple[Pairs, Pairs, Pairs, Pairs, Places, Places]:
    """Rows that are the same; in another split; with other values; both; and those of one side only."""
    left, right = np.arange(len(old.key)), np.arange(len(new.key))
    found = []
    for parts in (("key", "splits", "row"), ("key", "row"), ("key", "splits"), ("key",)):
        before, after = (
            _ranked(combined([getattr(side, part)[places] for part in parts], len(places)))
            for side, places in ((old, left), (new, right))
        )
        _, i, j = np.intersect1d(before, after, assume_unique=True, return_indices=True)
        order = np.argsort(i)
        found.append((left[i[order]], right[j[order]]))
        left, right = np.delete(left, i), np.delete(right, j)
    same, moved, changed, both = found
    return same, moved, changed, both, left, right


def _ranked(ids: Hashes) -> Hashes:
    """Ids that tell the first of equal ones from the second, and so on."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(ids), 1), bool), ordered[1:] != ordered[:-1]]))
    turns = np.empty(len(ids), dtype=np.uint64)
    turns[order] = np.arange(len(ids)) - np.repeat(starts, np.diff(np.append(starts, len(ids))))
    return combined([ids, turns], len(ids))


def _joined(first: Pairs, second: Pairs) -> Pairs:
    old, new = (np.concatenate(own) for own in zip(first, second, strict=True))
    order = np.argsort(old)
    return old[order], new[order]


def _changed_columns(
    old: _Rows, new: _Rows, pairs: Pairs, columns: Sequence[str]
) -> tuple[dict[str, int], list[list[str]]]:
    """Column -> in how many of these pairs it differs; and the columns that do in each of the first few pairs."""
    found: dict[str, int] = {}
    told: list[list[str]] = [[] for _ in pairs[0][:EXAMPLES]]
    for name in columns if len(pairs[0]) else ():
        sides = ((old, pairs[0]), (new, pairs[1]))
        before, after = (column_hashes(side.contents.paths, name)[places] for side, places in sides)
        differs = before != after
        if differs.any():
            found[name] = int(differs.sum())
            for place in np.flatnonzero(differs[:EXAMPLES]):
                told[place].append(name)
    return found, told


def _moves(old: _Rows, new: _Rows, pairs: Pairs, names: Sequence[str]) -> dict[tuple[str, str], int]:
    numbers = Counter(zip(old.split[pairs[0]].tolist(), new.split[pairs[1]].tolist(), strict=True))
    return {(names[one], names[other]): count for (one, other), count in sorted(numbers.items())}


def _reordered(old: _Rows, same: Pairs) -> bool:
    """Whether rows of one split that stayed as they were stand in another order."""
    split = old.split[same[0]]
    order = np.argsort(split, kind="stable")
    backwards = np.diff(same[1][order]) < 0
    return bool((backwards & (np.diff(split[order]) == 0)).any())


def _schema_changes(old: ConfigTables, new: ConfigTables) -> dict[str, str]:
    """Column -> what became of it."""
    return dict(_each_schema_change(old, new))


def _each_schema_change(old: ConfigTables, new: ConfigTables) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys([*old.types, *new.types]):
        if name not in new.types:
            yield name, "removed"
        elif name not in old.types:
            yield name, "added"
        elif old.types[name] != new.types[name]:
            yield name, "retyped"
        elif old.labels.get(name, ()) != (labels := new.labels.get(name, ())):
            before = old.labels.get(name, ())
            yield name, "extended" if before and labels[: len(before)] == before else "relabelled"


def _checksums(contents: ConfigTables) -> Mapping[str, list[str]]:
    return {split: [file_sha256(path) for path in paths] for split, paths in contents.files.items()}


def _one_sided(config: str, old: ConfigTables | None, new: ConfigTables | None) -> ConfigDifference:
    side = old or new
    assert side is not None
    names = list(side.files)
    key = key_columns(config, side) or tuple(side.types)
    rows = sum(side.rows().values())
    ids = _Rows(side, key, (), names).ids(np.arange(min(rows, EXAMPLES)))
    if old is None:
        return ConfigDifference(config, (0, rows), added=rows, examples={"added": ids})
    return ConfigDifference(config, (rows, 0), removed=rows, examples={"removed": ids})
