"""Judges whether a dataset folder may be published: unchanged since it was built, truly described, without leaks.

It reads and changes nothing, and asks no Hub.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from vttdata.dataset.audit import audit_all
from vttdata.dataset.front_matter import read_front_matter, read_version
from vttdata.dataset.manifest import MANIFEST, find_damage, read_manifest
from vttdata.dataset.parquet import open_parquet
from vttdata.dataset.provenance import PROVENANCE, read_provenance
from vttdata.dataset.tables import read_tables
from vttdata.errors import LeakError, VttdataError
from vttdata.ids import is_dataset_name
from vttdata.publish.version_rule import build_again, is_version
from vttdata.split.audit.text import leak_sentence

ACCEPTED = "Why leaks are accepted: "
"""How the card's line begins that quotes the recipe's ``allow_leaks``."""

_NO_REASON = "not said"
_NO_LICENCE = {"", "none", "null", "unknown"}


def check_dataset(dataset: Path) -> dict[str, Any]:
    """Check everything that can be checked without the Hub, and return the manifest.

    Raises:
        VttdataError: at the first thing that is wrong: a file that differs from the manifest or is not in it, no
            licence, a table that is not as the card says (columns, types, labels, rows), a split without rows.
        LeakError: when the splits leak and the card gives no reason why that is accepted.
    """
    manifest = read_manifest(dataset)
    _check_files(dataset)
    _check_names(dataset, manifest)
    _check_licence(dataset)
    files = {config: own.files for config, own in read_tables(dataset).items()}
    _check_tables(dataset, files, manifest)
    _check_leaks(dataset, files)
    return manifest


def _check_files(dataset: Path) -> None:
    wrong = find_damage(dataset)
    if wrong:
        more = f" ({len(wrong) - 1} more differ)" if len(wrong) > 1 else ""
        raise VttdataError(
            f"{dataset}: is not as it was built, its {MANIFEST} says otherwise: {wrong[0].rstrip('.')}{more}; "
            "change the recipe and build again instead of editing the dataset."
        )


def _check_names(dataset: Path, manifest: Mapping[str, Any]) -> None:
    if not is_dataset_name(str(manifest.get("name"))):
        raise VttdataError(f"{dataset / MANIFEST}: {manifest.get('name')!r} is no name such as vttdata/demo.")
    if not is_version(manifest.get("version")):
        raise VttdataError(f"{dataset / MANIFEST}: {manifest.get('version')!r} is no version such as 1.0.0.")
    stated = read_version(dataset)
    if manifest.get("version") != stated:
        raise VttdataError(f"{dataset}: its {MANIFEST} says version {manifest.get('version')}, its README {stated}.")


def _check_licence(dataset: Path) -> None:
    head = read_front_matter(dataset)
    licence = head.get("license_name") if head.get("license") == "other" else head.get("license")
    if str(licence if licence is not None else "").strip().lower() in _NO_LICENCE:
        raise VttdataError(
            f"{dataset}: has no licence, and nobody may use what has none; say under which terms its annotations are, "
            f"such as cc-by-4.0: {_how_to_license(dataset)}."
        )


def _how_to_license(dataset: Path) -> str:
    """What to do so that this dataset gets a licence."""
    made = read_provenance(dataset) if (dataset / PROVENANCE).is_file() else None
    if made is not None and made.command != "build":
        return f"vttdata {made.command} ... --licence cc-by-4.0"
    return build_again("licence", "cc-by-4.0")


def _check_tables(
    dataset: Path, files: Mapping[str, Mapping[str, Sequence[Path]]], manifest: Mapping[str, Any]
) -> None:
    infos = _infos(dataset)
    for config, splits in files.items():
        if config not in infos or infos[config].features is None:
            raise VttdataError(f"{dataset}: its README does not describe the columns of '{config}'.")
        stated = {split.name: split.num_examples for split in (infos[config].splits or {}).values()}
        if set(stated) != set(splits):
            wrong = sorted(set(stated) ^ set(splits))[0]
            raise VttdataError(f"{dataset}: its README gives files or a size, and not both, for {config}/{wrong}.")
        for split, paths in splits.items():
            tables = [path for path in paths if path.suffix == ".parquet"]
            rows = sum(_checked_rows(dataset, path, infos[config].features, manifest) for path in tables)
            if tables and not rows:
                raise VttdataError(f"{dataset}: its split {config}/{split} is empty; leave it out of the recipe.")
            if tables and rows != stated[split]:
                raise VttdataError(f"{dataset}: {config}/{split} has {rows} rows, and its README says {stated[split]}.")


def _infos(dataset: Path) -> Mapping[str, Any]:
    """What the README says of each configuration, as the readers understand it."""
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    try:
        infos: Mapping[str, Any] = DatasetInfosDict.from_dataset_card_data(
            DatasetCardData(**read_front_matter(dataset))
        )
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise VttdataError(f"{dataset / 'README.md'}: the readers do not understand its head ({reason}).") from error
    return infos


def _checked_rows(dataset: Path, path: Path, features: Any, manifest: Mapping[str, Any]) -> int:
    """The number of rows of a table, whose columns, types and labels are as the README says."""
    name = path.relative_to(dataset).as_posix()
    with open_parquet(path) as file:
        _check_types(name, file.schema_arrow, features.arrow_schema)
        for column, classes in _labels(features):
            for batch in file.iter_batches(columns=[column]):
                _check_labels(name, column, batch.column(0), classes)
        rows: int = file.metadata.num_rows
    listed = manifest["files"][name].get("rows", rows)
    if rows != listed:
        raise VttdataError(f"{name}: has {rows} rows, and the {MANIFEST} says {listed}.")
    return rows


def _check_types(name: str, found: pa.Schema, wanted: pa.Schema) -> None:
    for column in dict.fromkeys([*wanted.names, *found.names]):
        if column not in found.names or column not in wanted.names:
            place = "its file" if column in wanted.names else "the README"
            raise VttdataError(f"{name}: the column '{column}' is not in {place}.")
        own, said = found.field(column).type, wanted.field(column).type
        if not own.equals(said) and str(own) != str(said):
            raise VttdataError(f"{name}: the column '{column}' holds {own}, and the README says {said}.")


def _labels(features: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The columns of labels, or of lists of labels, with the number of their classes."""
    for column, feature in features.items():
        inner = getattr(feature, "feature", feature)
        if type(inner).__name__ == "ClassLabel":
            yield column, inner.num_classes


