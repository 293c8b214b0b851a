from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from vttdata.errors import VttdataError
from vttdata.missing_modules import MOVED
from vttdata.recipe import packaged
from vttdata.recipe.load import load_recipe


@pytest.mark.parametrize("name", MOVED)
def test_former_import_path_names_the_present_one(name: str) -> None:
    package, _, attribute = name.rpartition(".")
    with pytest.raises(ModuleNotFoundError, match=f"No module named '{name}': it is in vttdata\\."):
        importlib.import_module(name)
    with pytest.raises(ModuleNotFoundError, match="it is in vttdata"):
        exec(f"from {package} import {attribute}", {})


@pytest.mark.parametrize("present", sorted(set(MOVED.values())))
def test_present_path_exists(present: str) -> None:
    if present.startswith("vttdata.recipe.packaged.load_builder"):
        assert packaged.load_builder(present.split("'")[1]).read
    else:
        assert pkgutil.resolve_name(present)


def test_error_in_a_builder_file_names_the_line_and_the_present_path(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import json\nfrom vttdata.publish.package import package\n")
    (tmp_path / "mine.yaml").write_text("name: me/mine\nbuilder: mine.py\n")
    with pytest.raises(VttdataError) as error:
        load_recipe(str(tmp_path / "mine.yaml"))
    assert f"{tmp_path / 'mine.py'}:2: " in str(error.value)
    assert "it is in vttdata.compose.package" in str(error.value)


def test_other_missing_modules_fail_as_usual() -> None:
    with pytest.raises(ModuleNotFoundError) as error:
        importlib.import_module("vttdata.no_such_module")
    assert error.value.name == "vttdata.no_such_module"
    assert "it is in" not in str(error.value)


def test_recipe_and_base_class_are_in_the_package_of_recipes() -> None:
    code = (
        "import sys\n"
        "from vttdata.recipe import packaged\n"
        "assert 'pydantic' not in sys.modules\n"
        "from vttdata.recipe import BaseRecipe, load_recipe\n"
        "assert load_recipe('demo').recipe.__class__.__mro__[1] is BaseRecipe\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
