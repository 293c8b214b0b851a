"""A user's builder works from any folder, and a mistake in it is one sentence with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.official_files import write_unpacked
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.recipe import load_recipe, packaged

HEAD = "from vttdata.recipe import BaseRecipe\n\n"
BUILD = "\ndef build(recipe, run):\n    pass\n"
OFFICIAL = """
from pathlib import Path
from vttdata.compose.official_benchmark import OfficialRecipe, build_official
from vttdata.recipe.packaged import load_builder

class Recipe(OfficialRecipe):
    pass

def build(recipe, run):
    build_official(recipe, run, load_builder("msrvtt").read(Path(recipe.annotations), language=recipe.language))
"""


def refuse(folder: Path, builder: str) -> str:
    (folder / "mine.py").write_text(builder)
    (folder / "mine.yaml").write_text("name: me/mine\nbuilder: mine.py\n")
    with pytest.raises(VttdataError) as error:
        load_recipe(str(folder / "mine.yaml"))
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(str(folder))


@pytest.mark.parametrize(
    ("builder", "message"),
    [
        ("x = 1\nclass Recipe(:\n", "/mine.py:2: cannot be loaded as a builder (SyntaxError: "),
        ("import no_such_library\n", "/mine.py:1: cannot be loaded as a builder (ModuleNotFoundError: "),
        (
            f"{HEAD}class Recipe(BaseRecipe):\n    words: object()\n{BUILD}",
            "/mine.py:3: cannot be loaded as a builder (",
        ),
        (
            f"from __future__ import annotations\n{HEAD}class Recipe(BaseRecipe):\n    words: Unknown\n{BUILD}",
            "/mine.py:4: class Recipe has a field that cannot be checked (",
        ),
        (BUILD, "/mine.py: a builder must have a class Recipe(BaseRecipe) and a function build(recipe, run)."),
        (f"{HEAD}class Recipe(BaseRecipe):\n    pass\n", "/mine.py: a builder must have a class Recipe(BaseRecipe)"),
    ],
)
def test_mistake_in_a_builder_is_one_sentence_with_file_and_line(tmp_path: Path, builder: str, message: str) -> None:
    assert refuse(tmp_path, builder).startswith(message)


def test_builder_and_recipe_from_the_folder_of_plugins_are_found_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind, name, text in (
        ("builders", "tiny.py", OFFICIAL),
        ("recipes", "tiny-benchmark.yaml", "# A tiny benchmark\nname: me/tiny\nbuilder: tiny\n"),
    ):
        (tmp_path / "plugins" / kind).mkdir(parents=True)
        (tmp_path / "plugins" / kind / name).write_text(text)
    monkeypatch.setenv("VTTDATA_PLUGINS", str(tmp_path / "plugins"))
    assert "tiny-benchmark" in packaged.recipes()
    assert main(["list"]) == 0
    assert "tiny-benchmark" in capsys.readouterr().out
    files = write_unpacked(tmp_path / "files")
    settings = ["--set", f"annotations={files}", "--out", str(tmp_path / "out"), "--quiet", "--workers", "1"]
    assert main(["build", "tiny-benchmark", *settings]) == 0
    assert '"key": "builder"' in (tmp_path / "out" / "dataset" / "provenance.json").read_text()
    with pytest.raises(VttdataError, match="did you mean 'tiny-benchmark'"):
        load_recipe("tiny-benchmrk")
