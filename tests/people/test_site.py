"""The page of Direct Assessment does the same whether a server shows it or it was exported into a file."""

from __future__ import annotations

import csv
import dataclasses
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.needs import library

library("starlette")
library("httpx")

from tests.cli.people.test_make import write_table
from tests.helpers.campaigns import human_captions, system_captions
from tests.people.served import Running, served
from tests.people.static_page.site import Assessor, Site
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.people import HitSettings, make_hits
from vttdata.people.answers.campaign_answers import add_answers
from vttdata.people.campaign import Campaign, make_campaign, read_campaign
from vttdata.people.exports import export_campaign
from vttdata.people.hits.write import write_hits
from vttdata.people.results import campaign_results
from vttdata.people.store import Store
from vttdata.people.task import Material

VIDEOS = 10
SYSTEMS = ("good", "poor")
HIT = {"system": 5, "human": 5, "degraded": 5, "repeat": 1, "min_pairs": 5}
WORTH = {"good": 74, "poor": 45, "human": 90}

# Gives the items that are left scores, each after the one before was taken; an answer counts where the count goes on.
RATE = """
const [scores, done] = arguments;
const element = (id) => document.getElementById(id);
function next(index) {
  if (index === scores.length) return done(null);
  const count = element("count").textContent;
  element("slider").value = scores[index];
  element("slider").dispatchEvent(new Event("input", { bubbles: true }));
  element("next").click();
  (function wait() {
    const isTaken = element("task").hidden || element("count").textContent !== count;
    if (isTaken && !element("next").ariaDisabled) next(index + 1);
    else setTimeout(wait, 5);
  })();
}
next(0);
"""
# A clock that stands still until a test sets it, and a page that says whether it is hidden.
CLOCK = """
window.seconds = 0;
performance.now = () => 1000 * window.seconds;
window.isHidden = false;
Object.defineProperty(document, "hidden", { get: () => window.isHidden });
window.hide = (isHidden) => { window.isHidden = isHidden; document.dispatchEvent(new Event("visibilitychange")); };
"""


def make_rating(folder: Path, address: str, **settings: Any) -> Campaign:
    """Make a campaign of ratings whose videos are at an address."""
    folder.mkdir(exist_ok=True)
    files = [
        write_table(folder / f"{name}.csv", [{"video_id": v, "caption": text} for v, text in texts.items()])
        for name, texts in system_captions(SYSTEMS, VIDEOS).items()
    ]
    overrides = [f"{name}={json.dumps(value)}" for name, value in (HIT | {"min_shown": 0} | settings).items()]
    material = Material(files, lambda wanted: {}, human_captions(VIDEOS + 2), seed=3, address=address)
    return make_campaign(folder / "campaign", "rate-slider", material, overrides)


@pytest.fixture
def site(tmp_path: Path, clips: Path) -> Iterator[Site]:
    """Serve ten equal videos, of which each has an id of its own."""
    folder = tmp_path / "videos"
    folder.mkdir()
    for number in range(VIDEOS):
        shutil.copy(clips / "blue.mp4", folder / f"v{number}.mp4")
    server = Site(folder)
    yield server
    server.close()


@dataclass
class Shown:
    """Page of a campaign's first HIT in either mode: its address, and a function that returns the answers it has."""

    url: str
    answers: Callable[[Assessor], list[tuple[str, float]]]
    campaign: Campaign


def stored_answers(assessor: Assessor) -> list[tuple[str, float]]:
    """Return item and seconds of each answer that the browser keeps."""
    text = assessor.js("return localStorage[Object.keys(localStorage).find((name) => name.includes('ann'))]")
    return [(answer["item"], answer["seconds"]) for answer in json.loads(text)["list"]]


