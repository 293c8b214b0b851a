"""Odd input of every sort is refused at once and in one sentence, and what is printed obeys no one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.damage import write_rich_dataset
from tests.helpers.peak_memory import run_python
from vttdata.cli.main import main
from vttdata.dataset import Metadata
from vttdata.errors import VttdataError
from vttdata.files.plain_tables import visible
from vttdata.files.regular import read_regular


def one_sentence(*command: str, **environment: str) -> str:
    ended = run_python(["-m", "vttdata", *command], **environment)
    assert (ended.code, ended.stderr.count("\n")) == (2, 1), ended
    assert ended.seconds < 15
    return ended.stderr


@pytest.mark.parametrize("command", [("datasets",), ("stats", "me/x"), ("build", "demo")])
def test_home_folder_that_does_not_exist_is_named(command: tuple[str, ...]) -> None:
    text = one_sentence(*command, VTTDATA_HOME="~nosuchuser/x")
    assert text == "vttdata: VTTDATA_HOME: found '~nosuchuser/x', whose home folder does not exist.\n"


@pytest.mark.parametrize("name", ["fifo.csv", "kmsg.csv", "null.csv"])
def test_special_file_is_refused_by_its_type(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "fifo.csv":
        os.mkfifo(path)
    else:
        path.symlink_to("/proc/kmsg" if name == "kmsg.csv" else "/dev/null")
    if name == "kmsg.csv" and not os.access("/proc/kmsg", os.R_OK):
        pytest.skip("needs /proc/kmsg, which only root reads")
    text = one_sentence("degrade", str(path), "--out", str(tmp_path / "out"))
    assert "it waits for content" in text or "is not a regular file" in text or "cannot be read" in text
    with pytest.raises((OSError, VttdataError)):
        read_regular(path, 10)


def test_table_of_too_many_columns_is_refused(tmp_path: Path) -> None:
    names = ",".join(f"licens{number}" for number in range(60_000))
    (tmp_path / "wide.csv").write_text(f"url,{names}\n")
    manifest = f"collect.manifest={tmp_path / 'wide.csv'}"
    text = one_sentence("build", "own-list", "--set", manifest, "--out", str(tmp_path / "out"))
    assert "has 60001 columns, more than 4096" in text


@pytest.mark.parametrize("suffix", ["json", "jsonl", "yaml"])
def test_nested_brackets_are_refused_at_once(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"deep.{suffix}"
    path.write_text("[" * 100_000)
    if suffix == "yaml":
        one_sentence("build", str(path))
    else:
        one_sentence("degrade", str(path), "--out", str(tmp_path / "out"))


def test_version_has_plain_digits(tmp_path: Path) -> None:
    version = "\u0661.\u0660.\u0660"
    assert "version" in one_sentence("build", "demo", "--set", f"version={version}", "--out", str(tmp_path / "out"))
    with pytest.raises((ValueError, VttdataError)):
        Metadata("me/x", version=version)


def test_control_characters_are_shown_and_not_obeyed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert visible("a\x1b[2Jb\r\x9b\u202e\tc\n\u00e9") == "a\\x1b[2Jb\\r\\x9b\\u202e\tc\n\u00e9"
    folder = tmp_path / "x\x1b]0;title\x07"
    write_rich_dataset(folder)
    card = folder / "README.md"
    card.write_text(card.read_text().replace("category: music", "category: x").replace("me/rich", "me/\x9bri"))
    for command in (["stats", str(folder)], ["stats", str(folder / "none")], ["datasets", str(folder)]):
        main(command)
        ended = capsys.readouterr()
        assert not {"\x1b", "\x07", "\x9b"} & {*ended.out, *ended.err}
        assert ended.out or ended.err


def test_signal_to_the_pager_is_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m vttdata recipes | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert (done.stderr, done.stdout.count("\n")) == ("", 1)
