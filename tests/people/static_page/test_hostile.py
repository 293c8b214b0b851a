"""Test that captions cannot be more than text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from selenium.webdriver import Keys

from tests.people.static_page.site import Assessor
from vttdata.people.static_page import HitView

CAPTIONS = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1; alert(1)</script>",
    "<img src=x onerror='window.hacked = 1; alert(1)'><iframe srcdoc='<script>top.hacked = 1</script>'></iframe>",
    "=cmd|' /C calc'!A0",
    "supercalifragilistic" * 100,
    "a man\nwalks\r\n\ta dog" + "\n" * 200,
    "\u202eright to left\u2066 \u0643\u0644\u0628 \u05db\u05dc\u05d1",
    "\u05d0\u05d9\u05e9 \u05de\u05d5\u05dc\u05d9\u05da \u05db\u05dc\u05d1",
    "a \U0001f468\u200d\U0001f469\u200d\U0001f467 with a \U0001f415 \u2028 in the park",
    "Z" + "\u0317\u0300" * 200,
    "",
)


def test_captions_are_text_and_keep_the_layout_of_a_narrow_screen(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.resize(320, 568)
    assessor.open(page(hit(*CAPTIONS)))
    assert assessor.js("return [innerWidth, document.documentElement.scrollWidth]") == [320, 320]
    assessor.click("begin")
    for caption in CAPTIONS:
        assert assessor.text("caption") == caption
        assert assessor.js("return document.getElementById('caption').children.length") == 0
        assert assessor.js("return [innerWidth, document.documentElement.scrollWidth]") == [320, 320]
        assert assessor.get("caption").size["height"] <= 0.4 * 568 + 1
        assert assessor.get("scale").rect["x"] >= 0
        assert min(assessor.get(name).size["height"] for name in ("scale", "next")) >= 44
        assert assessor.get("scale").size["width"] >= 240
        assessor.press(Keys.END, Keys.ENTER)
    assert assessor.is_shown("end")
    assert assessor.js("return [innerWidth, document.documentElement.scrollWidth]") == [320, 320]
    assert assessor.js("return window.hacked ?? null") is None
    assert assessor.browser.get_log("browser") == []


@pytest.mark.parametrize(
    "attack",
    [
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)",
        "document.getElementById('caption').innerHTML = '<img src=x onerror=\"window.hacked = 1\">'",
        "document.getElementById('caption').setAttribute('onclick', 'window.hacked = 1');"
        "document.getElementById('caption').click()",
    ],
)
def test_security_policy_stops_injected_scripts(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView], attack: str
) -> None:
    assessor.open(page(hit("a"))).click("begin")
    assessor.js(f"try {{ {attack} }} catch {{ }}")
    assert assessor.js("return window.hacked ?? null") is None


def test_page_cannot_send_data(assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]) -> None:
    assessor.open(page(hit("a")))
    sent = assessor.browser.execute_async_script(
        "const done = arguments[0]; fetch('/page.html').then(() => done('sent'), () => done('refused'))"
    )
    assert sent == "refused"
