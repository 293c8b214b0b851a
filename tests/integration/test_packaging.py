"""The wheel holds what an installed package needs, installs no stray module, and its base install stays light."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from vttdata.recipe import packaged

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("the tests do not run from a checkout")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_installs_one_top_level_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        top = {name.partition("/")[0] for name in archive.namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"vttdata"}


def test_the_wheel_holds_every_file_of_the_package_that_is_no_code(wheel: Path) -> None:
    there = (path for path in (ROOT / "vttdata").rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"})
    data = {path.relative_to(ROOT).as_posix() for path in there}
    assert "vttdata/annotate/da_page/page.html" in data
    with zipfile.ZipFile(wheel) as archive:
        assert not data - set(archive.namelist())


def test_the_base_install_is_for_loading_only(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    needs = [need for need in metadata.get_all("Requires-Dist", []) if "extra ==" not in need]
    names = {re.split(r"[\s<>=!;\[]", need)[0] for need in needs}
    assert {"click", "datasets"} <= names
    assert not names & {"yt-dlp", "spacy", "torch", "av", "ffmpeg-python", "imageio-ffmpeg", "pydantic"}


def test_the_installed_package_finds_its_recipes_and_builders(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        "from vttdata.recipe import packaged; from vttdata.recipe.load import load_recipe; import vttdata;"
        "print(vttdata.__file__); print(*packaged.recipes()); print(load_recipe('demo').recipe.name)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    place, names, name = done.stdout.splitlines()
    assert place.startswith(str(tmp_path))
    assert names.split() == sorted(packaged.recipes())
    assert name == "vttdata/demo"


@pytest.mark.parametrize("command", [["build", "demo"], ["shots", "x.mp4"]])
def test_what_needs_the_build_extra_says_so(command: list[str]) -> None:
    code = (
        "import sys; sys.modules['av'] = sys.modules['ffmpeg'] = sys.modules['pydantic'] = None\n"
        f"from vttdata.cli.main import main; sys.exit(main({command!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'vttdata[build]'" in done.stderr


def test_a_builder_and_recipe_of_ones_own_work_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vttdata.recipe.load import load_recipe

    (tmp_path / "mine.py").write_text(
        "from vttdata.recipe.load import BaseRecipe\n"
        "class Recipe(BaseRecipe):\n    words: int = 3\n"
        "def build(recipe, run):\n    run.say(str(recipe.words))\n"
    )
    (tmp_path / "mine.yaml").write_text("name: me/mine\nbuilder: mine.py\nwords: 4\n")
    monkeypatch.chdir("/")
    loaded = load_recipe(str(tmp_path / "mine.yaml"))
    assert loaded.recipe.model_dump()["words"] == 4
    assert callable(loaded.builder.build)
