"""Whatever answers in the server's place, no answer is lost and none is saved twice."""

from __future__ import annotations

import contextlib
import http.client
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from pathlib import Path

import pytest

from tests.helpers.needs import library

library("starlette")
library("httpx")

from tests.people.served import make, served, write_rows
from tests.people.static_page.site import Assessor, Site
from vttdata.people.static_page import HitView, ItemView, write_page

# The long form gives 1,000 answers.
ANSWERS = int(os.environ.get("VTTDATA_PROXIED_ANSWERS", "25"))
LOGIN = b"<!doctype html><title>Welcome</title><form>Your room number <input></form>"
# Status, type, content and further headers of what a proxy answers in the server's place.
WRONG = {
    "login page": (200, "text/html", LOGIN, {}),
    "login page as JSON": (200, "application/json", b'{"saved": "now", "stage": "done"}', {}),
    "redirect to a login page": (302, "text/html", b"", {"Location": "/login"}),
    "too many requests": (429, "text/html", b"slow down", {"Retry-After": "1"}),
    "time ran out": (408, "application/json", b'{"error": "timeout"}', {}),
    "forbidden by a proxy": (403, "application/json", b'{"error": "blocked by policy"}', {}),
    "no such page, of another program": (404, "text/html", LOGIN, {}),
    "unavailable": (503, "text/html", b"", {}),
}
# Ways in which the server itself is reached, but what it says does not arrive, or what it gets is cut off.
BROKEN = ("answer lost", "request cut off")


