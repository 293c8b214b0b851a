"""Finds the tables of any dataset folder, whatever is in it: clips, foils, or the plain tables that a command wrote.

It opens no more than the files' footers. What the tables mean is said in `vttdata.dataset.columns`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vttdata.dataset.columns import CONFIGS
from vttdata.dataset.front_matter import foreign_head, named_files, read_front_matter
from vttdata.dataset.parquet import open_parquet
from vttdata.errors import VttdataError

KEYS: dict[str, tuple[str, ...]] = {
    "clips": ("video_id",),
    "captions": ("video_id", "sen_id"),
    "sources": ("source_id",),
    "concepts": ("video_id",),
    "degraded": ("video_id", "sen_id"),
    "foils": ("foil_id",),
    "paragraphs": ("video_id",),
    "swaps": ("concept", "foil_concept"),
    "videos": ("video_id",),
    "judgments": ("video_id", "year", "annotators", "system", "sen_id"),
}
"""Which columns say what a row is about. Rows of one key may stand in several splits, or twice in official files."""

_PROTOCOL = {"video_id", "source_id", "start", "end"}
"""Columns by which a configuration of another name is known as a protocol: clips in other splits."""


@dataclass(frozen=True, slots=True)
class ConfigTables:
    """The tables of a configuration.

    Fields:
        files: split -> files, in order.
        types: column -> its type, as far as a reader of rows can tell types apart.
        labels: column -> the names of its labels, where it has such.
    """

    files: Mapping[str, Sequence[Path]]
    types: Mapping[str, str]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def paths(self) -> list[Path]:
        """All files, in the order of the splits."""
        return [path for own in self.files.values() for path in own]

    def rows(self) -> dict[str, int]:
        """The number of rows of each split."""
        return {split: sum(map(_number_of_rows, own)) for split, own in self.files.items()}


def key_of(config: str, *sides: ConfigTables) -> tuple[str, ...]:
    """The columns that say what a row is about; empty where nothing does and only whole rows can be compared."""
    known = config.partition("-without-")[0]
    there = set(sides[0].types).intersection(*(side.types for side in sides))
    key = KEYS.get(known, ())
    if known not in CONFIGS and there >= _PROTOCOL:
        key = KEYS["clips"]
    return key if there.issuperset(key) else ()


def read_tables(folder: Path) -> dict[str, ConfigTables]:
    """The tables of a dataset folder by configuration: those that its card names, or else all that lie in it.

    Raises:
        VttdataError: when there are none, or a file is missing, damaged or outside of the folder.
    """
    if not (folder / "README.md").is_file():
        found = {path.stem: {"": [path]} for path in sorted(folder.glob("*.parquet"))}
        if not found:
            raise VttdataError(f"{folder}: holds neither a dataset card nor a table.")
        return {config: ConfigTables(files, _types(files[""][0])) for config, files in found.items()}
    head = read_front_matter(folder)
    files = named_files(folder, head)
    try:
        labels = {info["config_name"]: dict(_labels(info["features"])) for info in head.get("dataset_info", ())}
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise foreign_head(folder) from error
    return {
        config: ConfigTables(own, _types(next(iter(own.values()))[0]), labels.get(config, {}))
        for config, own in files.items()
        if own
    }


def _types(path: Path) -> dict[str, str]:
    """Column -> type; how Arrow lays out a text or list in memory makes no difference."""
    with open_parquet(path) as file:
        schema = file.metadata.schema.to_arrow_schema()
    return {
        field.name: str(field.type).replace("large_", "").replace("_view", "").replace("element:", "item:")
        for field in schema
    }


def _number_of_rows(path: Path) -> int:
    with open_parquet(path) as file:
        rows: int = file.metadata.num_rows
    return rows


def _labels(features: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for feature in features:
        names = _names(feature)
        if names is not None:
            yield feature["name"], tuple(names[number] for number in sorted(names, key=int))


def _names(feature: Any) -> Any:
    """The names of the labels somewhere in a feature, as a mapping of numbers."""
    if not isinstance(feature, dict):
        return None
    if "class_label" in feature:
        return feature["class_label"]["names"]
    return next((names for own in feature.values() if (names := _names(own)) is not None), None)
