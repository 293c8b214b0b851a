"""Find what references mean: recipes, local builds by name, folders by path, datasets on the HuggingFace Hub by id.

Importing this module is cheap: pyarrow and the Hub's client are imported by the functions that need them. Rows are
loaded by `vttdata.load.load_dataset`.
"""

from __future__ import annotations

import os
import re
import shlex
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError, VttdataWarning
from vttdata.files.remote import is_remote
from vttdata.ids import is_dataset_name
from vttdata.load.local_builds import BuildRegistry, LocalBuild, build_in
from vttdata.load.not_found import explain_bare_name, explain_not_found
from vttdata.load.origins import build_now, can_build
from vttdata.recipe import packaged
from vttdata.recipe.packaged import RecipeFile

if TYPE_CHECKING:
    from vttdata.dataset.provenance import InputFile

# Prefix with which a name is that of a dataset on the Hub, as in `datasets` and fsspec.
HUB_PREFIX = "hf://datasets/"

_VERSION = re.compile(r"v?(\d+\.\d+\.\d+)", re.ASCII)
_DOWNLOADED_FILES = ("README.md", "preview.jpg", "recipe.yaml", "*.json", "*.parquet")

# Patterns of a dataset's videos on the Hub: those stored as rows of a table, and all of them.
EMBEDDED_VIDEOS = ("videos/*.parquet",)
ALL_VIDEOS = ("videos/*",)


def find_recipe(reference: str | os.PathLike[str]) -> RecipeFile | LocalBuild:
    """Return the recipe that is known by a name or at a path, whatever folder has the same name, or an earlier build.

    Raises:
        VttdataError: If there is none of these, or several owners have builds of the name.
    """
    reference = os.fspath(reference)
    refuse_address(reference)
    is_recipe = reference in packaged.recipes() or Path(reference).is_file()
    build = None if is_recipe else BuildRegistry().find(reference)
    if build is not None:
        return build
    known = {build.name for build in BuildRegistry().builds()} if not is_recipe else set()
    return packaged.recipe_file(reference, [*known, *(name.partition("/")[2] for name in known)])


def refuse_address(place: str | os.PathLike[str] | None) -> None:
    """Raise VttdataError if a recipe or a build folder is at an address in remote storage."""
    if is_remote(place):
        # The address is not repeated, since it may contain a password.
        raise VttdataError(
            "A build folder lies on a disk and not at an address: build with --out DIR, and copy DIR with the tool of "
            "the store, such as 'aws s3 sync DIR s3://BUCKET/DIR', or mount the store (docs/remote.md)."
        )


def find_dataset(
    name_or_path: str | os.PathLike[str], *, revision: str | None = None, videos: Sequence[str] = ()
) -> Path:
    """Return the folder of a dataset: a dataset folder, a build folder, a local build's name, an address or a Hub id.

    A name of which there is no build is built now where `load_dataset` would do so. A dataset on the Hub is downloaded
    into the Hub's own cache, and one in remote storage into a cache in the builds folder, by default without its
    videos.

    Args:
        name_or_path: Name, folder, address such as ``s3://bucket/street``, or Hub id; with ``hf://datasets/`` before it
            a name is a Hub id.
        revision: Version or revision of a name, as in `vttdata.load_dataset`.
        videos: Videos to download too: `EMBEDDED_VIDEOS` or `ALL_VIDEOS`.

    Raises:
        VttdataError: If there is no such dataset; the message says where it was looked for.
    """
    reference = os.fspath(name_or_path)
    if reference.startswith(HUB_PREFIX):
        return download(reference.removeprefix(HUB_PREFIX), revision, videos=videos)
    if is_remote_dataset(reference):
        from vttdata.load.remote_datasets import fetch_dataset

        return fetch_dataset(reference, videos)
    local = find_or_build(reference, revision)
    if local is not None:
        return local
    if (Path(reference) / "manifest.json").is_file() or (Path(reference) / "dataset" / "manifest.json").is_file():
        raise VttdataError(
            f"'{reference}' holds tables without a card and is not a dataset; a recipe with 'degrade', such as "
            "msrvtt-degraded, builds one with degraded captions."
        )
    if Path(reference).exists():
        raise VttdataError(
            f"'{reference}' is neither a dataset folder nor a build folder: it has no README.md beside clips/."
        )
    if not is_dataset_name(reference):
        raise explain_bare_name(reference)
    return download(reference, revision, videos=videos)


