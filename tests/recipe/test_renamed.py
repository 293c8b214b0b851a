"""Recipes with former names of builders and keys still work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vttdata.errors import VttdataError
from vttdata.recipe.load import load_recipe, rename_builder, rename_key, rename_keys

BUILDER = """
from typing import ClassVar
from vttdata.recipe import BaseRecipe

class Recipe(BaseRecipe):
    paths: ClassVar = {"files.folder": "folder"}
    renamed: ClassVar = {"size": "image.height", "annotations": "files.folder"}
    image: dict[str, int] = {}
    files: dict[str, str] = {}

def build(recipe, run):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(BUILDER)
    return tmp_path


def load(folder: Path, text: str, *overrides: str) -> dict[str, Any]:
    path = folder / "recipe.yaml"
    path.write_text(f"name: a/b\n{text}")
    return load_recipe(str(path), overrides).recipe.model_dump()


@pytest.mark.parametrize(
    ("recipe", "builder"),
    [
        ({"builder": "msrvtt", "collect": {"scenes": {}}}, "own_videos"),
        ({"builder": "msrvtt", "split": {}}, "own_videos"),
        ({"builder": "msrvtt", "annotations": "x"}, "msrvtt"),
        ({"builder": "official", "format": "msvd"}, "msvd"),
        ({"builder": "official", "format": "activitynet-captions"}, "activitynet_captions"),
        ({"builder": "official"}, "official"),
        ({"builder": "trecvid"}, "trecvid_vtt"),
        ({"builder": "foils"}, "foils"),
        ({"builder": ["official"]}, ["official"]),
        ({}, None),
    ],
)
def test_former_builder_gets_its_present_name(recipe: dict[str, Any], builder: object) -> None:
    rename_builder(recipe)
    assert recipe.get("builder") == builder


def test_override_tells_own_videos_from_official_msrvtt() -> None:
    recipe = {"builder": "msrvtt"}
    rename_builder(recipe, ["collect.folder"])
    assert recipe["builder"] == "own_videos"


def test_recipe_with_former_builder_loads(folder: Path) -> None:
    assert load(folder, "builder: msrvtt\ncollect: {scenes: {}}\n")["builder"] == "own_videos"
    assert load(folder, "builder: msrvtt\n", f"collect.folder={folder}")["builder"] == "own_videos"
    assert load(folder, "builder: trecvid\nannotations: .\n")["builder"] == "trecvid_vtt"


def test_former_key_is_taken_from_file_and_from_override(folder: Path) -> None:
    assert load(folder, "builder: mine.py\nsize: 240\n")["image"] == {"height": 240}
    assert load(folder, "builder: mine.py\nsize: 240\n", "size=360")["image"] == {"height": 360}
    assert load(folder, "builder: mine.py\nimage: {height: 240}\n", "size=360")["image"] == {"height": 360}
    assert load(folder, "builder: mine.py\nannotations: .\n")["files"] == {"folder": str(folder)}


def test_former_key_beside_its_present_name_is_an_error(folder: Path) -> None:
    with pytest.raises(VttdataError, match=r"recipe\.yaml: size: is called image\.height, which is given too"):
        load(folder, "builder: mine.py\nsize: 1\nimage: {height: 2}\n")


def test_key_below_a_renamed_section_is_renamed() -> None:
    renamed = {"old": "new.section"}
    assert rename_key("old", renamed) == "new.section"
    assert rename_key("old.a.b=3", renamed) == "new.section.a.b=3"
    assert rename_key("older=old", renamed) == "older=old"
    recipe: dict[str, Any] = {"old": {"a": 1}, "new": {"x": 2}}
    rename_keys(recipe, renamed, "recipe.yaml")
    assert recipe == {"new": {"x": 2, "section": {"a": 1}}}


def test_malformed_section_is_left_to_validation() -> None:
    recipe = {"image": "text"}
    rename_keys(recipe, {"image.size": "image.height"}, "recipe.yaml")
    assert recipe == {"image": "text"}
