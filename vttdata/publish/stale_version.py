"""Notices when a build puts other rows into the place of a dataset without giving them another version."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from vttdata.dataset.manifest import MANIFEST, is_inside, read_manifest
from vttdata.errors import VttdataError

_README = "README.md"


@contextlib.contextmanager
def warn_if_rows_changed(dataset: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Compare the dataset that is in a folder before with the one that is there after, if their version is the same.

    Tables of the same content have the same names, so that a dataset that stays as it was costs nothing; the older
    tables are kept by hard links meanwhile.

    Args:
        dataset: the folder; nothing is told where there is no dataset in it yet.
        tell: is given one sentence when rows differ.
    """
    kept = dataset.with_name(f".{dataset.name}.before")
    shutil.rmtree(kept, ignore_errors=True)
    try:
        version = _keep(dataset, kept)
        yield
        if version is not None:
            with contextlib.suppress(VttdataError):  # the older dataset was damaged, which is no failure of the build
                _compare(dataset, kept, version, tell)
    finally:
        shutil.rmtree(kept, ignore_errors=True)


def _keep(dataset: Path, kept: Path) -> str | None:
    """Keep card and tables; the version, or None where there is no dataset that could be compared."""
    try:
        content = read_manifest(dataset)
        for name in [_README, MANIFEST, *_tables(content)]:
            if not is_inside(name):
                return None
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            _link(dataset / name, kept / name)
    except (VttdataError, OSError):
        return None  # it is not there, or not as it was written: nothing is to be learnt from it
    return str(content.get("version"))


def _link(original: Path, target: Path) -> None:
    try:
        os.link(original, target)
    except OSError:
        shutil.copyfile(original, target)


def _tables(content: dict[str, dict[str, dict[str, int]]]) -> list[str]:
    return sorted(name for name, facts in content["files"].items() if "rows" in facts)


def _compare(dataset: Path, kept: Path, version: str, tell: Callable[[str], None]) -> None:
    before, after = read_manifest(kept), read_manifest(dataset)
    if after.get("version") != version or _tables(before) == _tables(after):
        return
    from vttdata.publish.diff import compare_datasets

    found = compare_datasets(kept, dataset)
    if found.needed != "none":
        counts = "; ".join(own.as_text(examples=False) for own in found.configs if own.needed != "none")
        tell(
            f"The rows are not those of the dataset that was here, and both say version {version} ({counts}); "
            f"set version to {found.next_version(version)} before you publish."
        )
