"""Run Python in processes in which this package sees another system; see `tests/helpers/simulated`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SYSTEMS = ("darwin", "win32")
ROOT = Path(__file__).resolve().parents[2]
SIMULATED = ROOT / "tests" / "helpers" / "simulated"


def environment(system: str, **variables: str) -> dict[str, str]:
    """Return the variables of a process in which the package sees a system; ``linux`` is the real one."""
    simulated = "" if system == "linux" else system
    path = os.pathsep.join(map(str, [SIMULATED, ROOT]))
    return os.environ | {"VTTDATA_SIMULATE": simulated, "PYTHONPATH": path} | variables


def run_python(system: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments such as ``-c`` and code, and capture what it prints."""
    return subprocess.run(
        [sys.executable, *arguments], env=environment(system, **variables), capture_output=True, text=True, check=False
    )


def run_command(system: str, arguments: Sequence[str | Path], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of vttdata, and capture what it prints."""
    return run_python(system, "-m", "vttdata", *map(str, arguments), **variables)
