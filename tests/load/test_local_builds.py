"""Builds in any folder are known by name: the registry, what it survives, and what is said of unfinished builds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import huggingface_hub
import pytest

from tests.load.test_lookup import write
from vttdata.cli.main import main
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.load.catalog import list_datasets
from vttdata.load.load_dataset import load_dataset
from vttdata.load.local_builds import BuildRegistry
from vttdata.load.lookup import find_dataset
from vttdata.pipeline.journal import locked


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of builds; asking the Hub is a failure of the test."""

    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("the Hub was asked")

    real = datasets.load_dataset
    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    only_local = lambda path, *rest, **more: real(path, *rest, **more) if Path(path).is_dir() else refuse()  # noqa: E731
    monkeypatch.setattr(datasets, "load_dataset", only_local)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def write_build(folder: Path, name: str = "vttdata/demo", *, status: str = "complete", dataset: bool = True) -> Path:
    """Write a build folder; the dataset in it is always that of vttdata/demo."""
    folder.mkdir(parents=True)
    (folder / "build.json").write_text(json.dumps({"recipe": name, "recipe_file": "x.yaml", "status": status}))
    if dataset:
        write(folder / "dataset")
    return folder


def test_build_in_another_folder_is_loaded_by_its_name(tmp_path: Path) -> None:
    BuildRegistry().add("me/street", write_build(tmp_path / "street", "me/street"))
    assert load_dataset("me/street", split="test").num_rows == 1
    assert find_dataset("me/street") == (tmp_path / "street/dataset").resolve()
    first = list_datasets()[0]
    assert (first.name, first.path) == ("me/street", (tmp_path / "street/dataset").resolve())


def test_owner_of_a_local_build_may_be_left_out(tmp_path: Path) -> None:
    BuildRegistry().add("me/street", write_build(tmp_path / "a", "me/street"))
    assert load_dataset("street", split="test").num_rows == 1
    BuildRegistry().add("you/street", write_build(tmp_path / "b", "you/street"))
    with pytest.raises(VttdataError, match="'street' may be me/street or you/street; write which"):
        load_dataset("street")


def test_name_of_a_recipe_that_is_not_built_says_how_to_build_it() -> None:
    for function in (load_dataset, find_dataset):
        with pytest.raises(VttdataError, match="'vttdata build demo' builds it as 'vttdata/demo'"):
            function("demo")


def test_build_at_home_comes_first_then_the_newest(home: Path, tmp_path: Path) -> None:
    folders = [write_build(tmp_path / f"{number}", "me/street") for number in range(3)]
    for time, folder in enumerate(folders):
        BuildRegistry().add("me/street", folder)
        (entry,) = (path for path in (home / ".builds").iterdir() if str(folder) in path.read_text())
        os.utime(entry, (time, time))
    assert [build.folder for build in BuildRegistry().builds("me/street")] == folders[::-1]
    at_home = write_build(home / "me/street", "me/street")
    BuildRegistry().add("me/street", at_home)
    assert [build.folder for build in BuildRegistry().builds("me/street")] == [at_home, *folders[::-1]]


def test_later_name_of_a_folder_replaces_the_earlier_one(tmp_path: Path) -> None:
    folder = write_build(tmp_path / "street", "me/street")
    BuildRegistry().add("me/street", folder)
    (folder / "build.json").write_text(json.dumps({"recipe": "me/road", "status": "complete"}))
    assert BuildRegistry().builds("me/street") == []
    BuildRegistry().add("me/road", folder)
    assert [build.name for build in BuildRegistry().builds()] == ["me/road"]
    assert BuildRegistry().missing() == []


