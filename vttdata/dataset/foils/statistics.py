"""Count the contents of a set of foils by split, and report what blind attackers reach together."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.manifest import find_damage
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.files.reading import read_description
from vttdata.files.results import Result, ResultTable, Section
from vttdata.generate.blind.questions import QuestionAttack
from vttdata.generate.blind.shortcuts import Attack
from vttdata.json_types import JsonObject

# File in a dataset with the results of the blind attackers, their ensemble first.
SHORTCUTS = "shortcuts.json"

_COLUMNS = ("video_id", "caption_id", "concept", "foil_concept", "supercategory")
_ATTACK_KEYS = ("attacker", "accuracy", "low", "high", "meaning")
# Of attackers on pairs, or on questions.
_COUNT_KEYS = ("pairs", "ties", "questions")


@dataclass(frozen=True, slots=True)
class FoilFigures:
    """Figures of one split, or of all. `swaps` counts the different pairs of a concept and its replacement."""

    pairs: int
    videos: int
    captions: int
    concepts: int
    swaps: int
    supercategories: int
    paragraphs: int


@dataclass(frozen=True, slots=True)
class FoilStatistics(Result):
    """Figures of each split and of all, and configuration -> the attack of the ensemble."""

    splits: dict[str, FoilFigures]
    total: FoilFigures
    worst_attack: dict[str, JsonObject]

    def as_json(self) -> JsonObject:
        """Return plain values: ``splits`` by name and ``total`` with the fields of `FoilFigures`; ``worst_attack``."""
        return dataclasses.asdict(self)

    def sections(self) -> Iterator[Section]:
        """Yield the figures, then a sentence on the ensemble of blind attackers for each configuration."""
        columns = [*self.splits.values(), self.total]
        rows = [
            (field.name, *(getattr(column, field.name) for column in columns))
            for field in dataclasses.fields(FoilFigures)
        ]
        yield Section(table=ResultTable(("", *self.splits, "total"), rows))
        attacks = [
            f"blind attackers on {config}: {attack['attacker']}, right on {attack['accuracy']:.3f} of "
            f"{attack.get('pairs', attack.get('questions', 0)):,} {'pairs' if 'pairs' in attack else 'questions'} "
            f"(95 % interval {attack['low']:.3f}-{attack['high']:.3f})"
            for config, attack in self.worst_attack.items()
        ]
        yield Section(sentences=attacks)


def compute_foil_statistics(dataset: Path) -> FoilStatistics:
    """Count the contents of a foil dataset.

    Raises:
        VttdataError: If the folder is not a foil dataset, or a file of it is missing or damaged.
    """
    files = read_layout(dataset, needs="foils").files
    rows = {
        split: [tuple(row.get(name) for name in _COLUMNS) for row in read_parquet_rows(paths, _COLUMNS)]
        for split, paths in files["foils"].items()
    }
    paragraphs = {
        split: sum(1 for _ in read_parquet_rows(paths, ("video_id",)))
        for split, paths in files.get("paragraphs", {}).items()
    }
    splits = {split: _count(pairs, paragraphs.get(split, 0)) for split, pairs in rows.items()}
    total = _count([pair for pairs in rows.values() for pair in pairs], sum(paragraphs.values()))
    return FoilStatistics(splits, total, read_worst_attacks(dataset))


def _count(rows: Sequence[tuple[Any, ...]], paragraphs: int) -> FoilFigures:
    videos, captions, concepts, foil_concepts, supercategories = (
        {row[index] for row in rows} for index in range(len(_COLUMNS))
    )
    return FoilFigures(
        pairs=len(rows),
        videos=len(videos),
        captions=len(captions),
        concepts=len(concepts | foil_concepts),
        swaps=len({row[2:4] for row in rows}),
        supercategories=len(supercategories),
        paragraphs=paragraphs,
    )


def write_attacks(dataset: Path, attacks: Mapping[str, Sequence[Attack | QuestionAttack]]) -> None:
    """Write the results of the blind attackers on each configuration into a dataset folder."""
    content = {config: [attack.as_json() for attack in results] for config, results in attacks.items()}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (dataset / SHORTCUTS).write_text(text, encoding="utf-8", newline="\n")


def read_blind_results(dataset: Path) -> dict[str, list[JsonObject]]:
    """Return the results of the blind attackers on each configuration, as `write_attacks` wrote them; {} without any.

    Raises:
        ValueError: If the file is not JSON.
    """
    return dict(json.loads(read_description(dataset, SHORTCUTS))) if (dataset / SHORTCUTS).exists() else {}


def read_attacks(dataset: Path) -> dict[str, list[Attack]]:
    """Return the attacks on each configuration of pairs that a dataset was published with.

    Nothing where its files are not those of its manifest, since the attacks may be on other pairs.
    """
    try:
        if not (dataset / SHORTCUTS).exists() or find_damage(dataset):
            return {}
        return {
            config: [Attack.from_json(attack) for attack in attacks if "unavailable" not in attack]
            for config, attacks in read_blind_results(dataset).items()
            if config != "questions"
        }
    except (VttdataError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return {}


def read_worst_attacks(dataset: Path) -> dict[str, JsonObject]:
    """Return the first attack on each configuration, that of the ensemble; nothing if there were no attackers.

    Raises:
        VttdataError: if the file `SHORTCUTS` does not hold attacks.
    """
    try:
        return {
            config: {key: attacks[0][key] for key in _ATTACK_KEYS}
            | {key: attacks[0][key] for key in _COUNT_KEYS if key in attacks[0]}
            for config, attacks in read_blind_results(dataset).items()
            if attacks
        }
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        problem = f"has no results of blind attackers ({type(error).__name__}: {error})"
        raise VttdataError(f"{dataset / SHORTCUTS}: {problem}.") from error
