"""Loads a dataset by name: a local build first, then the Hub; or from a folder.

Names of files in our datasets carry a digest of their content, so that no cache of the readers returns the rows of
an older build. This module adds what `datasets` does not do: it finds local builds, checks versions and files, and
says what there is when something is not there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError
from vttdata.ids import is_dataset_name

if TYPE_CHECKING:
    from vttdata.dataset.provenance import InputFile

_VERSION = re.compile(r"v?(\d+\.\d+\.\d+)")
_TABLES = ("README.md", "recipe.yaml", "*.json", "*.parquet")

EMBEDDED = ("videos/*.parquet",)
"""Of a dataset's videos those that are rows of a table."""

ALL_VIDEOS = ("videos/*",)
"""All of a dataset's videos, whether they are files or rows of a table."""


def home() -> Path:
    """Where local builds lie, each at ``<owner>/<name>``: ``VTTDATA_HOME``, or ``~/.cache/vttdata``."""
    return Path(os.environ.get("VTTDATA_HOME") or "~/.cache/vttdata").expanduser()


def load_dataset(  # noqa: D417 - the signature is that of datasets.load_dataset
    path: str | os.PathLike[str],
    name: str | None = None,
    data_dir: str | None = None,
    data_files: Any = None,
    split: Any = None,
    cache_dir: str | None = None,
    features: Any = None,
    download_config: Any = None,
    download_mode: Any = None,
    verification_mode: Any = None,
    keep_in_memory: bool | None = None,
    save_infos: bool = False,
    revision: Any = None,
    token: bool | str | None = None,
    streaming: bool = False,
    num_proc: int | None = None,
    storage_options: dict[str, Any] | None = None,
    *,
    verify: bool = False,
    **config_kwargs: Any,
) -> Any:
    """Load a dataset as `datasets.load_dataset` does, with the same arguments and results, and one argument more.

    Args:
        path: ``owner/name``, a dataset folder, or a build folder. A name is looked for among the local builds (see
            `home`), and only then on the Hub. Anything else goes to `datasets.load_dataset` as it is.
        name: the configuration: ``clips`` (the default one), ``captions`` or ``sources``.
        revision: of a name: a local build serves only its own version (``1.0.0`` or ``v1.0.0``), any other revision
            comes from the Hub. The version that was asked for is the one that comes, offline from the reader's cache,
            which would by itself serve any.
        verify: compare every file with the dataset's manifest first (of a dataset on the Hub: those that are
            fetched for that, all but videos), and the number of rows that came with the card's.
        split, streaming and all others: as in `datasets`.

    Raises:
        VttdataError: when a name is neither a local build nor to be had from the Hub, when it has no such
            configuration, split or version, when another version came than the one asked for, or files differ from
            the manifest. The message says what there is.
    """
    arguments = {
        "name": name,
        "data_dir": data_dir,
        "data_files": data_files,
        "split": split,
        "cache_dir": cache_dir,
        "features": features,
        "download_config": download_config,
        "download_mode": download_mode,
        "verification_mode": verification_mode,
        "keep_in_memory": keep_in_memory,
        "save_infos": save_infos,
        "token": token,
        "streaming": streaming,
        "num_proc": num_proc,
        "storage_options": storage_options,
        **config_kwargs,
    }
    text = os.fspath(path)
    local = _find_local(text, revision)
    is_ours = local is not None or (is_dataset_name(text) and not Path(text).exists())
    if verify:
        return _load_verified(text, local, revision, arguments, is_ours=is_ours)
    if local is not None:
        return _read(text, str(local), arguments)
    if not is_ours:
        import datasets

        return datasets.load_dataset(text, revision=revision, **arguments)
    return _load_from_hub(text, revision, arguments)


def _load_verified(text: str, local: Path | None, revision: object, arguments: dict[str, Any], *, is_ours: bool) -> Any:
    from vttdata.load.integrity import check_rows, check_tables

    if not is_ours:
        raise VttdataError(f"'{text}' is no dataset of vttdata, so there is nothing to verify it with.")
    videos = EMBEDDED if arguments["name"] == "videos" else ()
    folder = local or _fetch(text, revision, arguments["token"], videos)
    check_tables(folder, text)
    loaded = _read(text, str(folder), arguments)
    check_rows(loaded, folder, text, arguments["split"])
    return loaded


def _load_from_hub(text: str, revision: object, arguments: dict[str, Any]) -> Any:
    from vttdata.load.integrity import cached_version, version_of
    from vttdata.load.not_found import not_found

    wanted = _plain(revision)
    failure, came = None, None
    try:
        loaded = _read(text, text, arguments | {"revision": _tag(revision)})
        came = version_of(loaded)
        if wanted is None or came in (None, wanted):
            return loaded
    except (ConnectionError, FileNotFoundError) as error:
        failure = error
    cached = cached_version(text, wanted, arguments) if wanted is not None else None
    if cached is not None:
        return cached
    if failure is not None:
        raise not_found(text, revision, failure, home(), _local_names()) from failure
    raise VttdataError(
        f"'{text}': version {wanted} was asked for, but {came} came, from a cache; go online, or ask for {came}."
    )


