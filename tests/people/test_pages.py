"""Campaigns are answered in a real browser with mouse and keys, and their results are consumed."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.needs import library

library("starlette")
library("httpx")

from selenium.webdriver import Keys

from tests.people.served import CAPTIONS, Running, make, served, write_rows
from tests.people.static_page.site import Assessor
from vttdata import load_dataset
from vttdata.cli.main import main
from vttdata.evaluate.meta.judgments import read_judgment_table
from vttdata.evaluate.predictions import read_relevance
from vttdata.generate.foils.human_verdicts import read_verdicts

HOSTILE = "</script><img src=x onerror=window.hacked=1>\u202e=cmd|' /C calc'!A0 a b c"
VIDEOS = ("red clip #1", "blue")


def enter(assessor: Assessor, running: Running, worker: str = "ann", *, agree: bool = True) -> None:
    assessor.open(running.link(worker))
    assessor.wait(lambda: assessor.is_shown("start"))
    if agree:
        assessor.wait(lambda: assessor.js("return document.activeElement.id") == "start-title")
        assessor.press(Keys.TAB, Keys.ENTER)
        assessor.wait(lambda: not assessor.is_shown("start"))


def count_answers(running: Running) -> int:
    return len(running.service.store.answers())


def press_and_wait(assessor: Assessor, running: Running, *keys: str) -> None:
    before = count_answers(running)
    assessor.press(*keys)
    assessor.wait(lambda: count_answers(running) == before + 1, 10)
    assessor.wait(lambda: assessor.js("return document.getElementById('next').ariaDisabled") is None)


def watch(assessor: Assessor) -> None:
    """Play the video to its end, which the page wants before an answer to a clip of a caption campaign."""
    assessor.wait(lambda: assessor.js("return document.getElementById('video').readyState > 2"))
    assessor.js("document.getElementById('video').play()")
    assessor.wait(lambda: assessor.js("return document.getElementById('video').ended"))


def score(running: Running, folder: Path) -> list[dict[str, str]]:
    assert main(["people", "score", str(running.campaign.folder), "--out", str(folder), "--keep-all"]) == 0
    with (folder / "results.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def shown(assessor: Assessor) -> Iterator[Assessor]:
    """An assessor whose pages must raise no error."""
    yield assessor
    errors = [entry for entry in assessor.browser.get_log("browser") if entry["level"] == "SEVERE"]
    # A refused answer and a network that was switched off are logged by the browser itself.
    assert [
        e for e in errors if not re.search("status of 4|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION", e["message"])
    ] == []


def test_captions_are_written_checked_live_and_built_into_a_dataset(
    shown: Assessor, clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = make(tmp_path / "campaign", "caption", clips, "--set", "judgments=2")
    with served(campaign) as running:
        enter(shown, running, agree=False)
        shown.audit()
        shown.click("begin")
        shown.wait(lambda: shown.is_shown("quiz"))
        shown.audit()

        def take_quiz(*choices: int) -> None:
            for number, choice in enumerate(choices):
                shown.browser.find_element("css selector", f"[name=q{number}][value='{choice}']").click()
            shown.browser.find_element("css selector", "#quiz-form button").click()

        take_quiz(1, 1, 0, 0)
        shown.wait(lambda: "once more" in shown.text("quiz-note"))
        take_quiz(0, 1, 1, 0)
        shown.wait(lambda: shown.is_shown("task"))
        shown.audit()
        # Of two clips, both are asked for before the first caption.
        for _ in VIDEOS:
            state = running.service.state("ann")
            right = campaign.items[state["unit"], state["item"]].facts["right"]
            assert shown.js("return document.querySelectorAll('#box img').length") == len(VIDEOS)
            watch(shown)
            shown.press(str(right + 1))
            press_and_wait(shown, running, Keys.ENTER)
        shown.wait(lambda: shown.browser.find_elements("id", "written"))
        shown.audit()
        watch(shown)
        shown.click("written")
        shown.press("two words", Keys.ENTER)
        assert "at least 5" in shown.text("hint")
        shown.press(Keys.END, " are not enough yet", HOSTILE)
        press_and_wait(shown, running, Keys.ENTER)
        shown.browser.refresh()
        shown.wait(lambda: shown.is_shown("task"))
        shown.click("written")
        watch(shown)
        # The worker's words of the first clip are refused while they are written.
        shown.press("two words are not enough yet", HOSTILE)
        shown.wait(lambda: "another video" in shown.text("hint"))
        shown.press(Keys.ENTER)
        shown.wait(lambda: "another video" in shown.text("hint"))
        assert count_answers(running) == 3
        shown.get("written").clear()
        shown.click("written")
        shown.press(CAPTIONS[1])
        # What is written and not sent is there after a reload.
        shown.browser.refresh()
        shown.wait(lambda: shown.is_shown("task"))
        assert shown.get("written").get_attribute("value") == CAPTIONS[1]
        shown.click("written")
        watch(shown)
        press_and_wait(shown, running, Keys.ENTER)
        assert CAPTIONS[1] not in shown.js("return JSON.stringify(localStorage)")
        shown.wait(lambda: "Thank you" in shown.text("end-title"))
        assert campaign.completion_code in shown.text("end-text")
        assert shown.js("return window.hacked") is None
        # Another worker cannot say the same.
        first = next(iter(campaign.units))
        bob_sees = running.service.agree("bob")
        state = running.service.take_quiz("bob", [0, 1, 1, 0])
        for number in range(len(VIDEOS)):
            right = campaign.items[state["unit"], state["item"]].facts["right"]
            state = running.service.answer(
                "bob", f"b{number}", state["unit"], state["item"], {"choice": right}, None, 5.0
            )
        assert bob_sees["stage"] == "quiz"
        texts = {a.unit: a.answer.get("caption") for a in running.service.store.answers() if a.answer}
        item = campaign.units[first].items[0].item
        assert "own" in str(running.service.check("bob", first, item, {"caption": texts[first].upper()}))
        rows = score(running, tmp_path / "scores")
    assert {row["annotator"] for row in rows} == {campaign.hash_worker("ann")}
    build = ["build", "own-folder", "--set", f"collect.folder={clips}", "--set", "clips.whole=true"]
    build += [
        "--set",
        "filter.min_seconds=0.1",
        "--set",
        "filter.min_height=16",
        "--set",
        "filter.max_frozen=null",
        "--set",
        "filter.max_dark=null",
    ]
    build += ["--set", f"captions.file={tmp_path / 'scores' / 'captions.csv'}", "--out", str(tmp_path / "build")]
    assert main([*build, "--set", "name=me/captions", "--quiet"]) == 0, capsys.readouterr().err
    built = load_dataset(str(tmp_path / "build"), "captions")
    assert {row["annotator"] for split in built.values() for row in split} == {campaign.hash_worker("ann")}


def test_direct_assessment_is_answered_on_a_phone_and_ranked(shown: Assessor, clips: Path, tmp_path: Path) -> None:
    humans = write_rows(
        tmp_path / "humans.csv",
        ("video_id", "caption"),
        *((v, CAPTIONS[n]) for n, v in enumerate(VIDEOS)),
        ("x", CAPTIONS[2]),
    )
    system = write_rows(
        tmp_path / "ours.csv", ("video_id", "caption"), (VIDEOS[0], f'"{HOSTILE}"'), (VIDEOS[1], "a dog")
    )
    composition = [
        f"--set={name}"
        for name in ("system=2", "human=2", "degraded=2", "repeat=1", "min_pairs=2", "judgments=1", "min_shown=0")
    ]
    campaign = make(tmp_path / "campaign", "rate-slider", system, "--captions", humans, "--videos", clips, *composition)
    with served(campaign) as running:
        enter(shown, running)
        shown.wait(lambda: shown.is_shown("task"))
        shown.audit()
        shown.resize(320)
        unit = next(iter(campaign.units.values()))
        for number, item in enumerate(unit.items):
            shown.wait(lambda item=item: shown.text("caption") == item.shown["caption"])
            assert shown.text("count") == f"{number + 1} of 7"
            if number == 3:
                shown.browser.refresh()
                shown.wait(lambda: shown.is_shown("task"))
            if number % 2:
                shown.drag(40 + 5 * number)
                press_and_wait(shown, running, Keys.ENTER)
            else:
                shown.press(Keys.PAGE_UP, Keys.RIGHT, *([Keys.LEFT] * number))
                press_and_wait(shown, running, Keys.ENTER)
        shown.wait(lambda: "Thank you" in shown.text("end-title"))
        assert shown.js("return window.hacked") is None
        rows = score(running, tmp_path / "scores")
    assert [int(row["score"]) for row in rows][::2] == [61 - number for number in (0, 2, 4, 6)]
    assert [row["kind"] for row in rows] == [item.facts["kind"] for item in unit.items]
    assert (tmp_path / "scores" / "systems.csv").read_text().count("\n") == 3
    assert main(["people", "export", str(campaign.folder), "--format", "pages", "--out", str(tmp_path / "pages")]) == 0
    page = (tmp_path / "pages" / "pages" / f"{unit.unit}.html").read_text()
    assert all(item.item in page for item in unit.items)


def test_ratings_on_a_scale_with_two_criteria_two_windows_and_no_network(
    shown: Assessor, clips: Path, tmp_path: Path
) -> None:
    system = write_rows(
        tmp_path / "ours.csv", ("video_id", "caption"), *((video, f'"{HOSTILE} {n}"') for n, video in enumerate(VIDEOS))
    )
    criteria = "criteria={fit: 'How well does it fit?', language: 'How well is it written?'}"
    campaign = make(
        tmp_path / "campaign",
        "rate-scale",
        system,
        "--videos",
        clips,
        "--set",
        criteria,
        "--set",
        "highest=10",
        "--set",
        "min_shown=0",
    )
    with served(campaign) as running:
        enter(shown, running)
        shown.wait(lambda: shown.is_shown("task"))
        shown.audit()
        assert HOSTILE.replace("\u202e", "") in shown.text("caption")
        shown.press(Keys.ENTER)
        assert "every question" in shown.text("hint")
        shown.browser.switch_to.new_window("tab")
        other = shown.browser.current_window_handle
        shown.open(running.link())
        shown.wait(lambda: shown.is_shown("task"))
        press_and_wait(shown, running, "4", "7", Keys.ENTER)
        shown.browser.switch_to.window(next(h for h in shown.browser.window_handles if h != other))
        shown.press("1", "1", Keys.ENTER)
        shown.wait(lambda: "another window" in shown.text("notice"))
        assert count_answers(running) == 1
        shown.browser.execute_cdp_cmd("Network.enable", {})
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        shown.browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        shown.press("5", "6", Keys.ENTER)
        shown.wait(lambda: "kept here" in shown.text("notice"))
        # What waits in the browser is sent after a reload too; a slow network is enough.
        slow = {"offline": False, "latency": 150, "downloadThroughput": 40_000, "uploadThroughput": 40_000}
        shown.browser.execute_cdp_cmd("Network.emulateNetworkConditions", slow)
        shown.browser.refresh()
        shown.wait(lambda: "Thank you" in shown.text("end-title"))
        shown.browser.execute_cdp_cmd(
            "Network.emulateNetworkConditions", slow | {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        )
        rows = score(running, tmp_path / "scores")
        shown.browser.switch_to.window(other)
        shown.browser.close()
        shown.browser.switch_to.window(shown.browser.window_handles[0])
    assert [(row["criterion"], row["score"]) for row in rows] == [
        ("fit", "4"),
        ("language", "7"),
        ("fit", "5"),
        ("language", "6"),
    ]
    assert {row["system"] for row in rows} == {"ours"}
    table = read_judgment_table(tmp_path / "scores" / "ratings-language.csv")
    assert sorted(table.raw) == [6, 7]
    assert table.candidates[0].startswith("</script>")
    assert all(row["candidate"].lstrip("'").startswith("</script>") for row in rows)


def test_foils_are_reviewed_and_their_verdicts_read(shown: Assessor, clips: Path, tmp_path: Path) -> None:
    foils = write_rows(
        tmp_path / "foils.csv",
        ("foil_id", "video_id", "caption", "foil"),
        ("f1", VIDEOS[0], "a man walks a dog", "a man walks a sea lion"),
        ("f2", VIDEOS[1], "\U0001f600 two cups on a table", "\U0001f600 two cups on a horse"),
    )
    campaign = make(
        tmp_path / "campaign", "foil-review", foils, "--videos", clips, "--set", "controls=0", "--set", "min_shown=0"
    )
    with served(campaign) as running:
        enter(shown, running)
        marks = {}
        for number in range(2):
            shown.wait(lambda number=number: shown.is_shown("task") and shown.text("count") == f"Video {number + 1}")
            if not number:
                shown.audit()
            marks[shown.text("caption")] = shown.browser.find_element("tag name", "mark").text
            press_and_wait(shown, running, str(1 + 3 * number), Keys.ENTER)
        shown.wait(lambda: "Thank you" in shown.text("end-title"))
        rows = score(running, tmp_path / "scores")
    assert marks == {"a man walks a sea lion": "sea lion", "\U0001f600 two cups on a horse": "horse"}
    verdicts = read_verdicts(tmp_path / "scores" / "results.csv")
    assert verdicts == {rows[0]["foil_id"]: 1.0, rows[1]["foil_id"]: 0.0}
    assert [row["verdict"] for row in rows] == ["sound", "present"]


def test_relevance_is_judged_with_a_control_and_read_for_retrieval(
    shown: Assessor, clips: Path, tmp_path: Path
) -> None:
    rows = [(VIDEOS[1], f"c{n}", text, "") for n, text in enumerate(CAPTIONS)]
    rows += [(VIDEOS[0], "own", CAPTIONS[0], "yes")]
    rows += [(VIDEOS[0], f"wrong{n}", text, "no") for n, text in enumerate(CAPTIONS[1:5])]
    pairs = write_rows(tmp_path / "pairs.csv", ("video_id", "caption_id", "caption", "expected"), *rows)
    campaign = make(
        tmp_path / "campaign",
        "relevance",
        pairs,
        "--videos",
        clips,
        "--set",
        "videos=2",
        "--set",
        "min_controls=5",
        "--set",
        "min_shown=0",
    )
    unit = next(iter(campaign.units.values()))
    with served(campaign) as running:
        enter(shown, running)
        for number, item in enumerate(unit.items):
            shown.wait(lambda number=number: shown.is_shown("task") and shown.text("count") == f"{number + 1} of 2")
            shown.audit()
            shown.press(Keys.ENTER)
            assert "none" in shown.text("hint")
            shown.press("n")
            wanted = {"c1", "c4", "own"}
            for key, name in enumerate(item.facts["ids"], 1):
                if name in wanted:
                    shown.press(str(key))
            press_and_wait(shown, running, Keys.ENTER)
        shown.wait(lambda: "Thank you" in shown.text("end-title"))
        results = score(running, tmp_path / "scores")
        assert running.service.report()["workers"][0]["evidence"] == "5 of 5 captions of controls right"
    assert {row["caption_id"]: row["relevant"] for row in results} == {
        f"c{n}": "yes" if n in (1, 4) else "no" for n in range(6)
    }
    relevance = read_relevance(tmp_path / "scores" / "relevance.txt")
    assert relevance["c1"] == {VIDEOS[1]: 1.0}


def test_requester_sees_progress_workers_and_problems(shown: Assessor, clips: Path, tmp_path: Path) -> None:
    foils = write_rows(
        tmp_path / "foils.csv",
        ("foil_id", "video_id", "caption", "foil"),
        *((f"f{n}", VIDEOS[n % 2], "a man walks a dog", f"a man walks a cat{n}") for n in range(12)),
    )
    workers = f"ann,{HOSTILE.replace(chr(0x202E), '')[:60]}\u00e9"
    campaign = make(
        tmp_path / "campaign",
        "foil-review",
        foils,
        "--videos",
        clips,
        "--set",
        "controls=0.5",
        "--set",
        "control_every=2",
        workers=workers,
    )
    with served(campaign) as running:
        for state in running.service.store.workers():
            service = running.service
            shown_now = service.agree(state.worker)
            while shown_now["stage"] == "item":
                names = state.worker + str(shown_now["done"]), shown_now["unit"], shown_now["item"]
                is_problem = state.worker == "ann" and shown_now["done"] == 2
                answer = {"verdict": "sound" if state.worker == "ann" or shown_now["done"] % 2 else "odd"}
                shown_now = service.answer(
                    state.worker, *names, answer, "The video cannot be played." if is_problem else None, 3.0
                )
        shown.open(running.requester)
        shown.wait(lambda: "foil-review" in shown.text("summary"))
        shown.audit()
        assert "failed_controls (left out)" in shown.text("workers")
        assert "</script>" in shown.text("workers")
        assert "cannot be played" in shown.text("problems")
        assert "verdict" in shown.text("agreement")
        assert shown.js("return window.hacked") is None
        assert json.loads(json.dumps(running.service.report()))["answers"] > 20
