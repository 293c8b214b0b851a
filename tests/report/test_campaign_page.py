"""The page of a campaign shows its workers by hashed names and its items with frames, whatever their texts hold."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.helpers.needs import library

library("selenium")
library("starlette")

from selenium.webdriver.remote.webdriver import WebDriver

from tests.people.served import make
from tests.people.test_results_used import answer_all, link_videos
from tests.report.test_results import HOSTILE, check
from vttdata.cli.main import main
from vttdata.people.campaign import Campaign
from vttdata.people.task import Item


@pytest.fixture
def review(tmp_path: Path) -> Campaign:
    """Campaign of foils with hostile texts and ids."""
    with (tmp_path / "foils.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = [(f"f{n}", f"v{n}", f"a dog runs {HOSTILE}", f"a cat runs {HOSTILE}") for n in range(4)]
        csv.writer(stream).writerows([("foil_id", "video_id", "caption", "foil"), *rows])
    videos = link_videos(tmp_path / "videos", {f"v{n}" for n in range(4)})
    options = ("--videos", videos, "--set", "controls=0", "--set", f"title={HOSTILE}")
    return make(tmp_path / "review", "foil-review", tmp_path / "foils.csv", *options, workers="ann,bob,cy,zoe-idle")


def test_campaign_page_shows_workers_and_disputed_items(browser: WebDriver, review: Campaign, tmp_path: Path) -> None:
    def answer(worker: str, item: Item) -> dict[str, object]:
        return {"verdict": "odd" if worker == "bob" and item.facts["foil_id"] == "f2" else "sound"}

    answer_all(review, answer)
    assert main(["people", "score", str(review.folder), "--out", str(tmp_path / "out")]) == 0
    path = tmp_path / "out" / "report.html"
    page = check(browser, path)
    shown = HOSTILE.replace("\u202e", "\ufffd")
    assert page.texts("h1") == [shown]
    assert page.texts(".tile b") == ["4", "12", "3", "0", "5.0 s"]
    assert {review.hash_worker(name) for name in ("ann", "bob", "cy")} <= {*page.texts("#workers td")}
    assert not any(f"{name}:" in text for name in ("ann", "bob", "cy") for text in page.texts("#items li"))
    assert "zoe-idle" not in path.read_text(encoding="utf-8")
    # The item on which one worker differs is the first.
    assert page.texts("#items h3")[0] == "v2"
    assert f"{review.hash_worker('bob')}: verdict: odd" in page.texts("#items li")[:3]
    assert page.texts("#items strong")[0] == f"a cat runs {shown}"
    assert (
        page.js("return [...document.images].every((image) => image.naturalWidth > 0) && document.images.length") == 4
    )


def test_campaign_page_without_answers_says_so(browser: WebDriver, review: Campaign, tmp_path: Path) -> None:
    assert main(["people", "score", str(review.folder), "--out", str(tmp_path / "out")]) == 0
    page = check(browser, tmp_path / "out" / "report.html")
    assert page.texts(".alert")[0].startswith("Nobody has answered yet")
