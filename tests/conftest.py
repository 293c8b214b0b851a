"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import vttdata.subprocesses
from tests.helpers.forked import COMMANDS, STARTERS, WORKERS, YTDLP, Programs
from tests.helpers.needs import program
from tests.helpers.session_files import make_once

pytest_plugins = ["tests.helpers.outcomes"]

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

# Modules of tests are compiled once, and so is the package for the interpreters that tests start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("no wall clock", deadline=None)
settings.load_profile("no wall clock")

DEFAULT_REAL_DATA = Path(__file__).resolve().parents[2] / "shared"
CHROMIUM_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio"),
)
START_MODULE = vttdata.subprocesses.start_module
SIMULATED = os.environ.get("VTTDATA_SIMULATE", "")
if SIMULATED and vttdata.subprocesses.sys.platform != SIMULATED:  # type: ignore[attr-defined]
    sys.exit("With VTTDATA_SIMULATE, PYTHONPATH must begin with tests/helpers/simulated.")
MARKERS_BY_FIXTURE = {"shared": "real_data", "chromium": "browser"}


def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are cores, since some tests wait."""
    return vttdata.subprocesses.usable_cores() + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the fixtures they use, directly or through another fixture, and skip those for other systems."""
    for item in items:
        if any(SIMULATED in mark.args for mark in item.iter_markers("not_on")):
            item.add_marker(pytest.mark.skip(f"needs what {SIMULATED} lacks"))
        for fixture in MARKERS_BY_FIXTURE.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(MARKERS_BY_FIXTURE[fixture])
    leave_cases_to_experiments(items)


def leave_cases_to_experiments(items: list[pytest.Item]) -> None:
    """Mark as long what the sample of a test leaves out, which the environment variable VTTDATA_SEED draws anew."""
    cases = defaultdict(list)
    for item in items:
        if mark := item.get_closest_marker("sampled"):
            cases[item.nodeid.partition("[")[0], mark.args[0]].append(item)
    for (name, number), of_test in cases.items():
        drawn = Random(f"{os.environ.get('VTTDATA_SEED')} {name}").sample(of_test, min(number, len(of_test)))
        for item in of_test:
            if item not in drawn:
                item.add_marker("long")


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through thousands of tests again and again."""
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture(scope="session", autouse=True)
def home_of_builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep builds of tests out of the user's registry."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VTTDATA_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def forked_processes() -> Iterator[None]:
    """Fork the package's own processes, which spares each of them its imports; `fresh_interpreters` does without.

    Where another system is simulated, all processes start as users start them.
    """
    if SIMULATED:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        for module in STARTERS:
            patch.setattr(f"{module}.start_module", WORKERS.start_module)
        patch.setattr(vttdata.subprocesses, "subprocess", Programs())
        yield
    WORKERS.close()
    COMMANDS.close()
    YTDLP.close()


@pytest.fixture
def fresh_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the package's own processes as users do."""
    for module in STARTERS:
        monkeypatch.setattr(f"{module}.start_module", START_MODULE)
    monkeypatch.setattr(vttdata.subprocesses, "subprocess", subprocess)


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
    # The process that hands out tests imports this file and needs none of the libraries of builds.
    from tests.helpers.builds import film

    def make(folder: Path) -> None:
        for extra, picture in enumerate(["testsrc2", "mandelbrot", "rgbtestsrc", "smptehdbars"]):
            film(folder / f"{picture}.mp4", 3 + extra, picture)

    return make_once(tmp_path_factory, "videos", make)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    """Start Chromium headless, with its network log enabled."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium", "chromium-browser", "google-chrome")
    driver = program("chromedriver")
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    for flag in (*CHROMIUM_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    chrome = webdriver.Chrome(service=Service(driver), options=options)
    chrome.set_page_load_timeout(60)
    yield chrome
    chrome.quit()


@pytest.fixture
def browser(chromium: WebDriver) -> Iterator[WebDriver]:
    """Return Chromium, which shows an empty page after a test: a page costs time as long as it is shown."""
    yield chromium
    chromium.get("about:blank")
