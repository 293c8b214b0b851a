"""Find recipes, protocols and builders: those of the package, in a checkout or a wheel, and the user's plugins."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from vttdata.errors import VttdataError, list_choices
from vttdata.files.strict_yaml import read_yaml
from vttdata.plugins import discover, load_module

_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class RecipeFile:
    """Recipe by its file, and by its name if it is packaged or in the user's folder of plugins."""

    file: Path
    name: str | None = None


def folder(kind: str) -> Path:
    """Return the folder of packaged ``recipes`` or ``builders``: in the wheel, or beside the package in a checkout."""
    installed = _PACKAGE / f"_{kind}"
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def recipes() -> dict[str, Path]:
    """Return the files of packaged recipes and of the user's by name."""
    return discover(folder("recipes"), "recipes", ".yaml")


def recipe_file(reference: str, builds: Iterable[str] = ()) -> RecipeFile:
    """Return the recipe that is known by a name, else the one at a path; an error may suggest one of some builds.

    Raises:
        VttdataError: when there is neither.
    """
    known = recipes()
    if reference in known:
        return RecipeFile(known[reference], reference)
    if not Path(reference).is_file():
        if near := difflib.get_close_matches(reference, list(builds), n=1):
            raise VttdataError(f"No recipe '{reference}': no such file or build; did you mean your build '{near[0]}'?")
        options = list_choices(reference, sorted(known))
        raise VttdataError(f"No recipe '{reference}': no such file or build, and the known recipes are {options}.")
    return RecipeFile(Path(reference))


def protocols() -> dict[str, Path]:
    """Return the files of packaged protocols of the literature, and of the user's, by name."""
    return discover(folder("recipes") / "protocols", "protocols", ".yaml")


def datasets_of_recipes() -> dict[str, str]:
    """Return the recipes' names by the names of the datasets that they build."""
    contents = {name: read_yaml(path) for name, path in recipes().items()}
    return {str(raw["name"]): name for name, raw in contents.items() if "name" in raw}


def reported_protocols(dataset: str, task: str) -> dict[str, str]:
    """Return the protocols by which papers report a task on a dataset -> what they call the test set."""
    recipe = datasets_of_recipes().get(dataset)
    contents = {name: read_yaml(path) for name, path in protocols().items()}
    return {
        name: str(raw["reported"][task])
        for name, raw in contents.items()
        if raw.get("benchmark") == recipe and task in raw.get("reported", {})
    }


def summary(recipe: str) -> str:
    """Return the first line of a recipe: what it builds, and the settings that name files of the user."""
    return recipes()[recipe].read_text(encoding="utf-8").partition("\n")[0].removeprefix("#").strip()


def required_settings(recipe: str) -> list[str]:
    """Return the settings that the first line of a recipe names as required, such as ``annotations=FOLDER``."""
    return re.findall(r'--set ("[^"]+"|\S+)', summary(recipe).partition("[")[0])


def build_command(recipe: str) -> str:
    """Return the command that builds a recipe, with the settings that it requires."""
    return " ".join(["vttdata build", recipe, *(f"--set {setting}" for setting in required_settings(recipe))])


def verdicts(recipe: str) -> Path:
    """Return the file of verdicts on the foils of a recipe, which is beside the recipe.

    Raises:
        VttdataError: when there is none.
    """
    known = recipes()
    if recipe not in known or not known[recipe].with_suffix(".csv").is_file():
        raise VttdataError(f"No verdicts on foils are packaged for a recipe '{recipe[:80]}'.")
    return known[recipe].with_suffix(".csv")


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
