"""What was made of a dataset with ids that are numbers loses what is withdrawn, whatever moment a kill comes at."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from unittest import mock

import pytest

from tests.helpers.drawn_questions import Film, build_questions, write_film
from tests.helpers.kill_points import count_moments, kill_at
from tests.helpers.session_files import make_once
from tests.helpers.traces import find_traces
from vttdata.cli.main import main
from vttdata.compose.withdraw import WithdrawalRequest, withdraw
from vttdata.dataset.manifest import find_damage
from vttdata.dataset.stimuli import read_stimuli
from vttdata.export.files import read_checksums
from vttdata.files.reading import file_sha256

pytestmark = pytest.mark.not_on("win32")

FILMS = ("6102982194", "6102982195", "71")
GONE = FILMS[0]
ALSO = ("stimuli", "evaluation", "documents", "shown")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Films with two questions each, their dataset, stimuli, an evaluation and exports."""

    def make(folder: Path) -> None:
        with (folder / "questions.jsonl").open("w") as stream:
            for number, name in enumerate(FILMS):
                write_film(folder / f"{name}.mp4", Film(name, "colour", number))
                for question in range(2):
                    row = {"question_id": f"{name}_{question}", "video": f"{name}.mp4", "question": f"Which {number}?"}
                    options = {"options": ["red", "green", f"{question}{number}"], "answer_index": question}
                    stream.write(json.dumps(row | options) + "\n")
        build, stimuli = str(build_questions(folder)), str(folder / "stimuli")
        conditions = [part for name in ("first", "other") for part in ("--condition", name)]
        with (folder / "answers.csv").open("w", newline="") as stream:
            rows = csv.writer(stream)
            rows.writerow(["question_id", "answer"])
            rows.writerows([f"{name}_{question}", "A"] for name in FILMS for question in range(2))
        for arguments in (
            ["stimuli", build, "--videos", str(folder), "--out", stimuli, "--quiet", *conditions],
            ["evaluate", build, str(folder / "answers.csv"), "--out", str(folder / "evaluation")],
            ["export", build, "--format", "inspect-ai", "--out", str(folder / "documents")],
            ["export", build, "--format", "inspect-ai", "--out", str(folder / "shown"), "--stimuli", stimuli],
        ):
            assert main(arguments) == 0

    return make_once(tmp_path_factory, "withdrawn-everywhere", make)


def copy(made: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(made, target)
    return target


def withdraw_all(folder: Path) -> None:
    also = [folder / name for name in ALSO if (folder / name).exists()]
    withdraw(folder / "build", WithdrawalRequest(ids=[GONE], also=also))


def check(folder: Path, made: Path) -> None:
    names = [GONE, f"{GONE}_0", f"{GONE}_1"]
    places = [folder / "build", *(folder / name for name in ALSO)]
    assert not [each for place in places for each in find_traces(place, names)]
    assert not [path for place in places for path in place.rglob("*") if GONE in path.name]
    assert find_damage(folder / "build/dataset") == []
    before, after = (list(read_stimuli(each / "stimuli")) for each in (made, folder))
    assert after == [each for each in before if GONE not in (each.video_id, each.shows)]
    assert all(
        file_sha256(folder / "stimuli" / name) == sha256
        for each in after
        for name, sha256 in zip(each.files, each.sha256, strict=True)
    )
    listed = {file for each in after for file in each.files}
    there = {path.relative_to(folder / "stimuli").as_posix() for path in (folder / "stimuli").rglob("*.png")}
    assert there == {name for name in listed if name.endswith(".png")}
    manifest = json.loads((folder / "stimuli/stimuli.json").read_text())
    assert manifest["conditions"]["first"]["clips"] == len(FILMS) - 1
    stored, evaluation = (
        [json.loads(line) for line in (each / "evaluation/items.jsonl").read_text().splitlines()]
        for each in (made, folder)
    )
    assert evaluation == [row for row in stored if not row["item"].startswith(GONE)]
    scores = [json.loads((each / "evaluation/evaluation.json").read_text())["scores"] for each in (made, folder)]
    assert scores[0] == scores[1]
    about, files = read_checksums(folder / "documents")
    assert about["version"] == "2.0.0"
    assert {name: file_sha256(folder / "documents" / name) for name in files} == files
    # The answers are of the user.
    assert (folder / "answers.csv").read_bytes() == (made / "answers.csv").read_bytes()


def test_nothing_is_left_and_nothing_else_changes(made: Path, tmp_path: Path) -> None:
    folder = copy(made, tmp_path / "work")
    (folder / "shown/notes.txt").write_text(f"{GONE}\n")
    withdraw_all(folder)
    assert [path.name for path in (folder / "shown").rglob("*") if path.is_file()] == ["notes.txt"]
    (folder / "shown/notes.txt").unlink()
    check(folder, made)


@pytest.mark.parametrize("place", ["stimuli", "shown"])
def test_folders_that_a_killed_command_left_empty_go_with_the_next(place: str, made: Path, tmp_path: Path) -> None:
    folder, rmdir = copy(made, tmp_path / "work"), Path.rmdir

    def end(path: Path) -> None:
        if place in path.parts:
            raise KeyboardInterrupt
        rmdir(path)

    with mock.patch.object(Path, "rmdir", end), pytest.raises(KeyboardInterrupt):
        withdraw_all(folder)
    withdraw_all(folder)
    check(folder, made)


def test_a_kill_at_any_moment_is_finished_by_the_same_command(made: Path, tmp_path: Path) -> None:
    folder = copy(made, tmp_path / "work")
    moments = count_moments(lambda: withdraw_all(folder))
    killed = 0
    for number in range(3):
        copy(made, folder)
        killed += kill_at(moments * (2 * number + 1) // 6, lambda: withdraw_all(folder))
        withdraw_all(folder)
        check(folder, made)
    assert killed == 3
