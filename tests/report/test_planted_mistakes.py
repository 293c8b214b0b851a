"""A reader who has nothing but the report of a build finds what is wrong with it, each in at most three clicks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.needs import library

library("selenium")
library("jinja2")

from selenium.webdriver.remote.webdriver import WebDriver

from tests.helpers.pages import OpenPage
from tests.helpers.planted_mistakes import COPY, DARK, MISLABELLED, ORIGINAL, PASTED, PASTER, build_with_mistakes


class Reader:
    """Reader of a page, who sees what is in the window and clicks on what is in it."""

    def __init__(self, page: OpenPage) -> None:
        self.page = page
        page.js("document.documentElement.style.scrollBehavior = 'auto'; scrollTo(0, 0)")

    def sees(self, selector: str, *words: str) -> bool:
        """Return whether an element in the window has all these words."""
        script = """return [...document.querySelectorAll(arguments[0])].filter((element) => {
          const box = element.getBoundingClientRect();
          return element.checkVisibility() && box.bottom > 0 && box.top < innerHeight;
        }).map((element) => element.innerText)"""
        return any(all(word in text for word in words) for text in self.page.js(script, selector))

    def click(self, selector: str, words: str) -> None:
        """Click on the element in the window that has these words."""
        assert self.sees(selector, words), f"{words} is not in the window"
        script = "[...document.querySelectorAll(arguments[0])].find((e) => e.innerText.includes(arguments[1])).click()"
        self.page.js(script, selector, words)
        self.page.js("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_with_mistakes(tmp_path_factory.mktemp("mistakes"))


@pytest.fixture
def reader(browser: WebDriver, built: Path) -> Reader:
    page = OpenPage(browser, built / "report.html")
    page.wait(lambda: page.texts(".sheet li"))
    return Reader(page)


def test_wrong_threshold(reader: Reader) -> None:
    assert reader.sees(".tile", str(DARK), "left out")
    reader.click(".tile a", "left out")
    assert reader.sees("h3", "filter: dark", str(DARK))
    assert reader.sees(".reason figcaption", "dark 0.200, at most 0.09 wanted")
    # The pictures show that the films are not dark: black, then bright, then bright.
    script = """const image = document.querySelector('.reason img'), canvas = document.createElement('canvas');
    canvas.width = 3; canvas.height = 1;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0, 3, 1);
    return [...context.getImageData(0, 0, 3, 1).data]"""
    pixels = reader.page.js(script)
    assert max(pixels[:3]) < 30 < min(pixels[4:7])
    reader.click("nav a", "What if")
    assert reader.sees("h3", "filter.max_dark")
    assert reader.sees("td.now", str(DARK))


def test_leak(reader: Reader) -> None:
    assert reader.sees(".alert", "LEAKS: near-duplicate source (1 pair of sources)")
    reader.click(".tile a", "leaks, in clips")
    assert reader.sees(".reason p", "Across splits.", "similarity")
    for name, split in ((ORIGINAL, "test"), (COPY, "train")):
        assert reader.sees(".pair figcaption", Path(name).stem, " s, ", split)
    widths = reader.page.js("return [...document.querySelectorAll('.pair img')].map((image) => image.naturalWidth)")
    assert widths == [320, 320]


def test_mislabelled_category(reader: Reader) -> None:
    assert reader.sees(".tile", "1", "clips in doubtful categories")
    reader.click(".tile a", "clips in doubtful categories")
    name = Path(MISLABELLED).stem
    assert reader.sees("#captions li", f"{name}_", "sports, captions speak for cooking")
    reader.click("#captions a[data-clip]", f"{name}_")
    reader.page.wait(lambda: reader.sees("dialog li", "bakes bread in an oven"))
    assert reader.sees("dialog dd", "sports")


def test_burst_of_copied_captions(reader: Reader) -> None:
    assert reader.sees(".tile", "1", "unusual annotators")
    reader.click(".tile a", "unusual annotators")
    assert reader.sees("#captions li", f"{PASTER}: share of captions that repeat an own text: 0.96", PASTED)
    assert reader.page.errors() == []
