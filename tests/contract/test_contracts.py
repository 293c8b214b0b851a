"""Contracts of every builder, every recipe section, every record and every stage."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from pathlib import Path

import datasets
import pytest

import vttdata.pipeline.stages
from vttdata import records
from vttdata.pipeline.stage import Stage
from vttdata.recipe import packaged
from vttdata.recipe.load import BaseRecipe

ROOT = Path(__file__).resolve().parents[2]
RECORDS = [
    records.Candidate,
    records.Source,
    records.Shot,
    records.Clip,
    records.Caption,
    records.Concepts,
    records.Degraded,
    records.Judgment,
    records.CaptionScore,
]


def subclasses(parent: type) -> set[type]:
    return {parent}.union(*map(subclasses, parent.__subclasses__()))


def stages() -> list[type[Stage] | Stage]:
    """Return the classes of stages and, where a class takes its name as a parameter, its instances."""
    modules = [
        importlib.import_module(f"vttdata.pipeline.stages.{module.name}")
        for module in pkgutil.iter_modules(vttdata.pipeline.stages.__path__)
    ]
    classes = [stage for stage in subclasses(Stage) if stage.__module__.startswith("vttdata.")]
    instances = [value for module in modules for value in vars(module).values() if isinstance(value, Stage)]
    return sorted([*(stage for stage in classes if "name" in vars(stage)), *instances], key=lambda stage: stage.name)


OURS = stages()


@pytest.mark.parametrize("name", sorted(packaged.builders()))
def test_builder_has_a_recipe_class_and_a_build_function(name: str) -> None:
    builder = packaged.load_builder(name)
    assert issubclass(builder.Recipe, BaseRecipe)
    assert callable(builder.build)
    assert builder.__doc__


@pytest.mark.parametrize("name", sorted(packaged.builders()))
def test_every_key_of_a_recipe_is_documented(name: str) -> None:
    text = "".join((ROOT / "docs" / page).read_text() for page in ("recipe.md", "judgments.md"))
    recipe = packaged.load_builder(name).Recipe
    for key, field in recipe.model_fields.items():
        assert f"`{key}`" in text, key
        if dataclasses.is_dataclass(field.annotation):
            for inner in dataclasses.fields(field.annotation):
                assert f"`{inner.name}`" in text, f"{key}.{inner.name}"


@pytest.mark.parametrize("record", RECORDS)
def test_record_is_frozen_and_has_features(record: type) -> None:
    assert record.__dataclass_params__.frozen
    assert datasets.Features.from_arrow_schema(records.arrow_schema(record))
    assert record.__doc__


@pytest.mark.parametrize("stage", OURS, ids=lambda stage: stage.name)
def test_stage_is_a_documented_frozen_dataclass_with_valid_attributes(stage: type[Stage] | Stage) -> None:
    assert dataclasses.is_dataclass(stage)
    assert stage.__dataclass_params__.frozen
    assert stage.name.isidentifier()
    assert dataclasses.is_dataclass(stage.output)
    assert stage.id_column in {"source_id", "video_id"}
    assert stage.__doc__


def test_stage_names_are_unique() -> None:
    names = [stage.name for stage in OURS]
    assert len(set(names)) == len(names) >= 20
