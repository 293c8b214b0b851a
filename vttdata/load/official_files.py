"""Fetch the official files behind a recipe, and put them together as the folder of annotations that it reads.

Before the first download a sentence says what it is, where it comes from, how large it is and under which terms; where
the terms ask for consent, nothing is downloaded without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from vttdata.errors import DescribeOSErrors, VttdataError, list_choices
from vttdata.files.addresses import without_secrets
from vttdata.files.downloads import DownloadStore, OriginFile, UnreachableError
from vttdata.files.output_file import link_file, make_output_folder, write_whole
from vttdata.files.strict_yaml import read_yaml
from vttdata.load.local_builds import builds_folder
from vttdata.partial_file import partial_file
from vttdata.recipe import packaged
from vttdata.recipe.load import Loaded
from vttdata.recipe.origins import Origins, all_origins, find_origins, read_origins

ACCEPT_VARIABLE = "VTTDATA_ACCEPT_TERMS"

# Settings in whose presence a recipe needs no official files.
_OWN_INPUTS = ("annotations", "input")


def origins_named(name: str) -> Origins:
    """Return the origins of a recipe, or of a benchmark by the name of its folder in a mirror.

    Raises:
        VttdataError: when none are known.
    """
    known = all_origins()
    origins = read_origins(known[name]) if name in known else find_origins(name)
    if origins is None:
        raise VttdataError(
            f"It is not known where the files of '{name[:80]}' are; known are {list_choices(name, known)}."
        )
    return origins


def accept_terms(origins: Origins) -> None:
    """Note that the user agrees to the terms as they are stated now."""
    acceptance = _acceptance(origins)
    make_output_folder(acceptance.parent)
    with DescribeOSErrors(f"{acceptance}: cannot be written"):
        write_whole(acceptance, f"{origins.terms}\n{origins.home}\n")


def fetch_files(
    origins: Origins,
    note: Callable[[str], None],
    files: Iterable[OriginFile] | None = None,
    *,
    offline: bool | None = None,
) -> dict[OriginFile, Path]:
    """Return the path of each official file, or of these `files`, after downloading those that are missing.

    `offline` is as of `vttdata.files.downloads.DownloadStore`.

    Raises:
        VttdataError: when the terms are not accepted, or a file cannot be had. Files that the recipes can do without
            are left out with a note where nobody could be asked for them.
        HaltError: when the disk is full or cannot be written.
    """
    store = DownloadStore(_downloads(), note=note, offline=offline)
    files = origins.files if files is None else list(files)
    missing = [file for file in files if store.find(file) is None]
    if missing:
        _ask_for_consent(origins)
        size = sum(file.bytes or 0 for file in missing) / 1e6
        unknown = sum(file.bytes is None for file in missing)
        count = "1 file" if len(missing) == 1 else f"{len(missing)} files"
        more = f" and {unknown} of unknown size" if unknown else ""
        hosts = dict.fromkeys(urllib.parse.urlsplit(address).netloc for file in missing for address in file.addresses)
        places = [without_secrets(store.mirror)] if store.mirror else []
        places += [] if store.offline else [", ".join(hosts)]
        if places:
            note(
                f"{origins.benchmark}: fetching {count}, {size:.1f} MB{more}, from {' or '.join(places)}; terms: "
                f"{origins.terms} ({origins.home})."
            )
    paths = store.fetch(file for file in files if not file.is_optional)
    left_out = []
    for file in files:
        if file.is_optional:
            try:
                paths |= store.fetch([file])
            except UnreachableError:
                left_out.append(file.name)
    if left_out:
        note(
            f"{origins.benchmark}: without {', '.join(left_out)}, which could not be asked for: what depends on "
            "them is left out now, and added when it is built again with a network."
        )
    return {file: paths[file] for file in files if file in paths}


def official_settings(
    recipe: str, given: Sequence[str], note: Callable[[str], None], load: Callable[[Sequence[str]], Loaded]
) -> list[str]:
    """Return the settings ``key=value`` with which a packaged recipe reads its official files, which are fetched.

    Nothing is returned, and nothing fetched, for a recipe without known origins, or if the settings `given` or the
    recipe name other input. `load` checks the recipe with settings.

    Raises:
        VttdataError: as `fetch_files`; before anything is fetched, when a setting is refused or the builder needs a
            library that is not installed.
    """
    keys = {text.partition("=")[0] for text in given}
    raw = read_yaml(packaged.recipes()[recipe])
    origins = find_origins(recipe)
    if origins is None or not origins.places or any(key in keys or key in raw for key in _OWN_INPUTS):
        return []
    # The folder that the settings will name comes last; until then another one is in its place.
    _downloads().mkdir(parents=True, exist_ok=True)
    load([f"annotations={_downloads()}", *given])
    paths = fetch_files(origins, note)
    folder = put_together(origins, paths)
    use = origins.recipes[recipe]
    settings = [f"annotations={folder}"]
    names = {file.name for file in paths}
    protocols = {name: splits for name, splits in use.protocols.items() if names.issuperset(splits.values())}
    for protocol, splits in protocols.items():
        settings += [f"protocols.{protocol}.{split}={folder / file}" for split, file in splits.items()]
    if use.allow_leaks is not None and protocols:
        settings.append(f"allow_leaks={json.dumps(use.allow_leaks)}")
    return settings


def put_together(origins: Origins, paths: dict[OriginFile, Path]) -> Path:
    """Return a folder in which the files have their names; links to the stored files, or copies."""
    content = "".join(f"{file.name} {path.name}\n" for file, path in paths.items())
    key = hashlib.sha256(content.encode()).hexdigest()[:12]
    folder = _downloads() / "annotations" / f"{origins.benchmark}-{key}"
    copy_files(paths, folder)
    return folder


def copy_files(paths: dict[OriginFile, Path], folder: Path) -> None:
    """Give the files their names in a folder; those that are there already with the same content are left alone.

    Raises:
        VttdataError: when the folder cannot be written.
    """
    with DescribeOSErrors(f"{folder}: cannot be written"):
        for file, path in paths.items():
            target = folder / file.name
            if target.is_file() and file.digest_of(target) == file.digest:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with partial_file(target) as partial:
                link_file(path, partial)


def _downloads() -> Path:
    return builds_folder() / "downloads"


def _acceptance(origins: Origins) -> Path:
    """Return the file that says that the user has accepted the terms as they are stated now."""
    key = hashlib.sha256(origins.terms.encode()).hexdigest()[:12]
    return _downloads() / "accepted" / f"{origins.benchmark}-{key}.txt"


def _ask_for_consent(origins: Origins) -> None:
    """Raise VttdataError unless the user agrees to terms that ask for it, now or earlier."""
    accepted = {name.strip() for name in os.environ.get(ACCEPT_VARIABLE, "").split(",")}
    if not origins.consent or _acceptance(origins).is_file() or {origins.benchmark, "all"} & accepted:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        question = f"{origins.benchmark}: {origins.terms} ({origins.home}). Do you accept these terms? [y/N] "
        print(question, end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            accept_terms(origins)
            return
    raise VttdataError(
        f"{origins.benchmark}: its terms ask for your consent: {origins.terms} ({origins.home}). Accept them with "
        f"'vttdata fetch {origins.benchmark} --accept-terms', or with {ACCEPT_VARIABLE}={origins.benchmark} in the "
        "environment."
    )
