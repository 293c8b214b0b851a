"""Explain in one sentence that a dataset, configuration, split or version does not exist, and list what does.

The Hub is asked for its versions only when a version is missing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.recipe.packaged import build_command, datasets_of_recipes

# Messages of `datasets` about a missing configuration or split, each with its name and a list of those that exist.
_MESSAGES = (
    ("configuration", "", re.compile(r"BuilderConfig '(.+?)' not found\. Available: \[(.*)\]", re.DOTALL)),
    ("split", "", re.compile(r'Unknown split "(.+?)"\. Should be one of \[(.*)\]', re.DOTALL)),
    ("split", "", re.compile(r"Bad split: (.+?)\. Available splits: \[(.*)\]", re.DOTALL)),
    (
        "configuration",
        " in the cache of datasets, and the Hub may not be asked",
        re.compile(r"Couldn't find cache for \S+ for config '(.+?)'\nAvailable configs in the cache: \[(.*)\]"),
    ),
)

# Usual names of splits in other datasets.
_SPLIT_NAMES = {"val": "validation", "valid": "validation", "dev": "validation", "training": "train", "eval": "test"}


def explain_unknown_part(name: str, error: ValueError) -> VttdataError | None:
    """Return the error for a configuration or split that a dataset does not have, or None for other errors.

    Args:
        name: Name of the dataset.
        error: Error of `datasets`.
    """
    for part, where, pattern in _MESSAGES:
        match = pattern.search(str(error))
        if match:
            known = re.findall(r"'([^']+)'", match[2])
            return VttdataError(
                f"'{name}' has no {part} '{match[1]}'{where}; there is {', '.join(known)}.{suggest(match[1], known)}"
            )
    return None


def explain_not_found(
    name: str, revision: object, error: Exception, builds: Path, local: Mapping[str, str | None]
) -> VttdataError:
    """Return the error for a dataset that is neither a local build nor available from the Hub.

    Args:
        name: Name of the dataset.
        revision: Requested revision, or None.
        error: Error of the Hub's client.
        builds: Folder of local builds.
        local: Name of each local build -> its version.
    """
    on_hub = _versions_on_hub(name) if revision is not None else []
    if on_hub:
        build = f"the local build has {local[name]}, " if local.get(name) else ""
        return VttdataError(
            f"There is no dataset '{name}' in version {revision}: {build}the Hub has {', '.join(on_hub)}."
            f"{suggest(str(revision).removeprefix('v'), on_hub)}"
        )
    requested = f" in version {revision}" if revision is not None else ""
    recipes = datasets_of_recipes()
    recipe = recipes.get(name)
    hint = (
        f" The recipe '{recipe}' builds it: {build_command(recipe)}." if recipe else suggest(name, [*local, *recipes])
    )
    build = (
        f"the local build is {local[name]}" if local.get(name) else f"no local build at {builds / name} (VTTDATA_HOME)"
    )
    names = ", ".join(f"{own} {version}" if version else own for own, version in local.items())
    return VttdataError(
        f"There is no dataset '{name}'{requested}: {build}, and the Hub does not have it or cannot be reached "
        f"({str(error).splitlines()[0].rstrip('.')}).{hint}{f' Local builds: {names}.' if names else ''}"
    )


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
