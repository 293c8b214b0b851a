"""Build degraded captions of a table or a dataset, as controls for Direct Assessment (Graham et al., PLOS ONE 2018).

The result is two tables, ``degraded.parquet`` and ``rejected.parquet``, and no dataset: benchmarks with a configuration
``degraded`` are built from official files with the key ``degrade`` of their recipes.
"""

from __future__ import annotations

from typing import ClassVar

import pydantic

from vttdata.compose.degraded_tables import DegradedCounts, build_degraded
from vttdata.generate import DegradeSettings
from vttdata.pipeline.build_folder import Build
from vttdata.recipe.load import BaseRecipe, Paths


class Recipe(BaseRecipe):
    """Recipe for degraded captions of a table or a dataset.

    Fields:
        input: a table with the columns `video_id` and `caption`, or a dataset by folder or name.
        columns: name of a column of the table -> its name there.
        degrade: how captions are degraded.
    """

    paths: ClassVar[Paths] = {"input": "input"}

    input: str = pydantic.Field(description="a table of captions or a dataset, such as --set input=captions.csv")
    columns: dict[str, str] = pydantic.Field(default_factory=dict)
    degrade: DegradeSettings = DegradeSettings()


def build(recipe: Recipe, run: Build) -> DegradedCounts:
    """Bring the build folder up to date with the recipe; the tables are replaced in one step at the end."""
    return build_degraded(recipe.input, recipe.columns, recipe.degrade, run)
