"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("no wall clock", deadline=None)
settings.load_profile("no wall clock")

_BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data that lies beside the checkout, or in VTTDATA_SHARED."""
    folder = Path(os.environ.get("VTTDATA_SHARED", _BESIDE_THE_CHECKOUT))
    if not (folder / "videos").is_dir():
        pytest.skip(f"the real data is not here ({folder}); set VTTDATA_SHARED")
    return folder
