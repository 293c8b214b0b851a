"""Says what there is when a dataset, a configuration, a split or a version is not there: one sentence, with a guess."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.recipe.packaged import build_command, datasets_of_recipes

_UNKNOWN = (
    ("configuration", re.compile(r"BuilderConfig '(.+?)' not found\. Available: \[(.*)\]", re.DOTALL)),
    ("split", re.compile(r'Unknown split "(.+?)"\. Should be one of \[(.*)\]', re.DOTALL)),
    ("split", re.compile(r"Bad split: (.+?)\. Available splits: \[(.*)\]", re.DOTALL)),
    (
        "configuration",
        re.compile(r"Couldn't find cache for \S+ for config '(.+?)'\nAvailable configs in the cache: \[(.*)\]"),
    ),
)
"""How the readers say that something is not there, and what is."""

_USUAL = {"val": "validation", "valid": "validation", "dev": "validation", "training": "train", "eval": "test"}


def unknown_part(text: str, error: ValueError) -> VttdataError | None:
    """What to say of a configuration or split that dataset `text` does not have; None for other errors."""
    for kind, pattern in _UNKNOWN:
        found = pattern.search(str(error))
        if found:
            known = re.findall(r"'([^']+)'", found[2])
            where = " in the readers' cache, and the Hub may not be asked" if "cache" in pattern.pattern else ""
            return VttdataError(
                f"'{text}' has no {kind} '{found[1]}'{where}; there is {', '.join(known)}.{guess(found[1], known)}"
            )
    return None


def not_found(
    text: str, revision: object, error: Exception, home: Path, local: Mapping[str, str | None]
) -> VttdataError:
    """What to say of a dataset that is neither a local build nor to be had from the Hub.

    Args:
        text: its name.
        revision: what was asked for, or None.
        error: what the Hub's client said.
        home: where local builds lie.
        local: the names of the local builds, with their versions.
    """
    on_hub = _versions_on_hub(text) if revision is not None else []
    if on_hub:
        own = f"the local build has {local[text]}, " if local.get(text) else ""
        asked = str(revision)
        return VttdataError(
            f"There is no dataset '{text}' in version {asked}: {own}the Hub has {', '.join(on_hub)}."
            f"{guess(asked.removeprefix('v'), on_hub)}"
        )
    wanted = f" in version {revision}" if revision is not None else ""
    recipes = datasets_of_recipes()
    recipe = recipes.get(text)
    hint = f" The recipe '{recipe}' builds it: {build_command(recipe)}." if recipe else guess(text, [*local, *recipes])
    here = f"the local build is {local[text]}" if local.get(text) else f"no local build at {home / text} (VTTDATA_HOME)"
    there = f" Local builds: {', '.join(_told(local))}." if local else ""
    return VttdataError(
        f"There is no dataset '{text}'{wanted}: {here}, "
        f"and the Hub does not have it or cannot be reached ({str(error).splitlines()[0].rstrip('.')}).{hint}{there}"
    )


def guess(asked: str, known: Iterable[str]) -> str:
    """A question whether something near was meant, with a space before it; empty where nothing is near."""
    known = list(known)
    usual = _USUAL.get(asked)
    near = [usual] if usual in known else difflib.get_close_matches(asked, known, n=1, cutoff=0.6)
    return f" Did you mean '{near[0]}'?" if near else ""


def _told(local: Mapping[str, str | None]) -> list[str]:
    return [f"{name} {version}" if version else name for name, version in local.items()]


def _versions_on_hub(text: str) -> list[str]:
    """The versions that the Hub has; none where it has no such dataset or does not answer."""
    import huggingface_hub
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    try:
        refs = huggingface_hub.HfApi().list_repo_refs(text, repo_type="dataset")
    except (HTTPError, OSError, ValueError):
        return []
    tags = (re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", ref.name) for ref in refs.tags)
    return [".".join(map(str, own)) for own in sorted(tuple(map(int, tag.groups())) for tag in tags if tag)]
