"""Clients that send nothing, or half of a request, hold up nobody, and a wrong link costs the same in any campaign."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal
import socket
import statistics
import threading
from pathlib import Path

import pytest

from tests.helpers.needs import library

library("starlette")
library("httpx")

from tests.people.served import Client, Process, make, served, write_rows
from vttdata.people import connections
from vttdata.people.campaign import Campaign
from vttdata.people.service import RequestError, Service
from vttdata.people.store import Store

SLOW = 1100


@pytest.fixture
def campaign(tmp_path: Path, clips: Path) -> Campaign:
    foils = [(f"f{n}", "blue", "a man walks a dog", f"a man walks a cat{n}") for n in range(40)]
    table = write_rows(tmp_path / "foils.csv", ("foil_id", "video_id", "caption", "foil"), *foils)
    settings = ("--set", "controls=0", "--set", "judgments=4")
    return make(*(tmp_path / "campaign", "foil-review", table, "--videos", clips, *settings), workers="w0,w1,w2,w3")


def test_slow_clients_leave_room_for_workers_and_write_no_log(campaign: Campaign, tmp_path: Path) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < SLOW + 500:
        pytest.skip("too few open files are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, most))
    with (tmp_path / "errors.txt").open("wb") as errors, contextlib.ExitStack() as stack:
        server = Process(campaign.folder, errors)
        stack.callback(server.kill)
        resource.setrlimit(resource.RLIMIT_NOFILE, (SLOW + 500, most))
        halves = (
            b"",
            b"GET /w/x HTTP/1.1\r\nHost: a",
            b"POST /w/x/answer HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1",
        )
        for number in range(SLOW):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            with contextlib.suppress(ConnectionError):
                slow.sendall(halves[number % 3])
        clients = [Client(f"{server.root}/w/{campaign.worker_token(f'w{n}')}") for n in range(4)]

        def work(client: Client) -> None:
            state = client.insist("agree", {})
            while state["stage"] == "item":
                state = client.answer(state, {"verdict": "sound"})

        threads = [threading.Thread(target=work, args=(client,), daemon=True) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert [len(client.acknowledged) for client in clients] == [40] * 4
        # Of answers; the first request of each agrees to the consent.
        waits = sorted(wait for client in clients for wait in client.latencies[1:])
        print(f"median {statistics.median(waits):.4f} s, p99 {waits[int(0.99 * len(waits))]:.4f} s")
        assert server.process.poll() is None
    assert (tmp_path / "errors.txt").stat().st_size < 1000


@pytest.mark.skipif(not Path("/proc/sys/net/core/somaxconn").is_file(), reason="the longest queue is known on Linux")
def test_clients_wait_at_the_door_of_a_server_that_is_busy(campaign: Campaign) -> None:
    longest = int(Path("/proc/sys/net/core/somaxconn").read_text())
    clients = 600
    if longest < clients:
        pytest.skip("the system allows shorter queues only")
    server = Process(campaign.folder)
    Client(f"{server.root}/w/{campaign.worker_token('w0')}").insist("agree", {})
    server.process.send_signal(signal.SIGSTOP)
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(clients):
                # Who finds no room in the queue is connected only seconds later, or never while the server is busy.
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
    finally:
        server.kill()


def test_request_that_does_not_end_is_ended(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_REQUEST_SECONDS", 0.2)
    with served(campaign) as running:
        port = int(running.root.rpartition(":")[2])
        for half in (b"", b"GET / HTT", b"POST /w/x/answer HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1"):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as slow:
                slow.sendall(half)
                with contextlib.suppress(ConnectionError):
                    assert not slow.recv(1000).startswith(b"HTTP/1.1 200")
        # A connection that is kept for several requests is limited request by request.
        client = Client(running.link("w0"))
        for _ in range(3):
            assert client.insist("agree", {})["stage"] == "item"


def test_answers_leave_the_server_at_once(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    options = []
    made = connections.Connection.connection_made

    def noted(connection: connections.Connection, transport: asyncio.Transport) -> None:
        made(connection, transport)
        options.append(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(connections.Connection, "connection_made", noted)
    with served(campaign) as running:
        Client(running.link("w0")).insist("agree", {})
    assert options
    assert all(options)


@pytest.mark.parametrize("workers", [1, 2000])
def test_wrong_link_costs_the_same_whatever_the_number_of_workers(workers: int, campaign: Campaign) -> None:
    store = Store(campaign)
    rows = [(f"x{n}",) for n in range(workers)]
    store.connection.executemany("INSERT INTO workers VALUES (?, NULL, 0, 0, '{}')", rows)
    service = Service(campaign, store)
    statements: list[str] = []
    store.connection.set_trace_callback(statements.append)
    for _ in range(3):
        with pytest.raises(RequestError):
            service.worker_of("no-such-token")
    assert statements == ["PRAGMA data_version"] * 3
    # Somebody invited by another process is known at once.
    other = Store(campaign)
    other.add_worker("late")
    assert service.worker_of(campaign.worker_token("late")) == "late"
    other.close()
    store.close()
