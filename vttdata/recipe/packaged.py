"""Finds the recipes and builders that come with the package, in a checkout and in an installed wheel alike."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

from vttdata.errors import VttdataError

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(kind: str) -> Path:
    """The folder of packaged ``recipes`` or ``builders``: inside the wheel, or beside the package in a checkout."""
    installed = _PACKAGE / f"_{kind}"
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def recipes() -> dict[str, Path]:
    """The packaged recipes by name, sorted."""
    return {path.stem: path for path in sorted(folder("recipes").glob("*.yaml"), key=lambda path: path.stem)}


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
    """The packaged builders by name, sorted."""
    return {path.stem: path for path in sorted(folder("builders").glob("[a-z]*.py"))}


def load_builder(path: Path) -> ModuleType:
    """Import a builder from its file, under a name that hides no other module."""
    name = f"vttdata_builder_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
