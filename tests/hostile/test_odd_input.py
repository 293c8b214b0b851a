"""Odd input of every sort is refused at once and in one sentence, and what is printed obeys no one."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.helpers.builds import vttdata
from tests.helpers.damage import damage, write_rich_dataset
from tests.helpers.films import write_film
from tests.helpers.forked import COMMANDS
from tests.helpers.hostile_campaign import write_answered_campaign
from vttdata.annotations.files import list_files
from vttdata.cli.main import main
from vttdata.dataset import Metadata
from vttdata.errors import VttdataError
from vttdata.files.reading import read_regular
from vttdata.files.table_formats import visible


def one_sentence(*command: str, **environment: str) -> str:
    ended = COMMANDS.run(["vttdata.cli.main", *command], os.environ | environment)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended
    return ended.stderr


@pytest.mark.parametrize("command", [("list",), ("show", "me/x"), ("build", "demo")])
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


@pytest.mark.parametrize(
    "command",
    [
        ("build", "a.yaml"),
        ("evaluate", "rich", "a.csv"),
        ("evaluate", "rich", "a.npz"),
        ("evaluate", "rich", "a.run"),
        ("evaluate", "rich", "--human", "--config", "a.json"),
        ("metric", "test", "a.csv"),
        ("foil", "a.csv", "--out", "out"),
        ("audit", "rich", "--against", "a.csv"),
        ("audit", "pairs.csv", "--judge", "a.npz"),
    ],
)
def test_pipe_that_never_gives_a_byte_is_refused_at_once(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if "rich" in command:
        write_rich_dataset(tmp_path / "rich")
    (tmp_path / "pairs.csv").write_text("true,foil,video_id\na dog runs,a cat runs,v1\n")
    os.mkfifo(next(name for name in command if name.startswith("a.")))
    # A command that opens the pipe waits for ever; the alarm ends the test process.
    signal.alarm(25)
    try:
        assert main(list(command)) == 2
    finally:
        signal.alarm(0)
    assert capsys.readouterr().err.count("\n") == 1


def test_archive_member_without_a_name_is_passed_over(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(""), "nameless")
        archive.writestr("a.json", "{}")
    assert [file.name for file in list_files(tmp_path, {".json", ""})] == ["a.json"]


@pytest.mark.parametrize("command", [("export", "--format", "jsonl", "--out", "out"), ("show",), ("evaluate",)])
def test_card_whose_data_files_are_empty_is_refused(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    card = write_rich_dataset(tmp_path / "rich") / "README.md"
    changed, count = re.subn(r"(?m)^( *)data_files:\n(?:\1(?:-| ) *.*\n)+", r"\1data_files: []\n", card.read_text())
    assert count
    card.write_text(changed)
    (tmp_path / "a.csv").write_text("video_id,caption\nv3,a dog\n")
    assert main([command[0], "rich", *(["a.csv"] if command[0] == "evaluate" else []), *command[1:]]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_odd_datasets_do_not_hide_the_others(tmp_path: Path) -> None:
    write_rich_dataset(tmp_path / "me" / "good")
    whole = write_rich_dataset(tmp_path / "whole")
    for seed in range(12):
        damage(Path(shutil.copytree(whole, tmp_path / "me" / f"odd{seed}")), seed)
    for number, card in enumerate((b"---\n- a\n---\n", b"---\nconfigs: 3\n---\n", b"\xff\xfe", b"", b"---\n")):
        odd = Path(shutil.copytree(whole, tmp_path / "me" / f"card{number}"))
        (odd / "README.md").write_bytes(card)
    for options in ((), ("--json",)):
        listed = vttdata("list", *options, VTTDATA_HOME=str(tmp_path))
        assert (listed.returncode, "me/good" in listed.stdout) == (0, True), listed


def test_damaged_answers_of_a_campaign_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_film(tmp_path / "film.mp4", 1, 1)
    (tmp_path / "inputs").mkdir()
    campaign = write_answered_campaign(tmp_path / "inputs")
    with sqlite3.connect(next(campaign.glob("*.sqlite*"))) as database:
        database.execute("UPDATE answers SET answer = '{\"verdict\": '")
    database.close()
    capsys.readouterr()
    for command in (["status", str(campaign)], ["score", str(campaign), "--out", str(tmp_path / "out")]):
        assert main(["people", *command]) == 2
        assert "answers.sqlite: cannot be read" in capsys.readouterr().err


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
    for command in (["show", str(folder)], ["show", str(folder / "none")], ["list", str(folder)]):
        main(command)
        ended = capsys.readouterr()
        assert not {"\x1b", "\x07", "\x9b"} & {*ended.out, *ended.err}
        assert ended.out or ended.err


def test_signal_to_the_pager_is_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m vttdata list | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert (done.stderr, done.stdout.count("\n")) == ("", 1)
