"""Shell completion, run in the shells themselves where they are installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.needs import program

SCRIPTS = {
    "bash": """
        eval "$(_VTTDATA_COMPLETE=bash_source vttdata)"
        COMP_WORDS=($LINE "$WORD"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _vttdata_completion vttdata 2> /dev/null
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        compdef() { }
        _describe() { print -l -- ${completions_with_descriptions%%:*} }
        compadd() { print -l -- $completions }
        _path_files() { }
        eval "$(_VTTDATA_COMPLETE=zsh_source vttdata)"
        words=(${=LINE} "$WORD"); CURRENT=$#words
        _vttdata_completion
    """,
    "fish": """
        _VTTDATA_COMPLETE=fish_source vttdata | source
        complete -C "$LINE $WORD" | string split -f 1 \\t
    """,
}


@pytest.fixture(params=sorted(SCRIPTS))
def shell(request: pytest.FixtureRequest) -> str:
    program(request.param)
    return str(request.param)


def complete(shell: str, folder: Path, line: str, word: str) -> list[str]:
    """Return what a shell offers for a word after a line."""
    program = folder / "bin" / "vttdata"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vttdata "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    given = {"PATH": path, "LINE": line, "WORD": word, "HOME": str(folder), "VTTDATA_HOME": str(folder / "home")}
    command = [shell, "-c", SCRIPTS[shell]]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, cwd=folder, env={**os.environ, **given}
    )
    return [text for text in done.stdout.splitlines() if text]


def test_commands_options_and_names_are_completed(shell: str, tmp_path: Path) -> None:
    dataset = tmp_path / "home" / "me" / "animals" / "dataset"
    (dataset / "clips").mkdir(parents=True)
    (dataset / "README.md").write_text("---\n---\n")
    assert complete(shell, tmp_path, "vttdata", "de") == ["degrade"]
    assert sorted(complete(shell, tmp_path, "vttdata people", "")) == [
        *("export", "forget", "invite", "make", "plan", "score", "serve", "status")
    ]
    assert "--retry-failed" in complete(shell, tmp_path, "vttdata build demo", "--re")
    assert {"msrvtt", "msrvtt-foil"} <= set(complete(shell, tmp_path, "vttdata build", "msr"))
    assert complete(shell, tmp_path, "vttdata show", "me/") == ["me/animals"]
    assert complete(shell, tmp_path, "vttdata export me/animals --format", "coco-") == ["coco-results"]
    assert complete(shell, tmp_path, "vttdata foil captions.csv --selection", "ba") == ["balanced"]