@pytest.fixture(params=["served", "exported"])
def shown(request: pytest.FixtureRequest, tmp_path: Path, site: Site) -> Iterator[Shown]:
    """Provide the page of a campaign in both modes."""
    campaign = make_rating(tmp_path / "made", site.url("{video_id}.mp4"))
    store = Store(campaign)
    store.add_worker("ann")
    if request.param == "served":
        store.close()
        with served(campaign) as running:
            saved = running.service.store
            yield Shown(running.link(), lambda _: [(a.item, a.seconds) for a in saved.answers()], campaign)
        return
    export_campaign(campaign, store, "pages", site.folder)
    store.close()
    unit = next(iter(campaign.units))
    yield Shown(site.url(f"pages/{unit}.html") + "?worker=ann", stored_answers, campaign)


def begin(assessor: Assessor, url: str) -> None:
    assessor.open(url)
    assessor.wait(lambda: assessor.is_shown("begin"))
    assessor.click("begin")
    assessor.wait(lambda: assessor.is_shown("task"))


def rate(assessor: Assessor, scores: list[int]) -> None:
    assessor.browser.execute_async_script(RATE, scores)


def test_time_in_a_hidden_tab_does_not_count_and_outlasts_a_reload(assessor: Assessor, shown: Shown) -> None:
    script = assessor.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": CLOCK})
    try:
        begin(assessor, shown.url)
        assessor.js("seconds = 5; hide(true); seconds = 100; hide(false); seconds = 102; ")
        rate(assessor, [60])
        assessor.js("seconds = 110; dispatchEvent(new Event('pagehide'))")
        assessor.browser.refresh()
        assessor.wait(lambda: assessor.is_shown("begin") or assessor.is_shown("task"))
        if assessor.is_shown("begin"):
            assessor.click("begin")
        assessor.js("seconds = 4")
        rate(assessor, [40])
    finally:
        assessor.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    items = next(iter(shown.campaign.units.values())).items
    assert shown.answers(assessor) == [(items[0].item, 7), (items[1].item, 12)]


def test_next_video_is_loaded_ahead(assessor: Assessor, shown: Shown, site: Site) -> None:
    items = next(iter(shown.campaign.units.values())).items
    begin(assessor, shown.url)
    asked: list[str] = []

    def is_asked(address: str) -> bool:
        for entry in assessor.browser.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                asked.append(event["params"]["request"]["url"])
        return address in asked

    assessor.wait(lambda: is_asked(site.url(f"{items[1].video_id}.mp4")))
    assert assessor.text("count") == "1 of 16"


def test_slow_video_can_be_reported(assessor: Assessor, tmp_path: Path, site: Site) -> None:
    for number in range(VIDEOS):
        shutil.move(site.folder / f"v{number}.mp4", site.folder / f"slow-v{number}.mp4")
    campaign = make_rating(tmp_path / "made", site.url("slow-{video_id}.mp4"))
    Store(campaign).add_worker("ann")
    faster = "const wait = setTimeout; window.setTimeout = (callback, ms) => wait(callback, ms / 30)"
    with served(campaign) as running:
        script = assessor.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": faster})
        begin(assessor, running.link())
        assessor.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
        assessor.wait(lambda: assessor.is_shown("problem"))
        assert not assessor.get("next").is_enabled()
        assessor.click("report")
        assessor.wait(lambda: assessor.text("count") == "2 of 16")
        (saved,) = running.service.store.answers()
    assert (saved.answer, saved.problem) == (None, "This video is slow to load.")


