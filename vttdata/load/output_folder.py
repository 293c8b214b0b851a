"""Check what is in a folder before a command writes into it, so that nothing is replaced or mixed up in silence."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.dataset.replace_folder import DATASET
from vttdata.errors import VttdataError
from vttdata.files.own_folder import FolderKind
from vttdata.load.local_builds import ACCOUNT, STAMP, read_account

_PINS = re.compile(r"pins-[0-9a-f]{8}\.jsonl")
Content = Literal["build", "dataset", "foils", "tables"]

_NAMES: dict[Content, str] = {
    "build": "the build",
    "dataset": "the dataset",
    "foils": "the set of foils",
    "tables": "the tables",
}


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
    earlier = content_of(folder)
    if earlier is None or replace or (earlier.content in may_hold and earlier.folder == folder):
        return
    where = f"{folder}: " if earlier.folder == folder else f"{folder}: lies in {earlier.folder}, which "
    raise VttdataError(
        f"{where}holds {earlier}; choose another folder with --out, or write there anyway with --replace."
    )


def _build_names(folder: Path) -> frozenset[str]:
    dataset = folder / "dataset"
    names = {ACCOUNT, STAMP, "journal.jsonl", ".lock", "stages", "media", "report.html", "report.html.files"}
    # Clips that wait for captions, and the splits of an earlier build (`vttdata.pipeline.build_folder.write_pins`).
    names |= {"uncaptioned", *(path.name for path in folder.glob("pins-*.jsonl") if _PINS.fullmatch(path.name))}
    if dataset.is_dir():
        names |= {f"dataset/{name}" for name in DATASET.names(dataset)}
    return frozenset(names)


BUILD = FolderKind("a dataset", ACCOUNT, _build_names)
