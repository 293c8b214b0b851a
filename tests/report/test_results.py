"""Pages of audits and evaluations show what was found, in a real browser, whatever the texts in them hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.needs import library

library("selenium")
library("jinja2")

from selenium.webdriver.remote.webdriver import WebDriver

from tests.dataset.conftest import written_foils
from tests.helpers import leaking_dataset
from tests.helpers.films import write_film
from tests.helpers.leaking_dataset import write_leaking_dataset, write_predictions
from tests.helpers.pages import OpenPage
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.generate.blind.accuracy import PairAccuracy
from vttdata.generate.blind.shortcuts import Attack, attack_section
from vttdata.report.audit_report import foil_audit_page

HOSTILE = "</script><img src=x onerror=window.hacked=1><b>{{ 7 * 7 }}</b>\u202e&\"'"


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Dataset of leaking splits whose captions are hostile."""
    monkeypatch.setattr(leaking_dataset, "THINGS", [f"{thing} {HOSTILE}" for thing in leaking_dataset.THINGS])
    return write_leaking_dataset(tmp_path / "dataset")


def check(browser: WebDriver, path: Path, part: str = "html") -> OpenPage:
    """Open a page that must work; `part` is a CSS selector of what a test has not checked for barriers before."""
    page = OpenPage(browser, path)
    assert page.errors() == []
    assert page.requests() == []
    assert page.barriers(part=part) == []
    assert page.overflow() == {}
    assert page.js("return window.hacked") is None
    return page


def test_audit_page_shows_every_leak(browser: WebDriver, dataset: Path, tmp_path: Path) -> None:
    assert main(["audit", str(dataset), "--page", str(tmp_path / "new" / "audit.html")]) == 3
    page = check(browser, tmp_path / "new" / "audit.html")
    assert page.texts(".alert")[0].startswith("LEAKS: ")
    assert {"source in several splits", "overlap in time", "caption in several splits"} <= {*page.texts("h2")}
    assert any("5.00 s: r0 (train) and t0 (test) of a" in text for text in page.texts("section p"))


def test_evaluation_page_shows_scores_and_items(browser: WebDriver, dataset: Path, tmp_path: Path) -> None:
    captions = write_predictions(tmp_path / "captions.json", t1=HOSTILE)
    command = ["evaluate", str(dataset), str(captions), "--metric", "rouge-l", "--train-split", "train"]
    assert main([*command, "--page", str(tmp_path / "page.html")]) == 0
    page = check(browser, tmp_path / "page.html")
    assert {"all items", "clean", "leaked", "overlap"} <= {*page.texts("#scores th")}
    # A group without a score, and the interval of one with a score.
    assert page.texts("#by-length td")[-3:] == ["over 13.3 words", "0", "\u2013"]
    assert re.fullmatch(r"\d\.\d{3}\s\(\d\.\d{3} to \d\.\d{3}\)", page.texts("#by-length td.num")[1])
    for width in (1300, 390):
        page.resize(width)
        cut = "return [...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).length"
        assert page.js(cut) == 0
    assert page.texts(".alert") == []
    assert sum(" are few: " in text for text in page.texts("li, p")) == 1
    assert page.texts("#best h3")[0].startswith("t0: 1") or page.texts("#best h3")[0].startswith("t3: 1")
    shown = HOSTILE.replace("\u202e", "\ufffd")
    assert shown in page.texts("#best strong, #worst strong")
    assert any(shown in text for text in page.texts("#best li, #worst li"))


def test_foil_page_shows_attackers_and_pairs(browser: WebDriver, tmp_path: Path) -> None:
    ensemble, attack = (Attack(name, HOSTILE, PairAccuracy(10, 6, 0), (0.4, 0.8)) for name in ("ensemble", HOSTILE))
    section = attack_section([ensemble, attack], title=HOSTILE, key="foils")
    page = foil_audit_page(written_foils(tmp_path / "foils"), HOSTILE, [section])
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    opened = check(browser, tmp_path / "page.html")
    assert opened.texts("#foils td.num")[0] == "0.6"
    assert opened.texts("#pairs strong") == ["a cat runs"]


def test_foil_page_shows_frames_of_a_folder_of_videos(browser: WebDriver, tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    write_film(tmp_path / "videos" / "v1.mp4", 1, 1)
    page = foil_audit_page(written_foils(tmp_path / "foils"), "foils", (), tmp_path / "videos")
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    opened = check(browser, tmp_path / "page.html")
    assert opened.js("return [...document.images].map((image) => image.naturalWidth > 0)") == [True]
    with pytest.raises(VttdataError, match="not a folder of videos"):
        foil_audit_page(tmp_path / "foils", "foils", (), tmp_path / "none")


def test_videos_without_page_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(written_foils(tmp_path / "foils")), "--videos", str(tmp_path)]) == 2
    assert "--videos goes with --page" in capsys.readouterr().err


def test_page_of_an_audit_against_a_corpus_is_refused(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(dataset), "--against", str(dataset), "--page", "page.html"]) == 2
    assert "--page is about the splits of a dataset" in capsys.readouterr().err


def test_page_of_questions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.csv").write_text("video_id,question,option_0,option_1,answer\nv,what?,a,b,0\n", encoding="utf-8")
    assert main(["audit", str(tmp_path / "q.csv"), "--page", str(tmp_path / "page.html")]) == 2
    assert "--page is for datasets and tables of foils" in capsys.readouterr().err
