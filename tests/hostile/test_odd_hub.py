"""A Hub that answers with other JSON than a Hub's ends a command in one sentence."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.helpers.forked import COMMANDS

ANSWERS = {"null": b"null", "list": b"[]", "nothing": b"{}", "deep": b"[" * 100_000, "bytes": b"\xff"}


class _OddHub(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = ANSWERS[self.path.split("/")[1]]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *args: object) -> None:
        """Keep the test output clean."""


@pytest.fixture(scope="module")
def odd_hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _OddHub)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.sampled(2)
def test_odd_answer_ends_in_one_sentence(answer: str, odd_hub: str) -> None:
    endpoint = f"{odd_hub}/{answer}"
    ended = COMMANDS.run(["vttdata.cli.main", "show", "me/x"], os.environ | {"HF_ENDPOINT": endpoint})
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended
    assert endpoint in ended.stderr or answer == "bytes"
