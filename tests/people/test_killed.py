"""A server that is killed again and again loses no answer and doubles none."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from random import Random

from tests.helpers.needs import library

library("starlette")
library("httpx")

from tests.people.served import Client, Process, make, write_rows
from vttdata.people.store import Store


def test_answers_survive_kill_9(tmp_path: Path, clips: Path) -> None:
    foils = [(f"f{n}", "blue", "a man walks a dog", f"a man walks a cat{n}") for n in range(40)]
    table = write_rows(tmp_path / "foils.csv", ("foil_id", "video_id", "caption", "foil"), *foils)
    names = [f"worker{n}" for n in range(6)]
    campaign = make(
        *(tmp_path / "campaign", "foil-review", table, "--videos", clips),
        *("--set", "controls=0", "--set", "judgments=4"),
        workers=",".join(names),
    )
    server = Process(campaign.folder)
    clients = [Client(f"{server.root}/w/{campaign.worker_token(name)}") for name in names]

    def work(client: Client) -> None:
        state = client.insist("agree", {})
        while state["stage"] in ("item", "wait"):
            if state["stage"] == "item":
                time.sleep(0.02)
                state = client.answer(state, {"verdict": "sound"})
            else:
                time.sleep(0.05)
                state = client.insist("agree", {})

    threads = [threading.Thread(target=work, args=(client,), daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    draw = Random(5)
    for _ in range(2):
        time.sleep(draw.uniform(0.05, 0.3))
        assert any(thread.is_alive() for thread in threads)
        server.kill()
        server.start()
    for thread in threads:
        thread.join(60)
    server.kill()
    store = Store(campaign)
    saved = store.answers()
    acknowledged = {name for client in clients for name in client.acknowledged}
    assert {answer.answer_id for answer in saved} == acknowledged
    assert len(saved) == len(acknowledged)
    covered = Counter(answer.unit for answer in saved)
    assert covered == dict.fromkeys(campaign.units, 4)
    assert max(Counter((answer.unit, answer.worker) for answer in saved).values()) == 1
    store.close()
