"""The page reports how much of a video was shown and how a text came about, and asks a worker to watch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.needs import library

library("starlette")
library("httpx")

from selenium.webdriver import Keys

from tests.helpers.builds import film
from tests.people.served import CAPTIONS, Running, make, served
from tests.people.static_page.site import Assessor, Site
from tests.people.test_pages import count_answers, enter, watch
from vttdata.people.static_page import HitView, ItemView, write_page
from vttdata.people.store import StoredAnswer

SECONDS = 2
# A page that says whether it is hidden as a test wants it.
HIDING = """
window.isHidden = false;
Object.defineProperty(document, "hidden", { get: () => window.isHidden });
window.hide = (isHidden) => { window.isHidden = isHidden; document.dispatchEvent(new Event("visibilitychange")); };
"""
# Plays the video from a time on at a rate, to its end or another time, without what players do by themselves.
PLAY = """
const [from, to, rate, done] = arguments;
const video = document.getElementById("video");
const stop = () => { video.pause(); video.removeEventListener("timeupdate", check); done(video.currentTime); };
const check = () => (video.ended || video.currentTime >= to) && stop();
video.playbackRate = rate;
video.addEventListener("timeupdate", check);
video.addEventListener("seeked", () => video.play(), { once: true });
video.currentTime = from;
"""


@pytest.fixture
def seeing(assessor: Assessor) -> Iterator[Assessor]:
    script = assessor.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HIDING})
    yield assessor
    assessor.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """Serve a campaign of two captions, for which no questions are asked."""
    (tmp_path / "films").mkdir()
    for name in ("one", "two"):
        film(tmp_path / "films" / f"{name}.mp4", SECONDS)
    settings = ("--set", "qualification=false", "--set", "questions=0")
    with served(make(tmp_path / "campaign", "caption", tmp_path / "films", *settings)) as server:
        yield server


def play(assessor: Assessor, start: float, end: float = 1e9, rate: float = 1) -> None:
    assessor.wait(lambda: assessor.js("return document.getElementById('video').readyState > 2"))
    assessor.browser.execute_async_script(PLAY, start, end, rate)


def begin_caption(assessor: Assessor, running: Running, text: str) -> None:
    enter(assessor, running)
    assessor.wait(lambda: assessor.is_shown("task"))
    assessor.click("written")
    assessor.press(text)


def sent(assessor: Assessor, running: Running) -> StoredAnswer:
    before = count_answers(running)
    assessor.wait(lambda: assessor.get("next").is_enabled())
    assessor.click("next")
    assessor.wait(lambda: count_answers(running) == before + 1)
    return running.service.store.answers()[-1]


def test_caption_waits_until_the_video_was_shown(seeing: Assessor, running: Running) -> None:
    begin_caption(seeing, running, CAPTIONS[0])
    assert seeing.text("hint") == "Please watch the video first."
    assert not seeing.get("next").is_enabled()
    seeing.press(Keys.ENTER)
    assert count_answers(running) == 0
    # What is sought over, played in a hidden tab or far too fast was not shown.
    play(seeing, SECONDS - 0.3)
    seeing.js("hide(true)")
    play(seeing, 0)
    seeing.js("hide(false)")
    play(seeing, 0, rate=16)
    assert not seeing.get("next").is_enabled()
    play(seeing, 0)
    answer = sent(seeing, running)
    assert answer.observed is not None
    assert 0.8 <= answer.observed.shown <= 1


def test_counts_of_keys_changes_and_pastes_say_how_a_text_came(assessor: Assessor, running: Running) -> None:
    begin_caption(assessor, running, CAPTIONS[0])
    watch(assessor)
    typed = sent(assessor, running).observed
    assert typed is not None
    assert (typed.keys, typed.changes, typed.pastes) == (len(CAPTIONS[0]), len(CAPTIONS[0]), 0)
    assessor.wait(lambda: assessor.text("count") == "Video 2")
    assessor.js(
        "document.getElementById('hint').after(Object.assign(document.createElement('input'), "
        "{ id: 'elsewhere', value: arguments[0] }))",
        CAPTIONS[1],
    )
    for name, command in (("elsewhere", "selectAll"), ("elsewhere", "copy"), ("written", "paste")):
        assessor.js("document.getElementById(arguments[0]).focus()", name)
        event = {"type": "keyDown", "commands": [command]}
        assessor.browser.execute_cdp_cmd("Input.dispatchKeyEvent", event)
    assessor.wait(lambda: assessor.get("written").get_attribute("value") == CAPTIONS[1])
    watch(assessor)
    answer = sent(assessor, running)
    assert answer.answer == {"caption": CAPTIONS[1]}
    assert answer.observed is not None
    assert (answer.observed.changes, answer.observed.pastes) == (1, 1)


def test_exported_page_reports_the_share_that_was_shown(seeing: Assessor, tmp_path: Path) -> None:
    film(tmp_path / "one.mp4", SECONDS)
    write_page(tmp_path / "page.html", HitView("h", tuple(ItemView(f"i{n}", "one.mp4", "a dog") for n in range(4))))
    site = Site(tmp_path)
    try:
        seeing.open(site.url("page.html?worker=W1")).click("begin")
        seeing.js("document.getElementById('video').loop = false")
        for part in ("none", "half", "hidden", "all"):
            seeing.js("document.getElementById('video').loop = false; hide(arguments[0])", part == "hidden")
            if part != "none":
                play(seeing, 0, SECONDS / 2 if part == "half" else 1e9)
            seeing.js("hide(false)")
            seeing.type_score(40)
            seeing.press(Keys.ENTER)
        stored = seeing.js("return JSON.parse(localStorage[Object.keys(localStorage)[0]]).list")
    finally:
        site.close()
    none, half, hidden, whole = [answer["shown"] for answer in stored]
    assert none == hidden == 0
    # Browsers say four times a second or oftener what is shown.
    assert 0.4 <= half <= 0.75
    assert whole >= 0.9
