"""On a terminal, builds show bars in one place, with colours if those are wanted; hostile text has no effect there."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

# What a terminal obeys, apart from what rich writes to draw: erasing lines, moving the cursor, styles.
_DRAWING = re.compile(r"\x1b\[(?:\d*[AK]|\?25[hl])|\x1b\[[\d;]*m|\r")
_STEPS = """
import time
from types import SimpleNamespace
from vttdata.cli.terminal import print_styled
from vttdata.pipeline import progress
lines = []
visible = progress.visible
progress.visible = lambda text: lines.append(text) or visible(text)
progress._LINE_EVERY_SECONDS = 0.01
progress.time = SimpleNamespace(monotonic=lambda: 200.0)
build = progress.BuildProgress(started=0.0)
for label in ("[6/15] measure", "[red]evil[/red] \\x1b]0;title\\x07 [link=https://evil.example]x[/link]"):
    with progress.Progress(label, 1200, build=build) as step:
        with progress.Progress("inside", 3, build=build):
            for number in range(400):
                step.advance(rejected=number < 7, failed=number < 2)
            while build._bars is None and not any(line.startswith(f"{label}: 400 ") for line in lines):
                time.sleep(0.01)
            if build._bars is not None:
                build._bars.refresh()
    print_styled(f"done: {label}", bold=True, fg="green")
"""


def screen(**environment: str) -> str:
    """Run two steps with a terminal as standard output and error; return what they wrote to it."""
    ours, theirs = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    command = [sys.executable, "-c", _STEPS]
    child = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=plain | {"COLUMNS": "100"} | environment)
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 65536):
            written += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert child.wait() == 0, written
    return written.decode()


def test_steps_share_one_place_with_rate_time_left_and_losses() -> None:
    shown = screen(TERM="xterm-256color")
    text = _DRAWING.sub("", shown)
    assert re.search(r"\[6/15\] measure [━╺╸]+ +400 of 1,200, [\d,.]+/s, 00:\d\d left *\n.*inside +━+ +0 of 3", text)
    assert "build 03:20, 7 rejected, 2 failed" in text
    assert "build 03:20, 14 rejected, 4 failed" in text
    assert text.index("done: [6/15] measure") < text.index("14 rejected")
    assert "\x1b[?25l" not in shown  # a build that is killed leaves the cursor
    assert "\x1b[33m7 rejected" in shown
    assert "\x1b[32m\x1b[1mdone: [6/15] measure" in shown


def test_markup_and_escapes_of_labels_are_shown() -> None:
    shown = screen(TERM="xterm-256color")
    assert r"[red]evil[/red] \x1b]0;title\x07" in _DRAWING.sub("", shown)
    assert "\x1b" not in _DRAWING.sub("", shown)
    assert "\x07" not in shown


def test_no_color_leaves_bars_without_colours() -> None:
    shown = screen(TERM="xterm-256color", NO_COLOR="1")
    assert "7 rejected" in shown
    assert not re.search(r"\x1b\[[\d;]*3[0-9]", shown)


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": "dumb", "FORCE_COLOR": "1"}])
def test_dumb_terminal_gets_lines(environment: dict[str, str]) -> None:
    shown = screen(**environment)
    assert "\x1b" not in shown
    assert "[6/15] measure: 400 of 1200, 7 rejected, 2 failed, 00:00, build 03:20\r\n" in shown


def test_file_gets_lines_whatever_colours_are_asked_for(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        environment = os.environ | {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
        subprocess.run([sys.executable, "-c", _STEPS], stdout=log, stderr=log, env=environment, check=True)
    assert "\x1b" not in (tmp_path / "log").read_text()
