"""Sets of questions by the names of their recipes, read without a build."""

from __future__ import annotations

from pathlib import Path

from vttdata.annotations import Annotations
from vttdata.recipe.load import load_recipe


def read_set(name: str, folder: Path) -> Annotations:
    loaded = load_recipe(name, [f"annotations={folder}"])
    found = loaded.builder.read(folder, loaded.recipe.fields)  # type: ignore[attr-defined]
    assert isinstance(found, Annotations)
    return found