def is_remote_dataset(reference: str) -> bool:
    """Return True for the address of a dataset or build in remote storage other than the datasets of the Hub."""
    return is_remote(reference) and not reference.startswith(HUB_PREFIX)


def find_or_build(reference: str, revision: object) -> Path | None:
    """Return the local dataset of a name or path, as `find_local`; a recipe builds it now if it can do that by itself.

    Raises:
        VttdataError: As `find_local` and `vttdata.load.origins.build_now`.
    """
    requested = version_in(revision)
    is_servable = revision is None or requested is not None
    if is_servable and not Path(reference).exists() and can_build(reference, requested):
        build_now(reference)
    return find_local(reference, revision)


def find_local(reference: str, revision: object) -> Path | None:
    """Return the dataset folder that a name or path refers to on this machine, or None.

    The Hub is not asked about a build of this machine that has no dataset yet.

    Args:
        reference: Name of a local build, with or without its owner, dataset folder or build folder.
        revision: Requested version; a local build of another version does not match.

    Raises:
        VttdataError: If a build has no dataset yet, a name without owner has several builds, or a folder given by its
            path holds another version than the requested one.

    Warns:
        VttdataWarning: If the dataset is that of an earlier build than the last one.
    """
    from vttdata.dataset.front_matter import read_version

    requested = version_in(revision)
    builds = [] if "/" not in reference and Path(reference).exists() else BuildRegistry().builds(reference)
    for build in builds:
        if build.dataset is not None and (revision is None or requested == read_version(build.dataset)):
            return _warn_if_unfinished(build, build.dataset)
    path_build = build_in(Path(reference), reference)
    if path_build is not None and path_build.dataset is not None:
        BuildRegistry().add_if_unknown(Path(reference))
        folder = path_build.dataset
        if requested is not None and requested != (version := read_version(folder)):
            raise VttdataError(f"{folder}: holds version {version}, but {requested} was requested.")
        return _warn_if_unfinished(path_build, folder)
    unbuilt = [build for build in (*builds, path_build) if build is not None and build.dataset is None]
    if unbuilt and revision is None and not (unbuilt[0].folder / "dataset" / "manifest.json").is_file():
        raise VttdataError(f"'{unbuilt[0].name}' has no dataset: it {unbuilt[0].problem}")
    return None


def _warn_if_unfinished(build: LocalBuild, dataset: Path) -> Path:
    """Return a dataset folder, and warn if it lacks items or is not that of the last build in its folder."""
    if build.is_incomplete and dataset.parent == build.folder.resolve():
        message = (
            f"The dataset '{build.name}' lacks items whose processing was cut short; 'vttdata build "
            f"{shlex.quote(str(build.folder))}' tries them again."
        )
        warnings.warn(message, VttdataWarning, stacklevel=5)
    if not build.is_finished and dataset.parent == build.folder.resolve():
        message = f"The dataset '{build.name}' is that of an earlier build: it {build.problem}"
        warnings.warn(message, VttdataWarning, stacklevel=5)
    return dataset


def download(
    repo_id: str, revision: object = None, *, token: bool | str | None = None, videos: Sequence[str] = ()
) -> Path:
    """Download the card, the manifest and the tables of a dataset on the Hub, and return its folder in the Hub's cache.

    Without a revision it is the newest commit; `videos` is `EMBEDDED_VIDEOS` or `ALL_VIDEOS` to download these too.

    Raises:
        VttdataError: If the Hub does not have it or cannot be reached.
    """
    import huggingface_hub

    from vttdata.hub_client import hub_requests

    with hub_requests(repo_id):
        try:
            folder = huggingface_hub.snapshot_download(
                repo_id,
                repo_type="dataset",
                revision=hub_revision(revision),
                allow_patterns=[*_DOWNLOADED_FILES, *videos],
                ignore_patterns=None if videos else list(ALL_VIDEOS),
                token=token,
            )
        except (OSError, ValueError, huggingface_hub.errors.HTTPError) as error:  # type: ignore[attr-defined]
            raise explain_not_found(repo_id, revision, error) from error
    return Path(folder)


def caption_input_files(reference: str) -> list[InputFile]:
    """Return the input files of a command: the table of captions, or the tables of clips and captions of a dataset.

    Raises:
        VttdataError: If there is neither a table nor a dataset.
    """
    from vttdata.dataset.find_tables import read_tables
    from vttdata.dataset.provenance import input_file

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


def hub_revision(revision: object) -> Any:
    """Return a revision as the Hub names it: ``v1.0.0`` for the version ``1.0.0``."""
    version = version_in(revision)
    return f"v{version}" if version is not None else revision
