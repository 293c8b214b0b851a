"""Run Python in a process that finds some libraries nowhere, as if they were not installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

_HIDE = """
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in {hidden!r} else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""


def run_without(libraries: Iterable[str], code: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a process in which these top-level modules cannot be imported."""
    program = _HIDE.replace("{hidden!r}", repr(set(libraries))) + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
