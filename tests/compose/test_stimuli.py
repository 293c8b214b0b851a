"""A folder of stimuli: the same bytes whatever the workers and interruptions, and what cannot be made is said."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.drawn_questions import (
    FRAMES,
    KINDS,
    Film,
    answer_by_oracle,
    build_questions,
    draw_benchmark,
    read_pictures,
)
from vttdata.cli.main import main
from vttdata.dataset.stimuli import read_stimuli

pytestmark = pytest.mark.not_on("win32")

CHOSEN = ("text", "first", "frames", "all", "reversed", "other")
CONDITIONS = [argument for name in CHOSEN for argument in ("--condition", name)]


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Film]]:
    """Folder of two films of each kind with a build of their questions."""
    folder = tmp_path_factory.mktemp("films")
    drawn = draw_benchmark(folder, 2)
    build_questions(folder)
    return folder, drawn


@pytest.fixture(scope="module")
def shown(films: tuple[Path, list[Film]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of stimuli, made by one worker."""
    out = tmp_path_factory.mktemp("stimuli") / "shown"
    assert main(arguments(films[0], out, "--workers", "1")) == 0
    return out


def arguments(folder: Path, out: Path, *others: str) -> list[str]:
    return [
        *("stimuli", str(folder / "build"), "--videos", str(folder), "--out", str(out), "--quiet", *CONDITIONS, *others)
    ]


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for name in ("stimuli.json", "stimuli.parquet", *CHOSEN) for path in [folder / name])
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def test_the_oracle_reaches_what_follows_from_the_drawing(films: tuple[Path, list[Film]], shown: Path) -> None:
    by_name = {film.name: film for film in films[1]}
    right: dict[tuple[str, str], list[float]] = {}
    for stimulus in read_stimuli(shown):
        film = by_name[stimulus.video_id]
        scores = answer_by_oracle(film.kind, read_pictures([shown / name for name in stimulus.files]))
        best = [index for index, score in enumerate(scores) if score == max(scores)]
        right.setdefault((film.kind, stimulus.condition), []).append((film.answer in best) / len(best))
    guess = {"colour": 1 / 4, "direction": 1 / 2, "order": 1 / 2, "speed": 1 / 2, "count": 1 / 3}
    for kind in KINDS:
        assert right[kind, "text"] == [guess[kind]] * 2
        assert right[kind, "all"] == [1.0, 1.0]
        assert right[kind, "first"] == [1.0 if kind == "colour" else guess[kind]] * 2
        assert right[kind, "frames"] == [1.0 if kind in ("colour", "direction", "order") else guess[kind]] * 2
        assert right[kind, "reversed"] == [0.0 if kind in ("direction", "order") else 1.0] * 2


@pytest.mark.long
def test_workers_and_kills_make_no_difference(films: tuple[Path, list[Film]], shown: Path, tmp_path: Path) -> None:
    out, expected = tmp_path / "again", contents(shown)
    command = [sys.executable, "-m", "vttdata", *arguments(films[0], out, "--workers", "2")]
    for number in (1, 4):
        process = subprocess.Popen(command, start_new_session=True)
        while process.poll() is None and len(list((out / "all").glob("*.mp4"))) < number:
            time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert json.loads((out / "stimuli.json").read_text())["status"] == "incomplete"
    assert subprocess.run(command, check=False).returncode == 0
    assert contents(out) == expected
    assert len(expected) == 2 + 10 * (1 + 8 + 1 + 1 + 1)
    before = {path: path.stat().st_mtime_ns for path in out.glob("all/*.mp4")}
    (out / "all" / "colour0.mp4").unlink()
    assert main(arguments(films[0], out)) == 0
    assert contents(out) == expected
    changed = {path.name for path, modified in before.items() if path.stat().st_mtime_ns != modified}
    assert changed == {"colour0.mp4"}


def test_pictures_of_another_seed_are_made_again(films: tuple[Path, list[Film]], tmp_path: Path) -> None:
    """A command with another seed that is killed leaves the same pictures in another order, of the same size."""
    out = tmp_path / "out"
    command = ["stimuli", str(films[0] / "build"), "--videos", str(films[0]), "--out", str(out), "--quiet"]
    command += ["--condition", "shuffled-frames"]
    assert main(command) == 0
    folder = out / "shuffled-frames" / "order0"
    expected = {path.name: path.read_bytes() for path in folder.iterdir()}
    for path, name in zip(sorted(folder.iterdir()), sorted(expected, reverse=True), strict=True):
        path.write_bytes(expected[name])
    assert main(command) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == expected


