"""Correct a dataset by a table of errata: a new version, with new values, in the place of the old one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from vttdata.dataset.errata import read_errata
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.revise import Changes, Revision, replace_revised
from vttdata.dataset.tombstones import refuse_unfinished
from vttdata.errors import VttdataError
from vttdata.files.file_lock import LockHeldError, hold_lock
from vttdata.load.local_builds import ACCOUNT
from vttdata.load.lookup import ALL_VIDEOS, find_dataset
from vttdata.pipeline.journal import locked
from vttdata.publish.version_rule import next_version


def correct_dataset(
    dataset: str | os.PathLike[str], errata: str | os.PathLike[str], *, out: str | os.PathLike[str] | None = None
) -> tuple[Path, str, Revision]:
    """Put errata into a dataset, and return its folder, its version, and what was changed.

    Args:
        dataset: dataset folder, build folder, or name. Later builds in the same folder put the errata in again.
        errata: table of corrections, see `vttdata.dataset.errata.read_errata`.
        out: folder of the corrected dataset; by default it takes the place of the dataset.

    Raises:
        VttdataError: when the table cannot be read, or a row of it does not fit the dataset; nothing is changed then.
    """
    folder = find_dataset(os.fspath(dataset), videos=ALL_VIDEOS).resolve()
    target = folder if out is None else Path(out)
    if out is None and folder.parent.name == "snapshots":
        raise VttdataError(f"'{os.fspath(dataset)}' is on the Hub; name a folder for the corrected dataset with --out.")
    with working_on(target):
        refuse_unfinished(folder)
        version = next_version(str(read_dataset_manifest(folder)["version"]), "major")
        changes = Changes(version, read_errata(Path(errata), version))
        return target, version, replace_revised(folder, changes, target=target)


@contextlib.contextmanager
def working_on(dataset: Path) -> Iterator[None]:
    """Keep builds out of the build folder of a dataset, if it lies in one, and other changes out of the dataset.

    Raises:
        VttdataError: when another command is at work.
    """
    with contextlib.ExitStack() as stack:
        if (dataset.parent / ACCOUNT).is_file():
            stack.enter_context(locked(dataset.parent))
        dataset.parent.mkdir(parents=True, exist_ok=True)
        try:
            stack.enter_context(hold_lock(dataset.with_name(f".{dataset.name}.revision.lock"), temporary=True))
        except LockHeldError as error:
            raise VttdataError(f"{dataset}: another command is changing it; wait for it.") from error
        yield
