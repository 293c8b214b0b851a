"""Locks between processes: who holds them, who may look, and what is left of a process that was killed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from vttdata.dataset.replace_folder import replace_folder
from vttdata.errors import VttdataError
from vttdata.files.file_lock import (
    LockHeldError,
    LockOwner,
    hold_lock,
    is_held,
    named_owner,
    read_owner,
    wait_for_lock,
)
from vttdata.load.local_builds import is_locked
from vttdata.people.service import lock_campaign
from vttdata.pipeline.journal import locked

# Holds the lock of the build folder that is its argument, says so, and waits.
_HOLDER = """
import sys
from pathlib import Path
from vttdata.people.service import lock_campaign
from vttdata.pipeline.journal import locked

with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", _HOLDER, str(tmp_path)], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(stream: object, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)


def test_lock_of_another_process_is_seen_and_refused_until_it_is_killed(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    assert is_held(tmp_path / ".lock")
    assert is_locked(tmp_path)
    with pytest.raises(LockHeldError), hold_lock(tmp_path / ".lock"):
        pass
    assert read_owner(tmp_path / ".lock.owner") == LockOwner(socket.gethostname(), holder.pid)
    holder.kill()
    holder.wait()
    assert not is_held(tmp_path / ".lock")
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        assert read_owner(tmp_path / ".lock.owner") == LockOwner(socket.gethostname(), os.getpid())
    assert {path.name for path in tmp_path.iterdir()} <= {".lock"}


def test_looking_at_a_lock_that_is_not_there_makes_no_file(tmp_path: Path) -> None:
    assert not is_held(tmp_path / "lock")
    assert not list(tmp_path.iterdir())


def test_temporary_lock_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with hold_lock(path, temporary=True):
        assert is_held(path)
    assert not list(tmp_path.iterdir())


def test_temporary_lock_whose_file_was_removed_meanwhile_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda stream, operation: (tmp_path / "lock").unlink(missing_ok=True))
    with pytest.raises(LockHeldError), hold_lock(tmp_path / "lock", temporary=True):
        pass


@pytest.mark.not_on("win32")
@pytest.mark.parametrize("temporary", [True, False])
def test_on_a_disk_without_locks_a_file_that_names_the_process_stands_for_the_lock(
    tmp_path: Path, no_locks: None, temporary: bool
) -> None:
    path, owner = tmp_path / "lock", tmp_path / "lock.owner"
    for _ in range(2):
        with hold_lock(path, temporary=temporary):
            assert read_owner(owner) == LockOwner(socket.gethostname(), os.getpid())
            with pytest.raises(LockHeldError) as refused, hold_lock(path, temporary=temporary):
                pass
        assert f"if that process has ended, delete {owner}" in refused.value.advice
        # That of a process that was killed is replaced the next time.
        owner.write_text(json.dumps([socket.gethostname(), 2**31 - 1]))
    owner.write_text(json.dumps(["node7", 1]))
    with pytest.raises(LockHeldError) as refused, hold_lock(path, temporary=temporary):
        pass
    assert str(refused.value.owner) == "process 1 on node7"


def test_folders_are_replaced_and_campaigns_served_on_a_disk_without_locks(tmp_path: Path, no_locks: None) -> None:
    with replace_folder(tmp_path / "dataset") as folder:
        (folder / "file").write_text("content")
        with pytest.raises(VttdataError, match="another command is writing it"), replace_folder(tmp_path / "dataset"):
            pass
    assert (tmp_path / "dataset" / "file").read_text() == "content"
    with lock_campaign(tmp_path), pytest.raises(VttdataError, match="a server works on"), lock_campaign(tmp_path):
        pass
    with wait_for_lock(tmp_path / "download.lock", lambda: None, 0):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EACCES])
@pytest.mark.not_on("win32")
def test_build_is_noticed_by_a_reader_that_cannot_lock(
    number: int, tmp_path: Path, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(lock: FileLock) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(FileLock, "acquire", refuse)
    assert is_locked(tmp_path)
    holder.kill()
    holder.wait()
    assert not is_locked(tmp_path)


@pytest.mark.parametrize(
    ("content", "owner"),
    [
        (json.dumps(["node7", 12]), LockOwner("node7", 12)),
        ("", LockOwner()),
        ("[1]", LockOwner()),
        ('{"host": 3}', LockOwner()),
        ("null", LockOwner()),
        ('["node7", "x"]', LockOwner()),
    ],
)
def test_file_of_an_owner_may_be_damaged(content: str, owner: LockOwner, tmp_path: Path) -> None:
    (tmp_path / "owner").write_text(content)
    assert read_owner(tmp_path / "owner") == owner
    assert not owner.has_ended()


@pytest.mark.parametrize("process", [2**31 - 1, 2**40, 2**70])
@pytest.mark.not_on("win32")
def test_file_of_a_process_that_has_ended_is_replaced(process: int, tmp_path: Path) -> None:
    path = tmp_path / "owner"
    path.write_text(json.dumps([socket.gethostname(), process]))
    with named_owner(path):
        assert read_owner(path) == LockOwner(socket.gethostname(), os.getpid())
        with pytest.raises(FileExistsError), named_owner(path):
            pass
    assert not path.exists()


class TestWaiting:
    def test_ends_when_the_lock_is_free(self, tmp_path: Path) -> None:
        path, waits = tmp_path / "lock", []
        holder = contextlib.ExitStack()
        holder.enter_context(hold_lock(path, temporary=True))

        def release() -> None:
            waits.append("waiting")
            holder.close()

        with wait_for_lock(path, release, 60):
            assert waits == ["waiting"]
            assert path.exists()
        assert not path.exists()

    def test_ends_with_a_sentence_when_it_takes_too_long(self, tmp_path: Path) -> None:
        path = tmp_path / "lock"
        refused = pytest.raises(VttdataError, match="has held this lock for 0 s")
        with hold_lock(path), refused, wait_for_lock(path, lambda: None, 0):
            pass
