"""Load and kill an annotation server, and count answers that are lost or doubled.

Run ``python benchmarks/annotation.py [--answers 10000] [--kills 50]``. Workers are threads of one
process, and the server is another one, as a user starts it. Rounds: 50 workers at 5 answers a minute for as long as
`--steady` seconds; 200 workers as fast as they can until all answers are there; the same while the server is killed at
random moments and every tenth worker goes offline now and then, keeping the answer until it is acknowledged.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import resource
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from random import Random

import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.films import write_film
from tests.people.served import Client, Process, make, write_rows
from vttdata.people.campaign import Campaign
from vttdata.people.store import Store


def campaign_of(folder: Path, answers: int, judgments: int, workers: int) -> Campaign:
    """Make a campaign of foils that takes a number of answers."""
    folder.mkdir()
    write_film(folder / "film.mp4", 1, 1)
    foils = [(f"f{n}", "film", "a man walks a dog", f"a man walks a cat{n}") for n in range(-(-answers // judgments))]
    table = write_rows(folder / "foils.csv", ("foil_id", "video_id", "caption", "foil"), *foils)
    options = ["--set", "controls=0", "--set", f"judgments={judgments}", "--videos", folder]
    names = ",".join(f"worker{n}" for n in range(workers))
    with contextlib.redirect_stdout(io.StringIO()):
        return make(folder / "campaign", "foil-review", table, *options, workers=names)


def work(client: Client, pause: float, until: float, offline: Random | None) -> None:
    """Answer until nothing is left or time is over; `offline` draws when the network is away."""
    state = client.insist("agree", {})
    while state["stage"] in ("item", "wait") and time.monotonic() < until:
        if state["stage"] == "wait":
            time.sleep(1)
            state = client.insist("agree", {})
            continue
        if pause:
            time.sleep(pause * (0.5 + Random(uuid.uuid4().int).random()))
        if offline is not None and offline.random() < 0.05:
            time.sleep(offline.uniform(0.2, 2))
            client.http = httpx.Client(timeout=10)
        state = client.answer(state, {"verdict": "sound"})


def answer_latencies(client: Client) -> list[float]:
    """Return the milliseconds of a worker's answers, without the first page."""
    return [1000 * seconds for seconds in client.latencies[1:]]


def run(
    folder: Path,
    answers: int,
    *,
    workers: int,
    pause: float,
    seconds: float,
    kills: int,
    name: str,
) -> None:
    """Run a round and print its row."""
    campaign = campaign_of(folder, answers, 20, workers)
    server = Process(campaign.folder)
    until = time.monotonic() + seconds
    clients = [Client(f"{server.root}/w/{campaign.worker_token(f'worker{n}')}", seconds + 300) for n in range(workers)]
    draws = [Random(n) if kills and n % 10 == 0 else None for n in range(workers)]
    threads = [
        threading.Thread(target=work, args=(client, pause, until, draw), daemon=True)
        for client, draw in zip(clients, draws, strict=True)
    ]
    begin, draw, killed = time.monotonic(), Random(1), 0
    for thread in threads:
        thread.start()
    while killed < kills and any(thread.is_alive() for thread in threads):
        time.sleep(draw.uniform(0.05, 1))
        server.kill()
        server.start()
        killed += 1
    for thread in threads:
        thread.join()
    took = time.monotonic() - begin
    server.kill()
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    store = Store(campaign)
    saved = store.answers()
    store.close()
    acknowledged = Counter(key for client in clients for key in client.acknowledged)
    lost = acknowledged.keys() - {answer.answer_id for answer in saved}
    doubled = len(saved) - len({(answer.worker, answer.unit, answer.item) for answer in saved})
    unacknowledged = len(saved) - len(acknowledged)
    p50, p99 = np.percentile([x for client in clients for x in answer_latencies(client)], [50, 99])
    print(
        f"| {name} | {len(saved):,} | {len(lost)} | {doubled} | {unacknowledged} | {killed} | {p50:.1f} | {p99:.1f} | "
        f"{took:.0f} | {cpu.ru_utime + cpu.ru_stime:.0f} |",
        flush=True,
    )


def main() -> None:
    """Print a row for each round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--steady", type=float, default=120)
    options = parser.parse_args()
    print("| round | saved | lost | doubled | unacknowledged | kills | p50 ms | p99 ms | seconds | CPU s |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        steady = {"workers": 50, "pause": 12.0, "seconds": options.steady, "kills": 0}
        run(folder / "steady", 10_000, **steady, name="50 workers, 5 answers a minute")
        fast = {"workers": 200, "pause": 0.0, "seconds": 900, "kills": 0}
        run(folder / "fast", options.answers, **fast, name="200 workers, as fast as they can")
        killed = {"workers": 200, "pause": 0.0, "seconds": 1800, "kills": options.kills}
        run(folder / "killed", options.answers, **killed, name="the same, killed and offline")


if __name__ == "__main__":
    main()
