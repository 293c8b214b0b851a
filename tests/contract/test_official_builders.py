"""Every builder of official files refuses a folder without them in one sentence, and its recipe says what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pydantic
import pytest
import yaml

from vttdata.compose.counterfactuals import CounterfactualRecipe
from vttdata.compose.official_benchmark import OfficialRecipe
from vttdata.errors import VttdataError
from vttdata.recipe import packaged

RECIPES = {
    name: raw
    for name, raw in ((name, yaml.safe_load(path.read_text())) for name, path in packaged.recipes().items())
    if issubclass(packaged.load_builder(raw["builder"]).Recipe, (OfficialRecipe, CounterfactualRecipe))
    and "degrade" not in raw
    # A table of one's own is not official.
    and packaged.load_builder(raw["builder"]).Recipe.paths["annotations"] == "folder"
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipe_has_description_and_citation_and_says_how_to_build(recipe: str) -> None:
    assert RECIPES[recipe]["description"]
    assert RECIPES[recipe]["citation"].lstrip().startswith("@")
    assert "--set annotations=FOLDER" in packaged.recipes()[recipe].read_text().partition("\n")[0]


@pytest.mark.parametrize("recipe", RECIPES)
def test_folder_without_the_official_files_is_refused_in_one_sentence(recipe: str, tmp_path: Path) -> None:
    builder, fields = packaged.load_builder(RECIPES[recipe]["builder"]), RECIPES[recipe].get("fields")
    layout = () if fields is None else (pydantic.TypeAdapter(builder.Fields).validate_json(json.dumps(fields)),)
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(VttdataError) as refused:
            builder.read(folder, *layout)
        assert str(folder) in str(refused.value)
        assert "\n" not in str(refused.value)
