"""Limits on external programs and on functions in other processes."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.decoy_modules import write_decoys
from vttdata.errors import MediaError
from vttdata.subprocesses import CallProcess, call, limit_this_process, run, usable_cores

pytestmark = pytest.mark.usefixtures("fresh_interpreters")

PYTHON = sys.executable


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def has_ended(pid: int) -> bool:
    for _ in range(200):
        if not is_alive(pid):
            return True
        time.sleep(0.02)
    return False


def test_output_and_exit_code_are_returned() -> None:
    done = run([PYTHON, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"], seconds=20)
    assert (done.code, done.stdout, done.stderr, done.stopped) == (3, "out\n", "err\n", None)


def test_standard_input_is_empty_unless_fed() -> None:
    echo = [PYTHON, "-c", "import sys; print(len(sys.stdin.buffer.read()))"]
    assert run(echo, seconds=20).stdout == "0\n"
    assert run(echo, seconds=20, feed=lambda pipe: os.write(pipe, b"x" * 1000) and None).stdout == "1000\n"


def test_feeding_a_program_that_does_not_read_raises_nothing() -> None:
    done = run(
        [PYTHON, "-c", "pass"], seconds=20, feed=lambda pipe: [os.write(pipe, b"x" * 65536) for _ in range(99)] and None
    )
    assert done.code == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_time_limit_ends_the_program_and_its_children(tmp_path: Path) -> None:
    child = (
        "import subprocess, time\n"
        "sleeper = subprocess.Popen(['sleep', '60'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(sleeper.pid))\n"
        "time.sleep(60)"
    )
    done = run([PYTHON, "-c", child], seconds=2.0)
    assert done.stopped == "timeout"
    assert has_ended(int((tmp_path / "pid").read_text()))


def test_program_that_exceeds_its_folder_limit_is_killed(tmp_path: Path) -> None:
    fill = "import time\nwith open('big','wb') as f:\n  while True: f.write(b'x'*100000); f.flush(); time.sleep(0.001)"
    done = run([PYTHON, "-c", fill], seconds=60, folder=tmp_path, max_bytes=1_000_000)
    assert done.stopped == "too_large"


def test_full_disk_message_of_a_program_raises_os_error() -> None:
    with pytest.raises(OSError, match="no space left on the disk") as error:
        run([PYTHON, "-c", f"import sys; sys.exit({os.strerror(errno.ENOSPC)!r})"], seconds=20)
    assert error.value.errno == errno.ENOSPC


def test_program_dies_with_its_killed_parent(tmp_path: Path) -> None:
    parent = (
        f"from vttdata.subprocesses import run\n"
        f"run(['sh', '-c', 'echo $$ > {tmp_path}/pid; exec sleep 60'], seconds=60)"
    )
    process = subprocess.Popen([PYTHON, "-c", parent])
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert has_ended(int((tmp_path / "pid").read_text()))


def raise_media_error() -> None:
    raise MediaError("damaged", "it is broken.")


def test_call_returns_result_or_error_of_another_process() -> None:
    assert call(max, 3, 8, seconds=60) == 8
    assert call(os.getpid, seconds=60) != os.getpid()
    with pytest.raises(MediaError, match=r"it is broken\.") as caught:
        call(raise_media_error, seconds=60)
    assert caught.value.reason == "damaged"


def test_call_raises_timeout_when_the_function_stalls() -> None:
    with pytest.raises(TimeoutError):
        call(time.sleep, 3600, seconds=0.5)
    with pytest.raises(TimeoutError):
        call(_stall, seconds=3600)


def _stall() -> None:
    limit_this_process(0.1)
    os.read(os.pipe()[0], 1)


def test_call_raises_exit_code_when_the_process_dies() -> None:
    with pytest.raises(ChildProcessError, match="exit code 7"):
        call(os._exit, 7, seconds=60)


def test_calls_share_a_process_until_one_fails() -> None:
    with CallProcess() as process:
        first = process.call(os.getpid, seconds=0.3)
        time.sleep(0.5)
        assert process.call(os.getpid, seconds=60) == first
        with pytest.raises(MediaError):
            process.call(raise_media_error, seconds=60)
        second = process.call(os.getpid, seconds=60)
        with pytest.raises(TimeoutError):
            process.call(time.sleep, 3600, seconds=0.2)
        third = process.call(os.getpid, seconds=60)
        with pytest.raises(ChildProcessError, match="exit code 7"):
            process.call(os._exit, 7, seconds=60)
        last = process.call(os.getpid, seconds=60)
        assert len({os.getpid(), first, second, third, last}) == 5
    assert all(map(has_ended, (first, second, third, last)))


def count_threads() -> int:
    import numpy as np

    np.ones((300, 300)) @ np.ones((300, 300))
    return len(os.listdir("/proc/self/task"))


@pytest.mark.not_on("darwin")
@pytest.mark.skipif(usable_cores() < 2, reason="needs two cores")
def test_matrix_products_of_a_process_take_one_thread_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert call(count_threads, seconds=60) == 1
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    assert call(count_threads, seconds=60) == 2


def test_files_in_the_working_folder_hide_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_decoys(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert call(os.path.basename, "a/b", seconds=60) == "b"
    done = subprocess.run([PYTHON, "-m", "vttdata", "list"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout
