"""Progress moves while a step is at work, also without a terminal and where items do not come one by one."""

from __future__ import annotations

import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import vttdata
from tests.cli.test_foil import write_captions
from tests.helpers.builds import LOOSE, film
from tests.helpers.official_files import write_unpacked
from vttdata.pipeline import progress
from vttdata.pipeline.progress import BuildProgress, Progress


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_LINE_EVERY_SECONDS", 0.01)


@pytest.fixture
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be 200 s after the start of the clock all the time."""
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 200.0))


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], impatient: None) -> list[str]:
    """Collect the lines of all steps, each of which lasts until it has shown one."""
    del impatient
    shown: list[str] = []
    leave = Progress.__exit__

    def linger(self: Progress, *error: Any) -> None:
        while not any(line.startswith(f"{self._label}:") for line in shown):
            time.sleep(0.01)
            shown.extend(capsys.readouterr().err.splitlines())
        leave(self, *error)

    monkeypatch.setattr(Progress, "__exit__", linger)
    return shown


def lines_of(step: Progress, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Wait inside a step until it has shown two lines."""
    shown = ""
    with step:
        while shown.count("\n") < 2:
            time.sleep(0.01)
            shown += capsys.readouterr().err
    return shown.splitlines()


@pytest.mark.usefixtures("impatient", "stopped_clock")
def test_step_over_all_items_at_once_shows_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    step = Progress("[8/14] copies", None, BuildProgress(started=0.0))
    assert lines_of(step, capsys)[0] == "[8/14] copies: 00:00, build 03:20"


@pytest.mark.usefixtures("impatient", "stopped_clock")
def test_step_without_a_finished_item_shows_that(capsys: pytest.CaptureFixture[str]) -> None:
    assert lines_of(Progress("measure", 12, BuildProgress()), capsys)[0] == "measure: 0 of 12, 00:00"


@pytest.mark.usefixtures("impatient", "stopped_clock")
def test_losses_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    step = Progress("measure", 12, BuildProgress())
    step.advance(rejected=1)
    step.advance(failed=1)
    assert lines_of(step, capsys)[-1] == "measure: 2 of 12, 1 rejected, 1 failed, 00:00"


@pytest.mark.usefixtures("impatient")
def test_quiet_step_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("measure", 12, BuildProgress(quiet=True)) as step:
        step.advance()
        time.sleep(0.05)
    assert not capsys.readouterr().err


def test_build_of_own_videos_numbers_its_steps(tmp_path: Path, lines: list[str]) -> None:
    (tmp_path / "videos").mkdir()
    film(tmp_path / "videos" / "a.mp4")
    settings = [*LOOSE, f"collect.folder={tmp_path / 'videos'}", "near_duplicates=keep_one"]
    run = vttdata.build("own-folder", out=tmp_path / "out", settings=settings, execution=vttdata.Execution(1))
    assert run.steps == len(run.tables) + 1 == 13
    assert {line.split("]")[0] for line in lines} == {f"[{step}/13" for step in range(1, 14)}
    assert any(line.startswith("[1/13] collect: ") for line in lines)
    assert all(", build 0" in line for line in lines)


@pytest.mark.long
def test_build_of_foils_numbers_its_steps(tmp_path: Path, lines: list[str]) -> None:
    (tmp_path / "foils.yaml").write_text(
        f"name: me/foils\nbuilder: foils\ninput: {write_captions(tmp_path / 'c.csv')}\n"
    )
    vttdata.build(tmp_path / "foils.yaml", out=tmp_path / "out", execution=vttdata.Execution(1))
    assert any(re.match(r"\[2/3\] finding things: \d+ of 160, ", line) for line in lines)
    assert any(line.startswith("[3/3] blind attacks: ") for line in lines)
    assert any(re.match(r"\[3/3\] attackers: \d+ of \d+, ", line) for line in lines)


def test_build_of_official_files_numbers_its_steps(tmp_path: Path) -> None:
    files = write_unpacked(tmp_path / "files")
    for settings in ({}, {"videos": tmp_path}):
        given = {"annotations": files, **settings}
        run = vttdata.build(
            "msrvtt",
            out=tmp_path / f"out{len(settings)}",
            settings=given,
            execution=vttdata.Execution(1),
            messages=vttdata.Messages(quiet=True),
        )
        assert run.steps == len(run.tables) + 1
