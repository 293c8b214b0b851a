"""Make campaigns with the command line, serve them in this process or another one, and answer by HTTP."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import httpx

from vttdata.cli.main import main
from vttdata.people.campaign import Campaign, read_campaign
from vttdata.people.server import bind, make_server, opened_campaign
from vttdata.people.service import Service

CAPTIONS = (
    "a woman in a red coat feeds pigeons on a square",
    "two dogs chase a yellow ball across wet grass",
    "an old man repairs a bicycle beside the road",
    "children build a tower of wooden blocks indoors",
    "a cook throws chopped onions into a hot pan",
    "somebody paints a garden fence with a wide brush",
)


def write_rows(file: Path, *rows: Sequence[str]) -> Path:
    file.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return file


def make(folder: Path, task: str, *arguments: str | Path, workers: str = "ann,bob") -> Campaign:
    """Make a campaign as a user does."""
    code = main(["people", "make", task, *map(str, arguments), "--out", str(folder), "--invite", workers])
    assert code == 0
    return read_campaign(folder)


class Running:
    """Campaign with a server in this process."""

    def __init__(self, campaign: Campaign, service: Service, root: str) -> None:
        self.campaign, self.service, self.root = campaign, service, root

    def link(self, worker: str = "ann") -> str:
        return f"{self.root}/w/{self.campaign.worker_token(worker)}"

    @property
    def requester(self) -> str:
        return f"{self.root}/r/{self.campaign.requester_token}"


@contextlib.contextmanager
def served(campaign: Campaign) -> Iterator[Running]:
    with opened_campaign(campaign) as service, bind("127.0.0.1", 0) as listener:
        server = make_server(campaign, service)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield Running(campaign, service, f"http://127.0.0.1:{listener.getsockname()[1]}")
        server.should_exit = True
        thread.join(20)


class Process:
    """Server as a user starts it, which can be killed and started again on the same port."""

    def __init__(self, folder: Path, errors: IO[bytes] | None = None) -> None:
        self.folder, self.errors = folder, errors
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.root = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "vttdata", "people", "serve", str(self.folder), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        assert self.process.stdout is not None
        self.printed = []
        for line in self.process.stdout:
            self.printed.append(line)
            if line.startswith("Serving"):
                return
        raise AssertionError(self.printed)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Client:
    """Worker without a browser, who insists until an answer is acknowledged."""

    def __init__(self, link: str, seconds: float = 60) -> None:
        self.link, self.http = link, httpx.Client(timeout=10)
        self.deadline = time.monotonic() + seconds
        self.latencies: list[float] = []
        self.acknowledged: dict[str, tuple[str, str]] = {}

    def post(self, action: str, body: dict[str, Any]) -> httpx.Response:
        return self.http.post(f"{self.link}/{action}", json=body)

    def insist(self, action: str, body: dict[str, Any]) -> dict[str, Any]:
        while True:
            try:
                before = time.monotonic()
                response = self.post(action, body)
                self.latencies.append(time.monotonic() - before)
                if response.status_code < 500:
                    assert response.status_code == 200, response.text
                    return dict(response.json())
            except httpx.TransportError:
                pass
            assert time.monotonic() < self.deadline, "the server does not come back"
            time.sleep(0.1)

    def answer(self, state: dict[str, Any], answer: Any, **others: Any) -> dict[str, Any]:
        body = {"id": uuid.uuid4().hex, "unit": state["unit"], "item": state["item"], "answer": answer, "seconds": 4.0}
        body |= others
        result = self.insist("answer", body)
        self.acknowledged[body["id"]] = (body["unit"], body["item"])
        return result
