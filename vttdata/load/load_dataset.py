"""Load the rows of a dataset by name with HuggingFace `datasets`: a local build first, then the Hub.

What `datasets` does not do is added here: finding local builds, checking versions and files, and errors that list what
exists. Files of a dataset carry a digest of their content in their names, so that no reader's cache returns the rows of
an older build.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import datasets
from datasets.utils.info_utils import NonMatchingSplitsSizesError
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

from vttdata.dataset.front_matter import find_files, read_front_matter, read_infos, read_layout
from vttdata.dataset.parquet import check_footers
from vttdata.dataset.protocol_file import is_protocol_file, read_protocol_file
from vttdata.errors import VttdataError
from vttdata.export.reader import SCHEMAS, CaptionCounts, DatasetReader, evaluation_rows
from vttdata.files.reading import is_inside, links_out
from vttdata.hub_timeout import limit_hub_waits
from vttdata.ids import VIDEO_EXTENSIONS, is_dataset_name
from vttdata.load.integrity import find_cached, loaded_version, verify_files, verify_row_counts
from vttdata.load.local_builds import folder_of_videos
from vttdata.load.lookup import (
    EMBEDDED_VIDEOS,
    HUB_PREFIX,
    download,
    find_local,
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
from vttdata.recipe import packaged

_DATASETS_SIGNATURE = inspect.signature(datasets.load_dataset)
_VIDEO_COLUMNS = ("video", "video_id", "source_id")
# Decoding at each access to a row would need torchcodec, and open a file for every caption that is read.
_VIDEO_FEATURE = datasets.Video(decode=False)


def load_dataset(path: str | os.PathLike[str], *args: Any, verify: bool = False, **kwargs: Any) -> Any:
    """Load a dataset with the arguments and results of `datasets.load_dataset`, and the further argument `verify`.

    Args:
        path: ``owner/name``, a dataset folder, a build folder, or the address of one in remote storage, such as
            ``s3://bucket/street``, whose tables are copied to this machine while its videos stay there. A name is
            looked up among the local builds (those in ``VTTDATA_HOME`` and those made with ``--out``), and only then on
            the Hub. The owner of a local build may be left out. Anything else is passed to `datasets.load_dataset`.
        *args: Further arguments of `datasets.load_dataset`, in its order.
        verify: Compare every file with the dataset's manifest first, and the number of loaded rows with the tables. Of
            a dataset on the Hub all files but videos are downloaded for this.
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
    """
    arguments = _DATASETS_SIGNATURE.bind(os.fspath(path), *args, **kwargs).arguments
    arguments |= arguments.pop("config_kwargs", {})
    reference: str = arguments.pop("path")
    revision = arguments.pop("revision", None)
    if is_protocol_file(arguments.get("name")) and not {"data_files", "data_dir"} & arguments.keys():
        return _load_protocol(Path(arguments.pop("name")), reference, revision, verify=verify, **arguments)
    if reference.startswith(HUB_PREFIX):
        reference = reference.removeprefix(HUB_PREFIX)
    if is_remote_dataset(reference):
        return _load_remote(reference, revision, arguments, verify=verify)
    return _load_named(reference, revision, arguments, verify=verify)


def _load_named(reference: str, revision: object, arguments: dict[str, Any], *, verify: bool) -> Any:
    """Load from a local build or folder, from the Hub, or with `datasets` alone."""
    # The name of a builder of `datasets`, such as "csv", comes with its files.
    is_builder = "/" not in reference and bool({"data_files", "data_dir"} & arguments.keys())
    local = None if is_builder else find_local(reference, revision)
    if local is None and (Path(reference).exists() or not is_dataset_name(reference)):
        if reference in packaged.recipes() and not is_builder:
            raise explain_recipe_name(reference)
        if verify:
            raise VttdataError(f"'{reference}' is not a dataset of vttdata, so there is nothing to verify it with.")
        with limit_hub_waits(reference):
            return _load(reference, {"path": reference, "revision": revision, **arguments})
    try:
        if verify:
            videos = EMBEDDED_VIDEOS if arguments.get("name") == "videos" else ()
            folder = local or download(reference, revision, token=arguments.get("token"), videos=videos)
            verify_files(folder, reference)
            _check_card(folder)
            loaded = _load(reference, {"path": str(folder), **arguments})
            verify_row_counts(loaded, folder, reference, arguments.get("split"))
            return _add_local_videos(loaded, folder)
        if local is not None:
            _check_card(local)
            return _add_local_videos(_load(reference, {"path": str(local), **arguments}), local)
        return _load_from_hub(reference, revision, arguments)
    except (UnknownPartError, ValueError):
        if str(arguments.get("name")).rpartition("-")[2] not in SCHEMAS:
            raise
        folder = local or download(reference, revision, token=arguments.get("token"))
        with _explained(reference, arguments):
            table = _make_evaluation_table(folder, arguments)
        if table is None:
            raise
        return _add_local_videos(table, folder)


def _load_remote(address: str, revision: object, arguments: Mapping[str, Any], *, verify: bool) -> Any:
    """Load from remote storage: tables from the cache, with the addresses of videos."""
    if revision is not None:
        raise VttdataError(f"{address}: remote storage has no revisions; leave out revision.")
    folder = fetch_dataset(address, EMBEDDED_VIDEOS if arguments.get("name") == "videos" else ())
    if verify:
        verify_files(folder, address)
    _check_card(folder)
    loaded = _load(address, {"path": str(folder), **arguments})
    return _add_local_videos(loaded, folder, remote_videos(address, folder))


def _load_protocol(file: Path, reference: str, revision: object, *, split: str | None = None, **arguments: Any) -> Any:
    """Load the clips that a protocol file lists, in its splits and order."""
    protocol = read_protocol_file(file)
    if split is not None and split not in protocol.splits:
        raise VttdataError(f"{file}: has no split '{split}'; it has {', '.join(protocol.splits)}.")
    if arguments.get("streaming"):
        raise VttdataError(f"{file}: clips of a protocol file cannot be streamed; leave out streaming=True.")
    splits = load_dataset(reference, "clips", revision=revision, **arguments)
    rows = datasets.concatenate_datasets(list(splits.values()))
    places = {video_id: place for place, video_id in enumerate(rows["video_id"][:])}
    protocol.check_ids(places.keys(), file)
    chosen = {name: rows.select([places[own] for own in ids]) for name, ids in protocol.splits.items()}
    return datasets.DatasetDict(chosen) if split is None else chosen[split]


_VERIFY = inspect.signature(load_dataset).parameters["verify"]
*_ARGUMENTS, _CONFIG_KWARGS = _DATASETS_SIGNATURE.parameters.values()
load_dataset.__signature__ = _DATASETS_SIGNATURE.replace(  # type: ignore[attr-defined]
    parameters=[*_ARGUMENTS, _VERIFY, _CONFIG_KWARGS]
)


def _load_from_hub(repo_id: str, revision: object, arguments: Mapping[str, Any]) -> Any:
    requested = version_in(revision)
    with limit_hub_waits(repo_id) as wait:
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
            raise explain_not_found(repo_id, revision, wait.failure or failure) from failure
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
    read_layout(folder, needs=None)
    read_infos(folder)
    check_footers(find_files(folder, read_front_matter(folder)))


def _load(reference: str, arguments: Mapping[str, Any]) -> Any:
    """Load with `datasets`; explain an unknown configuration or split, or a damaged table, in one sentence."""
    try:
        with _explained(reference, arguments):
            return datasets.load_dataset(**arguments)
    except (datasets.exceptions.DatasetGenerationError, NonMatchingSplitsSizesError) as error:
        reason = " ".join(str(error.__cause__ or error).split())[:300]
        hint = (
            f"; 'vttdata verify {reference}' compares all files with the manifest" if Path(reference).is_dir() else ""
        )
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


def _make_evaluation_table(folder: Path, arguments: Mapping[str, Any]) -> Any:
    """Make ``items``, ``queries`` or ``relevance`` of clips or ``PROTOCOL-items`` and so on; None if it cannot be made.

    Of the arguments of `datasets.load_dataset`, only ``name``, ``split`` and ``streaming`` have an effect.

    Raises:
        VttdataError: if the dataset cannot be read.
        ValueError: if the split does not exist.
    """
    name: str = arguments["name"]
    protocol, _, table = name.rpartition("-")
    config, dataset = protocol or "clips", DatasetReader(folder)
    if name in dataset.configs or "captions" not in dataset.configs or config not in dataset.clip_configs():
        return None
    features = datasets.Features.from_arrow_schema(SCHEMAS[table])
    names, requested = dataset.splits(config), arguments.get("split")
    splits = datasets.DatasetDict()
    for split in [requested] if requested in names else names:
        with tempfile.TemporaryDirectory() as scratch:
            clips = dataset.references(config, split, Path(scratch), CaptionCounts())
            rows = [row for clip in clips for row in evaluation_rows(clip)[table]]
        info = datasets.DatasetInfo(features=features, version=dataset.version, config_name=name)
        columns = {column: [row[column] for row in rows] for column in features}
        splits[split] = datasets.Dataset.from_dict(columns, info=info, split=datasets.NamedSplit(split))
    chosen = _select_rows(splits, requested)
    if not arguments.get("streaming"):
        return chosen
    if isinstance(chosen, datasets.DatasetDict):
        return datasets.IterableDatasetDict({split: rows.to_iterable_dataset() for split, rows in chosen.items()})
    return chosen.to_iterable_dataset()


def _select_rows(splits: datasets.DatasetDict, split: Any) -> Any:
    """Return the rows of a split, or of an instruction such as ``train+test[:10]``; all splits for None."""
    if split is None:
        return splits
    if isinstance(split, (list, tuple)):
        return [_select_rows(splits, part) for part in split]
    spec = split if isinstance(split, datasets.ReadInstruction) else datasets.ReadInstruction.from_spec(str(split))
    parts = spec.to_absolute({name: rows.num_rows for name, rows in splits.items()})
    chosen = [splits[part.splitname].select(range(part.from_, part.to)) for part in parts]
    return chosen[0] if len(chosen) == 1 else datasets.concatenate_datasets(chosen)


def _add_local_videos(loaded: Any, folder: Path, addresses: Mapping[str, str] | None = None) -> Any:
    """Return what `datasets.load_dataset` gave with the paths of video files, if the dataset has files on this machine.

    If the build that the dataset lies in used a folder of `videos`, rows have its files ``<video_id>.<extension>`` or
    ``<source_id>.<extension>``. Addresses in remote storage, by names of videos in the dataset, stand for paths.

    Returns:
        The same rows, in which ``video`` is ``{"path": ..., "bytes": None}`` or None instead of a relative path. Tables
        without this column, and those of a dataset without files, are returned as they are.
    """
    beside = folder_of_videos(folder)
    paths = sorted(beside.iterdir()) if beside is not None and beside.is_dir() else []
    by_id = {path.stem: path for path in paths if path.suffix.lower() in VIDEO_EXTENSIONS}
    if not by_id and not addresses and next((folder / "videos").rglob("metadata.jsonl"), None) is None:
        return loaded

    def find_file(video: str | None, *ids: str) -> dict[str, Any] | None:
        if addresses:
            return {"path": addresses[video], "bytes": None} if video is not None and video in addresses else None
        path = folder / video if video is not None else next((by_id[name] for name in ids if name in by_id), None)
        # Tables may come from anybody, and must name no other file of this machine.
        is_own = path is not None and (video is None or (is_inside(video) and not links_out(folder, path)))
        is_video = path is not None and is_own and path.is_file()
        return {"path": str(path.resolve()), "bytes": None} if path is not None and is_video else None

    def add(rows: Any) -> Any:
        features = rows.features
        if features is None or any(features.get(name) != datasets.Value("string") for name in _VIDEO_COLUMNS):
            return rows
        if isinstance(rows, datasets.IterableDataset):
            playable = datasets.Features(features | {"video": _VIDEO_FEATURE})
            return rows.map(
                lambda row: {"video": find_file(*(row[name] for name in _VIDEO_COLUMNS))}, features=playable
            )
        columns = rows.select_columns(list(_VIDEO_COLUMNS)).to_dict()
        files = list(map(find_file, *(columns[name] for name in _VIDEO_COLUMNS)))
        return (
            rows.remove_columns("video")
            .add_column("video", files, feature=_VIDEO_FEATURE)
            .select_columns(list(features))
        )

    if isinstance(loaded, datasets.DatasetDict | datasets.IterableDatasetDict):
        return type(loaded)({split: add(rows) for split, rows in loaded.items()})
    return add(loaded)