@pytest.mark.long
def test_same_answers_give_the_same_results(assessor: Assessor, tmp_path: Path, site: Site) -> None:
    campaign = make_rating(tmp_path / "made", site.url("{video_id}.mp4"), judgments=2, per_worker=1)
    exported = read_campaign(Path(shutil.copytree(campaign.folder, tmp_path / "exported")))
    workers = [f"worker{number}" for number in range(2 * len(campaign.units))]

    def scores_of(unit: str, number: int) -> list[int]:
        """Return what a worker says, who sees degraded captions and rates a little differently from the others."""
        facts = [item.facts for item in campaign.units[unit].items]
        worth = [20 if own["kind"] == "degraded" else WORTH[own["system"]] for own in facts]
        return [value - number % 4 + (3 * place) % 7 for place, value in enumerate(worth)]

    with served(campaign) as running:
        given = answer_served(assessor, running, workers, scores_of)
        server_side = campaign_results(campaign, running.service.store).files
        export_campaign(campaign, running.service.store, "pages", site.folder)
    downloads = []
    for number, (worker, unit) in enumerate(given.items()):
        begin(assessor, f"{site.url(f'pages/{unit}.html')}?worker={worker}")
        rate(assessor, scores_of(unit, number))
        assessor.wait(lambda: assessor.is_shown("end"))
        if not number:
            assessor.audit()
        (tmp_path / worker).mkdir()
        downloads.append(assessor.download("csv", tmp_path / worker, "csv"))
    store = Store(exported)
    assert add_answers(exported, store, downloads) == {}
    page_side = campaign_results(exported, store).files
    store.close()
    assert {row["verdict"] for row in csv.DictReader(page_side["workers.csv"].splitlines())} == {"reliable"}
    ranked = [row["system"] for row in csv.DictReader(page_side["systems.csv"].splitlines())]
    assert ranked == ["human", "good", "poor"]
    for name in ("systems.csv", "significance.csv", "captions.csv"):
        assert page_side[name] == server_side[name], name
        assert page_side[name].count("\n") > 2


def answer_served(
    assessor: Assessor, running: Running, workers: list[str], scores_of: Callable[[str, int], list[int]]
) -> dict[str, str]:
    """Give the answers of all workers through the server's page; return the unit of each worker."""
    given = {}
    for number, worker in enumerate(workers):
        running.service.store.add_worker(worker)
        begin(assessor, running.link(worker))
        given[worker] = running.service.state(worker)["unit"]
        rate(assessor, scores_of(given[worker], number))
        assessor.wait(lambda: assessor.is_shown("end"))
        assert running.campaign.completion_code in assessor.text("end-text")
        if not number:
            assessor.audit()
    return given


@pytest.mark.parametrize(
    ("query", "action"),
    [
        ("workerId=W1&assignmentId=A1&turkSubmitTo=https%3A%2F%2Fworkersandbox.mturk.com", "workersandbox.mturk.com"),
        ("workerId=W1&assignmentId=A1&turkSubmitTo=https%3A%2F%2Fmturk.com.evil.example", None),
        ("PROLIFIC_PID=p1&SESSION_ID=s1", None),
    ],
)
@pytest.mark.sampled(1)
def test_platforms_get_the_completion_code_and_nobody_else(
    query: str, action: str | None, assessor: Assessor, tmp_path: Path, site: Site
) -> None:
    campaign = make_rating(tmp_path / "made", site.url("{video_id}.mp4"), per_worker=1)
    with served(campaign) as running:
        begin(assessor, f"{running.root}/join/{campaign.join_token}?{query}")
        rate(assessor, [50] * 16)
        assessor.wait(lambda: assessor.is_shown("end"))
        assessor.js(
            "HTMLFormElement.prototype.submit = function () {"
            "window.sent = [this.action, Object.fromEntries(new FormData(this))]; }"
        )
        assert assessor.is_shown("send") == (action is not None)
        if action is not None:
            assessor.click("send")
            fields = {"assignmentId": "A1", "code": campaign.completion_code}
            assert assessor.js("return window.sent") == [f"https://{action}/mturk/externalSubmit", fields]
        links = assessor.browser.find_elements("css selector", "#end-text a")
        prolific = f"https://app.prolific.com/submissions/complete?cc={campaign.completion_code}"
        assert [link.get_attribute("href") for link in links] == [prolific] * ("PROLIFIC" in query)
        assert not any(assessor.is_shown(name) for name in ("csv", "json", "copy", "plain"))


def export(campaign: Campaign, form: str, folder: Path, videos: str | None = None) -> list[str]:
    store = Store(campaign)
    try:
        return export_campaign(campaign, store, form, folder, videos)
    finally:
        store.close()


