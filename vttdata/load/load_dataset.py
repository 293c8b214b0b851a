"""Load the rows of a dataset by name with HuggingFace `datasets`: a local build, one made now, or the Hub.

What `datasets` does not do is added here: finding local builds, checking versions and files, and errors that list what
exists. Files of a dataset carry a digest of their content in their names, so that no reader's cache returns the rows of
an older build.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import shlex
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import datasets
import huggingface_hub
from datasets.packaged_modules.parquet.parquet import ParquetConfig
from datasets.utils.info_utils import NonMatchingSplitsSizesError
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]
from pyarrow.dataset import ParquetFragmentScanOptions

from vttdata.dataset.front_matter import find_files, read_front_matter, read_infos, read_layout
from vttdata.dataset.parquet import check_footers
from vttdata.dataset.protocol_file import is_protocol_file, read_protocol_file
from vttdata.dataset.tombstones import WITHDRAWN, Tombstones, read_tombstones
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.hub_client import hub_requests
from vttdata.ids import is_dataset_name
from vttdata.load.evaluation_tables import is_evaluation_table, make_evaluation_table
from vttdata.load.integrity import (
    find_cached,
    loaded_version,
    shared_with_training,
    verify_files,
    verify_row_counts,
)
from vttdata.load.local_builds import BuildRegistry
from vttdata.load.lookup import (
    EMBEDDED_VIDEOS,
    HUB_PREFIX,
    download,
    find_or_build,
    hub_revision,
    is_remote_dataset,
    version_in,
)
from vttdata.load.not_found import (
    UnknownPartError,
    explain_missing_version,
    explain_not_found,
    explain_recipe_name,
    explain_unknown_part,
)
from vttdata.load.remote_datasets import fetch_dataset, remote_videos
from vttdata.load.video_files import add_videos
from vttdata.recipe import packaged

# Pages of tables are compared with their checksums, where `datasets` (4.2 and later) passes that on.
_CHECKED = {
    name: ParquetFragmentScanOptions(page_checksum_verification=True)
    for name in {"fragment_scan_options"} & ParquetConfig.__dataclass_fields__.keys()
}
# Of withdrawn clips in a warning.
_WITHDRAWN_SHOWN = 5
_DATASETS_SIGNATURE = inspect.signature(datasets.load_dataset)


def load_dataset(
    path: str | os.PathLike[str], *args: Any, verify: bool = False, hub: bool = False, **kwargs: Any
) -> Any:
    """Load a dataset with the arguments and results of `datasets.load_dataset`, and two further arguments.

    Args:
        path: ``owner/name``, a dataset folder, a build folder, or the address of one in remote storage, such as
            ``s3://bucket/street``, whose tables are copied to this machine while its videos stay there. A name is
            looked up among the local builds (those in ``VTTDATA_HOME`` and those made with ``--out``). If there is none
            and a packaged recipe makes it from official files that can be fetched, without videos and in two minutes,
            that is done; anything else comes from the Hub. The owner of a local build may be left out. What is no name
            is passed to `datasets.load_dataset`.
        *args: Further arguments of `datasets.load_dataset`, in its order.
        verify: Compare every file with the dataset's manifest first, and the number of loaded rows with the tables. Of
            a dataset on the Hub all files but videos are downloaded for this.
        hub: Load the dataset of this name from the Hub, whatever is on this machine or can be built here; so does
            ``hf://datasets/`` before the name.
        **kwargs: Further arguments of `datasets.load_dataset`. ``name`` is the configuration, ``clips`` by default, or
            the path of a protocol file (``.json``), whose clips are loaded in its splits and order;
            ``items``, ``queries`` and ``relevance`` are made from clips and captions for harnesses, and those of a
            protocol are called ``PROTOCOL-items`` and so on. A local build serves a ``revision`` only if it is its
            version (``1.0.0`` or ``v1.0.0``); others come from the Hub. The requested version is loaded or an error
            raised, offline from the Hub's cache.

    Returns:
        As `datasets.load_dataset`; where the dataset's video files are on this machine, the column ``video`` is a
        `datasets.Video` of their paths that does not decode until it is cast to ``Video()``; of a dataset in remote
        storage it has their addresses.

    Raises:
        VttdataError: If a name is neither a local build nor on the Hub, has no such configuration, split or version,
            another version than the requested one was loaded, or files differ from the manifest. The message lists
            what exists.

    Warns:
        VttdataWarning: If clips of the requested protocol share a source with its training split.
    """
    arguments = _DATASETS_SIGNATURE.bind(os.fspath(path), *args, **kwargs).arguments
    arguments |= arguments.pop("config_kwargs", {})
    reference: str = arguments.pop("path")
    revision = arguments.pop("revision", None)
    if is_protocol_file(arguments.get("name")) and not {"data_files", "data_dir"} & arguments.keys():
        return _load_protocol(Path(arguments.pop("name")), reference, revision, verify=verify, **arguments)
    if reference.startswith(HUB_PREFIX):
        reference, hub = reference.removeprefix(HUB_PREFIX), True
    if is_remote_dataset(reference):
        return _load_remote(reference, revision, arguments, verify=verify)
    return _load_named(reference, revision, arguments, verify=verify, hub=hub)


def _load_named(reference: str, revision: object, arguments: dict[str, Any], *, verify: bool, hub: bool) -> Any:
    """Load from a local build or folder, from the Hub, or with `datasets` alone."""
    # The name of a builder of `datasets`, such as "csv", comes with its files.
    is_builder = "/" not in reference and bool({"data_files", "data_dir"} & arguments.keys())
    local = None if is_builder or hub else find_or_build(reference, revision)
    if local is None and (Path(reference).exists() or not is_dataset_name(reference)):
        if reference in packaged.recipes() and not is_builder:
            raise explain_recipe_name(reference)
        if verify:
            raise VttdataError(f"'{reference}' is not a dataset of vttdata, so there is nothing to verify it with.")
        with hub_requests(reference):
            return _load(reference, {"path": reference, "revision": revision, **arguments})
    try:
        if verify:
            videos = EMBEDDED_VIDEOS if arguments.get("name") == "videos" else ()
            folder = local or download(reference, revision, token=arguments.get("token"), videos=videos)
            verify_files(folder, reference)
            _check_card(folder)
            loaded = _load(reference, {"path": str(folder), **_CHECKED, **arguments})
            verify_row_counts(loaded, folder, reference, arguments.get("split"))
            return add_videos(loaded, folder)
        if local is not None:
            return _load_local(local, reference, arguments)
        loaded = _load_from_hub(reference, revision, arguments)
        if revision is not None:
            _warn_of_withdrawn_rows(loaded, reference, token=arguments.get("token"))
        return loaded
    except (UnknownPartError, ValueError):
        if not is_evaluation_table(arguments.get("name")):
            raise
        folder = local or download(reference, revision, token=arguments.get("token"))
        with _explained(reference, arguments):
            table = make_evaluation_table(folder, arguments)
        if table is None:
            raise
        return add_videos(table, folder)


def _load_local(folder: Path, reference: str, arguments: Mapping[str, Any]) -> Any:
    """Load from a local dataset folder, with a warning about the leaks of the requested protocol."""
    _check_card(folder)
    if shared := shared_with_training(folder, arguments.get("name")):
        warnings.warn(f"'{reference}', {arguments['name']}: {shared}", VttdataWarning, stacklevel=4)
    return add_videos(_load(reference, {"path": str(folder), **_CHECKED, **arguments}), folder)


def _load_remote(address: str, revision: object, arguments: Mapping[str, Any], *, verify: bool) -> Any:
    """Load from remote storage: tables from the cache, with the addresses of videos."""
    if revision is not None:
        raise VttdataError(f"{address}: remote storage has no revisions; leave out revision.")
    folder = fetch_dataset(address, EMBEDDED_VIDEOS if arguments.get("name") == "videos" else ())
    if verify:
        verify_files(folder, address)
    _check_card(folder)
    loaded = _load(address, {"path": str(folder), **_CHECKED, **arguments})
    return add_videos(loaded, folder, remote_videos(address, folder))


def _load_protocol(file: Path, reference: str, revision: object, *, split: str | None = None, **arguments: Any) -> Any:
    """Load the clips that a protocol file lists, in its splits and order."""
    protocol = read_protocol_file(file)
    if split is not None and split not in protocol.splits:
        raise VttdataError(f"{file}: has no split '{split}'; it has {', '.join(protocol.splits)}.")
    if arguments.get("streaming"):
        raise VttdataError(f"{file}: clips of a protocol file cannot be streamed; leave out streaming=True.")
    splits = load_dataset(reference, "clips", revision=revision, **arguments)
    rows = datasets.concatenate_datasets(list(splits.values()))
    row_of = {video_id: row for row, video_id in enumerate(rows["video_id"][:])}
    protocol.check_ids(row_of.keys(), file)
    chosen = {name: rows.select([row_of[video_id] for video_id in ids]) for name, ids in protocol.splits.items()}
    return datasets.DatasetDict(chosen) if split is None else chosen[split]


_OWN_ARGUMENTS = [inspect.signature(load_dataset).parameters[name] for name in ("verify", "hub")]
*_ARGUMENTS, _CONFIG_KWARGS = _DATASETS_SIGNATURE.parameters.values()
load_dataset.__signature__ = _DATASETS_SIGNATURE.replace(  # type: ignore[attr-defined]
    parameters=[*_ARGUMENTS, *_OWN_ARGUMENTS, _CONFIG_KWARGS]
)


def _load_from_hub(repo_id: str, revision: object, arguments: Mapping[str, Any]) -> Any:
    requested = version_in(revision)
    with hub_requests(repo_id):
        failure, version = None, None
        try:
            loaded = _load(repo_id, {"path": repo_id, **arguments, "revision": hub_revision(revision)})
            version = loaded_version(loaded)
            if requested is None or version in (None, requested):
                return loaded
        except (ConnectionError, FileNotFoundError, HTTPError) as error:
            failure = error
        # Offline, `datasets` either finds nothing or returns the version that it prepared last, whatever was requested.
        cached = find_cached(repo_id, requested, arguments.get("name")) if requested is not None else None
        if cached is not None:
            return _load(repo_id, cached | {key: value for key, value in arguments.items() if value is not None})
        if failure is not None:
            raise explain_not_found(repo_id, revision, failure) from failure
        # Some versions of `datasets` read another revision from the cache where the Hub lacks the requested one.
        if missing := explain_missing_version(repo_id, revision):
            raise missing
        raise VttdataError(
            f"'{repo_id}': version {requested} was requested, but {version} was loaded from a cache; go online, or "
            f"request {version}."
        )


def _check_card(folder: Path) -> None:
    """Check that the card and the columns of the tables are such as `datasets` can read.

    Raises:
        VttdataError: If they are not.
    """
    read_layout(folder, needs=None, check_rows=False)
    read_infos(folder)
    check_footers(find_files(folder, read_front_matter(folder)))


def _load(reference: str, arguments: Mapping[str, Any]) -> Any:
    """Load with `datasets`; explain an unknown configuration or split, or a damaged table, in one sentence."""
    try:
        with _explained(reference, arguments):
            return datasets.load_dataset(**arguments)
    except (datasets.exceptions.DatasetGenerationError, NonMatchingSplitsSizesError) as error:
        reason = " ".join(str(error.__cause__ or error).split())[:300]
        quoted = shlex.quote(reference)
        hint = f"; 'vttdata verify {quoted}' compares all files with the manifest" if Path(reference).is_dir() else ""
        raise VttdataError(
            f"'{reference}': a table is damaged, or is not as the card says ({reason}){hint}."
        ) from error


@contextlib.contextmanager
def _explained(reference: str, arguments: Mapping[str, Any]) -> Iterator[None]:
    """Explain an unknown configuration or split in one sentence."""
    try:
        yield
    except ValueError as error:
        explanation = explain_unknown_part(reference, error, arguments.get("name"), arguments.get("split"))
        if explanation is None:
            raise
        raise explanation from error


def _warn_of_withdrawn_rows(loaded: Any, repo_id: str, *, token: bool | str | None = None) -> None:
    """Warn if loaded rows have an id that a newer version, on the Hub or on this machine, lists as withdrawn.

    Streams are not read for that. Without a connection only this machine is asked.
    """
    tombstones = [found for found in _newer_tombstones(repo_id, token) if found.rows]
    if not tombstones:
        return
    splits = list(loaded.values()) if isinstance(loaded, dict) else [loaded]
    ids = {
        name
        for rows in splits
        if hasattr(rows, "num_rows") and "video_id" in rows.column_names
        for name in rows["video_id"][:]
    }
    withdrawn = sorted(name for name in ids if any(found.covers(name) for found in tombstones))
    if withdrawn:
        shown = ", ".join(withdrawn[:_WITHDRAWN_SHOWN])
        message = (
            f"'{repo_id}': {len(withdrawn):,} clips of this version were withdrawn since, {shown}"
            f"{' and others' if len(withdrawn) > _WITHDRAWN_SHOWN else ''}; leave them out, or load the newest version."
        )
        warnings.warn(message, VttdataWarning, stacklevel=5)


def _newer_tombstones(repo_id: str, token: bool | str | None) -> Iterator[Tombstones]:
    for build in BuildRegistry().builds(repo_id):
        if build.dataset is not None:
            with contextlib.suppress(VttdataError):
                yield read_tombstones(build.dataset)
    with contextlib.suppress(VttdataError, OSError, ValueError, HTTPError):
        patterns = ["README.md", f"{WITHDRAWN}/*.parquet"]
        folder = huggingface_hub.snapshot_download(repo_id, repo_type="dataset", allow_patterns=patterns, token=token)
        yield read_tombstones(Path(folder))
