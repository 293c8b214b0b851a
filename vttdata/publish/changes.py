"""What two versions of a dataset do not share, as values: counts, examples, the version it asks for, words for a card.

Who finds the differences is `vttdata.publish.diff`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from vttdata.dataset.card.sections import escape
from vttdata.errors import VttdataError

Needed = Literal["none", "minor", "major"]

_VERSION = re.compile(r"(\d+)\.(\d+)\.\d+")
_MINOR_SCHEMA = {"added", "extended"}
_SCHEMA = {
    "added": "new column",
    "removed": "column is gone",
    "retyped": "column has another type",
    "relabelled": "labels have other numbers",
    "extended": "new labels after the others",
}


@dataclass(frozen=True, slots=True)
class ConfigDifference:
    """How a configuration differs between two versions; all zero and empty where it does not.

    Fields:
        config: its name.
        rows: how many the older and the newer version have; one that does not have the configuration has 0.
        added, removed: rows of the newer, or of the older version only.
        changed: rows with other values; `columns` says in how many of them which column differs.
        moved: rows in another split, changed ones among them; `moves` counts them by (split before, split after).
        examples: ids of the first rows of each kind.
        schema: column -> ``added``, ``removed``, ``retyped``, ``relabelled`` (the numbers of its labels mean something
            else) or ``extended`` (it has further labels). Rows are compared in the other columns.
        reordered: whether rows that stayed the same stand in another order.
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
    def needed(self) -> Needed:
        """The part of the version number that has to grow (Croissant 1.1, section on versioning)."""
        if self.removed or self.changed or self.moved or set(self.schema.values()) - _MINOR_SCHEMA:
            return "major"
        return "minor" if self.added or self.schema else "none"

    def as_json(self) -> dict[str, Any]:
        """Plain values, under the names of the fields."""
        return {
            "config": self.config,
            "rows": {"old": self.rows[0], "new": self.rows[1]},
            "added": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "moved": self.moved,
            "columns": dict(self.columns),
            "moves": [{"from": one, "to": other, "rows": rows} for (one, other), rows in self.moves.items()],
            "examples": {kind: list(ids) for kind, ids in self.examples.items() if ids},
            "schema": dict(self.schema),
            "reordered": self.reordered,
            "needed": self.needed,
        }

    def as_text(self, *, examples: bool = True) -> str:
        """One line of plain text, with the ids of some rows; empty where nothing differs."""
        facts = [f"{_SCHEMA[change]}: {name}" for name, change in self.schema.items()]
        for kind in ("added", "removed", "changed", "moved"):
            number: int = getattr(self, kind)
            if number:
                such_as = self._such_as(kind, number) if examples else ""
                facts.append(f"{number:,} {kind}{self._detail(kind)}{such_as}")
        facts += ["rows in another order"] if self.reordered else []
        return f"{self.config}: {'; '.join(facts)}" if facts else ""

    def _detail(self, kind: str) -> str:
        if kind == "changed":
            return " in " + ", ".join(f"{name} ({number:,})" for name, number in self.columns.items())
        if kind == "moved":
            return " " + ", ".join(f"from {one} to {other} ({number:,})" for (one, other), number in self.moves.items())
        return ""

    def _such_as(self, kind: str, number: int) -> str:
        ids = self.examples.get(kind, ())
        return f", {'such as' if len(ids) < number else 'namely'} {', '.join(ids)}" if ids else ""


@dataclass(frozen=True, slots=True)
class DatasetDifference:
    """How two versions of a dataset differ, configuration by configuration."""

    configs: tuple[ConfigDifference, ...]

    @property
    def needed(self) -> Needed:
        """``major`` where rows that were there changed, moved or went, or columns did; ``minor`` where some came."""
        found = {own.needed for own in self.configs}
        return "major" if "major" in found else "minor" if "minor" in found else "none"

    def next_version(self, old: str) -> str:
        """The version that the newer dataset needs after version `old`; `old` itself where none is due.

        Raises:
            VttdataError: when `old` is not MAJOR.MINOR.PATCH.
        """
        found = _VERSION.fullmatch(old)
        if found is None:
            raise VttdataError(f"'{old}' is no version; MAJOR.MINOR.PATCH is, such as 1.0.0.")
        major, minor = int(found[1]), int(found[2])
        return {"none": old, "minor": f"{major}.{minor + 1}.0", "major": f"{major + 1}.0.0"}[self.needed]

    def as_json(self) -> dict[str, Any]:
        """Plain values: ``needed`` and each of the ``configs``."""
        return {"needed": self.needed, "configs": [own.as_json() for own in self.configs]}

    def as_lines(self) -> list[str]:
        """A line of plain text for each configuration that differs."""
        return [text for own in self.configs if (text := own.as_text())]

    def as_markdown(self) -> str:
        """The change list of a card: an item for each configuration that differs."""
        return "\n".join(f"- {escape(line)}" for line in self.as_lines()) or "No row differs."
