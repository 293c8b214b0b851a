"""Reports of builds and datasets: what they show, what they say is missing, and how they behave in a real browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.helpers.needs import library

library("selenium")
library("jinja2")

from selenium.webdriver.remote.webdriver import WebDriver

from tests.helpers.pages import OpenPage
from vttdata.cli.main import main
from vttdata.compose.build import Execution, Messages, build
from vttdata.report.build_report import write_report

HOSTILE = "</script><img src=x onerror=hacked=1>\u202e<style>*{display:none}</style> {{ 7 * 7 }} &amp;"


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory, videos: Path) -> Path:
    """Build four small films, two of them still, with hostile captions, titles and file names."""
    folder = tmp_path_factory.mktemp("street")
    films = folder / "films"
    shutil.copytree(videos, films)
    (films / "mandelbrot.mp4").rename(films / "<img src=x onerror=hacked=1>.mp4")
    (films / "broken.mp4").write_bytes(b"no video")
    table = folder / "captions.csv"
    names = ("testsrc2.mp4", "<img src=x onerror=hacked=1>.mp4", "rgbtestsrc.mp4", "smptehdbars.mp4")
    rows = [
        f'"{name}","{HOSTILE} caption {number} of film {index}",w{number}'
        for index, name in enumerate(names)
        for number in range(3)
    ]
    table.write_text("\n".join(["source,caption,annotator", *rows, '"testsrc2.mp4","x",w1']) + "\n", encoding="utf-8")
    settings = {
        "name": "me/street",
        "collect.folder": films,
        "captions.file": table,
        "captions.per_clip": 2,
        "description": HOSTILE,
        "clips.whole": True,
        "filter.min_seconds": 4,
        "filter.min_height": 0,
        "filter.max_frozen": None,
        "max_failed": 1,
    }
    return build(
        "own-folder",
        out=folder / "build",
        settings=settings,
        execution=Execution(workers=1),
        messages=Messages(quiet=True),
    ).folder


@pytest.fixture
def page(browser: WebDriver, street: Path) -> OpenPage:
    opened = OpenPage(browser, street / "report.html")
    opened.wait(lambda: opened.texts(".sheet li"))
    return opened


def test_build_writes_a_report_that_works_alone(page: OpenPage, street: Path, tmp_path: Path) -> None:
    assert page.errors() == []
    assert page.requests() == []
    assert page.overflow() == {}
    assert page.barriers() == []
    assert page.js("return window.hacked") is None
    shutil.copy(street / "report.html", tmp_path / "attachment.html")
    alone = OpenPage(page.browser, tmp_path / "attachment.html")
    alone.wait(lambda: alone.texts(".sheet li"))
    assert alone.errors() == []


def test_every_reject_is_near_its_reason(page: OpenPage) -> None:
    assert page.texts("#stage-screen ~ h3, .reason:has(#stage-screen) h3") == ["screen: too_short 1"]
    assert page.js("return document.querySelector('.reason:has(#stage-screen) img').naturalWidth") == 480
    assert "3.00 s, at least 4 s wanted" in page.texts(".reason:has(#stage-screen) li")[0]


def test_other_thresholds_are_counted_exactly(page: OpenPage) -> None:
    # The films last 3, 4, 5 and 6 s, and containers may be wrong by half a second.
    script = "return [...document.querySelectorAll('section#thresholds table')][0].innerText"
    values, counts = (line.split("\t")[1:] for line in page.js(script).splitlines()[-2:])
    assert dict(zip(values, counts, strict=True))["4"] == "1"
    assert dict(zip(values, counts, strict=True))["2"] == "0"
    assert dict(zip(values, counts, strict=True))["8"] == "4"


def test_reader_searches_sorts_and_opens_a_clip(page: OpenPage) -> None:
    box = page.browser.find_element("id", "clip-search")
    box.send_keys("no such words")
    page.wait(lambda: page.texts("#clip-status") == ["0 of 3 clips"])
    box.clear()
    box.send_keys("ONERROR 2")
    page.wait(lambda: page.texts("#clip-status") == ["3 of 3 clips"])
    page.js("const order = document.getElementById('clip-order'); order.value = '-seconds';")
    page.js("document.getElementById('clip-tools').dispatchEvent(new Event('input'))")
    page.wait(lambda: "6.0 s" in page.texts(".sheet li")[0])
    assert any("\n<img src=x onerror=hacked=1>.mp4\n" in text for text in page.texts(".sheet li"))
    page.js("document.querySelector('.sheet button').click()")
    page.wait(lambda: page.texts("dialog ol li"))
    assert HOSTILE.replace("\u202e", "\ufffd")[:30] in page.texts("dialog ol li")[0]
    assert page.js("return document.querySelector('dialog img').naturalWidth") == 480
    assert page.barriers(("dark",)) == []
    assert page.errors() == []
    assert page.js("return window.hacked") is None


def test_same_build_gives_the_same_bytes(street: Path) -> None:
    before = (street / "report.html").read_bytes()
    shutil.rmtree(street / "report.html.files")
    assert write_report(street).read_bytes() == before


def test_details_are_loaded_from_the_folder(
    browser: WebDriver, street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vttdata.report.clip_sheet._TEXT_BUDGET", 1)
    monkeypatch.setattr("vttdata.report.clip_sheet.CHUNK", 2)
    out = write_report(street, tmp_path / "large #1.html")
    page = OpenPage(browser, out)
    page.wait(lambda: len(page.texts(".sheet li")) == 3)
    last_picture = "const last = [...document.querySelectorAll('.sheet img')].at(-1); last.loading = 'eager';"
    page.wait(lambda: page.js(f"{last_picture} return last.naturalWidth") == 480)
    video_id = page.js("return document.querySelector('.sheet li b').textContent")
    browser.find_element("id", "clip-search").send_keys(video_id)
    page.wait(lambda: page.texts("#clip-status") == ["1 of 3 clips"])
    assert page.errors() == []
    assert all(url.startswith((tmp_path / "large #1").as_uri()) for url in page.requests())
    # At another address, since a browser may still hold the files of the first one.
    (tmp_path / "elsewhere").mkdir()
    alone = OpenPage(browser, out.rename(tmp_path / "elsewhere" / out.name))
    alone.wait(lambda: "not beside this page" in alone.texts("#clip-status")[0])
    assert len(alone.texts(".sheet li")) == 1


def test_dataset_without_build_and_videos_says_what_is_missing(
    browser: WebDriver, street: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = tmp_path / "dataset"
    shutil.copytree(street / "dataset", dataset, ignore=shutil.ignore_patterns("videos"))
    assert main(["show", str(dataset), "--page", str(tmp_path / "hub.html")]) == 0
    page = OpenPage(browser, tmp_path / "hub.html")
    page.wait(lambda: len(page.texts(".sheet li")) == 3)
    assert any("without its build" in text for text in page.texts(".alert"))
    assert "There are no pictures" in page.texts("#clips .note")[0]
    card = page.texts(".sheet li")[0]
    assert "no picture" not in card
    assert [f"caption {number} of film" in card for number in range(3)] == [True] * 3
    assert page.errors() == []
    assert main(["show", str(dataset), "--page", str(tmp_path / "hub.pdf")]) == 2
    assert "ends in .html" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["show", str(tmp_path / "empty"), "--page", str(tmp_path / "empty.html")]) == 2


def test_half_a_build_shows_what_there_is(browser: WebDriver, street: Path, tmp_path: Path) -> None:
    half = tmp_path / "half"
    half.mkdir()
    account = json.loads((street / "build.json").read_text(encoding="utf-8"))
    account["status"], account["stages"] = "stopped", account["stages"][:4]
    (half / "build.json").write_text(json.dumps(account), encoding="utf-8")
    for stage in ("collect", "probe", "screen"):
        shutil.copytree(street / "stages" / stage, half / "stages" / stage)
    page = OpenPage(browser, write_report(half))
    alerts = page.texts(".alert")
    assert any("stopped" in text for text in alerts)
    assert any("no dataset yet" in text for text in alerts)
    assert any("stages/duplicates" in text for text in alerts)
    # An earlier run audited the splits of a dataset that is not there.
    assert not any("leaks" in text for text in [*alerts, *page.texts(".tile")])
    assert page.errors() == []


def test_dataset_without_clips_says_so(browser: WebDriver, street: Path, tmp_path: Path) -> None:
    empty = shutil.copytree(street / "dataset", tmp_path / "empty")
    for path in empty.rglob("*.parquet"):
        pq.write_table(pq.read_table(path).slice(0, 0), path)
    page = OpenPage(browser, write_report(empty, tmp_path / "empty.html"))
    assert any("holds no clips" in text for text in page.texts(".alert"))
    assert not any("leaks found" in text for text in page.texts(".alert"))
    assert page.errors() == []


@pytest.fixture(autouse=True)
def _without_resizing(browser: WebDriver) -> Iterator[None]:
    yield
    browser.get("about:blank")
