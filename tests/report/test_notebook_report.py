"""A notebook shows the report of a dataset in a frame, and saves it as a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.needs import library

library("selenium")
library("jinja2")

from selenium.webdriver.remote.webdriver import WebDriver

import vttdata
from tests.helpers import leaking_dataset
from tests.helpers.leaking_dataset import write_leaking_dataset
from tests.helpers.pages import OpenPage
from tests.report.test_results import HOSTILE, check
from vttdata.errors import VttdataError


def test_notebook_shows_report_in_a_frame(browser: WebDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaking_dataset, "THINGS", [f"{thing} {HOSTILE}" for thing in leaking_dataset.THINGS])
    folder = write_leaking_dataset(tmp_path / "dataset")
    before = sorted(folder.rglob("*"))
    report = vttdata.dataset_report(folder)
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><title>cell</title>{report._repr_html_()}", encoding="utf-8")
    page = OpenPage(browser, cell)
    browser.switch_to.frame(0)
    try:
        assert {"Clips", "Captions", "Provenance"} <= {*page.texts("h2")}
        assert page.wait(lambda: page.js("return document.querySelectorAll('#clips li, #clips article').length"))
    finally:
        browser.switch_to.default_content()
    assert page.errors() == []
    assert page.requests() == []
    assert page.js("return window.hacked") is None
    sections = report.path.read_text(encoding="utf-8").count("<section ")
    assert report.save(tmp_path / "saved.html").read_text(encoding="utf-8").count("<section ") == sections > 0
    assert sorted(folder.rglob("*")) == before
    with pytest.raises(VttdataError, match=r"ends in \.html"):
        report.save(tmp_path / "saved.txt")


def test_plots_are_figures_of_their_own(browser: WebDriver, tmp_path: Path) -> None:
    folder = write_leaking_dataset(tmp_path / "dataset")
    write = f"<b onclick=x>{HOSTILE}"
    card = folder / "README.md"
    card.write_text(card.read_text(encoding="utf-8").replace("'0': music", f"'0': {json.dumps(write)}"), "utf-8")
    figures = vttdata.dataset_report(folder).figures
    assert [*figures] == [
        "Length of clips",
        "Captions of a clip",
        "Words of a caption",
        "Clips of each category, by split",
    ]
    lengths = figures["Length of clips"]
    page = check(browser, lengths.save(tmp_path / "lengths.html"))
    assert page.texts("figcaption") == ["Length of clips"]
    page = check(browser, figures["Clips of each category, by split"].save(tmp_path / "categories.html"))
    assert page.texts("tbody th")[0] in {"sports", write.replace("\u202e", "\ufffd")}
    cell = tmp_path / "cell.html"
    shown = "".join(figure._repr_html_() for figure in figures.values())
    cell.write_text(f"<!doctype html><title>cell</title>{shown}", encoding="utf-8")
    page = OpenPage(browser, cell)
    for number, figure in enumerate(figures.values()):
        browser.switch_to.frame(number)
        needed = page.js("return document.documentElement.scrollHeight")
        browser.switch_to.default_content()
        assert needed <= figure.height, f"{figure.title} does not fit into its frame"
    assert page.errors() == []
    with pytest.raises(VttdataError, match=r"ends in \.html"):
        lengths.save(tmp_path / "lengths.svg")
