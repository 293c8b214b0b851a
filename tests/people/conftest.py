"""Provide the user of a real browser, and two tiny videos."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from selenium.webdriver.remote.webdriver import WebDriver

from tests.people.static_page.site import Assessor
from vttdata.media.ffmpeg_program import ffmpeg_path

VIDEOS = ("red clip #1.mp4", "blue.mp4")


@pytest.fixture(autouse=True)
def drawn_secrets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the secrets of campaigns from a seed: draws of items, and so simulated ratings, follow from them."""
    draw = random.Random(request.node.nodeid)
    monkeypatch.setattr("vttdata.people.campaign.secrets", SimpleNamespace(token_bytes=draw.randbytes))


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
