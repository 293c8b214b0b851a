"""Loads a dataset by name: a local build first, then the Hub; or from a folder.

Names of files in our datasets carry a digest of their content, so that no cache of the readers returns the rows of
an older build. This module adds what `datasets` does not do: it finds local builds, and checks the version.
"""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.records import is_dataset_name

_VERSION = re.compile(r"v?(\d+\.\d+\.\d+)")
_TABLES = ("README.md", "recipe.yaml", "*.json", "*.parquet")


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
    **config_kwargs: Any,
) -> Any:
    """Load a dataset as `datasets.load_dataset` does, with the same arguments and results.

    Args:
        path: ``owner/name``, a dataset folder, or a build folder. A name is looked for among the local builds (see
            `home`), then on the Hub. Anything else goes to `datasets.load_dataset` as it is.
        name: the configuration: ``clips`` (the default one), ``captions`` or ``sources``.
        revision: of a name: a local build serves only its own version (``1.0.0`` or ``v1.0.0``), any other revision
            comes from the Hub. What comes is checked against a version that was asked for, since offline the reader's
            cache would serve any.
        split, streaming and all others: as in `datasets`.

    Raises:
        VttdataError: when a name is neither a local build nor to be had from the Hub, or another version came than the
            one asked for.
    """
    import datasets

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
    if local is not None:
        return datasets.load_dataset(str(local), **arguments)
    if not is_dataset_name(text) or Path(text).exists():
        return datasets.load_dataset(text, revision=revision, **arguments)
    try:
        loaded = datasets.load_dataset(text, revision=revision, **arguments)
    except (ConnectionError, FileNotFoundError) as error:
        raise VttdataError(_not_found(text, revision, error)) from error
    _check_version(text, loaded, revision)
    return loaded


def find_dataset(name_or_path: str | os.PathLike[str], *, revision: str | None = None) -> Path:
    """The folder of a dataset, wherever it is: a dataset folder, a build folder, a local build's name, or a Hub id.

    A dataset on the Hub is fetched into the Hub's own cache, without its media.

    Raises:
        VttdataError: when there is no such dataset, saying where it was looked for.
    """
    text = os.fspath(name_or_path)
    local = _find_local(text, revision)
    if local is not None:
        return local
    if (Path(text) / "build.json").is_file():
        raise VttdataError(f"'{text}' is a build without a dataset; build it again, and see its build.json for why.")
    if Path(text).exists():
        raise VttdataError(
            f"'{text}' is neither a dataset folder nor a build folder: no README.md beside clips/ there."
        )
    if not is_dataset_name(text):
        raise VttdataError(f"There is no dataset at '{text}', and it is no name such as vttdata/demo.")
    import huggingface_hub

    try:
        fetched = huggingface_hub.snapshot_download(
            text, repo_type="dataset", revision=revision, allow_patterns=list(_TABLES)
        )
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        raise VttdataError(_not_found(text, revision, error)) from error
    return Path(fetched)


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
    from vttdata.publish.front_matter import read_version

    return read_version(dataset)


def _plain(revision: object) -> str | None:
    """``1.0.0`` for the revisions ``1.0.0`` and ``v1.0.0``; None for those that name no version."""
    found = _VERSION.fullmatch(str(revision))
    return found[1] if found else None


def _check_version(text: str, loaded: Any, revision: object) -> None:
    wanted = _plain(revision)
    first = next(iter(loaded.values())) if isinstance(loaded, dict) else loaded
    came = str(first.info.version) if first.info.version is not None else "0.0.0"
    if wanted is not None and came not in {wanted, "0.0.0"}:
        raise VttdataError(
            f"'{text}': version {wanted} was asked for, but {came} came, from a cache; go online, or ask for {came}."
        )


def _not_found(text: str, revision: object, error: Exception) -> str:
    known = _local_names()
    wanted = f" in version {revision}" if revision is not None else ""
    near = difflib.get_close_matches(text, known, n=1, cutoff=0.6)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return (
        f"There is no dataset '{text}'{wanted}: no local build at {home() / text} (VTTDATA_HOME), "
        f"and the Hub does not have it or cannot be reached ({str(error).splitlines()[0]}).{hint}"
    )


def _local_names() -> list[str]:
    """The names of all local builds."""
    return sorted(f"{path.parent.name}/{path.name}" for path in home().glob("*/*") if _dataset_in(path) is not None)
