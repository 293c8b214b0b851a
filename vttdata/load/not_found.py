"""Explain in one sentence that a dataset, configuration, split or version does not exist, and list what does.

The Hub is asked for its versions only when a version is missing.
"""

from __future__ import annotations

import difflib
import importlib.util
import re
import traceback
from collections.abc import Iterable

from vttdata.errors import VttdataError
from vttdata.load.local_builds import BuildRegistry, builds_folder
from vttdata.recipe.packaged import build_command, datasets_of_recipes, recipes

# Usual names of splits in other datasets.
_SPLIT_NAMES = {"val": "validation", "valid": "validation", "dev": "validation", "training": "train", "eval": "test"}


class UnknownPartError(VttdataError):
    """Configuration or split that a dataset does not have."""


def explain_unknown_part(name: str, error: ValueError, config: object, split: object) -> UnknownPartError | None:
    """Return the error for the configuration or a split that a dataset lacks; None for other errors of `datasets`.

    Among the errors of `datasets`, which have no class of their own for this, it is known by what it quotes: the name
    that was asked for, and after it a list of names in which that one is not.
    """
    message, _, listed = str(error).rpartition("[")
    known = re.findall(r"'([^']+)'", listed.partition("]")[0])
    names = [("configuration", str(config))] if config is not None else []
    names += [("split", split_name) for split_name in re.findall(r"\w+", str(split))] if split is not None else []
    for part, requested in names:
        if known and requested not in known and re.search(rf"(?<!\w){re.escape(requested)}(?!\w)", message):
            modules = (frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__))
            is_cached = any(module.startswith("datasets.packaged_modules.cache") for module in modules)
            where = " in the cache of datasets, and the Hub may not be asked" if is_cached else ""
            return UnknownPartError(
                f"'{name}' has no {part} '{requested}'{where}; there is {', '.join(known)}.{suggest(requested, known)}"
            )
    return None


def explain_not_found(name: str, revision: object, error: Exception) -> VttdataError:
    """Return the error for a dataset that is neither built here nor on the Hub, whose client raised `error`."""
    from vttdata.hub_client import explain_timeout

    if revision is not None and (missing := explain_missing_version(name, revision)):
        return missing
    local = _local_versions()
    requested = f" in version {revision}" if revision is not None else ""
    by_dataset = datasets_of_recipes()
    recipe = by_dataset.get(name)
    extra = "" if importlib.util.find_spec("pydantic") else "pip install 'vttdata[build]', then "
    hint = (
        f" The recipe '{recipe}' builds it: {extra}{build_command(recipe)}."
        if recipe
        else suggest(name, [*local, *by_dataset])
    )
    build = (
        f"the local build is {local[name]}"
        if local.get(name)
        else f"no local build at {builds_folder() / name} (VTTDATA_HOME)"
    )
    build += "".join(f", and {gone}" for gone in BuildRegistry().missing() if gone.name == name)
    timeout = explain_timeout(error)
    reason = str(error).splitlines()[0].rstrip(".")
    hub = timeout or f"the Hub does not have it or cannot be reached ({reason})"
    names = ", ".join(f"{name} {version}" if version else name for name, version in local.items())
    return VttdataError(
        f"There is no dataset '{name}'{requested}: {build}, and {hub}.{hint}"
        f"{f' Local builds: {names}.' if names else ''}"
    )


def explain_missing_version(name: str, revision: object) -> VttdataError | None:
    """Return the error for a version that the Hub does not have; None if it has that one, or cannot be asked."""
    on_hub = _versions_on_hub(name)
    requested = str(revision).removeprefix("v")
    if not on_hub or requested in on_hub:
        return None
    local = _local_versions().get(name)
    build = f"the local build has {local}, " if local else ""
    return VttdataError(
        f"There is no dataset '{name}' in version {revision}: {build}the Hub has {', '.join(on_hub)}."
        f"{suggest(requested, on_hub)}"
    )


def explain_recipe_name(recipe: str) -> VttdataError:
    """Return the error for the name of a packaged recipe where that of a dataset is expected."""
    (dataset,) = (dataset for dataset, name in datasets_of_recipes().items() if name == recipe)
    return VttdataError(
        f"There is no dataset '{recipe}' on this machine: '{build_command(recipe)}' builds it as '{dataset}'."
    )


def explain_bare_name(name: str) -> VttdataError:
    """Return the error for what is neither a path nor ``owner/name``."""
    if name in recipes():
        return explain_recipe_name(name)
    known = {build.name.partition("/")[2]: build.name for build in BuildRegistry().builds()}
    hint = suggest(name, known)
    hint += "".join(f" {gone}." for gone in BuildRegistry().missing() if gone.name.partition("/")[2] == name)
    return VttdataError(f"There is no dataset at '{name}', and it is not a name such as vttdata/demo.{hint}")


def _local_versions() -> dict[str, str | None]:
    """Return the versions of all local builds by name, None for a card that states none."""
    from vttdata.dataset.front_matter import read_version

    versions: dict[str, str | None] = {}
    for build in BuildRegistry().builds():
        if build.dataset is not None and build.name not in versions:
            try:
                versions[build.name] = read_version(build.dataset)
            except VttdataError:
                versions[build.name] = None
    return versions


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the question if a similar known name was meant, with a space before it, or an empty text."""
    known = list(known)
    usual = _SPLIT_NAMES.get(name)
    similar = [usual] if usual in known else difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" Did you mean '{similar[0]}'?" if similar else ""


def _versions_on_hub(name: str) -> list[str]:
    """Return the versions that the Hub has, or nothing if it has no such dataset or does not answer."""
    import huggingface_hub
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    try:
        refs = huggingface_hub.HfApi().list_repo_refs(name, repo_type="dataset")
    except (HTTPError, OSError, ValueError):
        return []
    tags = (re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", ref.name) for ref in refs.tags)
    return [".".join(map(str, version)) for version in sorted(tuple(map(int, tag.groups())) for tag in tags if tag)]
