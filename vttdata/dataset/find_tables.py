"""Find the tables of any dataset folder: of clips, of foils, or the plain tables that a command wrote.

Only the footers of the files are opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vttdata.dataset.front_matter import find_files, invalid_front_matter, label_names, read_front_matter
from vttdata.dataset.parquet import open_parquet
from vttdata.dataset.rows import is_protocol, key_of
from vttdata.errors import VttdataError

# Columns by which a configuration of another name is recognised as a protocol.
_PROTOCOL_COLUMNS = {"video_id", "source_id", "start", "end"}


@dataclass(frozen=True, slots=True)
class ConfigTables:
    """Tables of a configuration: split -> files, in order; column -> type; column of class labels -> their names.

    Types are told apart as far as a reader of rows can.
    """

    files: Mapping[str, Sequence[Path]]
    types: Mapping[str, str]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def paths(self) -> list[Path]:
        """Files of all splits, in their order."""
        return [path for paths in self.files.values() for path in paths]

    def rows(self) -> dict[str, int]:
        """Return the number of rows of each split."""
        numbers: dict[str, int] = dict.fromkeys(self.files, 0)
        for split, paths in self.files.items():
            for path in paths:
                with open_parquet(path) as file:
                    numbers[split] += file.metadata.num_rows
        return numbers


def key_columns(config: str, *versions: ConfigTables) -> tuple[str, ...]:
    """Return the columns that identify a row in all versions; empty if only whole rows can be compared."""
    columns = set(versions[0].types).intersection(*(version.types for version in versions))
    if is_protocol(config) and not columns >= _PROTOCOL_COLUMNS:
        return ()
    key = key_of(config)
    return key if columns.issuperset(key) else ()


def read_tables(folder: Path) -> dict[str, ConfigTables]:
    """Return the tables of a dataset folder by configuration: those that its card names, or without a card all files.

    Raises:
        VttdataError: If there are none, or a file is missing, damaged or outside of the folder.
    """
    if not (folder / "README.md").is_file():
        tables = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
        if not tables:
            raise VttdataError(f"{folder}: contains neither a dataset card nor a table.")
        return {config: ConfigTables({"": [path]}, _read_types(path)) for config, path in tables.items()}
    front_matter = read_front_matter(folder)
    files = find_files(folder, front_matter)
    try:
        labels = {
            info["config_name"]: {
                feature["name"]: names for feature in info["features"] if (names := label_names(feature))
            }
            for info in front_matter.get("dataset_info", ())
        }
    except (TypeError, KeyError, AttributeError, ValueError, RecursionError) as error:
        raise invalid_front_matter(folder) from error
    return {
        config: ConfigTables(splits, _read_types(next(iter(splits.values()))[0]), labels.get(config, {}))
        for config, splits in files.items()
    }


def _read_types(path: Path) -> dict[str, str]:
    """Return column -> type, without the ways in which Arrow lays out texts and lists in memory."""
    with open_parquet(path) as file:
        schema = file.metadata.schema.to_arrow_schema()
    return {
        field.name: str(field.type).replace("large_", "").replace("_view", "").replace("element:", "item:")
        for field in schema
    }
