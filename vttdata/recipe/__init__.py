"""Recipes: YAML files that say what to build, checked before any work starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vttdata.recipe.load import BaseRecipe, load_recipe

__all__ = ["BaseRecipe", "load_recipe"]


def __getattr__(name: str) -> Any:
    """Import on first use, since checking a recipe takes pydantic, which loading a dataset does not need."""
    if name in __all__:
        from vttdata.recipe import load

        return getattr(load, name)
    raise AttributeError(f"module 'vttdata.recipe' has no attribute '{name}'")
