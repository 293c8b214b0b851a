"""Datasets in remote storage: tables are copied into a cache under the builds folder, and videos stay where they are.

The cache has a folder for each version of a dataset, named by its manifest, so that a dataset that was replaced in its
store is never mixed with the one before. Its layout is that of the Hub's cache: ``snapshots/VERSION`` lacks videos.
"""

from __future__ import annotations

import fnmatch
import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path

from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.errors import VttdataError
from vttdata.files.reading import file_sha256, is_inside
from vttdata.files.remote import RemoteFolder
from vttdata.load.local_builds import builds_folder


def open_dataset(address: str) -> tuple[RemoteFolder, bytes]:
    """Return the folder of a dataset, which is that of the address or ``dataset`` in it, and its manifest.

    Raises:
        VttdataError: If there is none, or the store refuses access or does not answer.
    """
    for folder in (RemoteFolder(f"{address.rstrip('/')}/dataset"), RemoteFolder(address)):
        if (manifest := folder.read(MANIFEST)) is not None:
            return folder, manifest
    raise VttdataError(
        f"{address}: has no dataset with a {MANIFEST}; if one is being copied there, wait, and if that was cut short, "
        "copy it again."
    )


def fetch_dataset(address: str, videos: Sequence[str] = ()) -> Path:
    """Copy what is missing of a dataset into the cache, each file checked by its manifest, and return its folder.

    The address is that of a dataset or of a build. Videos that match a pattern, such as ``videos/*``, are copied too.

    Raises:
        VttdataError: As `open_dataset`, or if a file differs from the manifest.
    """
    store, manifest = open_dataset(address)
    keys = (hashlib.sha256(text).hexdigest()[:16] for text in (store.address.encode(), manifest))
    cache = builds_folder() / ".remote" / next(keys) / "snapshots"
    folder = cache / next(keys)
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MANIFEST).is_file():
        store.download([(MANIFEST, folder / MANIFEST)])
    entries = read_dataset_manifest(folder)["files"]

    def check(name: str, path: Path) -> None:
        if (path.stat().st_size, file_sha256(path)) != (entries[name]["bytes"], entries[name]["sha256"]):
            raise VttdataError(
                f"{store.address}/{name}: differs from the manifest; either the dataset is being replaced at this "
                f"moment, so try again, or it is damaged, which 'vttdata verify {shlex.quote(store.address)}' shows."
            )

    wanted = [
        name
        for name in entries
        if not name.startswith("videos/") or any(fnmatch.fnmatch(name, pattern) for pattern in videos)
    ]
    if outside := next((name for name in wanted if not is_inside(name)), None):
        raise VttdataError(f"{store.address}/{MANIFEST}: lists {outside!a}, which leads out of the dataset.")
    store.download([(name, folder / name) for name in wanted if not (folder / name).is_file()], check)
    return folder


def copy_dataset(address: str, folder: Path) -> Path:
    """Copy all files of a dataset as they are, whatever its manifest says, and return the folder.

    Raises:
        VttdataError: As `open_dataset`.
    """
    store, _ = open_dataset(address)
    store.download((name, folder / name) for name in store.files())
    return folder


def remote_videos(address: str, folder: Path) -> dict[str, str]:
    """Return the addresses of the videos of a fetched dataset by their names in it; paths where the store is a disk."""
    store, _ = open_dataset(address)
    names = (name for name in read_dataset_manifest(folder)["files"] if name.startswith("videos/") and is_inside(name))
    return {name: f"{store.address.removeprefix('file://')}/{name}" for name in names}
