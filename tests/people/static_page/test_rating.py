"""Test rating HITs in a real browser and reading the answers back."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Keys

from tests.people.static_page.site import Assessor, Site
from vttdata.people import read_manifest, read_results
from vttdata.people.static_page import HitView, write_page

KINDS = ["system"] * 70 + ["human"] * 10 + ["degraded"] * 10 + ["repeat"] * 10

STATE = (
    "return [...['count', 'caption'].map((id) => document.getElementById(id).textContent), "
    "document.getElementById('next').disabled]"
)


# Rates items one after another, as the scale and the button do, and returns what the page showed before each.
RATE = (
    "return arguments[0].map((score) => { const state = (() => { "
    + STATE
    + "})(); const slider = document.getElementById('slider'); slider.value = score;"
    "slider.dispatchEvent(new Event('input')); document.getElementById('next').click(); return state; })"
)


def manifest(file: Path, items: list[str]) -> Path:
    rows = [
        ("hit-1", item, f"v{n % 9}", f"s{n % 7}", kind) for n, (item, kind) in enumerate(zip(items, KINDS, strict=True))
    ]
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([("hit", "item", "video_id", "system", "kind"), *rows])
    return file


def html_without_content(assessor: Assessor) -> str:
    """Return the task's HTML without its texts and its video's address."""
    return str(
        assessor.js(
            "const copy = document.getElementById('task').cloneNode(true);"
            "for (const id of ['caption', 'count', 'announcement']) copy.querySelector('#' + id).textContent = '';"
            "copy.querySelector('#video').removeAttribute('src');"
            "copy.querySelector('#bar').removeAttribute('value');"
            "copy.querySelector('#next').removeAttribute('disabled');"
            "return copy.outerHTML;"
        )
    )


def requests(assessor: Assessor) -> set[str]:
    """Return scheme and host of all requests of the page."""
    events = (json.loads(entry["message"])["message"] for entry in assessor.browser.get_log("performance"))
    sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    hosts = {f"{urlsplit(url).scheme}:{urlsplit(url).hostname or ''}" for url in sent}
    return {host for host in hosts if not host.startswith("chrome:")}  # the browser's empty tab


@pytest.mark.long
def test_hit_of_100_items_is_rated_with_mouse_and_keys_and_read_back(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView], tmp_path: Path
) -> None:
    view = hit(*(f"caption {n}" for n in range(100)))
    random = Random(7)
    scores = {item.item: random.randint(0, 100) for item in view.items} | {"i10": 0, "i11": 100, "i60": 50, "i61": 0}
    assessor.open(page(view)).click("begin")
    layouts = set()
    position = 0
    while position < 100:
        item = view.items[position]
        if position % 10 == 0:
            layouts.add(html_without_content(assessor))
        if position < 15 or 50 <= position < 65:
            assert assessor.js(STATE) == [f"{position + 1} of 100", item.caption, True]
            if position < 50:
                assessor.drag(scores[item.item])
                assessor.click("next")
            else:
                assessor.type_score(scores[item.item])
                assessor.press(Keys.ENTER)
            position += 1
        else:
            end = position // 10 * 10 + 10
            states = assessor.js(RATE, [scores[item.item] for item in view.items[position:end]])
            assert states == [[f"{n + 1} of 100", view.items[n].caption, True] for n in range(position, end)]
            position = end
        if position == 51:
            assessor.browser.refresh()
            assert "51 captions done" in assessor.text("start-note")
            assessor.click("begin")
    assert len(layouts) == 1, "items of all kinds look the same"
    shown = read_manifest(manifest(tmp_path / "hits.csv", list(scores)))
    for button in ("csv", "json"):
        file = assessor.download(button, tmp_path / "downloads", button)
        results = read_results([file], manifest=shown)
        assert results.findings == {}
        assert {judgment.item: judgment.score for judgment in results.judgments} == scores
        assert [judgment.position for judgment in results.judgments] == list(range(100))
        assert {judgment.worker for judgment in results.judgments} == {"W1"}
        assert all(judgment.seconds is not None for judgment in results.judgments)
    assert requests(assessor) <= {"http:127.0.0.1", "data:", "blob:"}


def test_next_is_disabled_and_marker_hidden_until_the_scale_is_moved(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a", "b"))).click("begin")
    thumb = assessor.browser.find_element("css selector", ".thumb")
    for _ in range(2):
        assert not assessor.get("next").is_enabled()
        assert not thumb.is_displayed()
        assert assessor.get("slider").get_attribute("aria-valuetext") == "not answered yet"
        assessor.press(Keys.ENTER)
        assert "first" in assessor.text("hint")
        assessor.drag(50)
        assert assessor.get("next").is_enabled()
        assert thumb.is_displayed()
        assessor.click("next")
    assert assessor.is_shown("end")


def test_marker_is_where_the_pointer_was_released(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"))).click("begin")
    scale, thumb = assessor.get("scale"), assessor.browser.find_element("css selector", ".thumb")
    for score in (0, 31, 100):
        assessor.drag(score)
        left = scale.location["x"] + score / 100 * (scale.size["width"] - thumb.size["width"])
        assert thumb.location["x"] == pytest.approx(left, abs=2)
        assert assessor.get("slider").get_attribute("aria-valuetext") == f"{score} of 100"


def test_space_plays_the_video_and_the_share_that_was_shown_is_recorded(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"))).click("begin")
    playing = "return document.getElementById('video').paused"
    assert assessor.js(playing), "videos do not start by themselves"
    assessor.press(Keys.SPACE)
    assert not assessor.js(playing)
    assessor.wait(lambda: assessor.js("return document.getElementById('video').currentTime > 0.3"))
    assessor.press(Keys.SPACE)
    reached, duration = assessor.js(
        "const video = document.getElementById('video'); return [video.currentTime, video.duration]"
    )
    assert assessor.js(playing)
    assessor.finish()
    (row,) = csv.DictReader(assessor.get("text").get_attribute("value").splitlines())
    # A busy browser presents its first frame late, never one that the video has not reached.
    assert 0 < float(row["shown"]) <= reached / duration + 0.1
    assert float(row["seconds"]) >= 0.2


def test_page_works_from_a_file(assessor: Assessor, hit: Callable[..., HitView], site: Site) -> None:
    write_page(site.folder / "page.html", hit("a", "b"))
    url = (site.folder / "page.html").as_uri() + "?workerId=from%20file"
    assessor.open(url).click("begin")
    assessor.wait(lambda: assessor.js("return document.getElementById('video').videoWidth") == 64)
    assessor.type_score(20)
    assessor.press(Keys.ENTER)
    assessor.open(url).click("begin")
    assert assessor.text("count") == "2 of 2"
    assessor.finish()
    rows = list(csv.DictReader(assessor.get("text").get_attribute("value").splitlines()))
    assert [(row["worker"], row["item"], row["score"]) for row in rows] == [
        ("from file", "i0", "20"),
        ("from file", "i1", "60"),
    ]
    assert requests(assessor) <= {"file:", "data:"}


def test_worker_id_is_asked_for_if_the_address_has_none(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"), query=""))
    for name in ("=cmd()", "  ", "-1", '"'):
        assessor.get("worker").clear()
        assessor.get("worker").send_keys(name, Keys.ENTER)
        assert not assessor.is_shown("task")
    assessor.get("worker").clear()
    assessor.get("worker").send_keys(" Zoë 2 ", Keys.ENTER)
    assessor.finish()
    assert [row["worker"] for row in csv.DictReader(assessor.get("text").get_attribute("value").splitlines())] == [
        "Zoë 2"
    ]


def test_every_view_of_the_page_is_accessible(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"), query="")).audit()
    assessor.get("worker").send_keys("W1")
    assessor.click("begin")
    assessor.audit()
    assessor.finish()
    assessor.audit()


def test_answers_of_other_workers_and_pages_are_separate(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    for query in ("?worker=A", "?worker=B"):
        assessor.open(page(hit("a", "b"), query)).click("begin")
        assert assessor.text("count") == "1 of 2"
        assessor.type_score(10)
        assessor.press(Keys.ENTER)
    assessor.open(page(hit("a", "changed"), "?worker=A")).click("begin")
    assert assessor.text("count") == "1 of 2"


def test_two_windows_of_a_worker_share_progress(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    url = page(hit("a", "b", "c"))
    assessor.open(url).click("begin")
    first = assessor.browser.current_window_handle
    assessor.browser.switch_to.new_window("tab")
    assessor.open(url).click("begin")
    assessor.type_score(40)
    assessor.press(Keys.ENTER)
    assessor.browser.close()
    assessor.browser.switch_to.window(first)
    assessor.wait(lambda: assessor.text("count") == "2 of 3")


@pytest.mark.parametrize("leaving", [True, False])
def test_outdated_window_does_not_overwrite_answers(
    leaving: bool, assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a", "b", "c"))).click("begin")
    assessor.press(Keys.END, Keys.ENTER)
    assessor.js(
        "const key = Object.keys(localStorage).find((name) => name.includes('hit-1'));"
        "const kept = JSON.parse(localStorage[key]);"
        "kept.list.push({...kept.list[0], item: 'i1', position: 1, score: 7}); localStorage[key] = JSON.stringify(kept)"
    )
    if leaving:
        assessor.browser.refresh()
        assessor.click("begin")
    else:
        assessor.press(Keys.HOME, Keys.ENTER)
    assert assessor.text("count") == "3 of 3"
    assessor.finish()
    rows = csv.DictReader(assessor.get("text").get_attribute("value").splitlines())
    assert [(row["item"], row["score"]) for row in rows] == [("i0", "100"), ("i1", "7"), ("i2", "60")]


def test_corrupt_storage_is_ignored(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView], site: Site
) -> None:
    (site.folder / "empty.html").write_text("<!doctype html>")
    url = page(hit("a", "b"))
    for damage in ("{", "[]", '{"list": 3}', '{"list": [{"item": "other"}], "spent": 0}'):
        assessor.open(url).click("begin")
        assert assessor.text("count") == "1 of 2"
        assessor.press(Keys.END, Keys.ENTER)
        assessor.open(site.url("empty.html"))
        assessor.js(f"for (const key of Object.keys(localStorage)) localStorage.setItem(key, {json.dumps(damage)})")
    assessor.open(url).click("begin")
    assert assessor.text("count") == "1 of 2"
