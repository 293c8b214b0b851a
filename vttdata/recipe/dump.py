"""Write a checked recipe out in full, as a file that builds the same dataset on any machine.

Every default is filled in and no secret is. Paths are replaced by requests: users of the file name their own with
``--set``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from vttdata.files.addresses import without_secrets
from vttdata.files.yaml_writer import format_yaml
from vttdata.recipe.load import BaseRecipe
from vttdata.recipe.paths import given_paths

WANTED = "give it with --set "
_CARD_TEXTS = ("description", "citation")


def recipe_text(recipe: BaseRecipe) -> str:
    """Return a recipe as YAML that `load_recipe` accepts once the paths are given; the same on every machine."""
    settings = recipe.public()
    requests = {}
    for key, kind, holder, name in given_paths(settings, recipe.paths):
        requests[key] = holder[name] = wanted_path(key, kind)
    _hide_paths(settings, "", requests)
    settings["builder"] = PurePath(settings["builder"]).name
    given = "".join(f" {text.removeprefix('give it with ')}" for text in requests.values())
    head = (
        f"# {recipe.name} {recipe.version} with every setting written out, to be built again:\n"
        f"# vttdata build recipe.yaml{given}\n"
    )
    return head + format_yaml(settings, width=100)


def _hide_paths(value: Any, section: str, requests: dict[str, str]) -> None:
    """Replace any other text that is a path of this machine, or an address with a secret in it, by a request."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in list(items):
        key = f"{section}.{name}" if section else str(name)
        is_path = isinstance(inner, str) and os.path.isabs(inner) and os.path.exists(inner)
        # Texts for the card are the author's, and hold addresses of papers.
        if is_path or (isinstance(inner, str) and not key.startswith(_CARD_TEXTS) and inner != without_secrets(inner)):
            requests[key] = value[name] = wanted_path(key)
        else:
            _hide_paths(inner, key, requests)


def wanted_path(key: str, kind: str = "path") -> str:
    """Return the text that replaces a path of this machine in a dumped recipe."""
    return f"{WANTED}{key}={kind.upper()}"


def wanted_paths(raw: Mapping[str, Any]) -> list[str]:
    """Return the arguments of ``--set`` without which a recipe cannot be loaded, such as ``annotations=FOLDER``."""
    return [text.removeprefix(WANTED) for _, text in nested_texts(raw) if text.startswith(WANTED)]


def nested_texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in nested values with its dotted key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping | list):
        for name, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
            # A dot in a name must not look like a section.
            step = str(name).replace(".", "_")
            yield from nested_texts(inner, f"{key}.{step}" if key else step)
