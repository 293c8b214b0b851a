"""Warn when a build replaces a dataset with different rows under the same version."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.errors import VttdataError
from vttdata.files.output_file import link_file
from vttdata.files.reading import is_inside
from vttdata.publish.diff import compare_datasets


@contextlib.contextmanager
def warn_if_rows_changed(dataset: Path, warn: Callable[[str], None]) -> Iterator[None]:
    """Compare the dataset in a folder before the block with the one after it, if there are two of one version.

    Tables of the same content have the same names, so an unchanged dataset costs nothing; meanwhile the older tables
    are kept by hard links. `warn` gets one sentence if rows differ.
    """
    kept = dataset.with_name(f".{dataset.name}.before")
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


def _table_names(manifest: dict[str, Any]) -> list[str]:
    return sorted(name for name, entry in manifest["files"].items() if "rows" in entry)


def _compare(dataset: Path, kept: Path, version: str, warn: Callable[[str], None]) -> None:
    before, after = read_dataset_manifest(kept), read_dataset_manifest(dataset)
    if after.get("version") != version or _table_names(before) == _table_names(after):
        return
    difference = compare_datasets(kept, dataset)
    if difference.needed != "none":
        counts = "; ".join(config.as_text(examples=False) for config in difference.configs if config.needed != "none")
        warn(
            f"The rows differ from those of the dataset that was here, but both have version {version} ({counts}); "
            f"set version to {difference.next_version(version)} before you publish."
        )
