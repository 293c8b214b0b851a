"""Fingers and keys: what each of them moves."""

from __future__ import annotations

from collections.abc import Callable

from selenium.webdriver import ActionChains, Keys

from tests.annotate.da_page.site import THUMB, Assessor
from vttdata.annotate.da_page import HitView


def touch(assessor: Assessor, kind: str, *points: tuple[float, float]) -> None:
    at = [{"x": x, "y": y} for x, y in points]
    assessor.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})


def middle(assessor: Assessor) -> tuple[float, float]:
    box = assessor.js("return document.getElementById('scale').getBoundingClientRect().toJSON()")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def score(assessor: Assessor) -> str:
    return str(assessor.get("slider").get_attribute("aria-valuetext"))


def test_a_finger_taps_and_draws_the_marker(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.size(360)
    assessor.open(page(hit("a"))).click("begin")
    x, y = middle(assessor)
    quarter = (assessor.get("scale").size["width"] - THUMB) / 4
    touch(assessor, "touchStart", (x + quarter, y))
    touch(assessor, "touchEnd")
    assessor.wait(lambda: score(assessor) == "75 of 100")
    touch(assessor, "touchStart", (x + quarter, y))
    for step in range(1, 9):
        touch(assessor, "touchMove", (x + quarter - step * quarter / 4, y))
    touch(assessor, "touchEnd")
    assessor.wait(lambda: score(assessor) == "25 of 100")


def test_a_finger_that_scrolls_across_the_scale_answers_nothing(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.size(360, 500)
    assessor.open(page(hit("many words " * 30))).click("begin")
    assessor.js("scrollTo(0, document.documentElement.scrollHeight)")
    x, y = middle(assessor)
    before = assessor.js("return scrollY")
    touch(assessor, "touchStart", (x, y))
    for step in range(1, 12):
        touch(assessor, "touchMove", (x, y + 12 * step))
    touch(assessor, "touchEnd")
    assessor.wait(lambda: assessor.js("return scrollY") < before)
    assert score(assessor) == "not answered yet"
    assert not assessor.get("next").is_enabled()


def test_arrow_keys_move_the_marker_also_after_a_click_on_the_video_or_on_nothing(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"))).click("begin")
    assessor.wait(lambda: assessor.js("return document.getElementById('video').videoWidth") == 64)
    assessor.click("video")
    assessor.press(Keys.RIGHT)
    assert score(assessor) == "51 of 100"
    ActionChains(assessor.browser, duration=0).move_to_element(assessor.get("count")).click().perform()
    assessor.press(Keys.PAGE_UP)
    assert score(assessor) == "61 of 100"


def test_keys_stay_with_the_controls_of_the_video_once_they_were_reached_by_keys(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"))).click("begin")
    assessor.wait(lambda: assessor.js("return document.getElementById('video').videoWidth") == 64)
    assessor.js("document.getElementById('count').tabIndex = 0; document.getElementById('count').focus()")
    assessor.press(Keys.TAB, Keys.RIGHT)
    assert score(assessor) == "not answered yet"
    assert assessor.js("return document.activeElement.id") == "video"


def test_the_tab_key_reaches_every_control_and_shows_where_it_is(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"))).click("begin")
    assessor.press(Keys.RIGHT)
    outlines: dict[str, str] = {}
    for _ in range(20):
        assessor.press(Keys.TAB)
        where, outline = assessor.js(
            "const at = document.activeElement, ringed = at.id === 'slider' ? document.querySelector('.thumb') : at;"
            "return [at.id || at.tagName, getComputedStyle(ringed).outlineStyle]"
        )
        outlines.setdefault(where, outline)  # inside the video the browser draws the ring of its controls
    outlines.pop("BODY", None)
    assert outlines == dict.fromkeys(("next", "SUMMARY", "video", "slider"), "solid")
