"""`vttdata recipes`."""

from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.cli.main import main
from vttdata.recipe import packaged
from vttdata.recipe.load import load_recipe


def test_every_packaged_recipe_is_listed_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(packaged.recipes())
    assert all(len(line.split()) > 3 for line in lines)


@pytest.mark.parametrize("name", sorted(packaged.recipes()))
def test_printed_recipe_is_the_packaged_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes", name]) == 0
    printed = capsys.readouterr()
    assert printed.out == packaged.recipes()[name].read_text()
    assert printed.err == "Save it as FILE.yaml, change its name, and build it: vttdata build FILE.yaml\n"


def test_recipes_of_ones_own_videos_show_the_keys_to_fill_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the comment signs before keys, what is printed is a recipe with paths beside it."""
    (tmp_path / "VIDEOS").mkdir()
    for name in ("captions.csv", "links.csv"):
        (tmp_path / name).write_text("video_id,caption\n")
    for name in ("own-folder", "own-list"):
        main(["recipes", name])
        first, *lines = capsys.readouterr().out.splitlines()
        file = tmp_path / f"{name}.yaml"
        file.write_text(
            "\n".join([first, *(line.replace("# ", "", 1) if "# " in line[:4] else line for line in lines)])
        )
        recipe = load_recipe(str(file)).recipe.public()
        assert recipe["captions"]["file"] == str(tmp_path / "captions.csv")
        assert recipe["licence"] == "cc-by-4.0"
        assert str(tmp_path) in (recipe["collect"]["folder"] or recipe["collect"]["manifest"])


def test_unknown_recipe_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes", "dmo"]) == 2
    assert capsys.readouterr().err.startswith("vttdata: No recipe 'dmo'; there are ")
