"""Test videos that cannot be played, and sending answers."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver import Keys

from tests.people.static_page.site import Assessor, Site
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.people import read_results
from vttdata.people.answers.manifest import ManifestItem
from vttdata.people.static_page import HitView, write_page

SHOWN = {"hit-1": {f"i{n}": ManifestItem(f"v{n}", "s", "system") for n in range(3)}}


def exported_rows(assessor: Assessor) -> list[dict[str, str]]:
    return list(csv.DictReader(assessor.get("text").get_attribute("value").splitlines()))


@pytest.mark.parametrize("defect", ["missing", "garbage", "empty", "sound only"])
@pytest.mark.sampled(2)
def test_unplayable_video_is_reported_as_missing_answer(
    defect: str, assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView], site: Site, tmp_path: Path
) -> None:
    bad = site.folder / "bad.mp4"
    if defect == "sound only":
        sound = ("-f", "lavfi", "-i", "sine=d=0.5", "-c:a", "aac")
        subprocess.run([ffmpeg_path(), "-v", "error", *sound, str(bad)], check=True)
    elif defect != "missing":
        bad.write_bytes(b"no video" * 100 if defect == "garbage" else b"")
    assessor.open(page(hit("a", "b", "c", videos=("blue.mp4", "bad.mp4")))).click("begin")
    assert not assessor.is_shown("problem")
    assessor.type_score(70)
    assessor.press(Keys.ENTER)
    assessor.wait(lambda: assessor.is_shown("problem"))
    assessor.press(Keys.END)
    assert not assessor.get("next").is_enabled(), "an unseen video cannot be rated"
    assessor.click("report")
    assert not assessor.is_shown("problem")
    assessor.finish()
    assert "assessed 2 captions and reported 1 video" in assessor.text("end-text")
    assert [(row["score"], row["note"]) for row in exported_rows(assessor)] == [
        ("70", ""),
        ("", "video cannot be played"),
        ("60", ""),
    ]
    for button in ("csv", "json"):
        file = assessor.download(button, tmp_path / "downloads", button)
        results = read_results([file], manifest=SHOWN)
        assert {judgment.item: judgment.score for judgment in results.judgments} == {"i0": 70, "i2": 60}
        assert results.findings == {"missing_answer": ("hit-1/W1/i1",)}


def test_video_can_be_tried_again(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView], site: Site
) -> None:
    assessor.open(page(hit("a", videos=("later.mp4",)))).click("begin")
    assessor.wait(lambda: assessor.is_shown("problem"))
    shutil.copy(site.folder / "blue.mp4", site.folder / "later.mp4")
    assessor.click("retry")
    assessor.wait(lambda: assessor.js("return document.getElementById('video').videoWidth") == 64)
    assessor.finish(33)
    assert [row["score"] for row in exported_rows(assessor)] == ["33"]


def test_slow_video_can_be_reported_until_it_loads(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView], site: Site
) -> None:
    shutil.copy(site.folder / "blue.mp4", site.folder / "slow.mp4")
    faster_timers = "const wait = setTimeout; window.setTimeout = (callback, ms) => wait(callback, ms / 30)"
    script = assessor.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": faster_timers})
    assessor.open(page(hit("a", videos=("slow.mp4",)))).click("begin")
    assessor.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    assessor.wait(lambda: assessor.is_shown("problem"))
    assert "slow" in assessor.text("problem-text")
    site.released.set()
    assessor.wait(lambda: not assessor.is_shown("problem"))
    assessor.finish(88)
    assert [row["score"] for row in exported_rows(assessor)] == ["88"]


def test_answers_are_posted_again_after_a_failure(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView], site: Site, tmp_path: Path
) -> None:
    site.status = 503
    assessor.open(page(hit("a", "b"), submit_url="/in")).click("begin")
    assessor.finish(45)
    assessor.wait(lambda: "could not be sent (the server answered 503)" in assessor.text("sending"))
    assert assessor.is_shown("csv")
    site.status = 200
    assessor.click("send")
    assessor.wait(lambda: "have arrived" in assessor.text("sending"))
    assert not assessor.is_shown("send")
    assert len(site.posted) == 2
    (tmp_path / "posted.json").write_bytes(site.posted[-1])
    results = read_results([tmp_path / "posted.json"], manifest=SHOWN)
    assert {judgment.item: judgment.score for judgment in results.judgments} == {"i0": 45, "i1": 45}
    assessor.browser.refresh()
    assessor.click("begin")
    assert assessor.is_shown("end")


def test_failed_connection_is_shown_and_answers_are_kept(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"), submit_url="http://127.0.0.1:9/in")).click("begin")
    assessor.finish()
    assessor.wait(lambda: "no connection to the server" in assessor.text("sending"))
    assert assessor.is_shown("json")
    assert len(exported_rows(assessor)) == 1


def test_mechanical_turk_form_and_export_round_trip(
    assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView], tmp_path: Path
) -> None:
    query = "?assignmentId=A1&hitId=X&workerId=W9&turkSubmitTo=https%3A%2F%2Fworkersandbox.mturk.com"
    assessor.open(page(hit("a", "b", "c"), query)).click("begin")
    assessor.finish(12)
    assessor.js(
        "HTMLFormElement.prototype.submit = function () {"
        "window.sent = [this.action, Object.fromEntries(new FormData(this))]; }"
    )
    assessor.click("send")
    action, fields = assessor.js("return window.sent")
    assert action == "https://workersandbox.mturk.com/mturk/externalSubmit"
    assert fields["assignmentId"] == "A1"
    assert [answer["score"] for answer in json.loads(fields["details"])["answers"]] == [12, 12, 12]
    with (tmp_path / "batch.csv").open("w", newline="") as stream:
        head = ("HITId", "WorkerId", "WorkTimeInSeconds", "Input.hit", "Answer.details", "Answer.answers")
        csv.writer(stream).writerows([head, ("X", "W9", "30", "hit-1", fields["details"], fields["answers"])])
    results = read_results([tmp_path / "batch.csv"], manifest=SHOWN)
    assert [(judgment.item, judgment.score) for judgment in results.judgments] == [("i0", 12), ("i1", 12), ("i2", 12)]


@pytest.mark.parametrize(
    "target", ["https://evil.example", "http://www.mturk.com", "https://mturk.com.evil.example", "x"]
)
def test_answers_are_not_sent_to_other_addresses_in_a_link(
    target: str, assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]
) -> None:
    assessor.open(page(hit("a"), f"?assignmentId=A1&workerId=W9&turkSubmitTo={target}")).click("begin")
    assessor.finish()
    assert not assessor.is_shown("send")
    assert assessor.is_shown("csv")


def test_preview_cannot_be_started(assessor: Assessor, page: Callable[..., str], hit: Callable[..., HitView]) -> None:
    assessor.open(page(hit("a"), "?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE"))
    assert "preview" in assessor.text("start-note")
    assert not assessor.get("begin").is_enabled()


def test_page_works_in_a_frame_without_storage(assessor: Assessor, hit: Callable[..., HitView], site: Site) -> None:
    write_page(site.folder / "page.html", hit("a", "b"))
    frame = '<iframe sandbox="allow-scripts allow-forms" src="page.html?worker=W1" width=800 height=700></iframe>'
    (site.folder / "host.html").write_text(f"<!doctype html>{frame}")
    assessor.open(site.url("host.html"))
    assessor.browser.switch_to.frame(0)
    assessor.click("begin")
    assessor.wait(lambda: assessor.js("return document.getElementById('video').videoWidth") == 64)
    for score in (5, 95):
        assessor.drag(score)
        assessor.click("next")
    assert [row["score"] for row in exported_rows(assessor)] == ["5", "95"]
