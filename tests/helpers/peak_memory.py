"""Run Python in a process of its own and measure its memory and CPU time."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ended:
    """Process that ended: exit code (negative for a signal), output, peak memory in MiB, CPU seconds."""

    code: int
    stdout: str
    stderr: str
    megabytes: float
    seconds: float


def run_python(arguments: Sequence[str], *, cwd: Path | None = None, **environment: str) -> Ended:
    """Run Python with arguments and wait for it, at most five minutes of CPU time."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=os.environ | environment,
        )
        if sys.platform.startswith("linux"):
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (300, 300))
        megabytes = 0.0
        pid = 0
        while not pid:
            # The kernel's own peak of a process that ended counts what its parent had before the start.
            megabytes = max(megabytes, peak_megabytes(process.pid))
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (stdout, stderr):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return Ended(process.returncode, texts[0], texts[1], megabytes, used.ru_utime + used.ru_stime)


def peak_megabytes(pid: int) -> float:
    """Return the peak memory of a running process so far; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)
