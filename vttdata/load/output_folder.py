"""Check what is in a folder before a command writes into it, so that nothing is replaced or mixed up in silence."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.errors import VttdataError
from vttdata.load.local_builds import ACCOUNT, read_account

Content = Literal["build", "dataset", "foils", "tables"]

_NAMES: dict[Content, str] = {
    "build": "the build",
    "dataset": "the dataset",
    "foils": "the set of foils",
    "tables": "the tables",
}
_BUILD_FILES = frozenset({ACCOUNT, "journal.jsonl", "stages", "media", "dataset", "report", "report.html"})


@dataclass(frozen=True, slots=True)
class FolderContent:
    """Kind of what vttdata has written into a folder: tables are those of degraded captions, without a card."""

    folder: Path
    content: Content
    name: str

    def __str__(self) -> str:
        return f"{_NAMES[self.content]} '{self.name}'" if self.name else _NAMES[self.content]


def content_of(folder: Path) -> FolderContent | None:
    """Return what vttdata has written into a folder, or into a dataset that the folder is a part of; None for neither.

    HITs and exports are not recognised.
    """
    account = read_account(folder)
    if account is not None or (folder / "journal.jsonl").is_file():
        return FolderContent(folder, "build", account["recipe"] if account is not None else "")
    for path in (folder, *folder.resolve().parents):
        has_card = (path / "README.md").is_file()
        if (path / MANIFEST).is_file() and (has_card or path == folder):
            try:
                name = str(read_dataset_manifest(path).get("name", ""))
            except VttdataError:
                continue
            content: Content = "foils" if (path / "foils").is_dir() else "dataset" if has_card else "tables"
            return FolderContent(path, content, name)
    return None


def check_output(folder: Path, may_hold: Collection[Content] = (), *, replace: bool) -> None:
    """Check that a command may write into a folder.

    Args:
        folder: Existing or not.
        may_hold: Content that the command replaces without being told to, when the folder itself holds it.
        replace: The user wants whatever is there to be replaced.

    Raises:
        VttdataError: If it holds something else of vttdata, or lies in a dataset.
    """
    there = content_of(folder)
    if there is None or replace or (there.content in may_hold and there.folder == folder):
        return
    where = f"{folder}: " if there.folder == folder else f"{folder}: lies in {there.folder}, which "
    raise VttdataError(f"{where}holds {there}; choose another folder with --out, or write there anyway with --replace.")


def check_removable(folder: Path) -> None:
    """Check that vttdata wrote everything in a folder that is about to be replaced as a whole.

    Raises:
        VttdataError: If the folder holds further files; names one.
    """
    there = content_of(folder)
    if there is None or there.folder != folder:
        return
    names = _BUILD_FILES if there.content == "build" else {MANIFEST, *read_dataset_manifest(folder)["files"]}
    paths = folder.iterdir() if there.content == "build" else (path for path in folder.rglob("*") if path.is_file())
    relative = sorted(path.relative_to(folder).as_posix() for path in paths)
    further = [name for name in relative if name not in names and not name.startswith(".")]
    if further:
        raise VttdataError(
            f"{folder}: holds {there} and also {further[0]}, which would be deleted; choose another folder with --out."
        )