def find_dataset(
    name_or_path: str | os.PathLike[str], *, revision: str | None = None, videos: Sequence[str] = ()
) -> Path:
    """The folder of a dataset, wherever it is: a dataset folder, a build folder, a local build's name, or a Hub id.

    A dataset on the Hub is fetched into the Hub's own cache, without its videos unless they are asked for.

    Args:
        name_or_path: which dataset.
        revision: of a name, as in `load_dataset`.
        videos: which of the videos to fetch too: `EMBEDDED` or `ALL_VIDEOS`.

    Raises:
        VttdataError: when there is no such dataset, saying where it was looked for.
    """
    text = os.fspath(name_or_path)
    local = _find_local(text, revision)
    if local is not None:
        return local
    if (Path(text) / "build.json").is_file():
        raise VttdataError(f"'{text}' is a build without a dataset; build it again, and see its build.json for why.")
    if (Path(text) / "manifest.json").is_file():
        raise VttdataError(
            f"'{text}' holds tables without a card, which are no dataset; a recipe with 'degrade', such as "
            "msrvtt-degraded, builds one with degraded captions."
        )
    if Path(text).exists():
        raise VttdataError(
            f"'{text}' is neither a dataset folder nor a build folder: no README.md beside clips/ there."
        )
    if not is_dataset_name(text):
        raise VttdataError(f"There is no dataset at '{text}', and it is no name such as vttdata/demo.")
    return _fetch(text, revision, videos=videos)


def caption_input_files(reference: str) -> list[InputFile]:
    """Return the input files of a command: the table of captions, or the tables of clips and captions of a dataset.

    Raises:
        VttdataError: when there is neither.
    """
    from vttdata.dataset.provenance import input_file
    from vttdata.dataset.tables import read_contents

    if Path(reference).is_file():
        return [input_file("input", Path(reference))]
    folder = find_dataset(reference)
    read = (own for config, own in read_contents(folder).items() if config in {"clips", "captions"})
    return [input_file("input", path, path.relative_to(folder).as_posix()) for own in read for path in own.paths]


def local_builds() -> dict[str, Path]:
    """The dataset folders of all local builds, by name."""
    places = ((f"{path.parent.name}/{path.name}", _dataset_in(path)) for path in sorted(home().glob("*/*")))
    return {name: found for name, found in places if found is not None}


def _fetch(text: str, revision: object, token: bool | str | None = None, videos: Sequence[str] = ()) -> Path:
    """The card, manifest and tables of a dataset on the Hub, and these videos, in the Hub's own cache."""
    import huggingface_hub

    from vttdata.load.not_found import not_found

    try:
        fetched = huggingface_hub.snapshot_download(
            text,
            repo_type="dataset",
            revision=_tag(revision),
            allow_patterns=[*_TABLES, *videos],
            ignore_patterns=None if videos else list(ALL_VIDEOS),
            token=token,
        )
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        raise not_found(text, revision, error, home(), _local_names()) from error
    return Path(fetched)


def _read(text: str, place: str, arguments: dict[str, Any]) -> Any:
    """Load with the readers; what they say of a configuration or split that is not there becomes one sentence."""
    import datasets

    from vttdata.load.not_found import unknown_part

    try:
        return datasets.load_dataset(place, **arguments)
    except ValueError as error:
        told = unknown_part(text, error)
        if told is None:
            raise
        raise told from error


def _find_local(text: str, revision: object) -> Path | None:
    """The dataset folder that `text` means on this machine: by name with the right version, or by path."""
    if is_dataset_name(text):
        found = _dataset_in(home() / text)
        if found is not None and (revision is None or _plain(revision) == _version(found)):
            return found
    found = _dataset_in(Path(text))
    wanted = _plain(revision)
    if found is not None and wanted is not None and wanted != _version(found):
        raise VttdataError(f"{found}: holds version {_version(found)}, and {wanted} was asked for.")
    return found


def _dataset_in(folder: Path) -> Path | None:
    """`folder` if it is a dataset, or the dataset in it if it is a build."""
    for place in (folder / "dataset", folder):
        if (place / "README.md").is_file() and any((place / name).is_dir() for name in ("clips", "foils")):
            return place.resolve()
    return None


def _version(dataset: Path) -> str | None:
    from vttdata.dataset.front_matter import read_version

    return read_version(dataset)


def _plain(revision: object) -> str | None:
    """``1.0.0`` for the revisions ``1.0.0`` and ``v1.0.0``; None for those that name no version."""
    found = _VERSION.fullmatch(str(revision))
    return found[1] if found else None


def _tag(revision: Any) -> Any:
    """What the Hub calls a revision: ``v1.0.0`` for the version ``1.0.0``."""
    version = _plain(revision)
    return f"v{version}" if version is not None else revision


def _local_names() -> dict[str, str | None]:
    """The names of all local builds with their versions."""
    return {name: _version(path) for name, path in local_builds().items()}
