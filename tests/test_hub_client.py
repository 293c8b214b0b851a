"""Waits for the Hub have a limit: real servers that say nothing, and what commands make of them."""

from __future__ import annotations

import contextlib
import os
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub import errors

from tests.helpers.forked import COMMANDS
from vttdata.hub_client import explain_timeout, hub_requests

ROOT = Path(__file__).resolve().parents[1]
SHOW = "import sys; from vttdata.cli.main import main; sys.exit(main(['show', 'me/x']))"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"


@contextlib.contextmanager
def silent_server(beginning: bytes = b"") -> Iterator[str]:
    """Run a server that sends the beginning of an answer at most, and provide its address."""
    is_over = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            with contextlib.suppress(OSError):
                self.request.sendall(beginning)
            is_over.wait()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=[0.05]).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            is_over.set()
            server.shutdown()


def test_command_ends_when_the_hub_accepts_and_never_answers(tmp_path: Path) -> None:
    limits = {"HF_HUB_DOWNLOAD_TIMEOUT": "1", "HF_HUB_ETAG_TIMEOUT": "1"}
    own = {"PATH": os.environ["PATH"], "HF_HOME": str(tmp_path / "hf"), "VTTDATA_HOME": str(tmp_path)}
    with silent_server() as url:
        done = COMMANDS.run(["-c", SHOW], {**own, **limits, "HF_ENDPOINT": url}, ROOT)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"the Hub ({url}) does not answer in time (HF_HUB_DOWNLOAD_TIMEOUT)" in done.stderr


@pytest.mark.parametrize("beginning", [b"", HEAD, HEAD + b"abc"])
def test_wait_for_an_answer_or_for_the_rest_of_it_has_a_limit(
    beginning: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT", 1)
    with silent_server(beginning) as url, hub_requests("me/x"), pytest.raises(errors.HTTPError) as caught:  # type: ignore[attr-defined]
        huggingface_hub.get_session().get(url, timeout=None)
    assert "does not answer in time" in str(explain_timeout(caught.value))


def test_client_that_is_made_later_has_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT", 1)
    with silent_server() as url, hub_requests("me/x"):
        huggingface_hub.close_session()
        with pytest.raises(errors.HTTPError):  # type: ignore[attr-defined]
            huggingface_hub.get_session().get(url, timeout=None)


def test_limits_of_the_caller_stay_and_changes_may_take_longer() -> None:
    requests: list[Any] = []
    with silent_server() as url, hub_requests("me/x"), hub_requests("me/y"):
        client = huggingface_hub.get_session()
        client.event_hooks["request"].append(requests.append)
        limits = type(client.timeout)
        for method, limit in (("GET", 0.1), ("POST", 0.2)):
            with pytest.raises(errors.HTTPError):  # type: ignore[attr-defined]
                client.request(method, url, timeout=limits(None, read=limit))
        client.event_hooks["request"].remove(requests.append)
    default = huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT
    assert [request.extensions["timeout"]["read"] for request in requests] == [0.1, 0.2]
    assert [request.extensions["timeout"]["write"] for request in requests] == [default, 10 * default]