def _check_labels(name: str, column: str, values: Any, classes: int) -> None:
    flat = values.flatten() if pa.types.is_nested(values.type) else values
    ends = pc.min_max(flat)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is not None and (low < 0 or high >= classes):
        wrong = low if low < 0 else high
        raise VttdataError(f"{name}: the column '{column}' has the label {wrong}, and there are 0 to {classes - 1}.")


def _check_leaks(dataset: Path, files: Mapping[str, Mapping[str, Sequence[Path]]]) -> None:
    """Audit the splits and those of the protocols; sets of foils have one split of clips and cannot leak this way."""
    if "clips" not in files or _accepts_leaks(dataset):
        return
    for config, audit in audit_all(files).items():
        if not audit.ok:
            which = "its splits leak" if config == "clips" else f"the splits of {config} leak"
            raise LeakError(
                f"{dataset}: {which}: {leak_sentence(audit)}; 'vttdata audit' shows where, and a dataset is published "
                f"all the same when it says why: {build_again('allow_leaks', 'REASON')}."
            )


def _accepts_leaks(dataset: Path) -> bool:
    lines = (dataset / "README.md").read_text(encoding="utf-8").splitlines()
    reasons = (line.removeprefix(ACCEPTED).strip() for line in lines if line.startswith(ACCEPTED))
    return any(reason and reason != _NO_REASON for reason in reasons)
