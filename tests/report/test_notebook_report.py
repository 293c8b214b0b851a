"""A notebook shows the report of a dataset in a frame, and saves it as a page."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")
pytest.importorskip("jinja2", reason="the extra build is not installed")

from selenium.webdriver.remote.webdriver import WebDriver

import vttdata
from tests.helpers import leaking_dataset
from tests.helpers.leaking_dataset import write_leaking_dataset
from tests.helpers.pages import OpenPage
from tests.report.test_results import HOSTILE
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
