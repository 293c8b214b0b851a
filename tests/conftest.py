"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers.builds import film

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


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of four small films, some of them without motion."""
    folder = tmp_path_factory.mktemp("videos")
    for place, picture in enumerate(["testsrc2", "mandelbrot", "rgbtestsrc", "smptehdbars"]):
        film(folder / f"{picture}.mp4", 3 + place, picture)
    return folder
