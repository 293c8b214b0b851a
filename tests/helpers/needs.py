"""Skip what needs a library or a program that is not installed, in the words that `make test-extras` looks for."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

LIBRARY = "the library {} is not installed"
PROGRAM = "the program {} is not installed"
CLIENT = "the client {} {}"


def library(module: str) -> Any:
    """Import a module, or skip the test, fixture or file of tests that asks for it."""
    return pytest.importorskip(module, reason=LIBRARY.format(module.partition(".")[0]))


def program(*names: str) -> str:
    """Return the path of the first of some programs that is installed, or skip what asks for it."""
    path = next((path for name in names if (path := shutil.which(name))), None)
    return path or pytest.skip(PROGRAM.format(names[0]))
