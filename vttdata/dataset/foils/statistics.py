"""Counts what is in a set of foils, split by split, and repeats what its worst blind attackers reached."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.statistics import aligned, read_rows
from vttdata.errors import VttdataError

SHORTCUTS = "shortcuts.json"
"""The file in a dataset with what blind attackers reached, the worst first."""

_COLUMNS = ("video_id", "caption_id", "concept", "foil_concept", "supercategory")
_ATTACK = ("attacker", "accuracy", "low", "high", "pairs", "ties", "meaning")


@dataclass(frozen=True, slots=True)
class FoilFigures:
    """The figures of one split, or of all. `swaps` counts the different pairs of a concept and what replaces it."""

    pairs: int
    videos: int
    captions: int
    concepts: int
    swaps: int
    supercategories: int
    paragraphs: int


@dataclass(frozen=True, slots=True)
class FoilStatistics:
    """The figures of each split and of all, and configuration -> the attacker that is right most often."""

    splits: dict[str, FoilFigures]
    total: FoilFigures
    worst_attack: dict[str, dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """Plain values: ``splits`` by name and ``total`` with the fields of `FoilFigures`; ``worst_attack``."""
        return dataclasses.asdict(self)

    def as_text(self) -> str:
        """A table with aligned columns, and a sentence on each worst attack."""
        columns = [*self.splits.values(), self.total]
        rows: list[tuple[str, ...]] = [("", *self.splits, "total")]
        for field in dataclasses.fields(FoilFigures):
            rows.append((field.name, *(f"{getattr(column, field.name):,}" for column in columns)))
        told = [
            f"worst blind attacker on {config}: {own['attacker']}, right on {own['accuracy']:.3f} of {own['pairs']:,} "
            f"pairs (95 % interval {own['low']:.3f}-{own['high']:.3f})"
            for config, own in self.worst_attack.items()
        ]
        return "\n\n".join([aligned(rows), *(["\n".join(told)] if told else [])])


def compute_foil_statistics(dataset: Path) -> FoilStatistics:
    """Count what is in a foil dataset.

    Raises:
        VttdataError: when the folder is no such dataset, or a file of it is missing or damaged.
    """
    files = read_layout(dataset, needs="foils").files
    rows = {split: list(_swaps(paths)) for split, paths in files["foils"].items()}
    paragraphs = {split: _count(paths) for split, paths in files.get("paragraphs", {}).items()}
    splits = {split: _figures(own, paragraphs.get(split, 0)) for split, own in rows.items()}
    total = _figures([row for own in rows.values() for row in own], sum(paragraphs.values()))
    return FoilStatistics(splits, total, _worst(dataset / SHORTCUTS))


def _swaps(paths: Iterable[Path]) -> Iterator[tuple[Any, ...]]:
    return (tuple(row.get(name) for name in _COLUMNS) for row in read_rows(paths, _COLUMNS))


def _figures(rows: Sequence[tuple[Any, ...]], paragraphs: int) -> FoilFigures:
    videos, captions, concepts, foils, kinds = ({row[place] for row in rows} for place in range(len(_COLUMNS)))
    swaps = {row[2:4] for row in rows}
    return FoilFigures(len(rows), len(videos), len(captions), len(concepts | foils), len(swaps), len(kinds), paragraphs)


def _count(paths: Iterable[Path]) -> int:
    return sum(1 for _ in read_rows(paths, ("video_id",)))


def _worst(path: Path) -> dict[str, dict[str, Any]]:
    """The first attack of each configuration; none where no attacker was let loose."""
    try:
        content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {config: {key: own[0][key] for key in _ATTACK} for config, own in content.items() if own}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise VttdataError(f"{path}: not what blind attackers reached ({type(error).__name__}: {error}).") from error
