"""Pages made of plain values work in a real browser, at any width, in both schemes, whatever their texts hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.needs import library

library("selenium")
library("jinja2")

from selenium.webdriver.remote.webdriver import WebDriver

from tests.helpers.pages import OpenPage
from vttdata.files.results import Bar, Bars, Interval, Limit, ResultColumn, ResultTable, Section
from vttdata.report import plots
from vttdata.report.page import PageSection, Tile, format_number, render_page, render_text, replace_controls
from vttdata.report.sections import render_sections

HOSTILE = "</script><img src=x onerror=hacked=1><style>*{display:none}</style>{{ 7 * 7 }}\u202e&\"'\ud800"
TABLE = """{% import "macros.html" as macros %}
{{ macros.table(table, key="scores", search=true) }}
{% call macros.details("more") %}<p id="inside">{{ text }}</p>{% endcall %}{{ macros.thumb("", text, text) }}"""


def make_page() -> str:
    table = ResultTable(
        ("name", ResultColumn("score", 0)), [("beta", 10.0), ("alpha", 9.0), (HOSTILE, 2.0)], "scores of systems"
    )
    bars = [Bar("a", 0.5, 0.4, 0.6), Bar(HOSTILE, -0.2, -0.5, 0.1, tone="bad", href="#tables")]
    parts = [
        plots.bars(Bars(bars, HOSTILE, ("metric", "score"), limits=[Limit(0.3, HOSTILE)], sortable=True)),
        plots.stacked_bars({HOSTILE: [3, 4], "b": [1, 0]}, ["train", HOSTILE], caption="clips", heading="source"),
        plots.histogram([1, 0, 3], [0, 1, 2, 4], title=HOSTILE, unit="s", limits=[Limit(1.5, HOSTILE)]),
        plots.timeline({"shots": [plots.Stretch(0, 3, HOSTILE), plots.Stretch(3, 10, tone="b")]}, 10),
    ]
    shown = ResultTable(("name", "score"), [(HOSTILE, Interval(0.5, 0.25, 0.75))])
    section = Section("Sections " + HOSTILE, [HOSTILE, "`code`"], [HOSTILE], shown, [Bars(bars, "", ("a", "b"))])
    sections = [
        PageSection("plots", "Plots", parts[0] + parts[1] + parts[2] + parts[3], note=HOSTILE, badge="4"),
        *render_sections([section]),
        PageSection("tables", "Tables " + HOSTILE, render_text(TABLE, table=table, text=HOSTILE)),
    ]
    tiles = [Tile("12", "clips"), Tile("3", HOSTILE, HOSTILE, "bad", "#tables")]
    return render_page(
        HOSTILE, sections, kicker="Test", lead=HOSTILE, tiles=tiles, alerts=[("bad", HOSTILE)], footer=HOSTILE
    )


@pytest.fixture
def page(browser: WebDriver, tmp_path: Path) -> OpenPage:
    path = tmp_path / "page #1.html"
    path.write_text(make_page(), encoding="utf-8")
    return OpenPage(browser, path)


def test_page_raises_no_error_and_asks_for_nothing(page: OpenPage) -> None:
    assert page.errors() == []
    assert page.requests() == []
    assert page.barriers() == []
    assert page.overflow() == {}


def test_hostile_texts_are_shown_and_do_nothing(page: OpenPage) -> None:
    assert page.js("return window.hacked") is None
    assert page.js("return document.querySelectorAll('img').length") == 0
    shown = HOSTILE.replace("\u202e", "\ufffd").replace("\ud800", "\ufffd")
    assert page.js("return document.querySelector('h1').textContent") == shown
    assert page.js("return document.title") == f"{shown} · Test"


def test_reader_sorts_and_searches(page: OpenPage) -> None:
    assert page.texts("#scores tbody td:first-child")[:2] == ["beta", "alpha"]
    page.js("document.querySelectorAll('#scores thead button')[1].click()")
    assert page.texts("#scores tbody td:last-child") == ["10", "9", "2"]
    page.js("document.querySelectorAll('#scores thead button')[1].click()")
    assert page.texts("#scores tbody td:last-child") == ["2", "9", "10"]
    page.browser.find_element("css selector", "[data-filters=scores]").send_keys("ALPH 9")
    assert page.texts("#scores tbody td:first-child") == ["alpha"]


def test_links_open_what_is_closed(page: OpenPage) -> None:
    assert page.texts("#inside") == []
    page.js("location.hash = 'inside'")
    page.wait(lambda: page.texts("#inside"))


def test_same_values_give_the_same_page() -> None:
    assert make_page() == make_page()


def test_texts_lose_what_hides_or_reorders() -> None:
    assert replace_controls("a\u202eb\x00c\ud800\u200bd\n") == "a\ufffdb\ufffdc\ufffd\ufffdd\n"
    assert replace_controls(3) == 3


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345, "12,345"), (0.12345, "0.123"), (None, "\u2013"), (12.5, "12.5"), (1234.5, "1,234"), (0.00012, "0.00012")],
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert format_number(value) == text
