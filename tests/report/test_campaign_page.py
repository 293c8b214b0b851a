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


BROKEN_WORDS = """
const broken = [];
for (const cell of document.querySelectorAll('th, td')) {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (texts.nextNode())
    for (const word of texts.currentNode.data.matchAll(/[A-Za-z]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word[0]);
    }
  const label = getComputedStyle(cell, '::before');
  if (!cell.dataset.label || label.content === 'none') continue;
  const measure = document.createElement('canvas').getContext('2d');
  measure.font = label.font;
  const widest = Math.max(...cell.dataset.label.split(' ').map((word) => measure.measureText(word).width));
  if (parseFloat(label.width) < widest - 1) broken.push(cell.dataset.label);
}
return broken;
"""


def test_page_of_ratings_shows_the_ranking_and_breaks_no_word(browser: WebDriver, tmp_path: Path) -> None:
    """Of four videos, each has the same difference, so that 2 of 16 swaps are as far apart."""
    for name, word in (("good", "cat"), ("middling", "dog")):
        rows = [f"v{n},a {word} {letter * 4} {letter * 5}" for n, letter in enumerate("abcd")]
        (tmp_path / f"{name}.csv").write_text("\n".join(["video_id,caption", *rows, ""]))
    tables = [tmp_path / "good.csv", tmp_path / "middling.csv"]
    videos = link_videos(tmp_path / "videos", {f"v{n}" for n in range(4)})
    rating = make(tmp_path / "rating", "rate-scale", *tables, "--videos", videos, workers="ann,bob,cy")

    def answer(worker: str, item: Item) -> dict[str, object]:
        systems = item.facts.get("systems", ())
        value = 1 if not systems or worker == "bob" else 6 if "good" in systems else 3
        return {"scores": {"score": min(value, 5) if worker == "ann" else min(value, 4)}}

    answer_all(rating, answer)
    assert main(["people", "score", str(rating.folder), "--out", str(tmp_path / "out"), "--keep-all"]) == 0
    page = check(browser, tmp_path / "out" / "report.html")
    cells = page.texts("#systems-best-first td")
    assert [cells[0], float(cells[1])] == ["good", pytest.approx((5 + 1 + 4) / 3, abs=1e-3)]
    assert cells[6] == "middling"
    differences = page.texts("#differences-of-systems td")
    assert float(differences[2].split()[0]) == pytest.approx((2 + 0 + 1) / 3, abs=1e-3)
    assert float(differences[4]) == pytest.approx(2 / 16, abs=0.015)
    assert "4 videos are few" in page.texts("#differences-of-systems")[0]
    assert f"{rating.hash_worker('ann')}: score: 5" in page.texts("#items li")
    page.resize(390)
    assert page.js(BROKEN_WORDS) == []
