"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers.builds import film
from tests.helpers.session_files import make_once

settings.register_profile("no wall clock", deadline=None)
settings.load_profile("no wall clock")

DEFAULT_REAL_DATA = Path(__file__).resolve().parents[2] / "shared"
MARKERS_BY_FIXTURE = {"shared": "real_data", "browser": "browser"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the fixtures they use, directly or through another fixture."""
    for item in items:
        for fixture in MARKERS_BY_FIXTURE.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(MARKERS_BY_FIXTURE[fixture])


@pytest.fixture(scope="session", autouse=True)
def home_of_builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep builds of tests out of the user's registry."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VTTDATA_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real data beside the checkout, or in VTTDATA_SHARED; skip the test without it."""
    folder = Path(os.environ.get("VTTDATA_SHARED", DEFAULT_REAL_DATA))
    if not (folder / "videos").is_dir():
        pytest.skip(f"the real data is not here ({folder}); set VTTDATA_SHARED")
    return folder


@pytest.fixture(scope="session")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of four small films, some of them without motion; tests must not change it."""

    def make(folder: Path) -> None:
        for extra, picture in enumerate(["testsrc2", "mandelbrot", "rgbtestsrc", "smptehdbars"]):
            film(folder / f"{picture}.mp4", 3 + extra, picture)

    return make_once(tmp_path_factory, "videos", make)
