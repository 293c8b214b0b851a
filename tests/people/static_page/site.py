"""Serve pages from a local web server, and use them like an assessor."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.remote.webdriver import WebDriver

from tests.helpers.pages import load_axe, run_axe

THUMB = 28


class Site:
    """Server of a folder that supports ranges, delays files `slow...` until released, and keeps posted data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.posted: list[bytes] = []
        self.status, self.reply = 200, b'{"saved": true}'
        self.released = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, site=self, directory=str(folder)))
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/{name}"

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *arguments: Any, site: Site, **named: Any) -> None:
        self.site = site
        super().__init__(*arguments, **named)

    def do_GET(self) -> None:
        if self.path.startswith("/slow"):
            self.site.released.wait(20)
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if span is None or not path.is_file():
            return super().do_GET()
        data = path.read_bytes()
        begin, end = int(span[1]), min(int(span[2] or len(data)), len(data) - 1)
        self.send_response(206)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Range", f"bytes {begin}-{end}/{len(data)}")
        self.send_header("Content-Length", str(end + 1 - begin))
        self.end_headers()
        self.wfile.write(data[begin : end + 1])
        return None

    def do_POST(self) -> None:
        self.site.posted.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(self.site.status)
        self.send_header("Content-Length", str(len(self.site.reply)))
        self.end_headers()
        self.wfile.write(self.site.reply)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *arguments: Any) -> None:
        return None


class Assessor:
    """User of the page that the browser shows."""

    def __init__(self, browser: WebDriver) -> None:
        self.browser = browser

    def open(self, url: str) -> Assessor:
        self.browser.get(url)
        return self

    def resize(self, width: int, height: int = 720) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def audit(self) -> None:
        """Check the page that is shown by axe, at 320 pixels too, where nothing may scroll sideways."""
        load_axe(self.browser)
        for width in (1000, 320):
            self.resize(width)
            assert (violations := run_axe(self.browser)) == [], violations
            assert self.js("return document.documentElement.scrollWidth") <= width
        self.resize(1000, 900)

    def get(self, name: str) -> Any:
        return self.browser.find_element("id", name)

    def is_shown(self, name: str) -> bool:
        return any(element.is_displayed() for element in self.browser.find_elements("id", name))

    def text(self, name: str) -> str:
        return str(self.js(f"return document.getElementById('{name}').textContent"))

    def js(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def click(self, name: str) -> None:
        self.get(name).click()

    def press(self, *keys: str) -> None:
        ActionChains(self.browser, duration=0).send_keys(*keys).perform()

    def drag(self, score: int) -> None:
        """Press on the middle of the scale and drag the marker to a score."""
        scale = self.get("scale")
        offset = round((score - 50) / 100 * (scale.size["width"] - THUMB))
        actions = ActionChains(self.browser, duration=0)
        actions.move_to_element(scale).click_and_hold().move_to_element_with_offset(
            scale, offset, 0
        ).release().perform()

    def type_score(self, score: int) -> None:
        """Move the marker from the middle to a score with keys."""
        tens, ones = divmod(abs(score - 50), 10)
        large, small = (Keys.PAGE_UP, Keys.RIGHT) if score >= 50 else (Keys.PAGE_DOWN, Keys.LEFT)
        if score in {0, 100}:
            self.press(Keys.HOME if score == 0 else Keys.END)
        else:
            self.press(*([large] * tens), *([small] * ones), *([Keys.LEFT, Keys.RIGHT] if score == 50 else []))

    def finish(self, score: int = 60) -> None:
        """Give all remaining items the same score."""
        while not self.is_shown("end"):
            self.type_score(score)
            self.press(Keys.ENTER)

    def wait(self, condition: Callable[[], object], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "timed out"
            time.sleep(0.02)

    def download(self, button: str, folder: Path, extension: str) -> Path:
        behavior = {"behavior": "allow", "downloadPath": str(folder)}
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
        self.click(button)
        self.wait(lambda: any(file.stat().st_size for file in folder.glob(f"*.{extension}")))
        (file,) = folder.glob(f"*.{extension}")
        return file
