"""Put the errata and withdrawals of an earlier dataset into the one that a build has just written."""

from __future__ import annotations

import warnings
from pathlib import Path

from vttdata.dataset.errata import history_rows
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.revise import Changes, revise_dataset
from vttdata.dataset.rows import ERRATA
from vttdata.dataset.tombstones import WITHDRAWN, read_history
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.pipeline.build_folder import Build


def keep_corrections(run: Build, dataset: Path) -> None:
    """Revise a new dataset as the earlier one of its name was, and raise its version to that one's at least.

    Warns:
        VttdataWarning: if errata fit no row any more, which are left out, or the recipe has a lower version.
    """
    earlier = run.corrections
    try:
        manifest = read_dataset_manifest(earlier) if earlier is not None else {}
        if earlier is None or manifest.get("name") != run.loaded.recipe.name:
            return
        errata = history_rows(read_history(earlier, ERRATA))
        version, own = str(manifest.get("version")), run.loaded.recipe.version
        is_lower = _parts(own) < _parts(version)
    except VttdataError:
        # A damaged earlier dataset is replaced, unless its corrections would be lost.
        if earlier is not None and any((earlier / name).exists() for name in (ERRATA, WITHDRAWN)):
            raise
        return
    if not errata and not run.tombstones.rows:
        if not is_lower:
            return
        # Corrections may have raised it, of which none is left; one version must not name two contents.
        message = f"The earlier dataset has the version {version}, which stays, since {own} is lower."
        warnings.warn(message, VttdataWarning, stacklevel=2)
    version = run.raised_version = version if is_lower else own
    ordered = sorted(errata, key=lambda erratum: _parts(erratum.version))
    revision = revise_dataset(dataset, Changes(version, ordered, tombstones=run.tombstones, strict=False))
    if run.withdrawn:
        message = f"Left out, since they are withdrawn: {run.withdrawn:,} items of stages."
        warnings.warn(message, VttdataWarning, stacklevel=2)
    if revision.unfit:
        first = revision.unfit[0]
        message = (
            f"{len(revision.unfit):,} errata fit no row any more, such as that of '{first.field}' of '{first.id}', and "
            "are left out."
        )
        warnings.warn(message, VttdataWarning, stacklevel=2)


def _parts(version: str) -> list[int]:
    try:
        return [int(part) for part in version.split(".")]
    except ValueError as error:
        raise VttdataError(f"{version[:40]!a} is no version of a dataset, such as 1.0.0.") from error
