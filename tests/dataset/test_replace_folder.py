"""Folders are replaced as a whole, by one process at a time."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from vttdata.dataset.replace_folder import replace_folder
from vttdata.errors import VttdataError
from vttdata.files.own_folder import FolderKind

# Fills the folder that is its argument, says so, and waits for a line.
_WRITER = """
import sys
from pathlib import Path
from vttdata.dataset.replace_folder import replace_folder
from vttdata.files.own_folder import FolderKind

with replace_folder(Path(sys.argv[1]), FolderKind("a mark", "mark", lambda folder: {"mark"})) as partial:
    (partial / "mark").write_text("other process")
    print("ready", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def writer(tmp_path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path / "out")], stdin=-1, stdout=-1, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_second_writer_is_refused_and_the_first_one_unharmed(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    with pytest.raises(VttdataError, match="out: another command is writing it"), replace_folder(tmp_path / "out"):
        pytest.fail("two processes write one folder")
    writer.communicate("\n")
    assert writer.returncode == 0
    assert (tmp_path / "out/mark").read_text() == "other process"


def test_remains_of_a_killed_writer_are_removed(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    writer.kill()
    writer.communicate()
    assert (tmp_path / ".out.vttdata-partial/mark").is_file()
    with replace_folder(tmp_path / "out", FolderKind("a mark", "mark", lambda folder: {"mark"})) as partial:
        assert not list(partial.iterdir())
        (partial / "mark").write_text("mine")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out/mark").read_text() == "mine"


def test_full_disk_names_the_folder_that_could_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the toy disk is full") as error, replace_folder(tmp_path / "out"):
        raise OSError(errno.ENOSPC, "the toy disk is full")
    assert error.value.filename == str(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
