"""Find recipes and builders: those that come with the package, in a checkout or a wheel, and the user's plugins."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from vttdata.errors import VttdataError
from vttdata.plugins import discover, load_module

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(kind: str) -> Path:
    """The folder of packaged ``recipes`` or ``builders``: inside the wheel, or beside the package in a checkout."""
    installed = _PACKAGE / f"_{kind}"
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def recipes() -> dict[str, Path]:
    """Return the files of packaged recipes and of the user's by name."""
    return discover(folder("recipes"), "recipes", ".yaml")


def datasets_of_recipes() -> dict[str, str]:
    """The names of the datasets that the packaged recipes build, with the recipes' names."""
    import yaml

    found = ((yaml.safe_load(path.read_text(encoding="utf-8")), name) for name, path in recipes().items())
    return {str(content["name"]): name for content, name in found if isinstance(content, dict) and "name" in content}


def build_command(recipe: str) -> str:
    """The command that builds a packaged recipe, with what its first line says must be given."""
    first = recipes()[recipe].read_text(encoding="utf-8").partition("\n")[0].partition("[")[0]
    return " ".join(["vttdata build", recipe, *re.findall(r"--set \S+=[A-Z]+\b", first)])


def verdicts(recipe: str) -> Path:
    """The packaged verdicts on the foils of a packaged recipe.

    Raises:
        VttdataError: when there are none.
    """
    own = folder("recipes") / f"{recipe}.csv"
    if recipe not in recipes() or not own.is_file():
        raise VttdataError(f"No verdicts on foils are packaged for a recipe '{recipe[:80]}'.")
    return own


def builders() -> dict[str, Path]:
    """Return the files of packaged builders and of the user's by name."""
    return discover(folder("builders"), "builders")


def load_builder(name: str) -> ModuleType:
    """Import a builder by its name; hyphens count as underscores.

    Raises:
        VttdataError: when there is no such builder, or its file cannot be imported.
    """
    known = builders()
    if name.replace("-", "_") not in known:
        raise VttdataError(f"No builder '{name[:80]}'; there are {', '.join(known)}.")
    return load_module(known[name.replace("-", "_")], "builder")
