"""Provide a real browser, its user, and two tiny videos."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webdriver import WebDriver

from tests.annotate.da_page.site import Assessor
from vttdata.media.ffmpeg_program import ffmpeg_path

_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio"),
)
VIDEOS = ("red clip #1.mp4", "blue.mp4")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    """Start Chromium headless, with its network log enabled."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((path for name in names if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("a real browser is needed: Chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    chrome = webdriver.Chrome(service=Service(driver), options=options)
    chrome.set_page_load_timeout(60)
    yield chrome
    chrome.quit()


@pytest.fixture(scope="session")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of two tiny H.264 videos, one of them with a name that URLs must quote."""
    folder = tmp_path_factory.mktemp("clips")
    for name, colour in zip(VIDEOS, ("red", "blue"), strict=True):
        source = ("-f", "lavfi", "-i", f"color={colour}:s=64x48:r=10:d=0.6")
        coding = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-movflags", "+faststart")
        subprocess.run([ffmpeg_path(), "-v", "error", *source, *coding, str(folder / name)], check=True)
    return folder


@pytest.fixture
def assessor(browser: WebDriver) -> Iterator[Assessor]:
    """Provide an assessor with a window of 1000 x 900 pixels."""
    for log in ("performance", "browser"):
        browser.get_log(log)
    user = Assessor(browser)
    user.resize(1000, 900)
    yield user
    origin = {"origin": browser.execute_script("return location.origin"), "storageTypes": "local_storage"}
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", origin)
