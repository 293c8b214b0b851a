"""Answers are taken once, units are dealt evenly, and nobody sees or does what is not theirs."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from tests.helpers.needs import library

library("starlette")
httpx = library("httpx")

from tests.helpers.builds import film
from tests.people.served import CAPTIONS, Client, Running, make, served, write_rows
from vttdata.cli.main import main
from vttdata.ids import digest
from vttdata.people.campaign import CAMPAIGN, DATABASE, SECRET, UNITS, Campaign, make_campaign, read_campaign
from vttdata.people.service import RequestError, Service, UnitQueue
from vttdata.people.store import SaveError, Store, StoredAnswer
from vttdata.people.task import Item, Material, Unit, load_task
from vttdata.records import Caption

SECRET_SYSTEM = "system-nobody-may-see"


@pytest.fixture
def rating(tmp_path: Path, clips: Path) -> Iterator[Running]:
    rows = [("red clip #1", CAPTIONS[0]), ("blue", CAPTIONS[1])]
    systems = [
        write_rows(tmp_path / f"{name}.csv", ("video_id", "caption"), *((v, f"{t} {name[-1]}") for v, t in rows))
        for name in (SECRET_SYSTEM, "other-b", "other-c")
    ]
    campaign = make(
        tmp_path / "campaign",
        "rate-scale",
        *systems,
        "--videos",
        clips,
        "--set",
        "judgments=2",
        "--set",
        "controls=0",
        "--set",
        "min_shown=0",
    )
    with served(campaign) as running:
        yield running


def start(running: Running, worker: str = "ann") -> tuple[Client, dict]:
    client = Client(running.link(worker))
    return client, client.insist("agree", {})


def test_units_are_dealt_evenly_and_never_twice_and_expire() -> None:
    now = 0.0
    units = [Unit(f"u{n}", (Item("i", "v", {}),)) for n in range(30)]
    queue = UnitQueue(units, 3, 8, lambda: now)
    draw = Random(3)
    done: dict[str, list[str]] = {f"w{n}": [] for n in range(6)}
    while True:
        worker = draw.choice(list(done))
        unit = queue.choose(worker)
        now += 1
        if unit is None:
            if all(queue.choose(name) is None for name in done):
                break
            continue
        queue.reserve(worker, unit, 30)
        coverage = [queue.coverage(name) for name in queue.order]
        assert max(coverage) <= 3
        # Five workers may have reserved units that they left.
        assert max(coverage) - min(coverage) <= 2
        if draw.random() < 0.8:
            queue.finish(worker, unit)
            done[worker].append(unit)
    assert Counter(unit for names in done.values() for unit in names) == dict.fromkeys(queue.order, 3)
    assert all(len(set(names)) == len(names) for names in done.values())


def test_an_answer_counts_once_however_often_it_arrives_and_from_however_many_windows(rating: Running) -> None:
    client, state = start(rating)
    assert client.insist("agree", {})["unit"] == state["unit"], "both windows show the same"
    body = {
        "id": "same",
        "unit": state["unit"],
        "item": state["item"],
        "answer": {"scores": {"score": 4}},
        "seconds": 2,
    }
    first, again = client.insist("answer", body), client.insist("answer", body)
    assert (first["saved"], again["saved"]) == ("now", "before")
    assert first["unit"] == again["unit"] != state["unit"]
    other = client.insist("answer", body | {"id": "other window", "answer": {"scores": {"score": 1}}})
    assert other["saved"] == "elsewhere"
    assert [a.answer for a in rating.service.store.answers()] == [{"scores": {"score": 4}}]


def test_answers_of_all_survive_a_new_server_and_results_have_no_names(rating: Running, tmp_path: Path) -> None:
    for worker in ("ann", "bob"):
        client, state = start(rating, worker)
        while state["stage"] == "item":
            state = client.answer(state, {"scores": {"score": 2 + len(client.acknowledged) % 3}})
        assert state["stage"] == "done"
    restarted = Service(rating.campaign, rating.service.store)
    assert restarted.state("ann")["stage"] == "done"
    assert restarted.report()["complete"] == restarted.report()["units"] == 6
    out = tmp_path / "scores"
    assert main(["people", "score", str(rating.campaign.folder), "--out", str(out)]) == 0
    for form in ("answers", "label-studio"):
        assert main(["people", "export", str(rating.campaign.folder), "--format", form, "--out", str(out / form)]) == 0
    texts = {path.name: path.read_text() for path in out.rglob("*") if path.is_file()}
    assert texts["results.csv"].count("\n") == 13
    assert len(json.loads(texts["tasks.json"])) == 6
    assert not [name for name, text in texts.items() if re.search(r"\b(ann|bob)\b", text)]


def test_worker_sees_no_system_no_control_and_nothing_of_others(rating: Running) -> None:
    bob, state = start(rating, "bob")
    state = bob.answer(state, {"scores": {"score": 5}})
    ann, _ = start(rating)
    seen = ann.http.get(f"{ann.link}/state").text + ann.http.get(ann.link).text
    for secret in (SECRET_SYSTEM, "red clip", "bob", "is_control", "systems", rating.campaign.requester_token):
        assert secret not in seen
    refused = ann.post("answer", {"id": "x", "unit": "u", "item": "i", "answer": {}, "seconds": 1})
    assert refused.status_code == 404


def test_no_path_leads_out_or_to_what_is_another_s(rating: Running) -> None:
    ann = rating.campaign.worker_token("ann")
    client = httpx.Client()
    for path in (
        "/w/no-such-token",
        "/w/no-such-token/state",
        "/r/no-such-token",
        "/r/no-such-token/report",
        "/r/no-such-token/results.csv",
        "/join/no-such-key?PROLIFIC_PID=1",
        "/static/..%2fcampaign.json",
        "/static/worker.html",
        "/static/secret",
        f"/w/{ann}/video/99",
        f"/w/{ann}/video/..%2f..%2fsecret",
        f"/w/{ann}/video/-1",
        f"/r/{ann}",
        f"/r/{ann}/results.csv",
        "/..%2f..%2fetc%2fpasswd",
    ):
        response = client.get(rating.root + path)
        assert response.status_code == 404, path
        assert str(rating.campaign.folder) not in response.text


def test_damaged_and_large_requests_are_refused(rating: Running) -> None:
    client, _ = start(rating)
    for body, status in (
        (b"x" * 70_000, 413),
        (b'"' + b"[" * 60_000, 400),
        (b"[" * 60_000, 400),
        (b"[1]", 400),
        (b"\xff\xfe", 400),
        (b'{"id": 1, "unit": "u", "item": "i", "answer": {}, "seconds": 1}', 400),
        (b'{"id": "a", "unit": "u", "item": "i", "answer": {}, "seconds": "soon"}', 400),
        (b'{"id": "a", "unit": "u\\u0000", "item": "i", "answer": {}, "seconds": 1}', 400),
    ):
        headers = {"Content-Type": "application/json"}
        response = client.http.post(f"{client.link}/answer", content=body, headers=headers)
        assert response.status_code == status, body[:80]
        assert response.json()["error"].endswith(".")
    form = client.http.post(f"{client.link}/answer", data={"id": "a"})
    assert form.status_code == 415, "a form of another site can be sent without asking the browser"


def test_answer_before_consent_and_of_another_shape_is_refused(rating: Running) -> None:
    client = Client(rating.link())
    unit = next(iter(rating.campaign.units.values()))
    body = {"id": "a", "unit": unit.unit, "item": unit.items[0].item, "answer": {"scores": {"score": 3}}, "seconds": 1}
    assert client.post("answer", body).status_code == 403
    client.insist("agree", {})
    for answer in (
        {},
        {"scores": {"score": 9}},
        {"scores": {"score": True}},
        {"scores": {"other": 3}},
        {"scores": [3]},
    ):
        assert client.post("answer", body | {"answer": answer}).status_code == 422
    assert client.post("answer", body | {"answer": [1]}).status_code == 400
    assert client.post("answer", body).status_code == 200


def test_reservation_survives_a_restart_and_a_clock_that_jumps(rating: Running) -> None:
    store = rating.service.store
    service = Service(rating.campaign, store)
    service.agree("ann")
    held = service.state("ann")["unit"]
    for wall in (lambda: 0.0, lambda: 4e9):
        later = Service(rating.campaign, store, wall=wall)
        _, expires = later._queue.reserved.get("ann", ("", 0.0))
        lifetime = rating.campaign.settings.reservation_seconds
        assert expires - later.clock() <= lifetime
    assert Service(rating.campaign, store).state("ann")["unit"] == held


def test_full_disk_loses_nothing_and_says_so(rating: Running) -> None:
    client, state = start(rating)
    connection = rating.service.store.connection
    # SQLite's own limit on the size of a file gives the error of a full disk.
    (full,), usual = connection.execute("PRAGMA page_count").fetchone(), 2**30
    connection.execute(f"PRAGMA max_page_count = {full}").fetchone()
    body = {"id": "a", "unit": state["unit"], "item": state["item"], "answer": None, "problem": "x" * 500, "seconds": 1}
    statuses, number = [], 0
    while 503 not in statuses and number < 40:
        number += 1
        response = client.post("answer", body | {"id": f"a{number}"})
        statuses.append(response.status_code)
        if response.status_code == 200:
            state = response.json()
            if state["stage"] != "item":
                client, state = start(rating, "bob")
            body |= {"unit": state["unit"], "item": state["item"]}
    assert statuses[-1] == 503
    assert "stays here and is sent again" in response.json()["error"]
    saved = len(rating.service.store.answers())
    connection.execute(f"PRAGMA max_page_count = {usual}").fetchone()
    assert client.insist("answer", body | {"id": f"a{number}"})["saved"] == "now"
    assert len(rating.service.store.answers()) == saved + 1


def test_worker_s_data_are_deleted_from_the_file_too(tmp_path: Path, clips: Path) -> None:
    campaign = make(tmp_path / "campaign", "caption", clips, "--set", "judgments=1", "--set", "qualification=false")
    with served(campaign) as running:
        client, state = start(running)
        client.answer(state, {"caption": "a zebra plays chess against a penguin"})
        assert main(["people", "forget", str(campaign.folder), "ann"]) == 2, "a server works on it"
    assert main(["people", "forget", str(campaign.folder), "ann"]) == 0
    assert main(["people", "forget", str(campaign.folder), "ann"]) == 2
    for file in campaign.folder.glob("answers.sqlite*"):
        assert b"zebra" not in file.read_bytes()
        assert re.search(rb"\bann\b", file.read_bytes()) is None


def test_platform_s_workers_come_by_one_link_and_get_a_code(rating: Running) -> None:
    join = f"{rating.root}/join/{rating.campaign.join_token}"
    first = httpx.get(f"{join}?PROLIFIC_PID=p1&SESSION_ID=s", follow_redirects=True)
    again = httpx.get(f"{join}?PROLIFIC_PID=p1&SESSION_ID=s", follow_redirects=True)
    other = httpx.get(
        f"{join}?workerId=p1&assignmentId=a&turkSubmitTo=https%3A%2F%2Fworkersandbox.mturk.com", follow_redirects=True
    )
    assert first.status_code == other.status_code == 200
    assert first.url == again.url != other.url
    assert httpx.get(f"{join}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE").text.startswith("{") is True
    assert httpx.get(join).status_code == 400
    client = Client(str(other.url))
    state = client.insist("agree", {})
    while state["stage"] == "item":
        state = client.answer(state, {"scores": {"score": 3}})
    assert state["code"] == rating.campaign.completion_code
    assert state["platform"]["assignmentId"] == "a"


def test_video_has_byte_ranges(rating: Running, clips: Path) -> None:
    data = next(path for path in clips.iterdir() if path.stem == "blue").read_bytes()
    number = rating.campaign.video_numbers("ann")["blue"]
    response = httpx.get(f"{rating.link()}/video/{number}", headers={"Range": "bytes=10-19"})
    assert (response.status_code, response.content) == (206, data[10:20])
    assert response.headers["content-range"] == f"bytes 10-19/{len(data)}"


def test_addresses_of_videos_tell_nothing_about_ids(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "v.csv", ("video_id",), *((f"v{n:03}",) for n in range(60)))
    material = Material([str(rows)], lambda wanted: {}, address="https://example.org/{video_id}.mp4")
    campaign = make_campaign(tmp_path / "c", "caption", material)
    orders = [[*campaign.video_numbers(worker)] for worker in ("ann", "bob", "cem")]
    for order in orders:
        # Ranks of ids and of numbers are those of shuffled cards.
        ranks = [int(name[1:]) for name in order]
        assert sorted(ranks) == [*range(60)]
        assert abs(sum(ranks[:40]) / 40 - 29.5) < 8
    assert len({tuple(order) for order in orders}) == 3
    assert [*read_campaign(tmp_path / "c").video_numbers("ann")] == orders[0]


def test_what_says_which_units_are_controls_is_for_its_owner_alone(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "v.csv", ("video_id",), ("a",), ("b",))
    material = Material([str(rows)], lambda wanted: {}, address="https://example.org/{video_id}.mp4")
    folder = make_campaign(tmp_path / "c", "caption", material).folder
    assert folder.stat().st_mode & 0o077 == 0
    assert {path.name for path in folder.iterdir() if path.stat().st_mode & 0o077 == 0} == {UNITS, SECRET, CAMPAIGN}


def test_pages_load_nothing_from_elsewhere_and_run_no_markup(rating: Running) -> None:
    response = httpx.get(rating.link())
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in httpx.get(rating.requester).headers["content-security-policy"]
    assert "https://" not in response.text


def test_campaign_that_was_changed_is_refused_in_one_sentence(
    tmp_path: Path, clips: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "blue.mp4").write_bytes((clips / "blue.mp4").read_bytes())
    folder = tmp_path / "campaign"
    campaign = make(folder, "caption", own, "--set", "judgments=1")

    def refused(*arguments: str) -> str:
        capsys.readouterr()
        assert main(list(arguments)) == 2
        message = capsys.readouterr().err
        assert message.count("\n") == 1
        return message

    assert "holds a campaign already" in refused("people", "make", "caption", str(own), "--out", str(folder))
    with served(campaign) as running:
        assert "a server works on this campaign" in refused("people", "serve", str(folder), "--port", "0")
        port = running.root.rpartition(":")[2]
        second = make(tmp_path / "second", "caption", own)
        assert f"Port {port}" in refused("people", "serve", str(second.folder), "--port", port)
    (own / "blue.mp4").write_bytes((clips / "red clip #1.mp4").read_bytes())
    assert "was changed since" in refused("people", "serve", str(folder), "--port", "0")
    (own / "blue.mp4").unlink()
    assert "is missing" in refused("people", "serve", str(folder), "--port", "0")
    units = folder / "units.jsonl"
    units.write_text(units.read_text().replace("min_words", "max_words"))
    assert "changed since the campaign was made" in refused("people", "status", str(folder))
    assert "not a campaign" in refused("people", "status", str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-task", "{clips}"], "Unknown task"),
        (["caption", "{clips}", "--set", "min_words=many"], "min_words"),
        (["caption", "{clips}", "--set", "wrods=3"], "settings are"),
        (["caption", "{clips}", "--set", "max_similarity=2"], "max_similarity"),
        (["caption", "{nothing}"], "names no videos"),
        (["caption", "{damaged}"], "cannot be shown in a browser"),
        (["choose", "{clips}"], "set other lengths"),
        (["rate-slider", "{clips}"], "needs human captions"),
        (["caption", "{clips}", "--invite", "ann,ann"], "duplicated"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_sentence_and_leaves_nothing(
    tmp_path: Path, clips: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "film.mp4").write_bytes((clips / "blue.mp4").read_bytes()[:700])
    filled = [a.format(clips=clips, nothing=tmp_path / "nothing", damaged=tmp_path / "damaged") for a in arguments]
    assert main(["people", "make", *filled, "--out", str(tmp_path / "campaign")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert "Traceback" not in error


def test_worker_gets_no_more_than_the_most_units(tmp_path: Path, clips: Path) -> None:
    options = ("--set", "per_worker=1", "--set", "qualification=false", "--set", "questions=0")
    with served(make(tmp_path / "campaign", "caption", clips, *options)) as running:
        client, state = start(running)
        assert client.answer(state, {"caption": "a red square without anything in it"})["stage"] == "done"
        assert client.insist("agree", {})["stage"] == "done"


def foil_campaign(folder: Path, clips: Path, units: int, *settings: str, workers: str) -> Campaign:
    folder.mkdir()
    foils = [(f"f{n}", "blue", f"a man walks a dog{n}", f"a man walks a cat{n}") for n in range(units)]
    table = write_rows(folder / "foils.csv", ("foil_id", "video_id", "caption", "foil"), *foils)
    options = [part for setting in settings for part in ("--set", setting)]
    return make(folder / "campaign", "foil-review", table, "--videos", clips, *options, workers=workers)


def answer_to(unit: Unit, name: str) -> dict:
    answer = {"verdict": "sound"}
    return {"id": name, "unit": unit.unit, "item": unit.items[0].item, "answer": answer, "seconds": 1}


def test_units_that_a_worker_was_never_given_are_refused(tmp_path: Path, clips: Path) -> None:
    campaign = foil_campaign(tmp_path / "c", clips, 20, "controls=0", "per_worker=3", workers="ann")
    with served(campaign) as running:
        ann, state = start(running)
        given, statuses = [state["unit"]], []
        for number, unit in enumerate(campaign.units.values()):
            if unit.unit not in given:
                refused = ann.post("answer", answer_to(unit, f"a{number}"))
                statuses.append((refused.status_code, refused.json()["refused"]))
                problem = answer_to(unit, f"p{number}") | {"answer": None, "problem": "it is slow"}
                statuses.append((ann.post("answer", problem).status_code, "answer"))
                statuses.append((ann.post("check", answer_to(unit, "c")).status_code, "answer"))
        assert statuses == [(404, "answer")] * 57
        while state["stage"] == "item":
            state = ann.answer(state, {"verdict": "sound"})
        assert len(running.service.store.answers()) == 3


def test_fifty_colluding_workers_keep_judgments_and_units_a_worker(tmp_path: Path, clips: Path) -> None:
    names = [f"w{n}" for n in range(50)]
    settings = ("controls=0", "per_worker=3", "judgments=2")
    campaign = foil_campaign(tmp_path / "c", clips, 40, *settings, workers=",".join(names))
    now = 0.0
    with served(campaign) as running:
        service = Service(campaign, running.service.store, wall=lambda: 1e9 + now, clock=lambda: now)
        given: dict[str, set[str]] = {name: set() for name in names}
        # They let everything expire and tell each other all units, then answer all that anybody was given.
        for _ in range(8):
            for name in names:
                given[name].add(service.agree(name)["unit"])
            now += campaign.settings.reservation_seconds + 1
        assert max(map(len, given.values())) > 3
        # A new server knows what was given.
        service = Service(campaign, running.service.store, wall=lambda: 1e9 + now, clock=lambda: now)
        said: Counter[str] = Counter()
        for name in names:
            for unit in sorted(set().union(*given.values())):
                item = campaign.units[unit].items[0].item
                try:
                    result = service.answer(name, f"{name}-{unit}", unit, item, {"verdict": "sound"}, None, 1.0)
                    said[result["saved"]] += 1
                except RequestError as error:
                    said[str(error.status)] += 1
        saved = running.service.store.answers()
    assert max(Counter(answer.worker for answer in saved).values()) <= 3
    assert max(Counter(answer.unit for answer in saved).values()) <= 2
    assert said["now"] == len(saved)
    assert said["late"] > 0
    assert said["404"] > 0


def test_answer_after_a_long_break_is_taken_while_it_is_needed(tmp_path: Path, clips: Path) -> None:
    campaign = foil_campaign(tmp_path / "c", clips, 1, "controls=0", "judgments=1", workers="ann,bob")
    now = 0.0
    with served(campaign) as running:
        service = Service(campaign, running.service.store, wall=lambda: 1e9 + now, clock=lambda: now)
        given = []
        for name in ("ann", "bob"):
            given.append(service.agree(name))
            now += 10 * campaign.settings.reservation_seconds
        assert given[0]["unit"] == given[1]["unit"]
        fields = (given[0]["unit"], given[0]["item"], {"verdict": "sound"}, None, 1.0)
        said = [service.answer(name, f"of {name}", *fields) for name in ("ann", "bob")]
        assert [(state["saved"], state["stage"]) for state in said] == [("now", "done"), ("late", "done")]
        assert len(running.service.store.answers()) == 1


def test_answers_that_wait_for_the_disk_share_a_commit_and_none_is_acknowledged_before(
    tmp_path: Path, clips: Path
) -> None:
    names = [f"w{n}" for n in range(8)]
    campaign = foil_campaign(tmp_path / "c", clips, 40, "controls=0", "judgments=1", workers=",".join(names))
    with served(campaign) as running:
        clients = {name: start(running, name) for name in names}
        commits: list[str] = []
        running.service.store.connection.set_trace_callback(lambda text: commits.extend([text] * (text == "COMMIT")))
        other = sqlite3.connect(campaign.folder / DATABASE, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(len(names)) as pool:
            sent = [pool.submit(client.answer, state, {"verdict": "odd"}) for client, state in clients.values()]
            time.sleep(1)
            assert not any(client.acknowledged for client, _ in clients.values())
            assert other.execute("SELECT count(*) FROM answers").fetchone() == (0,)
            other.execute("ROLLBACK")
            other.close()
        states = [future.result() for future in sent]
        assert [state["saved"] for state in states] == ["now"] * 8
        # The first one that arrives waits alone.
        assert len(commits) < 8
        saved = {answer.unit for answer in running.service.store.answers()}
        assert len(saved | {state["unit"] for state in states}) == 16, "each has a unit of their own"


def test_refused_answer_changes_nothing_for_those_that_are_written_with_it(tmp_path: Path, clips: Path) -> None:
    campaign = foil_campaign(tmp_path / "c", clips, 20, "controls=0", workers="ann,bob,cem")
    with contextlib.closing(Store(campaign)) as store, contextlib.closing(Store(campaign)) as other:
        service = Service(campaign, store)
        given = {name: service.agree(name) for name in ("ann", "bob", "cem")}
        fields = {name: (name, f"of {name}", state["unit"], state["item"]) for name, state in given.items()}
        other.save(StoredAnswer("of another server", *fields["ann"][:1], *fields["ann"][2:], {}, None, 1.0, 1e9), None)
        outcomes = service.answer_together(
            [
                (*fields["ann"], {"verdict": "odd"}, None, 1.0),
                (*fields["bob"], {"verdict": "no such"}, None, 1.0),
                (*fields["cem"], {"verdict": "odd"}, None, 1.0),
            ]
        )
        assert [getattr(outcome, "status", None) for outcome in outcomes] == [409, 422, None]
        assert [answer.answer_id for answer in store.answers()] == ["of another server", "of cem"]


def test_answers_of_one_commit_are_saved_together_or_count_as_never_sent(tmp_path: Path, clips: Path) -> None:
    campaign = foil_campaign(tmp_path / "c", clips, 20, "controls=0", "judgments=1", workers="ann,bob,cem")
    with contextlib.closing(Store(campaign)) as store:
        service = Service(campaign, store)
        given = {name: service.agree(name) for name in ("ann", "bob", "cem")}
        sent: list[tuple] = [
            (name, f"of {name}", state["unit"], state["item"], {"verdict": "odd"}, None, 1.0)
            for name, state in given.items()
        ]
        sent[-1] = (*sent[-1][:4], None, "x" * 60_000, 1.0)
        (full,) = store.connection.execute("PRAGMA page_count").fetchone()
        store.connection.execute(f"PRAGMA max_page_count = {full + 3}").fetchone()
        with pytest.raises(SaveError):
            service.answer_together(sent)
        assert store.answers() == []
        assert [service.state(name)["unit"] for name in given] == [state["unit"] for state in given.values()]
        store.connection.execute(f"PRAGMA max_page_count = {2**30}").fetchone()
        assert [outcome["saved"] for outcome in service.answer_together(sent)] == ["now"] * 3
        assert len(store.answers()) == 3


def test_who_knows_the_source_and_a_worker_s_name_predicts_controls_at_chance(tmp_path: Path, clips: Path) -> None:
    names = [f"w{n}" for n in range(40)]
    settings = ("controls=0.5", "judgments=40", "control_every=4", "per_worker=16")
    campaign = foil_campaign(tmp_path / "c", clips, 40, *settings, workers=",".join(names))
    runs = hits = 0
    with served(campaign) as running:
        service = running.service
        for name in names:
            state, number = service.agree(name), 0
            while state["stage"] == "item":
                run, position = divmod(number, 4)
                is_control = campaign.units[state["unit"]].is_control
                predicted = int(digest([name, run])[:8], 16) % 4 == position
                runs, hits = runs + is_control, hits + (is_control and predicted)
                fields = (state["unit"], state["item"], {"verdict": "sound"}, None, 1.0)
                state, number = service.answer(name, f"{name}-{number}", *fields), number + 1
    assert runs == 160
    # A quarter by chance, 40 with a standard deviation of 5.5; the worker's name alone once predicted all.
    assert hits < 70


@pytest.mark.parametrize("task", ["foil-review", "rate-scale", "caption", "rate-slider", "relevance", "choose"])
def test_order_and_names_of_units_depend_on_the_campaign_s_secret(task: str, tmp_path: Path, clips: Path) -> None:
    found = []
    for secret in (b"one", b"one", b"two"):
        units = make_units(task, tmp_path, clips, secret)
        videos = [[item.video_id for item in unit.items] for unit in units]
        found.append(({item.item for unit in units for item in unit.items}, {unit.unit for unit in units}, videos))
        ids = [item.item for unit in units for item in unit.items]
        assert len(ids) == len({*ids}), "an id that is met twice gives a control away"
    same, again, other = found
    assert same == again
    assert same[0].isdisjoint(other[0])
    assert same[1].isdisjoint(other[1])
    assert task == "choose" or same[2] != other[2]


def make_units(task: str, folder: Path, clips: Path, secret: bytes) -> list[Unit]:
    """Make the units of a task about some videos with a secret."""
    videos = [f"v{n}" for n in range(30)]
    files = dict.fromkeys(videos, clips / "blue.mp4")
    overrides: dict[str, object] = {}
    if task == "foil-review":
        rows = [(f"f{v}", v, f"a man walks a dog{v}", f"a man walks a cat{v}") for v in videos]
        inputs = [write_rows(folder / "f.csv", ("foil_id", "video_id", "caption", "foil"), *rows)]
    elif task == "relevance":
        rows = [(v, f"c{v}", f"a man walks a dog{v}", "" if n % 5 else "yes") for n, v in enumerate(videos)]
        inputs = [write_rows(folder / "r.csv", ("video_id", "caption_id", "caption", "expected"), *rows)]
        overrides = {"videos": 3}
    elif task == "choose":
        film(folder / "v0.mp4", 12, "testsrc2")
        files = {"v0": folder / "v0.mp4"}
        inputs = [write_rows(folder / "v.csv", ("video_id",), ("v0",))]
        overrides = {"min_seconds": 5.0, "max_seconds": 20.0, "controls": 1.0}
    else:
        rows = [(v, f"{CAPTIONS[n % 6]} {v}") for n, v in enumerate(videos)]
        inputs = [write_rows(folder / "ours.csv", ("video_id", "caption"), *rows)]
        if task == "rate-slider":
            overrides = {"system": 10, "human": 5, "degraded": 5, "repeat": 2, "min_pairs": 5}
    human = [Caption(v, n, f"{CAPTIONS[(n + 1) % 6]} {n}") for n, v in enumerate([*videos, "w1", "w2"])]
    material = Material(
        [str(path) for path in inputs],
        lambda wanted: {name: files[name] for name in wanted if name in files},
        human if task == "rate-slider" else (),
        secret=secret,
    )
    task_class = load_task(task)
    return task_class(task_class.Settings(**overrides)).make(material)
