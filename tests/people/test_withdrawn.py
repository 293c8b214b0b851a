"""A campaign from which videos were withdrawn goes on with the others, and with the answers about these."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tests.helpers.hub.built import build
from tests.helpers.needs import library
from tests.helpers.traces import find_traces

library("starlette")
library("httpx")

from tests.people.served import make
from vttdata.compose.withdraw import WithdrawalRequest, plan_withdrawal, withdraw
from vttdata.people.campaign import read_campaign
from vttdata.people.store import Store, StoredAnswer

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
    withdraw(plan_withdrawal(dataset, WithdrawalRequest("takedown", ids=["v1"], further=[tmp_path / "c"])))
    assert not list(find_traces(tmp_path / "c", ["beta-film"], [TEXTS[1], "an answer about v1 by ann"]))
    left = read_campaign(tmp_path / "c")
    assert {item.video_id for item in left.items.values()} == {"v0", "v2", "v3"}
    assert set(left.videos) == {"v0", "v2", "v3"}
    with contextlib.closing(Store(left)) as store:
        assert [(answer.unit, answer.item) for answer in store.answers()] == [item_of["v0"]]