def test_folder_that_is_gone_is_skipped_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    BuildRegistry().add("me/street", write_build(tmp_path / "street", "me/street"))
    BuildRegistry().add("me/road", write_build(tmp_path / "road", "me/road"))
    shutil.rmtree(tmp_path / "street")
    assert main(["list"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("On this machine:\n  me/road: ")
    assert "me/street" not in printed.out
    assert f"'me/street' is no longer in '{tmp_path}/street'; open its folder where it is now, or" in printed.err


@pytest.mark.parametrize(
    ("content", "folder"),
    [
        *((text, None) for text in ("", "{", "[1]", "null", '{"name": 3, "folder": 4}', "[" * 100_000, "\ud800")),
        ('{"name": "../../etc/passwd", "folder": "FOLDER"}', None),
        ('{"name": "me/\\u001b[31mred", "folder": "FOLDER"}', None),
        ('{"name": "me/street", "folder": "relative"}', None),
        ('{"name": "me/street", "folder": "/\\u0000"}', None),
        ('{"name": "me/street", "folder": "/dev/null"}', "missing"),
        ('{"name": "me/other", "folder": "FOLDER"}', "missing"),
        ('{"name": "me/street", "folder": "/' + "x" * 5000 + '"}', "missing"),
    ],
)
def test_hostile_entries_are_left_out(content: str, folder: str | None, home: Path, tmp_path: Path) -> None:
    street = write_build(tmp_path / "street", "me/street")
    BuildRegistry().add("me/street", street)
    text = content.replace("FOLDER", str(street))
    (home / ".builds/bad.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    (home / ".builds/folder.json").mkdir()
    os.mkfifo(home / ".builds/pipe.json")
    (home / ".builds/loop.json").symlink_to("loop.json")
    (home / ".builds/large.json").write_bytes(b'"' + b"x" * 2**20 + b'"')
    assert [build.name for build in BuildRegistry().builds()] == ["me/street"]
    assert len(BuildRegistry().missing()) == (folder == "missing")


@pytest.mark.parametrize("content", ["", "[]", '{"recipe": 1}', '{"recipe": "../x", "status": "complete"}', "[" * 9999])
def test_damaged_account_of_a_build_is_no_build(content: str, tmp_path: Path) -> None:
    BuildRegistry().add("me/street", write_build(tmp_path / "street", "me/street", dataset=False))
    (tmp_path / "street/build.json").write_text(content)
    assert BuildRegistry().builds() == []
    assert [str(build.folder) for build in BuildRegistry().missing()] == [str(tmp_path / "street")]


def test_many_processes_register_at_once(home: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from vttdata.load.local_builds import BuildRegistry\n"
        "for number in range(50): BuildRegistry().add(f'me/b{number % 5}', Path(sys.argv[1], f'b{number % 5}'))"
    )
    for number in range(5):
        write_build(tmp_path / f"b{number}", f"me/b{number}", dataset=False)
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(4)]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    assert sorted(build.name for build in BuildRegistry().builds()) == [f"me/b{number}" for number in range(5)]
    assert sorted(path.suffix for path in (home / ".builds").iterdir()) == [".json"] * 5


def test_interrupted_build_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_build(tmp_path / "street", "me/street", status="running", dataset=False)
    BuildRegistry().add("me/street", folder)
    goes_on = f"was interrupted or refused while it was built in {folder}; 'vttdata build {folder}' goes on."
    with pytest.raises(VttdataError, match="has no dataset") as caught:
        load_dataset("me/street")
    assert str(caught.value) == f"'me/street' has no dataset: it {goes_on}"
    with pytest.raises(VttdataError, match="has no dataset: it was interrupted"):
        load_dataset(str(folder))
    with locked(folder), pytest.raises(VttdataError, match=r"is being built in \S+ at this moment; wait for that"):
        load_dataset("me/street")
    assert main(["list"]) == 0
    assert f"me/street: not built, the build is not finished; {folder}" in capsys.readouterr().out


def test_dataset_that_lacks_items_is_listed_as_not_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_build(tmp_path / "street", "me/street", status="incomplete")
    BuildRegistry().add("me/street", folder)
    assert main(["list"]) == 0
    assert "me/street: 1.0.0, 1 clips, the last build is not finished; " in capsys.readouterr().out


def test_earlier_dataset_of_an_interrupted_build_is_loaded_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_build(tmp_path / "street", "me/street", status="stopped")
    BuildRegistry().add("me/street", folder)
    with pytest.warns(VttdataWarning, match="'me/street' is that of an earlier build: it was interrupted"):
        assert load_dataset("me/street", split="test").num_rows == 1
    assert main(["show", "me/street"]) == 0
    assert "vttdata: The dataset 'me/street' is that of an earlier build" in capsys.readouterr().err
