"""Folders that hold something already: nothing is replaced or mixed up in silence, and `--replace` overrides."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.people.test_make import MAKE, inputs
from tests.cli.test_degrade import ROWS, write_csv
from tests.cli.test_foil import contents, write_captions
from tests.helpers.official_files import write_unpacked
from vttdata.cli.main import main
from vttdata.pipeline.build_folder import write_pins

Capture = pytest.CaptureFixture[str]


def run(capture: Capture, *arguments: object) -> tuple[int, str]:
    """Run a command, and return its exit code and what it says on standard error."""
    capture.readouterr()
    code = main([str(argument) for argument in arguments])
    return code, capture.readouterr().err


def build(out: Path, *settings: str, recipe: str = "msrvtt") -> int:
    parts = [part for setting in settings for part in ("--set", setting)]
    return main(["build", recipe, "--quiet", "--workers", "1", "--out", str(out), *parts])


@pytest.fixture
def street(tmp_path: Path) -> Path:
    """A finished build of me/street in the working folder."""
    assert build(tmp_path / "street", f"annotations={write_unpacked(tmp_path / 'files')}", "name=me/street") == 0
    return tmp_path / "street"


def commands(folder: Path) -> dict[str, list[str]]:
    return {
        "degrade": ["degrade", str(write_csv(folder / "rows.csv", ROWS))],
        "foil": ["foil", str(write_captions(folder / "captions.csv", 80)), "--quiet", "--min-count", "5"],
        "people make": [*MAKE, *inputs(folder)],
    }


@pytest.mark.parametrize("name", ["degrade", "foil", "people make"])
def test_command_refuses_the_folder_of_a_build_or_of_its_dataset(
    name: str, street: Path, tmp_path: Path, capsys: Capture
) -> None:
    command = commands(tmp_path)[name]
    before = contents(street)
    for out, holds in (
        (street, f"{street}: holds the build 'me/street'"),
        (street / "dataset", f"{street}/dataset: holds the dataset 'me/street'"),
        (street / "dataset/more", f"{street}/dataset/more: lies in {street}/dataset, which holds the dataset"),
    ):
        code, message = run(capsys, *command, "--out", out)
        assert (code, message.count("\n")) == (2, 1)
        assert message.startswith(f"vttdata: {holds}")
        assert message.endswith("; choose another folder with --out, or write there anyway with --replace.\n")
    assert contents(street) == before


@pytest.mark.parametrize("name", ["degrade", "people make"])
def test_replace_writes_beside_a_build_and_leaves_it_whole(
    name: str, street: Path, tmp_path: Path, capsys: Capture
) -> None:
    before = contents(street)
    assert run(capsys, *commands(tmp_path)[name], "--out", street, "--replace")[0] == 0
    after = contents(street)
    assert len(after) > len(before)
    assert {path: after[path] for path in before} == before


def test_verify_and_diff_of_a_build_look_at_its_dataset(street: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main([*commands(tmp_path)["degrade"], "--out", str(tmp_path / "degraded")]) == 0
    # A user may write another dataset into the folder of a build.
    shutil.copytree(tmp_path / "degraded", street, dirs_exist_ok=True)
    assert run(capsys, "diff", street, street / "dataset")[0] == 0
    assert run(capsys, "verify", street, "--files-only")[0] == 0
    (table,) = (street / "dataset/captions").glob("train-*")
    table.write_bytes(b"")
    assert run(capsys, "verify", street, "--files-only")[0] == 4


def test_foils_replace_a_build_only_when_told_and_never_the_user_s_files(
    street: Path, tmp_path: Path, capsys: Capture
) -> None:
    command = [*commands(tmp_path)["foil"], "--out", street]
    (street / "notes.txt").write_text("mine")
    code, message = run(capsys, *command, "--replace")
    assert (code, message) == (
        2,
        f"vttdata: {street}: holds 'notes.txt' and is not replaced by a dataset; choose another folder, or move these "
        "files away.\n",
    )
    (street / "notes.txt").unlink()
    # A build also writes the splits of an earlier one, and the clips that wait for captions.
    write_pins(street, {"clip": "test"})
    (street / "uncaptioned").mkdir()
    (street / "uncaptioned" / "clip.mp4").write_bytes(b"")
    (street / "pins-mine.jsonl").write_text("mine")
    assert "holds 'pins-mine.jsonl' and is not replaced" in run(capsys, *command, "--replace")[1]
    (street / "pins-mine.jsonl").unlink()
    assert run(capsys, *command, "--replace")[0] == 0
    assert not (street / "build.json").exists()
    assert run(capsys, *command, "--seed", "1")[0] == 0
    (street / "notes.txt").write_text("mine")
    assert "holds 'notes.txt' and is not replaced" in run(capsys, *command)[1]
    assert (street / "notes.txt").read_text() == "mine"


def test_degraded_captions_replace_earlier_ones_beside_other_files(tmp_path: Path, capsys: Capture) -> None:
    command = [*commands(tmp_path)["degrade"], "--out", tmp_path / "out"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out/notes.txt").write_text("mine")
    for _ in range(2):
        assert run(capsys, *command)[0] == 0
    assert (tmp_path / "out/notes.txt").read_text() == "mine"


def judgments(file: Path) -> Path:
    references = '"[""a dog runs""]"'
    rows = [f"v{n},{s},text {n} {s},{n % 5 + (s == 'a')},w,{references}" for n in range(9) for s in "ab"]
    file.write_text("\n".join(["video_id,system,candidate,score,annotator,references", *rows, ""]))
    return file


# Every command that clears, moves or replaces a folder: the folder, below the working one, and the name by which such
# a folder is known, or files of it that the command would remove.
TAKES = {
    "build": ("street/dataset", "manifest.json"),
    "show": ("page.html.files", "index.js"),
    "foil": ("out", "manifest.json"),
    "foil of a build": ("street", "build.json"),
    "degrade": ("out", "manifest.json"),
    "export": ("out", "vttdata-export.sha256"),
    "evaluate": ("out", "evaluation.json"),
    "metric test": ("out", "metrics.json"),
    "metric train": ("out", "vttdata_metric.json"),
}


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        *((name, "more") for name in TAKES),
        # A file of the same name, such as a page's manifest.json, makes a folder nothing of ours.
        *((name, "the name") for name, (folder, _) in TAKES.items() if folder == "out"),
    ],
)
@pytest.mark.sampled(5)
def test_folder_of_somebody_else_is_refused_by_every_command_and_stays_as_it_is(
    name: str, holds: str, street: Path, tmp_path: Path, capsys: Capture
) -> None:
    taken, known_by = TAKES[name]
    folder, out = tmp_path / taken, tmp_path / "out"
    predictions = tmp_path / "predictions.csv"
    predictions.write_text("video_id,caption\n")
    judged = judgments(tmp_path / "judged.csv")
    command: list[object] = {
        "build": ["build", street, "--quiet", "--workers", "1"],
        "show": ["show", street, "--page", tmp_path / "page.html"],
        "foil": [*commands(tmp_path)["foil"], "--out", out],
        "foil of a build": [*commands(tmp_path)["foil"], "--out", out.with_name("street"), "--replace"],
        "degrade": [*commands(tmp_path)["degrade"], "--out", out],
        "export": ["export", street, "--format", "jsonl", "--out", out],
        "evaluate": ["evaluate", street, predictions, "--metric", "rouge-l", "--out", out],
        "metric test": ["metric", "test", judged, "--scores", judged, "--out", out],
        "metric train": ["metric", "train", judged, "--out", out],
    }[name]
    (folder / "stills/ab").mkdir(parents=True, exist_ok=True)
    if holds == "more":
        (folder / "stills/ab/holiday.webp").write_bytes(b"a photograph")
    if not (folder / known_by).exists():
        (folder / known_by).write_text('{"name": "another program", "start_url": "."}')
    # Names that belong to nobody are those of somebody, too.
    for sibling in (f".{folder.name}.partial", f".{folder.name}.old", "page", "web"):
        (tmp_path / sibling).mkdir()
        (tmp_path / sibling / "index.js").write_text("const mine = 1;")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, message = run(capsys, *command)
    assert (code, message.count("\n")) == (2, 1), message
    assert str(folder if name != "metric train" else out) in message
    after = {path: path.read_bytes() for path in before if path.is_file() and path.suffix not in {".jsonl", ".lock"}}
    assert after == {path: data for path, data in before.items() if path.suffix not in {".jsonl", ".lock"}}


def test_page_takes_no_folder_that_shares_its_name(street: Path, tmp_path: Path, capsys: Capture) -> None:
    dataset = street / "dataset"
    shutil.copytree(dataset, tmp_path / "web")
    for name in ("index.js", "clips-viewer.js", "clips-00000.js", "stills/ab/holiday.webp"):
        (tmp_path / "web" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "web" / name).write_text("mine")
    before = contents(tmp_path / "web")
    for _ in range(2):
        assert run(capsys, "show", street, "--page", tmp_path / "web.html")[0] == 0
    assert contents(tmp_path / "web") == before


def test_a_first_build_that_did_nothing_claims_no_folder(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "empty").mkdir()
    assert build(tmp_path / "x", f"annotations={tmp_path / 'empty'}", "name=me/road", recipe="msrvtt") == 2
    capsys.readouterr()
    assert build(tmp_path / "x", f"annotations={tmp_path / 'empty'}", "name=me/lane", recipe="youcook2") == 2
    assert "holds the build" not in capsys.readouterr().err


def test_build_of_another_name_or_recipe_is_refused(street: Path, tmp_path: Path, capsys: Capture) -> None:
    before = contents(street)
    annotations = f"annotations={tmp_path / 'files'}"
    message = "choose another folder with --out, or give this one to the new build with --replace.\n"
    for recipe, name, difference in (
        ("msrvtt", "me/road", "by msrvtt.yaml, not of 'me/road' by msrvtt.yaml"),
        ("msrvtt-degraded", "me/street", "by msrvtt.yaml, not of 'me/street' by msrvtt-degraded.yaml"),
    ):
        capsys.readouterr()
        assert build(street, annotations, f"name={name}", recipe=recipe) == 2
        assert capsys.readouterr().err == f"vttdata: {street}: holds the build of 'me/street' {difference}; {message}"
    assert contents(street) == before

    replaced = ["build", "msrvtt", "--quiet", "--out", street, "--set", annotations, "--set", "name=me/road"]
    assert run(capsys, *replaced, "--replace")[0] == 0
    assert json.loads((street / "build.json").read_text())["recipe"] == "me/road"


def test_recipe_that_a_dataset_holds_is_the_one_that_it_was_built_from(street: Path, tmp_path: Path) -> None:
    annotations = f"annotations={tmp_path / 'files'}"
    assert build(street, annotations, recipe=str(street / "dataset/recipe.yaml")) == 0
    assert build(street, annotations, "name=me/street") == 0


@pytest.mark.parametrize(
    "command",
    [
        ["people", "make", "caption", "videos", "--out", "s3://bucket/captioning"],
        ["verify", "me/street", "--videos", "videos", "--out", "s3://bucket/there"],
        ["new", "lectures", "--out", "s3://bucket/plugins"],
        ["foil", "captions.csv", "--out", "gs://bucket/foils"],
        ["audit", "me/street", "--page", "s3://bucket/audit.html"],
    ],
)
def test_address_is_no_folder_of_this_machine(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    code, error = run(capsys, *command)
    assert (code, "is an address; give a path on this machine" in error, error.count("\n")) == (2, True, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["build", "people make"])
def test_path_too_long_for_a_database_is_refused_before_the_work(name: str, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path.joinpath(*["x" * 99] * 6)
    files = write_unpacked(tmp_path / "files")
    command = {
        "build": ["build", "msrvtt", "--quiet", "--set", f"annotations={files}"],
        "people make": commands(tmp_path)["people make"],
    }[name]
    code, message = run(capsys, *command, "--out", out)
    assert (code, message.count("\n")) == (2, 1)
    assert message.startswith(f"vttdata: {out}: this path has ")
    assert not list(tmp_path.rglob("x*x"))


def test_printed_commands_quote_paths(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "my campaign; $HOME"
    assert main([*commands(tmp_path)["people make"], "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert f"vttdata people serve {shlex.quote(str(out))}" in printed
    assert f"vttdata people export {shlex.quote(str(out))}" in printed
