"""Compare two versions of a dataset row by row: counts, examples, and the version number that the newer one needs.

Rows are compared by hashes of their values (see `vttdata.publish.row_hashes`), so that memory holds three numbers a
row. Rows and columns are compared, and neither media nor cards.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vttdata.dataset.find_tables import ConfigTables, key_columns, read_tables
from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.errors import VttdataError
from vttdata.files.output_file import link_file
from vttdata.files.reading import file_sha256, is_inside
from vttdata.files.results import escape_line
from vttdata.json_types import JsonObject
from vttdata.publish.row_hashes import Hashes, combine_hashes, hash_batches, hash_column, read_batches
from vttdata.publish.version_rule import VersionChange, next_version

EXAMPLES = 5
_VALUE_CHARACTERS = 60
_EXAMPLE_COLUMNS = 3

_COMPATIBLE_SCHEMA_CHANGES = {"added", "extended"}
_SCHEMA_CHANGES = {
    "added": "new column",
    "removed": "column removed",
    "retyped": "column has another type",
    "relabelled": "labels have other numbers",
    "extended": "further labels after the others",
}

Positions = NDArray[np.int64]
Pairs = tuple[Positions, Positions]
"""Matched rows of the older and of the newer version, counted from 0 over all files."""


@dataclass(frozen=True, slots=True)
class MatchedRows:
    """Rows of two versions, matched.

    Fields:
        unchanged: Pairs of the same values in the same split.
        moved: Pairs in different splits, with or without other values.
        changed: Pairs with other values, in the same split or not.
        removed, added: Rows of the older, and of the newer version only.
    """

    unchanged: Pairs
    moved: Pairs
    changed: Pairs
    removed: Positions
    added: Positions


@dataclass(frozen=True, slots=True)
class ConfigDifference:
    """Difference between two versions of a configuration; all zero and empty if there is none.

    Fields:
        config: Name of the configuration.
        rows: Number of rows in the older and the newer version; 0 if one does not have the configuration.
        added, removed: Number of rows that only the newer, or only the older version has.
        changed: Number of rows with other values.
        moved: Number of rows in another split, with or without other values.
        columns: Column -> in how many of the changed rows it differs.
        moves: (split before, split after) -> number of rows.
        examples: ``added``, ``removed``, ``changed`` or ``moved`` -> ids of the first rows.
        schema: Column -> ``added``, ``removed``, ``retyped``, ``relabelled`` (the numbers of its labels mean something
            else) or ``extended`` (it has further labels). Rows are compared in the other columns.
        reordered: True if unchanged rows are in another order.
    """

    config: str
    rows: tuple[int, int]
    added: int = 0
    removed: int = 0
    changed: int = 0
    moved: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)
    moves: Mapping[tuple[str, str], int] = field(default_factory=dict)
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    schema: Mapping[str, str] = field(default_factory=dict)
    reordered: bool = False

    @property
    def needed(self) -> VersionChange:
        """Part of the version number that has to be raised (Croissant 1.1, section on versioning)."""
        if self.removed or self.changed or self.moved or set(self.schema.values()) - _COMPATIBLE_SCHEMA_CHANGES:
            return "major"
        return "minor" if self.added or self.schema else "none"

    def as_json(self) -> JsonObject:
        """Return plain values under the names of the fields."""
        return dataclasses.asdict(self) | {
            "rows": {"old": self.rows[0], "new": self.rows[1]},
            "moves": [{"from": before, "to": after, "rows": rows} for (before, after), rows in self.moves.items()],
            "examples": {change: list(ids) for change, ids in self.examples.items() if ids},
            "needed": self.needed,
        }

    def as_text(self, *, examples: bool = True) -> str:
        """Return one line of plain text, with the ids of some rows; empty if nothing differs."""
        columns = ", ".join(f"{name} ({rows:,})" for name, rows in self.columns.items())
        moves = ", ".join(f"from {before} to {after} ({rows:,})" for (before, after), rows in self.moves.items())
        parts = [f"{_SCHEMA_CHANGES[change]}: {name}" for name, change in self.schema.items()]
        for change, rows, detail in (
            ("added", self.added, ""),
            ("removed", self.removed, ""),
            ("changed", self.changed, f" in {columns}"),
            ("moved", self.moved, f" {moves}"),
        ):
            ids = self.examples.get(change, ()) if examples else ()
            such_as = f", {'such as' if len(ids) < rows else 'namely'} {', '.join(ids)}" if ids else ""
            parts += [f"{rows:,} {change}{detail}{such_as}"] if rows else []
        parts += ["rows in another order"] if self.reordered else []
        return f"{self.config}: {'; '.join(parts)}" if parts else ""


@dataclass(frozen=True, slots=True)
class DatasetDifference:
    """Difference between two versions of a dataset, configuration by configuration."""

    configs: tuple[ConfigDifference, ...]

    @property
    def needed(self) -> VersionChange:
        """Part of the version number that has to be raised."""
        changes = {config.needed for config in self.configs}
        return "major" if "major" in changes else "minor" if "minor" in changes else "none"

    def next_version(self, version: str) -> str:
        """Return the version that the newer dataset needs after `version`; `version` itself if no row differs.

        Raises:
            VttdataError: If `version` is not MAJOR.MINOR.PATCH.
        """
        return next_version(version, self.needed)

    def as_json(self) -> JsonObject:
        """Return plain values: ``needed`` and each of the ``configs``."""
        return {"needed": self.needed, "configs": [config.as_json() for config in self.configs]}

    def as_lines(self, *, examples: bool = True) -> list[str]:
        """Return a line of plain text for each configuration that differs."""
        return [text for config in self.configs if (text := config.as_text(examples=examples))]

    def as_markdown(self, *, examples: bool = True) -> str:
        """Return the list of changes for a card: an item for each configuration that differs."""
        return "\n".join(f"- {escape_line(line)}" for line in self.as_lines(examples=examples)) or "No row differs."


def compare_datasets(old: Path, new: Path) -> DatasetDifference:
    """Compare two dataset folders row by row.

    A row is matched by its key (`vttdata.dataset.rows.key_of`): it is unchanged, is in another split, has other values,
    or both. Several rows with the same key are matched with the most similar ones first. Configurations without a key
    are compared as multisets of whole rows.

    Raises:
        VttdataError: If a folder is not a dataset, or a file of it is missing or damaged.
    """
    before, after = read_tables(old), read_tables(new)
    configs = dict.fromkeys([*before, *after])
    return DatasetDifference(
        tuple(compare_configs(config, before.get(config), after.get(config)) for config in configs)
    )


def compare_configs(config: str, old: ConfigTables | None, new: ConfigTables | None) -> ConfigDifference:
    """Compare one configuration of two datasets; None stands for a dataset without that configuration."""
    if old is None or new is None:
        return _describe_one_sided(config, old, new)
    rows = (sum(old.rows().values()), sum(new.rows().values()))
    schema = dict(_find_schema_changes(old, new))
    if not schema and _checksums(old) == _checksums(new):
        return ConfigDifference(config, rows)
    common = [name for name in old.types if old.types[name] == new.types.get(name)]
    key = key_columns(config, old, new) or common
    splits = list(dict.fromkeys([*old.files, *new.files]))
    left, right = (_HashedRows(tables, key, common, splits) for tables in (old, new))
    matched = _match_rows(left, right)
    columns, example_columns = _find_changed_columns(left, right, matched.changed, common)
    moved_from, moved_to = matched.moved
    split_pairs = zip(left.split[moved_from].tolist(), right.split[moved_to].tolist(), strict=True)
    moves = sorted(Counter(split_pairs).items())
    return ConfigDifference(
        config,
        rows,
        added=len(matched.added),
        removed=len(matched.removed),
        changed=len(matched.changed[0]),
        moved=len(moved_from),
        columns=columns,
        moves={(splits[before], splits[after]): count for (before, after), count in moves},
        examples={
            "added": right.read_ids(matched.added[:EXAMPLES]),
            "removed": left.read_ids(matched.removed[:EXAMPLES]),
            "changed": [
                f"{row_id} ({', '.join(names)})"
                for row_id, names in zip(left.read_ids(matched.changed[0][:EXAMPLES]), example_columns, strict=True)
            ],
            "moved": left.read_ids(moved_from[:EXAMPLES]),
        },
        schema=schema,
        reordered=_is_reordered(left, matched.unchanged),
    )


class _HashedRows:
    """Rows of one version as hashes of the key, of all values that both versions have, and of the split."""

    def __init__(self, tables: ConfigTables, key: Sequence[str], common: Sequence[str], splits: Sequence[str]) -> None:
        self.tables = tables
        self._key_columns = key
        rows = tables.rows()
        self.split = np.repeat([splits.index(split) for split in rows], list(rows.values()))
        self.key, self.values = np.zeros((2, len(self.split)), dtype=np.uint64)
        first = 0
        for columns in hash_batches(tables.paths, common) if common else ():
            batch = slice(first, first + len(columns[0]))
            self.values[batch] = combine_hashes(columns, len(columns[0]))
            keys = [column for name, column in zip(common, columns, strict=True) if name in key]
            self.key[batch] = combine_hashes(keys, len(columns[0]))
            first = batch.stop
        self.split_hash = combine_hashes([self.split.astype(np.uint64)], len(self.split))

    def read_ids(self, positions: Positions) -> list[str]:
        """Return the values of the key in these rows as text."""
        ids = {int(position): "" for position in positions}
        first = 0
        for path in self.tables.paths if ids else ():
            for batch in read_batches(path, self._key_columns[:_EXAMPLE_COLUMNS]):
                for position in [row for row in ids if first <= row < first + batch.num_rows]:
                    values = batch.slice(position - first, 1).to_pylist()[0].values()
                    ids[position] = " ".join(str(value)[:_VALUE_CHARACTERS] for value in values)
                first += batch.num_rows
        return [ids[int(position)] for position in positions]


def _match_rows(old: _HashedRows, new: _HashedRows) -> MatchedRows:
    """Match rows, the most similar first."""
    left, right = np.arange(len(old.key)), np.arange(len(new.key))
    matches = []
    for parts in (("key", "split_hash", "values"), ("key", "values"), ("key", "split_hash"), ("key",)):
        before, after = (
            _number_duplicates(combine_hashes([getattr(rows, part)[left_over] for part in parts], len(left_over)))
            for rows, left_over in ((old, left), (new, right))
        )
        _, i, j = np.intersect1d(before, after, assume_unique=True, return_indices=True)
        order = np.argsort(i)
        matches.append((left[i[order]], right[j[order]]))
        left, right = np.delete(left, i), np.delete(right, j)
    unchanged, moved, changed, both = matches
    return MatchedRows(unchanged, _merge_pairs(moved, both), _merge_pairs(changed, both), left, right)


def _number_duplicates(hashes: Hashes) -> Hashes:
    """Return hashes that tell the first of equal ones from the second, and so on."""
    order = np.argsort(hashes, kind="stable")
    ranks = np.arange(len(hashes))
    is_first = np.diff(hashes[order], prepend=~hashes[order[:1]]) != 0
    ordinals = np.empty(len(hashes), np.uint64)
    ordinals[order] = ranks - np.maximum.accumulate(np.where(is_first, ranks, 0))
    return combine_hashes([hashes, ordinals], len(hashes))


def _merge_pairs(first: Pairs, second: Pairs) -> Pairs:
    old, new = (np.concatenate(positions) for positions in zip(first, second, strict=True))
    order = np.argsort(old)
    return old[order], new[order]


def _find_changed_columns(
    old: _HashedRows, new: _HashedRows, pairs: Pairs, columns: Sequence[str]
) -> tuple[dict[str, int], list[list[str]]]:
    """Return column -> in how many of these pairs it differs, and the differing columns of each of the first pairs."""
    counts: dict[str, int] = {}
    examples: list[list[str]] = [[] for _ in pairs[0][:EXAMPLES]]
    for name in columns if len(pairs[0]) else ():
        before, after = (
            hash_column(rows.tables.paths, name)[positions] for rows, positions in zip((old, new), pairs, strict=True)
        )
        differs = before != after
        if differs.any():
            counts[name] = int(differs.sum())
            for index in np.flatnonzero(differs[:EXAMPLES]):
                examples[index].append(name)
    return counts, examples


def _is_reordered(old: _HashedRows, unchanged: Pairs) -> bool:
    """Return whether unchanged rows of one split are in another order."""
    split = old.split[unchanged[0]]
    order = np.argsort(split, kind="stable")
    is_earlier = np.diff(unchanged[1][order]) < 0
    return bool((is_earlier & (np.diff(split[order]) == 0)).any())


def _find_schema_changes(old: ConfigTables, new: ConfigTables) -> Iterator[tuple[str, str]]:
    """Yield each column whose type or labels differ, and how."""
    for name in dict.fromkeys([*old.types, *new.types]):
        before, after = old.labels.get(name, ()), new.labels.get(name, ())
        if name not in new.types:
            yield name, "removed"
        elif name not in old.types:
            yield name, "added"
        elif old.types[name] != new.types[name]:
            yield name, "retyped"
        elif before != after:
            yield name, "extended" if before and after[: len(before)] == before else "relabelled"


def _checksums(tables: ConfigTables) -> Mapping[str, list[str]]:
    return {split: [file_sha256(path) for path in paths] for split, paths in tables.files.items()}


def _describe_one_sided(config: str, old: ConfigTables | None, new: ConfigTables | None) -> ConfigDifference:
    tables = old or new
    assert tables is not None
    key = key_columns(config, tables) or tuple(tables.types)
    rows = sum(tables.rows().values())
    ids = _HashedRows(tables, key, (), list(tables.files)).read_ids(np.arange(min(rows, EXAMPLES)))
    if old is None:
        return ConfigDifference(config, (0, rows), added=rows, examples={"added": ids})
    return ConfigDifference(config, (rows, 0), removed=rows, examples={"removed": ids})


@contextlib.contextmanager
def warn_if_rows_changed(dataset: Path, warn: Callable[[str], None]) -> Iterator[None]:
    """Compare the dataset in a folder before the block with the one after it, if there are two of one version.

    Tables of the same content have the same names, so an unchanged dataset costs nothing; meanwhile the older tables
    are kept by hard links. `warn` gets one sentence if rows differ.
    """
    kept = dataset.with_name(f".{dataset.name}.vttdata-before")
    shutil.rmtree(kept, ignore_errors=True)
    try:
        version = _keep_tables(dataset, kept)
        yield
        if version is not None:
            # A damaged older dataset is no failure of the build.
            with contextlib.suppress(VttdataError):
                _compare(dataset, kept, version, warn)
    finally:
        shutil.rmtree(kept, ignore_errors=True)


def _keep_tables(dataset: Path, kept: Path) -> str | None:
    """Link card and tables into another folder, and return the version; None without a dataset that is complete."""
    try:
        manifest = read_dataset_manifest(dataset)
        for name in ["README.md", MANIFEST, *_table_names(manifest)]:
            if not is_inside(name):
                return None
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            link_file(dataset / name, kept / name)
    except (VttdataError, OSError):
        return None
    return str(manifest.get("version"))


def _table_names(manifest: JsonObject) -> list[str]:
    return sorted(name for name, entry in manifest["files"].items() if "rows" in entry)


def _compare(dataset: Path, kept: Path, version: str, warn: Callable[[str], None]) -> None:
    before, after = read_dataset_manifest(kept), read_dataset_manifest(dataset)
    if after.get("version") != version or _table_names(before) == _table_names(after):
        return
    difference = compare_datasets(kept, dataset)
    if difference.needed != "none":
        counts = "; ".join(config.as_text(examples=False) for config in difference.configs if config.needed != "none")
        warn(
            f"The rows differ from those of the dataset that was here, but both have version {version} ({counts}); if "
            f"that one is published, set version to {difference.next_version(version)}."
        )