def test_a_full_disk_at_the_start_does_not_close_the_folder(films: tuple[Path, list[Film]], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in (".lock", "stimuli.json.tmp"):
        (out / name).write_text("")
    assert main(arguments(films[0], out, "--condition", "text")) == 0
    (tmp_path / "file").write_text("mine")
    assert main(arguments(films[0], tmp_path / "file")) == 2


def test_files_of_somebody_else_in_a_condition_stay(
    films: tuple[Path, list[Film]], shown: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(shown, out)
    mine = [out / "first" / "answers.jsonl", out / "text" / "answers.jsonl", out / "first" / "order0" / "seen.txt"]
    # No table lists them, whatever their names.
    mine += [out / "first" / "gone" / "0000.png", out / "all" / "gone.mp4"]
    unfinished = out / "all" / ".order0.mp4.12345678.part"
    for path in (*mine, unfinished):
        path.parent.mkdir(exist_ok=True)
        path.write_text("words")
    listed = {name for each in read_stimuli(out) for name in each.files}
    without_all = [argument for name in CHOSEN if name != "all" for argument in ("--condition", name)]
    build, videos = str(films[0] / "build"), str(films[0])
    assert main(["stimuli", build, "--videos", videos, "--out", str(out), "--quiet", *without_all]) == 0
    assert all(path.exists() for path in mine)
    assert not unfinished.exists()
    assert {name for name in listed if (out / name).exists()} == {name for name in listed if name[:4] != "all/"}


def test_clips_whose_other_clip_has_no_video_are_said(
    films: tuple[Path, list[Film]], shown: Path, tmp_path: Path
) -> None:
    others = {each.video_id: each.shows for each in read_stimuli(shown, ["other"])}
    gone = others["order0"]
    folder, out = tmp_path / "films", tmp_path / "out"
    folder.mkdir()
    for film in films[0].glob("*.mp4"):
        if film.stem != gone:
            shutil.copy(film, folder)
    command = ["stimuli", str(films[0] / "build"), "--videos", str(folder), "--out", str(out), "--quiet"]
    assert main([*command, "--condition", "other"]) == 1
    made = json.loads((out / "stimuli.json").read_text())
    lacking = {loss["video_id"]: loss["detail"] for loss in made["left_out"] if loss["reason"] == "no_other"}
    assert lacking.keys() == {name for name, other in others.items() if other == gone}
    assert all(gone in detail for detail in lacking.values())
    assert made["conditions"]["other"]["clips"] + len(lacking) == 10


def test_another_clip_is_of_another_source(shown: Path) -> None:
    others = {each.video_id: each.shows for each in read_stimuli(shown, ["other"])}
    assert len(others) == 10
    assert all(name != other for name, other in others.items())


def test_missing_videos_and_short_clips_are_said(
    films: tuple[Path, list[Film]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "films"
    folder.mkdir()
    shutil.copytree(films[0] / "build", folder / "build")
    for name in ("colour0", "colour1"):
        shutil.copy(films[0] / f"{name}.mp4", folder)
    (folder / "order0.mp4").write_bytes(b"no video")
    out = tmp_path / "out"
    command = ["stimuli", str(folder / "build"), "--videos", str(folder), "--out", str(out), "--quiet"]
    command += ["--condition", "frames", "--frames", str(FRAMES + 1)]
    assert main(command) == 1
    made, said = json.loads((out / "stimuli.json").read_text()), capsys.readouterr().err
    assert made["conditions"]["frames"]["clips"] == made["conditions"]["frames"]["short"] == 2
    assert {loss["reason"] for loss in made["left_out"]} == {"no_video", "unreadable"}
    assert len(made["left_out"]) == 8
    for expected in ("2 clips have fewer than 25 frames", "7 of 10 clips (no_video", "1 of 10 clips (unreadable"):
        assert expected in said


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("--condition", "last"), "There is no condition 'last'"),
        (("--height", "63"), "which is not an even number"),
        (("--videos", "nowhere"), "'nowhere' is not an existing folder"),
        (("--split", "train"), "no split of 'questions' is called 'train'"),
    ],
)
def test_bad_use_is_one_sentence(
    films: tuple[Path, list[Film]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changed: tuple[str, ...],
    message: str,
) -> None:
    assert main([*arguments(films[0], tmp_path / "out"), *changed]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_other_folders_are_left_alone(
    films: tuple[Path, list[Film]], shown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(arguments(films[0], tmp_path)) == 2
    assert "notes.txt" in capsys.readouterr().err
    assert main(arguments(films[0], films[0] / "build" / "dataset" / "shown")) == 2
    assert "inside the dataset" in capsys.readouterr().err
    copied = tmp_path / "copied"
    shutil.copytree(shown, copied)
    facts = json.loads((copied / "stimuli.json").read_text())
    (copied / "stimuli.json").write_text(json.dumps(facts | {"dataset": "me/other"}))
    before = contents(copied)
    assert main(arguments(films[0], copied)) == 2
    assert "holds stimuli of me/other" in capsys.readouterr().err
    assert contents(copied) == before
