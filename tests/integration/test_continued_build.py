"""A build goes on with the settings that it stored, by its folder or its name, from any working folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import vttdata
from tests.helpers.builds import COLUMNS, LOOSE, account, build, film, write_captions
from tests.helpers.builds import vttdata as run
from tests.helpers.official_files import write_unpacked
from vttdata.errors import VttdataError
from vttdata.load.local_builds import folder_of_videos
from vttdata.recipe import packaged


def stored(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "build.json").read_text())["settings"])


@pytest.fixture
def street(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build of official files, made with relative paths in the working folder."""
    write_unpacked(tmp_path / "files")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    done = build(Path("street"), "annotations=files", "name=me/street", "seed=5", recipe="msrvtt")
    assert done.returncode == 0, done.stderr
    return tmp_path / "street"


def test_build_goes_on_with_its_stored_settings(street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for number, reference in enumerate((str(street), f"{street}/", "me/street", "street")):
        done = run("build", reference, "--quiet", "--set", f"licence=licence-{number}")
        assert done.returncode == 0, done.stderr
        assert f"me/street 1.0.0 is in {street / 'dataset'}" in done.stdout.replace("street//", "street/")
        again = run("build", reference, "--quiet")
        assert again.returncode == 0, again.stderr
        assert (stored(street)["licence"], stored(street)["seed"]) == (f"licence-{number}", 5)
        assert json.loads((street / "build.json").read_text())["recipe_file"] == "msrvtt.yaml"
    assert not list((tmp_path / "elsewhere").iterdir())


def test_folder_that_holds_an_account_and_no_journal_goes_on(street: Path) -> None:
    (street / "journal.jsonl").unlink()
    (street / "shards").mkdir()
    for name in ("shards/1-of-2.json", ".claim.json"):
        (street / name).write_text("{}")
    done = run("build", str(street), "--quiet")
    assert done.returncode == 0, done.stderr
    assert {stage["reused"] == stage["parts"] for stage in account(street).values()} == {True}


def test_changed_name_is_refused_and_with_another_folder_a_new_build(street: Path, tmp_path: Path) -> None:
    done = run("build", str(street), "--quiet", "--set", "name=me/road")
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds the build of 'me/street' by msrvtt.yaml, not of 'me/road'" in done.stderr
    assert stored(street)["name"] == "me/street"
    done = run("build", str(street), "--quiet", "--set", "name=me/road", "--out", str(tmp_path / "road"))
    assert done.returncode == 0, done.stderr
    assert (stored(street)["name"], stored(tmp_path / "road")["name"]) == ("me/street", "me/road")
    done = run("build", str(street), "--quiet", "--set", "name=me/lane", "--replace")
    assert done.returncode == 0, done.stderr
    assert vttdata.find_dataset("me/lane") == (street / "dataset").resolve()


def test_refused_setting_is_not_stored(street: Path, tmp_path: Path) -> None:
    before = (street / "build.json").read_bytes()
    (tmp_path / "empty").mkdir()
    done = run("build", str(street), "--quiet", "--set", f"annotations={tmp_path / 'empty'}")
    assert done.returncode == 2
    assert (street / "build.json").read_bytes() == before
    assert run("build", str(street), "--quiet").returncode == 0


def test_moved_input_is_asked_for(street: Path, tmp_path: Path) -> None:
    (tmp_path / "files").rename(tmp_path / "moved")
    done = run("build", "street", "--quiet")
    assert done.stderr == (
        f"vttdata: street/build.json: annotations: found '{tmp_path / 'files'}', which is not an existing folder; give "
        "another one with --set annotations=PATH.\n"
    )
    assert run("build", "street", "--quiet", "--set", "annotations=moved").returncode == 0


def edit_settings(folder: Path, **changes: Any) -> None:
    content = json.loads((folder / "build.json").read_text())
    content["settings"] |= changes
    (folder / "build.json").write_text(json.dumps(content))


@pytest.mark.parametrize("is_inside", [True, False])
def test_builder_that_a_folder_names_is_not_run(street: Path, tmp_path: Path, is_inside: bool) -> None:
    evil = (street if is_inside else tmp_path) / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    edit_settings(street, builder="evil.py" if is_inside else str(evil))
    for arguments in (["build", str(street)], ["build", "me/street"], ["build", str(street), "--force"]):
        done = run(*arguments)
        assert done.returncode == 2
        assert (
            "evil.py', a file, which is run only where its recipe is named: 'vttdata build RECIPE --out" in done.stderr
        )
    assert not (tmp_path / "ran").exists()


def test_builder_of_a_user_is_run_where_its_recipe_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    write_unpacked(tmp_path / "files")
    shutil.copy(packaged.folder("builders") / "msrvtt.py", tmp_path / "mine.py")
    (tmp_path / "mine.yaml").write_text("name: me/mine\nbuilder: mine.py\nannotations: files\n")
    for _ in range(2):
        done = build(tmp_path / "mine", recipe=str(tmp_path / "mine.yaml"))
        assert done.returncode == 0, done.stderr
    assert run("build", str(tmp_path / "mine"), "--quiet").returncode == 2


def test_paths_that_a_foreign_folder_names_are_asked_for(
    street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (street / "dataset" / "manifest.json").read_bytes()
    foreign = street.rename(tmp_path / "foreign")
    assert run("build", str(foreign), "--quiet").returncode == 0, "a build of one's own may be moved"
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home of another user"))
    done = run("build", str(foreign), "--quiet", "--force")
    assert done.returncode == 2
    assert "annotations: names a path of another machine; say where it is with --set annotations=PATH" in done.stderr
    done = run("build", str(foreign), "--quiet", "--set", "annotations=files")
    assert done.returncode == 0, done.stderr
    assert run("build", str(foreign), "--quiet").returncode == 0
    assert (foreign / "dataset" / "manifest.json").read_bytes() == before
    (tmp_path / "private").mkdir()
    edit_settings(foreign, videos=str(tmp_path / "private"))
    assert folder_of_videos(foreign / "dataset") is None
    assert run("build", str(foreign), "--quiet").returncode == 2


def test_packaged_recipe_comes_before_a_folder_of_its_name(street: Path, tmp_path: Path) -> None:
    street.rename(tmp_path / "msrvtt")
    done = run("build", "msrvtt", "--quiet", "--set", "annotations=files", "--set", "seed=1")
    assert f"vttdata/msrvtt 1.0.0 is in {tmp_path / 'home/vttdata/msrvtt/dataset'}" in done.stdout
    assert "vttdata: 'msrvtt' is the packaged recipe; './msrvtt' goes on with the build in the folder" in done.stderr
    done = run("build", "./msrvtt", "--quiet")
    assert "me/street 1.0.0 is in msrvtt/dataset" in done.stdout


def test_captions_are_added_to_clips_of_a_folder_of_videos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The three steps of the README, with the paths of a home folder, and a secret that is not stored."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "videos").mkdir()
    film(tmp_path / "videos/a.mp4")
    (tmp_path / "cookies.txt").write_text("hush")
    done = build(Path("street"), "collect.folder=~/videos", "collect.cookies=~/cookies.txt", "name=me/street", *LOOSE)
    assert done.returncode == 0, done.stderr
    assert stored(Path("street"))["collect"]["folder"] == str(tmp_path / "videos")
    ids = write_captions(Path("street"), tmp_path / "captions.csv")
    done = run("build", "street", "--quiet", "--set", "captions.file=~/captions.csv", "--set", COLUMNS)
    assert done.returncode == 0, done.stderr
    assert "collect.cookies: was given to the earlier build and is never stored; --set gives it again." in done.stderr
    assert "cookies.txt" not in (tmp_path / "street/build.json").read_text()
    rows = vttdata.load_dataset("me/street")
    assert sorted(row["video_id"] for split in rows.values() for row in split if row["captions"]) == ids


def test_python_builds_as_the_command_does(street: Path, tmp_path: Path) -> None:
    settings = {"annotations": tmp_path / "files", "name": "me/street", "seed": 5, "version": "1.0.0"}
    run = vttdata.build(
        "msrvtt",
        out=tmp_path / "python",
        settings=settings,
        execution=vttdata.Execution(1),
        messages=vttdata.Messages(quiet=True),
    )
    for name in ("manifest.json", "recipe.yaml"):
        assert (run.dataset / name).read_bytes() == (street / "dataset" / name).read_bytes()
    assert vttdata.build("me/street", settings=["seed=6"]).folder == tmp_path / "python"
    with pytest.raises(VttdataError, match="No recipe 'nowhere'"):
        vttdata.build("nowhere")
    with pytest.raises(VttdataError, match="licence"):
        vttdata.build("me/street", settings={"licence": "", "description": "yes: *no"})
