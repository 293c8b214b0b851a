"""Test what touches and keys move."""

from __future__ import annotations

from collections.abc import Callable

from selenium.webdriver import ActionChains, Keys

from tests.people.static_page.site import THUMB, Assessor
from vttdata.people.static_page import HitView


def touch(assessor: Assessor, event: str, *points: tuple[float, float]) -> None:
    touch_points = [{"x": x, "y": y} for x, y in points]
    assessor.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": event, "touchPoints": touch_points})


def middle(assessor: Assessor) -> tuple[float, float]:
    box = assessor.js("return document.getElementById('scale').getBoundingClientRect().toJSON()")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def score(assessor: Assessor) -> str:
    return str(assessor.get("slider").get_attribute("aria-valuetext"))


def test_finger_taps_and_drags_the_marker(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.resize(360)
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


def test_scrolling_across_the_scale_does_not_answer(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.resize(360, 500)
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


def test_arrow_keys_move_the_marker_after_clicks_elsewhere(
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


def test_keys_belong_to_the_video_controls_if_they_were_reached_by_tab(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"))).click("begin")
    assessor.wait(lambda: assessor.js("return document.getElementById('video').videoWidth") == 64)
    assessor.js("document.getElementById('count').tabIndex = 0; document.getElementById('count').focus()")
    assessor.press(Keys.TAB, Keys.RIGHT)
    assert score(assessor) == "not answered yet"
    assert assessor.js("return document.activeElement.id") == "video"


def test_tab_key_reaches_every_control_with_a_visible_focus(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"))).click("begin")
    assessor.press(Keys.RIGHT)
    outlines: dict[str, str] = {}
    for _ in range(20):
        assessor.press(Keys.TAB)
        name, outline = assessor.js(
            "const focused = document.activeElement;"
            "const ringed = focused.id === 'slider' ? document.querySelector('.thumb') : focused;"
            "return [focused.id || focused.tagName, getComputedStyle(ringed).outlineStyle]"
        )
        outlines.setdefault(name, outline)  # inside the video the browser draws the focus ring itself
    outlines.pop("BODY", None)
    assert outlines == dict.fromkeys(("next", "SUMMARY", "video", "slider"), "solid")
