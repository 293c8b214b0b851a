"""The archives hold what they are for, pages that show them find every link, and the base install stays light."""

from __future__ import annotations

import email.message
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from vttdata import __version__
from vttdata.recipe import packaged

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the source archive, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("archives")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(archives: Path) -> Path:
    return next(archives.glob("*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_the_source_archive_holds_what_make_and_its_tests_need(archives: Path) -> None:
    with tarfile.open(next(archives.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "pyproject.toml")
    assert (
        not {*needed, ".ci/run", "benchmarks/RESULTS.md", ".ci/install.py", "pins-3.11.txt", "tests/conftest.py"}
        - names
    )
    assert not {name for name in names if name.startswith((".venv", "build/", "shared/")) or name.endswith(".pyc")}


def test_the_wheel_installs_one_top_level_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        top = {name.partition("/")[0] for name in archive.namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"vttdata"}


def test_the_wheel_holds_every_file_of_the_package_that_is_no_code(wheel: Path) -> None:
    data_files = (
        path for path in (ROOT / "vttdata").rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}
    )
    data = {path.relative_to(ROOT).as_posix() for path in data_files}
    assert "vttdata/people/site/worker.html" in data
    with zipfile.ZipFile(wheel) as archive:
        assert not data - set(archive.namelist())


def test_only_the_verdicts_on_foils_are_large(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        large = {entry.filename: entry.file_size for entry in archive.infolist() if entry.file_size > 200_000}
    assert large.keys() == {"vttdata/_recipes/activitynet-foil.csv"}
    assert max(large.values()) < 1_000_000


def test_links_of_the_description_lead_to_files_of_this_version(metadata: email.message.Message) -> None:
    page = f"https://github.com/vttdata/vttdata/blob/v{__version__}/"
    picture = f"https://raw.githubusercontent.com/vttdata/vttdata/v{__version__}/"
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]*)\)", str(metadata.get_payload()))
    assert len(links) > 15
    for mark, link in links:
        start = picture if mark else page
        assert link.startswith(start)
        assert (ROOT / link.removeprefix(start).partition("#")[0]).is_file()


def test_citation_and_changelog_are_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\d\S*)", changes, re.MULTILINE)[0] == __version__


def test_the_base_install_is_for_loading_only(metadata: email.message.Message) -> None:
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
    path, names, name = done.stdout.splitlines()
    assert path.startswith(str(tmp_path))
    assert names.split() == sorted(packaged.recipes())
    assert name == "vttdata/demo"


@pytest.mark.parametrize("command", [["build", "demo"], ["video", "shots", "x.mp4"]])
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
