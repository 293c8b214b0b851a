"""`vttdata list`: what is on this machine, what can be built, and one of these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.hub.built import build
from vttdata.cli.main import main
from vttdata.recipe import packaged
from vttdata.recipe.load import load_recipe


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of local builds, which is empty."""
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def listed(capsys: pytest.CaptureFixture[str], *options: str) -> list[list[str]]:
    """Return the lines of each group, without its title."""
    assert main(["list", *options]) == 0
    return [group.splitlines()[1:] for group in capsys.readouterr().out.split("\n\n")]


def test_recipes_and_protocols_are_listed_on_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    local, at_once, needing, of_videos, protocols = listed(capsys)
    assert "vttdata build demo" in local[0]
    assert {"demo", "msrvtt", "activitynet-foil"} <= {line.split()[0] for line in at_once}
    assert any(line.split()[:5] == ["msrvtt", "3.9", "MB", "30", "s"] for line in at_once)
    # The size of its training list is not known.
    assert any(line.split()[:6] == ["didemo", ">", "2.2", "MB", "10", "s"] for line in at_once)
    assert [line.split()[0] for line in of_videos] == ["msrvtt-collect", "own-folder", "own-list"]
    names = [line.split()[0] for line in (*at_once, *needing, *of_videos)]
    assert sorted(names) == sorted(packaged.recipes())
    assert not any("--set " in line for line in at_once)
    assert all("--set " in line for line in needing)
    assert [line.split()[0] for line in protocols] == sorted(packaged.protocols())
    assert all(len(line.split()) > 3 for line in (*at_once, *needing, *protocols))


def test_local_datasets_come_first(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(home / "me" / "x", ("a dog runs", "a cat"), name="me/x")
    assert listed(capsys)[0] == [f"  me/x: 1.0.0, 2 clips; {home / 'me' / 'x'}"]


def test_json_is_an_array_with_the_kind_of_each(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = build(home / "me" / "x", ("a dog runs", "a cat"), name="me/x")
    assert main(["list", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    by_kind: dict[str, dict[str, Any]] = {"dataset": {}, "recipe": {}, "protocol": {}}
    for entry in entries:
        by_kind[entry["kind"]][entry["name"]] = entry
    assert by_kind["dataset"].keys() == {"me/x"}
    assert by_kind["dataset"]["me/x"]["path"] == str(folder)
    assert by_kind["recipe"].keys() == set(packaged.recipes())
    assert by_kind["recipe"]["msrvtt"]["command"] == "vttdata build msrvtt"
    assert by_kind["recipe"]["flickr8k"]["command"] == "vttdata build flickr8k --set annotations=FOLDER"
    assert by_kind["recipe"]["demo"]["needs"] == []
    assert len(by_kind["recipe"]["vatex-eval"]["needs"]) == 2
    assert by_kind["protocol"]["msrvtt-9k"]["benchmark"] == "msrvtt"
    for name, entry in (("me/x", entries[0]), *by_kind["recipe"].items(), *by_kind["protocol"].items()):
        assert main(["list", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == entry


@pytest.mark.parametrize("name", sorted(packaged.recipes()))
def test_printed_recipe_is_the_packaged_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", name]) == 0
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
        main(["list", name])
        first, *lines = capsys.readouterr().out.splitlines()
        file = tmp_path / f"{name}.yaml"
        file.write_text(
            "\n".join([first, *(line.replace("# ", "", 1) if "# " in line[:4] else line for line in lines)])
        )
        recipe = load_recipe(str(file)).recipe.public()
        assert recipe["captions"]["file"] == str(tmp_path / "captions.csv")
        assert recipe["licence"] == "cc-by-4.0"
        assert str(tmp_path) in (recipe["collect"]["folder"] or recipe["collect"]["manifest"])


@pytest.mark.parametrize("name", sorted(packaged.protocols()))
def test_printed_protocol_is_the_packaged_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", name]) == 0
    printed = capsys.readouterr()
    assert printed.out == packaged.protocols()[name].read_text()
    assert f"vttdata protocol {name} DATASET" in printed.err


def test_dataset_is_described_by_name_and_folder(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = build(home / "me" / "x", ("a dog runs", "a cat"), name="me/x")
    shown = []
    for name in ("me/x", "x", str(folder)):
        assert main(["list", name]) == 0
        shown.append(capsys.readouterr().out)
    assert "  clips: train 1, test 1\n" in shown[0]
    assert shown[0] == shown[1] == shown[2]


def test_dataset_of_a_recipe_says_how_it_is_built(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "vttdata/msrvtt"]) == 0
    assert "not built; vttdata build msrvtt\n" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "nearest"), [("dmo", "demo"), ("msrvtt-9", "msrvtt-9k"), ("stret", "me/street")])
def test_unknown_name_suggests_the_nearest(
    name: str, nearest: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(home / "me" / "street", ("a dog runs", "a cat"), name="me/street")
    assert main(["list", name]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"Did you mean '{nearest}'?" in error


def test_folder_that_is_no_dataset_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (str(tmp_path), str(tmp_path / "nowhere")):
        assert main(["list", name]) == 2
        assert capsys.readouterr().err.count("\n") == 1