class Proxy:
    """Server that passes requests on to another one, but for answers, each of which meets two wrong ways first."""

    def __init__(self, port: int) -> None:
        self.port, self.ways, self.met = port, cycle([*WRONG, *BROKEN]), list[str]()
        self.lock = threading.Lock()
        self.tries: dict[bytes, int] = {}
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path == "/login":
                    return self.reply(200, "text/html", LOGIN, {})
                return self.forward(b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                way = proxy.way(body) if self.path.endswith("/answer") else None
                if way in WRONG:
                    return self.reply(*WRONG[way])
                return self.forward(body, way)

            def forward(self, body: bytes, way: str | None = None) -> None:
                connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
                names = ("Content-Type", "Range", "Accept")
                headers = {name: self.headers[name] for name in names if name in self.headers}
                sent = body[: len(body) // 2] if way == "request cut off" else body
                connection.request(self.command, self.path, sent or None, headers)
                response = connection.getresponse()
                content = response.read()
                if way == "answer lost":
                    self.close_connection = True
                    return
                kept = {name: response.headers[name] for name in ("Content-Range",) if name in response.headers}
                self.reply(response.status, response.headers["Content-Type"] or "text/plain", content, kept)

            def reply(self, status: int, kind: str, content: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments: object) -> None:
                return None

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def way(self, body: bytes) -> str | None:
        """Return in which wrong way an answer is treated now, None where it is passed on."""
        with self.lock:
            self.tries[body] = self.tries.get(body, 0) + 1
            if self.tries[body] > 2:
                return None
            self.met.append(next(self.ways))
            return self.met[-1]


@contextlib.contextmanager
def proxied(root: str) -> Iterator[Proxy]:
    proxy = Proxy(int(root.rpartition(":")[2]))
    yield proxy
    proxy.server.shutdown()
    proxy.server.server_close()


@pytest.fixture
def hasty(assessor: Assessor) -> Iterator[Assessor]:
    """An assessor in whose pages a second is fifty milliseconds, but for the fifteen that a video may take to load."""
    shorten = "wait(callback, ms === 15000 ? ms : ms / 20, ...rest)"
    faster = f"const wait = setTimeout; window.setTimeout = (callback, ms, ...rest) => {shorten}"
    script = assessor.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": faster})
    yield assessor
    assessor.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def waiting(assessor: Assessor) -> int:
    """Return how many answers wait in the browser."""
    return int(assessor.js("return Object.keys(localStorage).filter((name) => name.includes(' answer ')).length"))


@pytest.mark.long
def test_no_answer_is_lost_behind_a_proxy_that_answers_in_ten_wrong_ways(
    hasty: Assessor, clips: Path, tmp_path: Path
) -> None:
    foils = [(f"f{n}", "blue", "a man walks a dog", f"a man walks a cat{n}") for n in range(ANSWERS)]
    table = write_rows(tmp_path / "foils.csv", ("foil_id", "video_id", "caption", "foil"), *foils)
    campaign = make(
        *(tmp_path / "campaign", "foil-review", table, "--videos", clips, "--set", "min_shown=0"),
        *("--set", "controls=0", "--set", "judgments=1"),
    )
    with served(campaign) as running, proxied(running.root) as proxy:
        hasty.open(f"{proxy.root}/w/{campaign.worker_token('ann')}")
        hasty.wait(lambda: hasty.is_shown("begin"))
        hasty.click("begin")
        for number in range(ANSWERS):
            hasty.wait(lambda: hasty.is_shown("task"))
            hasty.wait(lambda number=number: hasty.text("count") == f"Video {number + 1}")
            hasty.press("1")
            hasty.click("next")
            if number % 3 == 0:
                # The worker does not wait for it.
                hasty.browser.refresh()
        hasty.wait(lambda: hasty.is_shown("end"))
        assert campaign.completion_code in hasty.text("end-text")
        saved = running.service.store.answers()
    assert sorted(answer.unit for answer in saved) == sorted(campaign.units)
    assert set(proxy.met) == {*WRONG, *BROKEN}
    assert waiting(hasty) == 0


@pytest.mark.parametrize("way", ["login page", "login page as JSON", "redirect to a login page"])
@pytest.mark.sampled(1)
def test_answer_waits_behind_a_login_page_with_a_sentence(
    way: str, hasty: Assessor, clips: Path, tmp_path: Path
) -> None:
    table = write_rows(tmp_path / "f.csv", ("foil_id", "video_id", "caption", "foil"), ("f", "blue", "a dog", "a cat"))
    campaign = make(
        *(
            tmp_path / "campaign",
            "foil-review",
            table,
            "--videos",
            clips,
            "--set",
            "controls=0",
            "--set",
            "min_shown=0",
        ),
    )
    with served(campaign) as running, proxied(running.root) as proxy:
        proxy.ways = cycle([way])
        hasty.open(f"{proxy.root}/w/{campaign.worker_token('ann')}")
        hasty.wait(lambda: hasty.is_shown("begin"))
        hasty.click("begin")
        hasty.wait(lambda: hasty.is_shown("task"))
        hasty.press("1")
        hasty.js(
            "window.notes = []; new MutationObserver(() => "
            "window.notes.push(document.getElementById('notice').textContent))"
            ".observe(document.getElementById('notice'), { childList: true, characterData: true, subtree: true })"
        )
        hasty.click("next")
        hasty.wait(lambda: hasty.is_shown("end"))
        assert any("is kept here and will be sent" in note for note in hasty.js("return window.notes"))
        assert "undefined" not in hasty.text("end-text")
        assert len(running.service.store.answers()) == 1


def test_refusal_of_the_server_ends_an_answer_and_an_unknown_link_keeps_it(
    hasty: Assessor, clips: Path, tmp_path: Path
) -> None:
    table = write_rows(tmp_path / "f.csv", ("foil_id", "video_id", "caption", "foil"), ("f", "blue", "a dog", "a cat"))
    arguments = ("foil-review", table, "--videos", clips, "--set", "controls=0", "--set", "min_shown=0")
    campaign, other = (make(tmp_path / name, *arguments) for name in ("campaign", "other"))
    with served(campaign) as running, served(other) as elsewhere, proxied(running.root) as proxy:
        hasty.open(f"{proxy.root}/w/{campaign.worker_token('ann')}")
        hasty.wait(lambda: hasty.is_shown("begin"))
        hasty.click("begin")
        hasty.wait(lambda: hasty.is_shown("task"))
        right, proxy.port = proxy.port, int(elsewhere.root.rpartition(":")[2])
        hasty.press("1")
        hasty.click("next")
        hasty.wait(lambda: "not one of this task" in hasty.text("message-text"))
        assert waiting(hasty) == 1
        proxy.port = right
        hasty.browser.refresh()
        hasty.wait(lambda: hasty.is_shown("end"))
        assert len(running.service.store.answers()) == 1
        name = f"vttdata /w/{campaign.worker_token('ann')} answer x"
        refused = {"id": "x", "unit": "none", "item": "none", "answer": {}, "seconds": 1}
        hasty.js("localStorage.setItem(arguments[0], JSON.stringify(arguments[1]))", name, refused)
        hasty.browser.refresh()
        hasty.wait(lambda: "was refused" in hasty.text("notice"))
        assert waiting(hasty) == 0


@pytest.mark.parametrize("reply", [LOGIN, b"", b'{"ok": true}', b'{"saved": "no"}'])
@pytest.mark.sampled(2)
def test_page_without_our_server_keeps_its_answers_until_they_are_saved(
    reply: bytes, hasty: Assessor, clips: Path
) -> None:
    site = Site(clips)
    site.reply = reply
    page = clips / "page.html"
    try:
        write_page(page, HitView("hit-1", (ItemView("i0", "blue.mp4", "a dog"),)), submit_url="/in")
        hasty.open(site.url("page.html?worker=W1")).click("begin")
        hasty.finish(45)
        hasty.wait(lambda: "could not be sent" in hasty.text("sending"))
        hasty.wait(lambda: len(site.posted) > 1)
        site.reply = b'{"saved": true}'
        hasty.wait(lambda: "have arrived" in hasty.text("sending"))
        assert len({*site.posted}) == 1
    finally:
        site.close()
        page.unlink(missing_ok=True)
