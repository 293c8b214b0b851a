from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.file_server import FileServer
from tests.helpers.lab_origins import serving_lab, write_lab, write_plugin
from vttdata import find_dataset, load_dataset
from vttdata.cli.main import main
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.load.local_builds import BuildRegistry
from vttdata.load.origins import can_build

pytestmark = pytest.mark.not_on("win32")

ROOT = Path(__file__).resolve().parents[2]
LOAD = """
import json, sys
events = []
# What reaches out; libraries try what the machine can do with sockets that are bound and closed.
outward = ("socket.connect", "socket.get", "socket.sendto")
sys.addaudithook(lambda event, _: event.startswith(outward) and events.append(event))
import vttdata
rows = vttdata.load_dataset("lab/tiny")
print(json.dumps([rows.num_rows, rows["test"][0]["video_id"], events]))
"""
SIZES = {"train": 10, "validation": 2, "test": 5}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FileServer]:
    with serving_lab(tmp_path, monkeypatch) as running:
        yield running


def load(tmp_path: Path, *arguments: str, **more: object) -> object:
    return load_dataset("lab/tiny", *arguments, cache_dir=str(tmp_path / "cache"), **more)


def start(tmp_path: Path, **environment: str) -> subprocess.Popen[str]:
    cache = {"HF_HOME": str(tmp_path / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", LOAD],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | cache | environment,
    )


def test_machine_with_nothing_fetches_builds_and_loads(
    server: FileServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = load(tmp_path)
    assert rows.num_rows == SIZES  # type: ignore[attr-defined]
    said = capfd.readouterr().err
    assert str(tmp_path / "home" / "lab" / "tiny") in said
    assert "fetching 4 files" in said
    server.files.clear()
    assert load(tmp_path, verify=True).num_rows == SIZES  # type: ignore[attr-defined]
    assert load_dataset("tiny", "captions", split="test", cache_dir=str(tmp_path / "cache")).num_rows == 10
    assert len(server.requests) == 4


def test_protocol_is_a_configuration_whose_leaks_are_said_at_load(server: FileServer, tmp_path: Path) -> None:
    with pytest.warns(VttdataWarning, match=r"'lab/tiny', usual: 1 of 2 test clips share a source"):
        rows = load(tmp_path, "usual")
    assert rows["test"]["video_id"][:] == ["video1", "video9"]  # type: ignore[index]
    with warnings.catch_warnings():
        warnings.simplefilter("error", VttdataWarning)
        load(tmp_path)


def test_processes_that_load_at_once_build_once_and_later_ones_reach_nothing(
    server: FileServer, tmp_path: Path
) -> None:
    processes = [start(tmp_path) for _ in range(2)]
    for process in processes:
        out, errors = process.communicate()
        assert process.returncode == 0, errors
        assert json.loads(out.splitlines()[-1])[:2] == [SIZES, "video12"]
    assert len(server.requests) == 4
    out, errors = start(tmp_path).communicate()
    assert json.loads(out.splitlines()[-1]) == [SIZES, "video12", []], errors
    assert "vttdata:" not in errors


def test_build_that_was_cut_short_goes_on(server: FileServer, tmp_path: Path) -> None:
    home = tmp_path / "home" / "lab" / "tiny"
    home.mkdir(parents=True)
    (home / "journal.jsonl").touch()
    (home / "build.json").write_text(json.dumps({"recipe": "lab/tiny", "recipe_file": "lab.yaml", "status": "stopped"}))
    assert BuildRegistry().builds("lab/tiny")[0].dataset is None
    assert load(tmp_path).num_rows == SIZES  # type: ignore[attr-defined]


def test_machine_without_network_is_told_what_is_missing_and_where_to_put_it(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VTTDATA_OFFLINE", "1")
    names = [f"lab/{name}" for name in os.listdir(tmp_path / "official")]
    assert len(names) == 4
    with pytest.raises(VttdataError) as caught:
        load(tmp_path)
    message = str(caught.value)
    assert all(name in message for name in names)
    assert re.search("are missing: .*annotations=FOLDER.*VTTDATA_MIRROR.*vttdata fetch lab", message)
    assert server.requests == []
    monkeypatch.setenv("VTTDATA_MIRROR", str(tmp_path / "official"))
    assert load(tmp_path).num_rows == SIZES  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (["show", "lab/tiny"], "clips"),
        (["show", "lab/tiny", "--page", "OUT/page.html"], "OUT/page.html"),
        (["audit", "lab/tiny"], "No leaks found"),
        (["verify", "lab/tiny", "--files-only"], "are as the manifest lists them"),
        (["export", "lab/tiny", "--format", "coco", "--out", "OUT/coco"], "OUT/coco"),
        (["degrade", "lab/tiny", "--out", "OUT/degraded"], "OUT/degraded"),
        (["diff", "lab/tiny", "lab/tiny"], "No row differs"),
    ],
)
@pytest.mark.sampled(3)
def test_every_command_builds_what_is_not_there_yet(
    server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], printed: str
) -> None:
    arguments = [word.replace("OUT", str(tmp_path)) for word in command]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert printed.replace("OUT", str(tmp_path)) in out
    assert "lab/tiny is not on this machine yet: building it" in err
    assert len(server.requests) == 4
    assert BuildRegistry().builds("lab/tiny")[0].dataset is not None


def test_listing_a_dataset_builds_nothing(server: FileServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "lab/tiny"]) == 0
    assert "not built; vttdata build lab" in capsys.readouterr().out
    assert server.requests == []


@pytest.mark.parametrize("find", [load_dataset, find_dataset])
def test_build_of_minutes_is_not_begun(server: FileServer, tmp_path: Path, find: Callable[[str], object]) -> None:
    write_lab(tmp_path, server, recipes={"lab": {"seconds": 600}})
    with pytest.raises(VttdataError, match=r"about 10 minutes: 'vttdata build lab'"):
        find("lab/tiny")
    assert server.requests == []


def test_only_the_version_of_the_recipe_is_built(server: FileServer) -> None:
    assert can_build("lab/tiny", "1.0.0")
    assert not can_build("lab/tiny", "2.0.0")
    assert not can_build("lab/other", None)


def test_own_build_elsewhere_is_not_passed_over(server: FileServer, tmp_path: Path) -> None:
    write_plugin(tmp_path / "elsewhere", "mine", {})
    folder = tmp_path / "elsewhere"
    (folder / "build.json").write_text(json.dumps({"recipe": "lab/tiny", "recipe_file": "lab.yaml"}))
    registry = tmp_path / "home" / ".builds"
    registry.mkdir(parents=True)
    (registry / "one.json").write_text(json.dumps({"name": "lab/tiny", "folder": str(folder)}))
    assert not can_build("lab/tiny", None)


def test_hub_is_asked_instead_on_request(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    for _ in range(2):
        with pytest.raises(VttdataError, match="There is no dataset 'lab/tiny'"):
            load(tmp_path, hub=True)
        load(tmp_path)


def test_mistyped_name_is_answered_with_the_name_of_a_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    with pytest.raises(VttdataError, match=r"Did you mean 'vttdata/msrvtt'\?"):
        load_dataset("vttdata/msrvt")
