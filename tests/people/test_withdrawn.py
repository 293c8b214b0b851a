"""A campaign from which videos were withdrawn goes on with the others, and with the answers about these."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pytest

from tests.helpers.hub.built import build
from tests.helpers.kill_points import count_moments, kill_at
from tests.helpers.needs import library
from tests.helpers.traces import find_traces

library("starlette")
library("httpx")

from tests.people.served import CAPTIONS, make
from vttdata.compose.withdraw import WithdrawalRequest, withdraw
from vttdata.dataset.tombstones import read_tombstones
from vttdata.files.own_folder import FileChanges
from vttdata.people.campaign import read_campaign
from vttdata.people.service import Service
from vttdata.people.store import Store, StoredAnswer, answered
from vttdata.people.withdraw import withdraw_from_campaign

TEXTS = ["a person waves", "a dog runs after a red ball", "a child sings a song", "a cat sleeps on a sofa"]
pytestmark = pytest.mark.not_on("win32")


def test_answers_about_other_videos_stay(tmp_path: Path) -> None:
    dataset = build(tmp_path / "d", TEXTS, sources=["alpha-film", "beta-film", "gamma-film", "delta-film"])
    table = tmp_path / "clips.csv"
    table.write_text("video_id\n" + "".join(f"v{number}\n" for number in range(4)))
    campaign = make(tmp_path / "c", "caption", table, "--videos", "https://example.org/{video_id}.mp4")
    item_of = {item.video_id: (unit, item.item) for (unit, _), item in campaign.items.items()}
    with contextlib.closing(Store(campaign)) as store:
        store.add_worker("ann")
        for number, name in enumerate(("v0", "v1")):
            answer = {"caption": f"an answer about {name} by ann"}
            store.save(StoredAnswer(f"a{number}", "ann", *item_of[name], answer, None, 3.0, 1.0), None)
    withdraw(dataset, WithdrawalRequest("takedown", ids=["v1"], also=[tmp_path / "c"]))
    assert not list(find_traces(tmp_path / "c", ["beta-film"], [TEXTS[1], "an answer about v1 by ann"]))
    left = read_campaign(tmp_path / "c")
    assert {item.video_id for item in left.items.values()} == {"v0", "v2", "v3"}
    assert set(left.videos) == {"v0", "v2", "v3"}
    with contextlib.closing(Store(left)) as store:
        assert [(answer.unit, answer.item) for answer in store.answers()] == [item_of["v0"]]


def test_a_campaign_is_whole_after_a_kill_at_any_moment(tmp_path: Path) -> None:
    dataset = build(tmp_path / "d", TEXTS, sources=["alpha-film", "beta-film", "gamma-film", "delta-film"])
    table = tmp_path / "clips.csv"
    table.write_text("video_id\n" + "".join(f"v{number}\n" for number in range(4)))
    campaign = make(tmp_path / "c", "caption", table, "--videos", "https://example.org/{video_id}.mp4")
    items = [(unit, item.item) for (unit, _), item in campaign.items.items()]
    with contextlib.closing(Store(campaign)) as store:
        store.add_worker("ann")
        for number, item in enumerate(items):
            store.save(StoredAnswer(f"a{number}", "ann", *item, {"caption": "words"}, None, 3.0, 1.0), None)
    withdraw(dataset, WithdrawalRequest(ids=["v1"]))
    tombstones, folder = read_tombstones(dataset), tmp_path / "copy"

    def act() -> None:
        withdraw_from_campaign(folder, "vttdata/small", tombstones, FileChanges())

    shutil.copytree(tmp_path / "c", folder)
    moments = count_moments(act)
    for number in range(8):
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "c", folder)
        assert kill_at(1 + number * moments // 8, act)
        act()
        left = read_campaign(folder)
        assert set(left.videos) == {item.video_id for item in left.items.values()} == {"v0", "v2", "v3"}
        with contextlib.closing(Store(left)) as store:
            assert len(store.answers()) == 3
        assert "v1" not in (folder / "campaign.json").read_text() + (folder / "units.jsonl").read_text()


@pytest.mark.parametrize(("task", "option"), [("rate-scale", "controls=1"), ("caption", "questions=6")])
def test_controls_with_withdrawn_captions_are_retired(tmp_path: Path, task: str, option: str) -> None:
    """Nobody is asked them, and the answers that were given count as before."""
    dataset = build(tmp_path / "d", CAPTIONS, sources=[f"film-{number}" for number in range(len(CAPTIONS))])
    table = tmp_path / "texts.csv"
    table.write_text("video_id,caption\n" + "".join(f"v{n},{text}\n" for n, text in enumerate(CAPTIONS)))
    (tmp_path / "ids.csv").write_text("video_id\n" + "".join(f"v{n}\n" for n in range(len(CAPTIONS) + 1)))
    inputs = (table,) if task == "rate-scale" else (tmp_path / "ids.csv", "--captions", table)
    where = ("--videos", "https://example.org/{video_id}.mp4", "--set", option)
    campaign = make(tmp_path / "c", task, *inputs, *where, workers="ann")
    controls = {
        key: item
        for key, item in campaign.items.items()
        if campaign.units[key[0]].is_control and item.video_id != "v1" and CAPTIONS[1] in json.dumps(item.shown)
    }
    assert controls
    right = {"scores": {"score": 1}} if task == "rate-scale" else None
    with contextlib.closing(Store(campaign)) as store:
        store.add_worker("ann")
        for number, (key, item) in enumerate(controls.items()):
            answer = right or {"choice": item.facts["right"]}
            store.save(StoredAnswer(f"a{number}", "ann", *key, answer, None, 3.0, 1.0), None)
        before = campaign.task.control_results(answered(campaign, store.answers()))
    withdraw(dataset, WithdrawalRequest(ids=["v1"], also=[campaign.folder]))
    assert CAPTIONS[1] not in (tmp_path / "c/units.jsonl").read_text()
    left = read_campaign(tmp_path / "c")
    with contextlib.closing(Store(left)) as store:
        assert left.task.control_results(answered(left, store.answers())) == before == [True] * len(controls)
        assert hand_out(Service(left, store)).isdisjoint(controls)
    assert withdraw(dataset, WithdrawalRequest(also=[left.folder])).changes.files == []


def hand_out(service: Service) -> set[tuple[str, str]]:
    """All items that a worker gets who can answer none."""
    items: set[tuple[str, str]] = set()
    service.agree("ann")
    service.take_quiz("ann", [question.right for question in service.campaign.task.quiz()])
    while (state := service.state("ann"))["stage"] == "item":
        items.add((state["unit"], state["item"]))
        service.answer("ann", f"b{len(items)}", state["unit"], state["item"], None, "no video", 3.0)
    assert items
    return items


def test_a_campaign_on_another_dataset_is_left(tmp_path: Path) -> None:
    theirs = build(tmp_path / "theirs", TEXTS[:2], name="me/other")
    films = tmp_path / "films.csv"
    films.write_text("video_id,caption\nv0,a system's caption\nv1,another one of it\n")
    where = ("--videos", "https://example.org/{video_id}.mp4", "--captions", theirs)
    campaign = make(tmp_path / "c", "rate-scale", films, *where)
    before = [(tmp_path / "c" / name).read_bytes() for name in ("campaign.json", "units.jsonl")]
    dataset = build(tmp_path / "d", TEXTS)
    report = withdraw(dataset, WithdrawalRequest(ids=["v1"], also=[campaign.folder]))
    assert [(tmp_path / "c" / name).read_bytes() for name in ("campaign.json", "units.jsonl")] == before
    assert [(path.name, reason) for path, reason in report.changes.left] == [("c", "is a campaign on me/other")]
