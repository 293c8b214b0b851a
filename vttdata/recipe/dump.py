"""Write a checked recipe out in full, as a file that builds the same dataset on any machine.

Every default is filled in and no secret is. Paths are replaced by requests: users of the file name their own with
``--set``.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from vttdata.errors import VttdataError
from vttdata.files.yaml_writer import format_yaml
from vttdata.recipe import packaged
from vttdata.recipe.load import BaseRecipe, Loaded, check_recipe
from vttdata.recipe.paths import given_paths
from vttdata.recipe.renamed import rename_builder, rename_key

_WANTED = "give it with --set "
_MAX_SHOWN = 80


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
    """Replace any other text that is a path of this machine, such as a language model's, by a request."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in list(items):
        key = f"{section}.{name}" if section else str(name)
        if isinstance(inner, str) and os.path.isabs(inner) and os.path.exists(inner):
            requests[key] = value[name] = wanted_path(key)
        else:
            _hide_paths(inner, key, requests)


def wanted_path(key: str, kind: str = "path") -> str:
    """Return the text that replaces a path of this machine in a dumped recipe."""
    return f"{_WANTED}{key}={kind.upper()}"


def wanted_paths(raw: dict[str, Any]) -> list[str]:
    """Return the arguments of ``--set`` without which a recipe cannot be loaded, such as ``annotations=FOLDER``."""
    return [text.removeprefix(_WANTED) for text in _texts(raw) if text.startswith(_WANTED)]


def load_foreign_recipe(raw: dict[str, Any], file: Path, overrides: Sequence[str]) -> Loaded:
    """Load a recipe from an untrusted source: it runs no code of its own and reads only what `overrides` name.

    Args:
        raw: the settings of the recipe.
        file: where they were read, for errors.
        overrides: as for `load_recipe`.

    Raises:
        VttdataError: when it names a builder file, or a file or folder that `overrides` do not give.
    """
    raw = copy.deepcopy(raw)
    rename_builder(raw)
    builder = raw.get("builder")
    if not isinstance(builder, str) or builder not in packaged.builders():
        raise VttdataError(
            f"{file}: was built by {ascii(builder)[:_MAX_SHOWN]}, which is not packaged and so is not run; "
            "build the recipe beside that builder yourself, and compare with vttdata diff."
        )
    renamed = packaged.load_builder(builder).Recipe.renamed
    given = {rename_key(text.partition("=")[0], renamed) for text in overrides}
    missing = [text for text in wanted_paths(raw) if not _covers(given, rename_key(text.partition("=")[0], renamed))]
    if missing:
        wanted = " ".join(f"--set {text}" for text in missing)
        raise VttdataError(f"{file}: needs what the dataset was made from: {wanted}.")
    loaded = check_recipe(raw, file, overrides)
    for key, *_ in given_paths(loaded.recipe.public(), loaded.recipe.paths):
        if not _covers(given, key):
            raise VttdataError(
                f"{file}: {key}: names a path of another machine; say where it is with --set {key}=PATH."
            )
    settings = loaded.recipe.model_dump(mode="json")
    for key in sorted(loaded.recipe.secrets):
        section, _, name = key.rpartition(".")
        if settings[section][name] is not None and key not in given:
            raise VttdataError(
                f"{file}: {key}: is set, and that is for you to decide: take it out, or give it with --set."
            )
    return loaded


def _covers(given: Iterable[str], key: str) -> bool:
    """Return True if one of these dotted keys is `key` or a section of it."""
    return any(key == name or key.startswith(f"{name}.") for name in given)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