def test_exported_manifest_and_notes_are_those_of_the_plan(tmp_path: Path) -> None:
    address = "https://example.org/{video_id}.mp4"
    campaign = make_rating(tmp_path / "made", address)
    systems, human = system_captions(SYSTEMS, VIDEOS), human_captions(VIDEOS + 2)
    seed = Material([], lambda wanted: {}, seed=3, secret=campaign.secret).draw_in_secret("hits").randrange(2**63)
    plan = make_hits(systems, human, settings=HitSettings(**HIT), seed=seed)
    assert [note.name for note in campaign.notes] == ["only_human"]
    write_hits(plan, tmp_path / "planned", {f"v{n}": address.replace("{video_id}", f"v{n}") for n in range(VIDEOS)})
    assert export(campaign, "csv", tmp_path / "out") == ["manifest.csv", "notes.csv", "crowd.csv", "hits.jsonl"]
    for name in ("manifest.csv", "notes.csv", "crowd.csv", "hits.jsonl"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "planned" / name).read_bytes(), name


@pytest.mark.parametrize("videos", ["https://example.org/{video_id}.mp4", "../films/{video_id}.mp4"])
def test_ids_are_percent_encoded_in_addresses(tmp_path: Path, videos: str) -> None:
    names = ["a b#1", "50%?", *(f"v{n}" for n in range(2, VIDEOS))]
    rename = {f"v{n}": name for n, name in enumerate(names)}
    systems = {
        name: {rename[v]: text for v, text in texts.items()} for name, texts in system_captions(SYSTEMS, VIDEOS).items()
    }
    human = [dataclasses.replace(caption, video_id=rename[caption.video_id]) for caption in human_captions(VIDEOS)]
    files = [
        write_table(tmp_path / f"{name}.csv", [{"video_id": v, "caption": text} for v, text in texts.items()])
        for name, texts in systems.items()
    ]
    overrides = [f"{name}={value}" for name, value in HIT.items()]
    material = Material(files, lambda wanted: {}, human, address="https://example.org/{video_id}.mp4")
    campaign = make_campaign(tmp_path / "campaign", "rate-slider", material, overrides)
    assert campaign.video_address("ann", "a b#1") == "https://example.org/a%20b%231.mp4"
    export(campaign, "pages", tmp_path / "out", videos)
    pages = "".join(page.read_text() for page in (tmp_path / "out" / "pages").glob("*.html"))
    for text in (pages, (tmp_path / "out" / "crowd.csv").read_text()):
        assert "a%20b%231.mp4" in text
        assert "50%25%3F.mp4" in text
        assert "a b#1.mp4" not in text


@pytest.mark.parametrize("address", ["../{video_id}.mp4", "https://example.org/v.mp4", "https://a b/{video_id}.mp4"])
def test_videos_of_a_campaign_are_no_other_addresses_than_urls(tmp_path: Path, address: str) -> None:
    with pytest.raises(VttdataError):
        make_rating(tmp_path / "made", address)
    assert not (tmp_path / "made" / "campaign").exists()


def test_task_that_reads_its_videos_refuses_urls(tmp_path: Path) -> None:
    material = Material(["list.csv"], lambda wanted: {}, address="https://example.org/{video_id}.mp4")
    with pytest.raises(VttdataError, match="files"):
        make_campaign(tmp_path / "campaign", "choose", material)


def test_command_takes_videos_by_url(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_table(tmp_path / "ours.csv", [{"video_id": "v0", "caption": "a dog runs"}])
    command = ["people", "make", "rate-scale", table, "--set", "controls=0", "--out", str(tmp_path / "campaign")]
    assert main([*command, "--videos", "nowhere"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main([*command, "--videos", "https://example.org/{video_id}.mp4"]) == 0
    assert read_campaign(tmp_path / "campaign").video_address("ann", "v0") == "https://example.org/v0.mp4"
    command = ["people", "export", str(tmp_path / "campaign"), "--format", "pages", "--out", str(tmp_path / "out")]
    assert main(command) == 2
