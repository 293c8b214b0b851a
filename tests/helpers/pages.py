"""Open pages in a real browser and check what holds for every page: no error, no request, no barrier, no overflow."""

from __future__ import annotations

import base64
import itertools
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from selenium.webdriver.remote.webdriver import WebDriver

from tests.helpers.needs import library

WIDTHS = (1400, 800, 360)
# Rules of axe whose outcome differs between a page's schemes.
COLOUR_RULES = ("color-contrast", "link-in-text-block")
Scheme = Literal["light", "dark"]


def load_axe(browser: WebDriver) -> None:
    """Have axe in the page that is shown; skip the test where it is not installed."""
    package = library("axe_playwright_python")
    source = Path(package.__file__).parent / "axe.min.js"
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": source.read_text(encoding="utf-8")})


def run_axe(browser: WebDriver, part: str = "html", rules: Sequence[str] = ()) -> list[Any]:
    """Return each violation of a rule of axe and its first elements, in the page into which axe was loaded.

    Args:
        browser: Fixture of that name.
        part: CSS selector of what is checked.
        rules: Ids of rules; by default all that are enabled, and that on the size of targets.
    """
    # That violations alone are wanted spares axe the description of all that is right. Its rule on the size of targets,
    # of WCAG 2.2 at level AA, has to be asked for.
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    script = (
        "const [part, options, done] = arguments; axe.run(part, options).then((found) => done(found.violations.map("
        "(violation) => [violation.id, violation.nodes.slice(0, 5).map((node) => node.html + ' ' + "
        "node.failureSummary)])), (error) => done([String(error)]));"
    )
    return list(browser.execute_async_script(script, part, options))


class OpenPage:
    """Page that the browser shows, opened from a file.

    ``browser`` is the fixture of that name. The page of an earlier test is left behind, with its logs.
    """

    def __init__(self, browser: WebDriver, path: Path, *, width: int = 1400, scheme: Scheme = "light") -> None:
        self.browser = browser
        self.browser.get("about:blank")
        for log in ("performance", "browser"):
            self.browser.get_log(log)
        self.resize(width)
        self.set_scheme(scheme)
        self.url = path.resolve().as_uri()
        self.browser.get(self.url)
        self._requests: list[str] = []

    def resize(self, width: int, height: int = 900) -> None:
        """Give the page a viewport of this size in CSS pixels; narrow ones are those of telephones."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def set_scheme(self, scheme: Scheme) -> None:
        """Let the reader prefer light or dark pages."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def js(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page, and return what it returns."""
        return self.browser.execute_script(script, *arguments)

    def wait(self, condition: Callable[[], Any], seconds: float = 20) -> Any:
        """Wait until a condition holds, and return its value."""
        end = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < end, "timed out"
            time.sleep(0.02)
        return value

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the shown elements that a CSS selector matches."""
        script = (
            "return [...document.querySelectorAll(arguments[0])].filter((element) => element.checkVisibility())"
            ".map((element) => element.innerText.trim())"
        )
        return [str(text) for text in self.js(script, selector)]

    def errors(self) -> list[str]:
        """Return what the console holds since the page was opened or this was last asked."""
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for since it was opened, itself and ``data:`` addresses left out."""
        for entry in self.browser.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                self._requests.append(event["params"]["request"]["url"])
        return [url for url in self._requests if not url.startswith(("data:", "about:")) and url != self.url]

    def barriers(
        self, schemes: Sequence[Scheme] = ("light", "dark"), widths: Iterable[int] = WIDTHS, part: str = "html"
    ) -> list[Any]:
        """Return what axe finds wrong in each scheme and width, in the elements that a CSS selector matches.

        All rules are checked in the first scheme, and those of colours in the others.
        """
        load_axe(self.browser)
        found = []
        for width, (number, scheme) in itertools.product(widths, enumerate(schemes)):
            self.resize(width)
            self.set_scheme(scheme)
            violations = run_axe(self.browser, part, () if number == 0 else COLOUR_RULES)
            found += [[width, scheme, *violation] for violation in violations]
        return found

    def overflow(self, widths: Iterable[int] = WIDTHS) -> dict[int, int]:
        """Return viewport width -> pixels by which the page is wider, of widths at which it scrolls sideways."""
        wider = {}
        for width in widths:
            self.resize(width)
            excess = self.js("return document.documentElement.scrollWidth") - width
            if excess > 0:
                wider[width] = excess
        return wider

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Save a picture of the page, or of what the window shows, as a PNG file."""
        options = {"captureBeyondViewport": whole, "format": "png"}
        if whole:
            height = min(self.js("return document.documentElement.scrollHeight"), 12_000)
            width = self.js("return document.documentElement.clientWidth")
            options["clip"] = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        path.write_bytes(base64.b64decode(self.browser.execute_cdp_cmd("Page.captureScreenshot", options)["data"]))
