"""Check that a dataset folder may be published: unchanged since it was built, correctly described, without leaks.

The folder is only read, and the Hub is not asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from vttdata.dataset.card.card import INCOMPLETE
from vttdata.dataset.description_files import CROISSANT, RESPONSIBLE
from vttdata.dataset.find_tables import read_tables
from vttdata.dataset.front_matter import read_front_matter, read_infos, read_version
from vttdata.dataset.leak_audit import audit_all
from vttdata.dataset.manifest import MANIFEST, find_damage, read_dataset_manifest
from vttdata.dataset.parquet import open_parquet
from vttdata.dataset.tombstones import refuse_unfinished
from vttdata.errors import LeakError, VttdataError
from vttdata.files.reading import read_description
from vttdata.ids import is_dataset_name
from vttdata.json_types import JsonObject
from vttdata.publish.version_rule import build_again, is_version
from vttdata.split.audit.leaks import leak_sentence

# Beginning of the card's line that quotes the recipe's ``allow_leaks``.
ACCEPTED_LEAKS = "Why leaks are accepted: "

_NO_REASON = "not said"
_NO_LICENCE = {"", "none", "null", "unknown"}


def check_dataset(dataset: Path, *, allow_incomplete: bool = False) -> JsonObject:
    """Check everything that can be checked without the Hub, and return the manifest.

    A dataset that lacks items because their processing was cut short passes only with `allow_incomplete`.

    Raises:
        VttdataError: At the first defect: a file that differs from the manifest or is not in it, no licence, a table
            that is not as the card says (columns, types, labels, rows), a split without rows, items that are missing.
        LeakError: If the splits leak and the card gives no reason for accepting that.
    """
    refuse_unfinished(dataset)
    manifest = read_dataset_manifest(dataset)
    damage = find_damage(dataset)
    if damage:
        more = f" ({len(damage) - 1} more differ)" if len(damage) > 1 else ""
        raise VttdataError(
            f"{dataset}: differs from its {MANIFEST}: {damage[0].rstrip('.')}{more}; change the recipe and build again "
            "instead of editing the dataset."
        )
    if not is_dataset_name(str(manifest.get("name"))):
        raise VttdataError(f"{dataset / MANIFEST}: {manifest.get('name')!r} is not a name such as vttdata/demo.")
    version, readme_version = manifest.get("version"), read_version(dataset)
    if not is_version(version):
        raise VttdataError(f"{dataset / MANIFEST}: {version!r} is not a version such as 1.0.0.")
    if version != readme_version:
        raise VttdataError(f"{dataset}: its {MANIFEST} has version {version}, but its README {readme_version}.")
    card = (dataset / "README.md").read_text(encoding="utf-8").splitlines()
    incomplete = next((line.removeprefix(INCOMPLETE) for line in card if line.startswith(INCOMPLETE)), None)
    if incomplete is not None and not allow_incomplete:
        raise VttdataError(
            f"{dataset}: is incomplete: {incomplete.partition('. ')[0].rstrip('.')}; run the same build again, or "
            "publish it as it is with --allow-incomplete."
        )
    _check_licence(dataset)
    files = {config: tables.files for config, tables in read_tables(dataset).items()}
    _check_tables(dataset, files, manifest)
    _check_leaks(dataset, card, files)
    return manifest


def missing_properties(dataset: Path) -> list[str]:
    """Return what its Croissant description lacks of what venues ask for, each with the key of the recipe for it."""
    try:
        content = json.loads(read_description(dataset, CROISSANT))
    except (OSError, ValueError):
        return [f"{CROISSANT}, which the next build writes"]
    return [
        name + (f" (set {key} in the recipe)" if key else "")
        for name, key in RESPONSIBLE.items()
        if name not in content
    ]


def _check_licence(dataset: Path) -> None:
    front_matter = read_front_matter(dataset)
    licence = front_matter.get("license")
    licence = front_matter.get("license_name") if licence == "other" else licence
    if str(licence if licence is not None else "").strip().lower() not in _NO_LICENCE:
        return
    raise VttdataError(
        f"{dataset}: has no licence, so nobody may use it; state yours, or of the annotations of others the one that "
        f"their authors gave them: {build_again('licence', 'NAME')}."
    )


def _check_tables(dataset: Path, files: Mapping[str, Mapping[str, Sequence[Path]]], manifest: JsonObject) -> None:
    infos = read_infos(dataset)
    for config, splits in files.items():
        if config not in infos or infos[config].features is None:
            raise VttdataError(f"{dataset}: its README does not describe the columns of '{config}'.")
        readme_rows = {split.name: split.num_examples for split in (infos[config].splits or {}).values()}
        if set(readme_rows) != set(splits):
            split = min(set(readme_rows) ^ set(splits))
            raise VttdataError(f"{dataset}: its README gives only one of files and size for {config}/{split}.")
        for split, paths in splits.items():
            tables = [path for path in paths if path.suffix == ".parquet"]
            rows = sum(_check_table(dataset, path, infos[config].features, manifest) for path in tables)
            if tables and not rows:
                raise VttdataError(f"{dataset}: its split {config}/{split} is empty; leave it out of the recipe.")
            if tables and rows != readme_rows[split]:
                raise VttdataError(
                    f"{dataset}: {config}/{split} has {rows} rows, but its README says {readme_rows[split]}."
                )


def _check_table(dataset: Path, path: Path, features: Any, manifest: JsonObject) -> int:
    """Check columns, types, labels and rows of a table, and return its number of rows."""
    name = path.relative_to(dataset).as_posix()
    with open_parquet(path) as file:
        _check_types(name, file.schema_arrow, features.arrow_schema)
        for column, feature in features.items():
            item_feature = getattr(feature, "feature", feature)
            if type(item_feature).__name__ == "ClassLabel":
                for batch in file.iter_batches(columns=[column]):
                    _check_labels(name, column, batch.column(0), item_feature.num_classes)
        rows: int = file.metadata.num_rows
    listed = manifest["files"][name].get("rows", rows)
    if rows != listed:
        raise VttdataError(f"{name}: has {rows} rows, but the {MANIFEST} says {listed}.")
    return rows


def _check_types(name: str, table: pa.Schema, readme: pa.Schema) -> None:
    for column in dict.fromkeys([*readme.names, *table.names]):
        if column not in table.names or column not in readme.names:
            missing_in = "its file" if column in readme.names else "the README"
            raise VttdataError(f"{name}: the column '{column}' is not in {missing_in}.")
        table_type, readme_type = table.field(column).type, readme.field(column).type
        if not table_type.equals(readme_type) and str(table_type) != str(readme_type):
            raise VttdataError(f"{name}: the column '{column}' is {table_type}, but the README says {readme_type}.")


def _check_labels(name: str, column: str, values: pa.ChunkedArray, classes: int) -> None:
    extremes = pc.min_max(values.flatten() if pa.types.is_nested(values.type) else values).as_py().values()
    wrong = next((label for label in extremes if label is not None and not 0 <= label < classes), None)
    if wrong is not None:
        raise VttdataError(
            f"{name}: the column '{column}' has the label {wrong}, but its labels are 0 to {classes - 1}."
        )


def _check_leaks(dataset: Path, card: Sequence[str], files: Mapping[str, Mapping[str, Sequence[Path]]]) -> None:
    """Audit the splits and those of the protocols; sets of foils have no clips and cannot leak this way."""
    reasons = (line.removeprefix(ACCEPTED_LEAKS).strip() for line in card if line.startswith(ACCEPTED_LEAKS))
    if "clips" not in files or any(reason and reason != _NO_REASON for reason in reasons):
        return
    for config, audit in audit_all(files).items():
        if not audit.ok:
            subject = "its splits leak" if config == "clips" else f"the splits of {config} leak"
            raise LeakError(
                f"{dataset}: {subject}: {leak_sentence(audit)}; 'vttdata audit' shows where, and a dataset is "
                f"published all the same if it gives a reason: {build_again('allow_leaks', 'REASON')}."
            )
