"""What a dataset says of how it was made: enough to make it again, and nothing of the machine."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.files.test_yaml_writer import TEXTS
from tests.helpers.builds import LOOSE, film
from tests.helpers.official_files import write_unpacked, write_zipped
from vttdata.cli.main import main
from vttdata.compose.rebuild import other_inputs
from vttdata.dataset.provenance import InputFile, Provenance, find_files_named, read_provenance, write_provenance
from vttdata.errors import VttdataError
from vttdata.recipe import packaged
from vttdata.recipe.load import load_recipe, read_yaml
from vttdata.recipe.published import load_foreign_recipe, recipe_text, wanted_paths

NEEDED = {
    "own-folder": ["collect.folder"],
    "own-list": ["collect.manifest"],
    "demo": [],
    "msrvtt-collect": [],
    "ranking-set": ["input"],
    "vatex-eval": ["input"],
}
DEMO = load_recipe("demo")


@pytest.mark.parametrize("name", sorted(packaged.recipes()))
def test_packaged_recipe_reads_back_the_same_after_dumping(name: str, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("path\na.mp4\n")
    places = dict.fromkeys(("collect.manifest", "input"), tmp_path / "list.csv")
    places |= {"annotations": tmp_path / "list.csv"} if name == "questions" else {}
    given = [f"{key}={places.get(key, tmp_path)}" for key in NEEDED.get(name, ["annotations"])]
    recipe = load_recipe(name, [*given, "seed=77", "version=3.2.1"]).recipe
    file = tmp_path / "recipe.yaml"
    file.write_text(recipe_text(recipe))
    assert str(tmp_path) not in file.read_text()
    assert [text.partition("=")[0] for text in wanted_paths(read_yaml(file))] == NEEDED.get(name, ["annotations"])
    if name == "msrvtt-collect":
        given.append("collect.search.engine=ytsearch")
    assert load_foreign_recipe(read_yaml(file), file, [*given]).recipe.model_dump() == recipe.model_dump()


def test_dumped_recipe_contains_no_path_and_no_secret(tmp_path: Path) -> None:
    for name in ("captions.csv", "pins.csv", "cookies.txt", "builder.py"):
        (tmp_path / name).write_text("secret")
    (tmp_path / "builder.py").write_text((packaged.folder("builders") / "own_videos.py").read_text())
    (tmp_path / "mine.yaml").write_text(
        f"name: a/b\nbuilder: ./builder.py\ndescription: {tmp_path}\ncollect: {{folder: '.', cookies: cookies.txt}}\n"
        "captions: {file: captions.csv}\nsplit: {pin: pins.csv}\n"
    )
    proxy = "collect.proxy=http://user:password@x.org"
    text = recipe_text(load_recipe(str(tmp_path / "mine.yaml"), [proxy]).recipe)
    assert str(tmp_path) not in text
    assert "password" not in text
    found = yaml.safe_load(text)
    assert found["builder"] == "builder.py"
    assert found["collect"]["cookies"] is None
    assert found["split"]["pin"] == "give it with --set split.pin=FILE"
    assert found["captions"]["file"] == "give it with --set captions.file=FILE"
    assert found["collect"]["folder"] == "give it with --set collect.folder=FOLDER"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
@example(text="\x85")
@example(text="one\u2028two \u2029three: '\x85' \"four\"\n")
def test_any_recipe_reads_back_the_same_after_dumping(text: str, tmp_path: Path) -> None:
    recipe = DEMO.recipe.model_copy(update={"description": text, "allow_leaks": text})
    (tmp_path / "recipe.yaml").write_text(recipe_text(recipe), encoding="utf-8")
    written = read_yaml(tmp_path / "recipe.yaml")
    hidden = text.startswith("/") and os.path.exists(text)
    assert hidden or (written["description"], written["allow_leaks"]) == (text, text)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(TEXTS, st.text()))
@example(text="\x85")
@example(text=os.fsdecode(b"caf\xe9.csv"))
def test_any_provenance_reads_back_the_same(text: str, tmp_path: Path) -> None:
    inputs = [InputFile("captions.file", text, "0" * 64, 1)]
    written = Provenance(1, "name: a\n", inputs, {text: text})
    write_provenance(tmp_path, written)
    assert read_provenance(tmp_path) == written


def test_dumped_recipe_with_inputs_does_not_load_without_them(tmp_path: Path) -> None:
    recipe = load_recipe("msrvtt", [f"annotations={tmp_path}"]).recipe
    (tmp_path / "recipe.yaml").write_text(recipe_text(recipe))
    with pytest.raises(VttdataError, match="give it with --set annotations=FOLDER', which is not an existing folder"):
        load_recipe(str(tmp_path / "recipe.yaml"))


@pytest.mark.parametrize("write", [write_unpacked, write_zipped])
@pytest.mark.not_on("win32")
def test_official_files_are_recorded_by_their_content_packed_or_not(tmp_path: Path, write: object) -> None:
    files = write(tmp_path / "files")  # type: ignore[operator]
    assert main(["build", "msrvtt", "--quiet", "--out", str(tmp_path / "out"), "--set", f"annotations={files}"]) == 0
    plain = write_unpacked(tmp_path / "plain")
    names = ["category.txt", "test_videodatainfo.json", "train_val_videodatainfo.json"]
    expected = [
        InputFile("annotations", name, hashlib.sha256(raw).hexdigest(), len(raw))
        for name in names
        if (raw := (plain / name).read_bytes())
    ]
    dataset = tmp_path / "out" / "dataset"
    found = read_provenance(dataset)
    assert list(found.inputs) == expected
    assert found.recipe == (dataset / "recipe.yaml").read_text()
    listed = json.loads((dataset / "manifest.json").read_text())["files"]
    for name in ("recipe.yaml", "provenance.json"):
        assert listed[name]["sha256"] == hashlib.sha256((dataset / name).read_bytes()).hexdigest()
        assert str(tmp_path) not in (dataset / name).read_text()
    account = json.loads((dataset / "provenance.json").read_text())
    assert account["recipe_sha256"] == listed["recipe.yaml"]["sha256"]
    assert {"ffmpeg", "pyarrow"} <= account["tools"].keys()


@pytest.mark.not_on("win32")
def test_clips_are_cut_again_from_their_videos_and_another_video_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, picture in (("a", "testsrc2"), ("b", "mandelbrot")):
        (tmp_path / "videos").mkdir(exist_ok=True)
        film(tmp_path / "videos" / f"{name}.mp4", picture=picture)
    given = ["--set", f"collect.folder={tmp_path / 'videos'}"]
    loose = [part for setting in LOOSE for part in ("--set", setting)]
    out = tmp_path / "out"
    assert main(["build", "own-folder", "--quiet", "--workers", "1", "--out", str(out), *given, *loose]) == 0
    assert main(["verify", str(out), *given]) == 0
    dataset = out / "dataset"
    film(tmp_path / "videos" / "b.mp4", seconds=5)
    os.link(tmp_path / "videos" / "a.mp4", tmp_path / "other.mp4")
    found = other_inputs(dataset, read_provenance(dataset), {"collect.folder": tmp_path / "videos"})
    assert found == ["b.mp4"]


def test_unreadable_files_are_not_recorded_as_inputs(tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 broken")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text("x")
    digest = hashlib.sha256(b"x").hexdigest()
    assert find_files_named(tmp_path, ["a.json", "b.json"]) == {"a.json": {digest: 1}}
