"""Load and kill an annotation server, compare it with a bare endpoint, and count answers that are lost or doubled.

Run ``python benchmarks/annotation.py [--answers 10000] [--kills 50]``. The server is a process of its own, as a user
starts it. First 50 connections send answers as fast as they are acknowledged, in turn to our server and to a bare one:
Starlette and uvicorn, which insert each body into SQLite with full synchronisation. Workers of the further rounds are
threads: 50 at 5 answers a minute for as long as `--steady` seconds; 200 as fast as they can until all answers are
there; the same while the server is killed at random moments and every tenth worker goes offline now and then, keeping
the answer until it is acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import multiprocessing
import os
import resource
import socket
import sqlite3
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import httpx
import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.films import write_film
from tests.people.served import Client, Process, make, write_rows
from vttdata.people.campaign import Campaign
from vttdata.people.server import bind
from vttdata.people.store import Store

CONNECTIONS = 50


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


def serve_bare(file: Path, listener: socket.socket) -> None:
    """Serve an endpoint that inserts the body of each request into a database."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE answers (answer_id TEXT UNIQUE, body TEXT)"
    )

    async def insert(request: Request) -> Response:
        body = await request.json()
        connection.execute("INSERT INTO answers VALUES (?, ?)", (body["id"], json.dumps(body)))
        return JSONResponse({"saved": "now"})

    app = Starlette(routes=[Route("/answer", insert, methods=["POST"])])
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])


class Sender:
    """Connection that costs little beside the server; `path` is that of a worker, or empty for the bare endpoint."""

    def __init__(self, port: int, path: str = "") -> None:
        self.port, self.path = port, path
        self.seconds: list[float] = []
        self.acknowledged: list[str] = []

    async def post(self, action: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the content of the response to a request."""
        content = json.dumps(body).encode()
        head = f"POST {self.path}/{action} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self.writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("http/1.1 200 "), head
        length = int(head.partition("content-length:")[2].partition("\r")[0])
        return dict(json.loads(await self.reader.readexactly(length)))

    async def send(self, answers: int) -> None:
        """Send answers one after another."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        shown = {"unit": "u" * 16, "item": "i" * 16}
        if self.path:
            shown = await self.post("agree", {})
        for _ in range(answers):
            body: dict[str, Any] = {"id": uuid.uuid4().hex, "unit": shown["unit"], "item": shown["item"]}
            body |= {"answer": {"verdict": "sound"}, "seconds": 4.0}
            before = time.perf_counter()
            state = await self.post("answer", body)
            self.seconds.append(time.perf_counter() - before)
            self.acknowledged.append(body["id"])
            if self.path:
                shown = state
        self.writer.close()


async def send_all(senders: list[Sender], answers: int) -> float:
    """Send answers by all connections at once; return the seconds."""
    before = time.perf_counter()
    await asyncio.gather(*(sender.send(answers) for sender in senders))
    return time.perf_counter() - before


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(senders: list[Sender], pid: int, database: Path, kill: Any) -> list[float]:
    """Return p50 and p99 in ms, answers a second, CPU ms an answer, and answers lost after the server is killed."""
    before = cpu_seconds(pid)
    took = asyncio.run(send_all(senders, 100))
    cpu = cpu_seconds(pid) - before
    kill()
    with contextlib.closing(sqlite3.connect(database)) as connection:
        saved = {name for (name,) in connection.execute("SELECT answer_id FROM answers")}
    seconds = [1000 * each for sender in senders for each in sender.seconds]
    lost = {name for sender in senders for name in sender.acknowledged} - saved
    return [*np.percentile(seconds, [50, 99]), len(seconds) / took, 1000 * cpu / len(seconds), len(lost)]


def measure_bare(folder: Path) -> list[float]:
    """Measure the bare endpoint."""
    with bind("127.0.0.1", 0) as listener:
        arguments = (folder / "bare.sqlite", listener)
        server = multiprocessing.get_context("spawn").Process(target=serve_bare, args=arguments)
        server.start()
        port = listener.getsockname()[1]
    senders = [Sender(port) for _ in range(CONNECTIONS)]
    # Once it answers, it has been started.
    asyncio.run(Sender(port).send(1))
    assert server.pid is not None
    return measure(senders, server.pid, folder / "bare.sqlite", server.kill)


def measure_ours(folder: Path) -> list[float]:
    """Measure our server."""
    campaign = campaign_of(folder / "ours", 200 * CONNECTIONS, 20, CONNECTIONS)
    server = Process(campaign.folder)
    paths = [f"/w/{campaign.worker_token(f'worker{n}')}" for n in range(CONNECTIONS)]
    senders = [Sender(server.port, path) for path in paths]
    return measure(senders, server.process.pid, campaign.folder / "answers.sqlite", server.kill)


def compare(folder: Path, rounds: int) -> None:
    """Measure both servers in turn, and print the median of each figure over the rounds."""
    results: dict[str, list[list[float]]] = {"bare endpoint": [], "our server": []}
    for number in range(rounds):
        place = folder / f"round{number}"
        place.mkdir()
        results["bare endpoint"].append(measure_bare(place))
        results["our server"].append(measure_ours(place))
    print(f"{CONNECTIONS} connections, 5,000 answers a round, median (least to most) of {rounds} rounds in turn:")
    print("| endpoint | p50 ms | p99 ms | answers a second | CPU ms an answer | lost |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, rows in results.items():
        *columns, lost = zip(*rows, strict=True)
        shown = [
            f"{np.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"
            for values, digits in zip(columns, (1, 1, 0, 2), strict=True)
        ]
        print(f"| {name} | {' | '.join(shown)} | {sum(lost)} |", flush=True)
    ratios = [ours[0] / bare[0] for bare, ours in zip(*results.values(), strict=True)]
    print(f"p50 of ours over bare: {np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})\n", flush=True)


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
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
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
        f"{took:.0f} | {cpu.ru_utime + cpu.ru_stime - before.ru_utime - before.ru_stime:.0f} |",
        flush=True,
    )


def main() -> None:
    """Print a row for each round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--steady", type=float, default=120)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        compare(Path(name), options.rounds)
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
