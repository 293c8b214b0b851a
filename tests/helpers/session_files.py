"""Files that are made once in a test session, also when several pytest-xdist workers need them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def make_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that the first caller of the session fills; tests must not change it.

    Args:
        tmp_path_factory: pytest's fixture.
        name: name of the folder, unique in the test suite.
        make: fills the folder, which is empty when it is called.
    """
    base = tmp_path_factory.getbasetemp()
    # The temporary folders of xdist's workers lie in that of the session.
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, complete = session / f"session-{name}", session / f"session-{name}.complete"
    with FileLock(session / f"session-{name}.lock"):
        if not complete.exists():
            folder.mkdir()
            make(folder)
            complete.touch()
    return folder
