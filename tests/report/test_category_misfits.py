"""Clips whose captions fit another category: compared with counting by hand, one clip at a time, and on the page."""

from __future__ import annotations

import math
import random

import pyarrow as pa
import pytest

from vttdata.files.results import ResultTable
from vttdata.report.caption_findings import find_odd_captions
from vttdata.report.category_misfits import find_misfits
from vttdata.report.page import render

COOKING = ["a cook fries eggs", "A cook cuts onions.", "a cook stirs soup", "the cook fries onions", "a pan with soup"]
RACING = [
    "a car on a track",
    "cars race on the track",
    "a car crosses a line",
    "two cars on a track",
    "a fast car, a line",
]
TABLE = {
    **{f"c{number}": ("cooking", text) for number, text in enumerate(COOKING)},
    **{f"r{number}": ("racing", text) for number, text in enumerate(RACING)},
    "planted": ("cooking", "a car on the track with cars, a fast car"),
    "rare": ("birds", "a car on the track"),
}


def _captions(table: dict[str, tuple[str, str]]) -> pa.Table:
    rows = [{"video_id": name, "caption": text} for name, (_, text) in table.items()]
    return pa.Table.from_pylist(
        [*rows, {"video_id": "c0", "caption": None}, {"video_id": "unknown", "caption": "a car"}]
    )


def _score(name: str) -> dict[str, float]:
    """Count words in all clips but one, in plain Python, and return the mean log share of each category."""
    texts = {key: text for key, (category, text) in TABLE.items() if category != "birds"}
    words = {
        key: "".join(each if each.isalnum() else " " for each in text.lower()).split() for key, text in texts.items()
    }
    others = {key: value for key, value in words.items() if key != name}
    scores = {}
    for category in ("cooking", "racing"):
        members = [value for key, value in others.items() if TABLE[key][0] == category]
        logs = []
        for word in words[name]:
            in_all = sum(word in value for value in others.values())
            if in_all:
                count = sum(word in value for value in members) + 2 * in_all / len(others)
                logs.append(math.log(count / (len(members) + 2)))
        scores[category] = sum(logs) / len(logs)
    return scores


def test_odds_are_those_of_counting_without_the_clip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vttdata.report.category_misfits.MIN_ODDS", 1e-30)
    found = find_misfits(_captions(TABLE), {name: category for name, (category, _) in TABLE.items()})
    assert found.judged == 11
    losses = {}
    for name in TABLE.keys() - {"rare"}:
        scores, category = _score(name), TABLE[name][0]
        losses[name] = next(score for other, score in scores.items() if other != category) - scores[category]
    # The likeliest scale of a fine grid.
    scale = min(
        (step / 1000 for step in range(20_000)),
        key=lambda scale: sum(math.log1p(math.exp(scale * loss)) for loss in losses.values()),
    )
    # A clip's own category has odds of 1 against itself.
    expected = {name: max(math.exp(scale * loss), 1.0) for name, loss in losses.items()}
    assert {misfit.video_id: misfit.odds for misfit in found.misfits} == pytest.approx(expected, rel=0.02)
    first = found.misfits[0]
    assert first[:3] == ("planted", "cooking", "racing")
    assert set(first.words) <= {"car", "cars", "on", "track", "fast"}


def test_only_clear_misfits_of_compared_categories_are_named() -> None:
    large = {f"{name}-{copy}": value for copy in range(6) for name, value in TABLE.items() if name != "planted"}
    large = {"planted": TABLE["planted"], **{name: value for name, value in large.items() if value[0] != "birds"}}
    found = find_misfits(_captions(large), {name: category for name, (category, _) in large.items()})
    assert [misfit.video_id for misfit in found.misfits] == ["planted"]
    assert found.categories == {"cooking": (31, 30, 1, "racing"), "racing": (30, 30, 0, "")}


def test_words_that_tell_nothing_find_nothing() -> None:
    """Categories at random: naive Bayes by itself would be sure of many."""
    draw = random.Random(1)
    words = [f"word{number}" for number in range(30)]
    table = {f"c{clip}": (draw.choice("abcd"), " ".join(draw.choices(words, k=60))) for clip in range(400)}
    found = find_misfits(_captions(table), {name: category for name, (category, _) in table.items()})
    assert (found.judged, found.found) == (400, 0)


@pytest.mark.parametrize("categories", [{}, {"c0": "cooking"}, dict.fromkeys(TABLE, "one")])
def test_without_two_categories_nothing_is_compared(categories: dict[str, str]) -> None:
    assert find_misfits(_captions(TABLE), categories).judged == 0


@pytest.mark.parametrize(("text", "judged"), [("!?", 10), (None, 0)])
def test_captions_without_words_fit_every_category(text: str | None, judged: int) -> None:
    table = {f"{category}{number}": (category, text) for category in "ab" for number in range(5)}
    found = find_misfits(_captions(table), {name: category for name, (category, _) in table.items()})
    assert (found.judged, found.misfits) == (judged, [])


def test_page_names_the_clip_and_both_categories_inertly() -> None:
    large = {f"{name}-{copy}": value for copy in range(6) for name, value in TABLE.items() if value[0] != "birds"}
    large = {name: value for name, value in large.items() if not name.startswith("planted")}
    large["<b>planted"] = TABLE["planted"]
    found = find_misfits(_captions(large), {name: f"<i>{category}" for name, (category, _) in large.items()})
    odd = find_odd_captions(_captions(large).append_column("annotator", pa.nulls(len(large) + 2, pa.string())))
    rows = {"<b>planted": 7, **{name: None for name, _ in odd.shortest + odd.longest if name != "<b>planted"}}
    html = render(
        "captions.html",
        found=odd,
        annotators=ResultTable(("annotator",), []),
        misfits=found,
        categories=ResultTable(("category", "clips"), [(name, each.clips) for name, each in found.categories.items()]),
        shared=ResultTable(("text", "captions"), []),
        min_odds=20,
        max_odds=500,
        rows=rows,
    )
    planted = '<a href="#clips" data-clip="7">&lt;b&gt;planted</a>: <b>&lt;i&gt;cooking</b>, captions speak for'
    assert f"{planted} <b>&lt;i&gt;racing</b>" in html
    assert "<i>" not in html
