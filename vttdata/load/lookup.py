"""Find dataset folders: local builds by name, folders by path, and datasets on the HuggingFace Hub by id.

Importing this module is cheap: pyarrow and the Hub's client are imported by the functions that need them. Rows are
loaded by `vttdata.load.load_dataset`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError
from vttdata.ids import is_dataset_name
from vttdata.load.not_found import explain_not_found

if TYPE_CHECKING:
    from vttdata.dataset.provenance import InputFile

_VERSION = re.compile(r"v?(\d+\.\d+\.\d+)")
_DOWNLOADED_FILES = ("README.md", "recipe.yaml", "*.json", "*.parquet")

# Patterns of a dataset's videos on the Hub: those stored as rows of a table, and all of them.
EMBEDDED_VIDEOS = ("videos/*.parquet",)
ALL_VIDEOS = ("videos/*",)


def builds_folder() -> Path:
    """Return the folder of local builds, each at ``<owner>/<name>``: ``VTTDATA_HOME``, or ``~/.cache/vttdata``."""
    return Path(os.environ.get("VTTDATA_HOME") or "~/.cache/vttdata").expanduser()


def local_builds() -> dict[str, Path]:
    """Return the dataset folders of all local builds by name."""
    folders = {f"{path.parent.name}/{path.name}": _dataset_in(path) for path in sorted(builds_folder().glob("*/*"))}
    return {name: folder for name, folder in folders.items() if folder is not None}


def local_versions() -> dict[str, str | None]:
    """Return the versions of all local builds by name, None for a card without one."""
    from vttdata.dataset.front_matter import read_version

    return {name: read_version(path) for name, path in local_builds().items()}


def find_dataset(
    name_or_path: str | os.PathLike[str], *, revision: str | None = None, videos: Sequence[str] = ()
) -> Path:
    """Return the folder of a dataset: a dataset folder, a build folder, a local build's name, or a Hub id.

    A dataset on the Hub is downloaded into the Hub's own cache, by default without its videos.

    Args:
        name_or_path: Name, folder or Hub id.
        revision: Version or revision of a name, as in `vttdata.load_dataset`.
        videos: Videos to download too: `EMBEDDED_VIDEOS` or `ALL_VIDEOS`.

    Raises:
        VttdataError: If there is no such dataset; the message says where it was looked for.
    """
    reference = os.fspath(name_or_path)
    local = find_local(reference, revision)
    if local is not None:
        return local
    if (Path(reference) / "build.json").is_file():
        raise VttdataError(
            f"'{reference}' is a build without a dataset; build it again, and see its build.json for the reason."
        )
    if (Path(reference) / "manifest.json").is_file():
        raise VttdataError(
            f"'{reference}' holds tables without a card and is not a dataset; a recipe with 'degrade', such as "
            "msrvtt-degraded, builds one with degraded captions."
        )
    if Path(reference).exists():
        raise VttdataError(
            f"'{reference}' is neither a dataset folder nor a build folder: it has no README.md beside clips/."
        )
    if not is_dataset_name(reference):
        raise VttdataError(f"There is no dataset at '{reference}', and it is not a name such as vttdata/demo.")
    return download(reference, revision, videos=videos)


def find_local(reference: str, revision: object) -> Path | None:
    """Return the dataset folder that a name or path refers to on this machine, or None.

    Args:
        reference: Name of a local build, dataset folder or build folder.
        revision: Requested version; a local build of another version does not match.

    Raises:
        VttdataError: If a folder given by its path holds another version than the requested one.
    """
    from vttdata.dataset.front_matter import read_version

    requested = version_in(revision)
    if is_dataset_name(reference):
        folder = _dataset_in(builds_folder() / reference)
        if folder is not None and (revision is None or requested == read_version(folder)):
            return folder
    folder = _dataset_in(Path(reference))
    if folder is not None and requested is not None and requested != (version := read_version(folder)):
        raise VttdataError(f"{folder}: holds version {version}, but {requested} was requested.")
    return folder


def download(
    repo_id: str, revision: object = None, *, token: bool | str | None = None, videos: Sequence[str] = ()
) -> Path:
    """Download the card, the manifest and the tables of a dataset on the Hub, and return its folder in the Hub's cache.

    Args:
        repo_id: ``owner/name``.
        revision: Version or revision; None is the newest commit.
        token: Hub token, as in `datasets.load_dataset`.
        videos: Videos to download too: `EMBEDDED_VIDEOS` or `ALL_VIDEOS`.

    Raises:
        VttdataError: If the Hub does not have it or cannot be reached.
    """
    import huggingface_hub

    try:
        folder = huggingface_hub.snapshot_download(
            repo_id,
            repo_type="dataset",
            revision=hub_revision(revision),
            allow_patterns=[*_DOWNLOADED_FILES, *videos],
            ignore_patterns=None if videos else list(ALL_VIDEOS),
            token=token,
        )
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        raise explain_not_found(repo_id, revision, error, builds_folder(), local_versions()) from error
    return Path(folder)


def caption_input_files(reference: str) -> list[InputFile]:
    """Return the input files of a command: the table of captions, or the tables of clips and captions of a dataset.

    Raises:
        VttdataError: If there is neither a table nor a dataset.
    """
    from vttdata.dataset.provenance import input_file
    from vttdata.dataset.tables import read_tables

    if Path(reference).is_file():
        return [input_file("input", Path(reference))]
    folder = find_dataset(reference)
    tables = (contents for config, contents in read_tables(folder).items() if config in {"clips", "captions"})
    return [
        input_file("input", path, path.relative_to(folder).as_posix()) for contents in tables for path in contents.paths
    ]


def version_in(revision: object) -> str | None:
    """Return ``1.0.0`` for the revisions ``1.0.0`` and ``v1.0.0``, and None for revisions that are not versions."""
    match = _VERSION.fullmatch(str(revision))
    return match[1] if match else None


def hub_revision(revision: Any) -> Any:
    """Return a revision as the Hub names it: ``v1.0.0`` for the version ``1.0.0``."""
    version = version_in(revision)
    return f"v{version}" if version is not None else revision


def _dataset_in(folder: Path) -> Path | None:
    """Return a folder if it is a dataset, or the dataset in it if it is a build."""
    for path in (folder / "dataset", folder):
        if (path / "README.md").is_file() and any((path / name).is_dir() for name in ("clips", "foils")):
            return path.resolve()
    return None
