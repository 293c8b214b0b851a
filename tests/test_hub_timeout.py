"""The Hub is not waited for without an end: real servers that say nothing, and what every command makes of them."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub import errors

from tests.helpers.forked import COMMANDS
from tests.helpers.hub.built import build
from tests.helpers.silent_server import silent_server
from vttdata.errors import VttdataError
from vttdata.hub_timeout import HubTimeoutError, hub_timeout_behind, limit_hub_waits

ROOT = Path(__file__).resolve().parents[1]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"

# Runs each command or call in one process, and prints what comes of it as JSON.
CALLER = """
import contextlib, io, json, sys
from vttdata import load_dataset
from vttdata.cli.main import main
said = {}
for words in json.loads(sys.argv[1]):
    stderr = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(stderr):
        try:
            code = load_dataset(words[1], **words[2]) if words[0] == "load_dataset" else main(words)
        except Exception as error:
            code = type(error).__name__
            print(error, file=sys.stderr)
    said[json.dumps(words)] = [code, stderr.getvalue()]
print(json.dumps(said))
"""


@pytest.fixture(autouse=True)
def _limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_HUB_TIMEOUT", "1")


def call(folder: Path, endpoint: str, calls: list[list[object]], **environment: str) -> dict[str, tuple[object, str]]:
    """Run commands and calls as a user whose Hub is at an address; return the code or error and what is printed."""
    own = {"HF_ENDPOINT": endpoint, "HF_HOME": str(folder / "hf"), "HF_TOKEN": "hf_x", "VTTDATA_HOME": str(folder)}
    environment = {"PATH": os.environ["PATH"], "VTTDATA_HUB_TIMEOUT": "1", **own, **environment}
    done = COMMANDS.run(["-c", CALLER, json.dumps(calls)], environment, ROOT)
    assert done.returncode == 0, done.stderr
    return {words: (code, text) for words, (code, text) in json.loads(done.stdout).items()}


def test_every_command_ends_when_the_hub_accepts_and_never_answers(tmp_path: Path) -> None:
    dataset = str(build(tmp_path / "dataset"))
    out = str(tmp_path / "out")
    calls: list[list[object]] = [
        *([name, "me/x"] for name in ("audit", "show", "verify", "list")),
        ["diff", "me/x", dataset],
        ["diff", dataset, "hf://datasets/me/x"],
        ["export", "me/x", "--format", "coco", "--out", out],
        ["degrade", "me/x", "--out", out],
        ["foil", "me/x", "--out", out],
        ["publish", "me/x", "me/y"],
        *(["load_dataset", "me/x", options] for options in ({}, {"verify": True}, {"revision": "1.0.0"})),
        ["load_dataset", "nothing", {}],
        ["list", "--hub"],
        ["publish", dataset, "vttdata/small", "--dry-run"],
        ["publish", dataset, "vttdata/small"],
    ]
    with silent_server() as server:
        results = call(tmp_path, server.url, calls)
    problem = f"the Hub ({server.url}) has not answered for 1 s (VTTDATA_HUB_TIMEOUT)"
    for words, (code, text) in results.items():
        assert problem in text or "nothing" in words, (words, text)
        assert (
            code == (1 if "vttdata/small" in words else "VttdataError" if "load_" in words else 2) or "nothing" in words
        )
        assert "Traceback" not in text
    # Nothing is asked again after the limit.
    assert len(calls) // 2 <= len(server.requests) <= 2 * len(calls)
    assert results[json.dumps(["show", "me/x"])][1].startswith("vttdata: There is no dataset 'me/x': no local build at")


def test_what_is_waited_for_is_said_after_some_seconds(tmp_path: Path) -> None:
    with silent_server() as server:
        results = call(tmp_path, server.url, [["show", "me/x"]], VTTDATA_HUB_TIMEOUT="4")
    ((code, text),) = results.values()
    first, *others = text.splitlines()
    assert first == f"vttdata: waiting for the Hub ({server.url}) to answer about me/x, for at most 4 s"
    assert (code, len(others)) == (2, 1)


def test_notice_counts_what_a_client_gave_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = [100.0]
    monkeypatch.setattr("vttdata.hub_timeout.time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setenv("VTTDATA_HUB_TIMEOUT", "30")
    client = huggingface_hub.get_session()
    httpx = sys.modules[type(client).__module__.partition(".")[0]]
    with silent_server() as server, limit_hub_waits("me/x"):
        for seconds[0] in (100.0, 110.0):
            with pytest.raises(httpx.ReadTimeout):
                client.get(server.url, timeout=0.3)
    assert capsys.readouterr().err == (
        f"vttdata: waiting for the Hub ({server.url}) to answer about me/x, for at most 30 s\n"
    )


def test_hub_that_is_not_there_is_tried_three_times(tmp_path: Path) -> None:
    results = call(tmp_path, "http://127.0.0.1:9", [["load_dataset", "me/x", {}]], VTTDATA_HUB_TIMEOUT="60")
    ((code, text),) = results.values()
    assert code == "VttdataError"
    assert "the Hub (http://127.0.0.1:9) cannot be reached (" in text
    assert "Retry" not in text


@pytest.mark.parametrize("pieces", [[HEAD], [HEAD, b"abc"]])
def test_answer_that_stops_in_the_middle_is_not_waited_for(pieces: list[bytes]) -> None:
    client = huggingface_hub.get_session()
    with silent_server(pieces) as server:
        with limit_hub_waits("me/x"), pytest.raises(HubTimeoutError, match="has not answered for 1 s"):
            client.get(server.url, timeout=None)
        with limit_hub_waits("me/x") as wait, client.stream("GET", server.url, timeout=None) as response:
            with pytest.raises(HubTimeoutError, match="has not answered for 1 s") as caught:
                response.read()
            assert wait.failure is caught.value


def test_slow_answer_is_read_to_its_end() -> None:
    pieces = [HEAD.replace(b"6", b"6000"), *(bytes([letter]) * 1000 for letter in b"abcdef")]
    with silent_server(pieces, pause=0.3) as server, limit_hub_waits("me/x") as wait:
        with huggingface_hub.get_session().stream("GET", server.url, timeout=None) as response:
            assert response.read() == b"".join(pieces[1:])
        assert wait.failure is None


@pytest.mark.parametrize("complete", [b"", HEAD.replace(b"6", b"60")])
def test_answer_that_comes_byte_by_byte_is_not_waited_for(complete: bytes) -> None:
    rest = b"a" * 60 if complete else HEAD
    client = huggingface_hub.get_session()
    with silent_server([complete, *(rest[index : index + 1] for index in range(len(rest)))], pause=0.2) as server:
        with limit_hub_waits("me/x"), pytest.raises(HubTimeoutError, match="has not answered for 1 s"):
            client.get(server.url, timeout=None)
        with (
            limit_hub_waits("me/x"),
            pytest.raises(HubTimeoutError, match="has not answered for 1 s"),
            client.stream("GET", server.url, timeout=None) as response,
        ):
            response.read()
        assert len(server.requests) == 2


def test_command_ends_when_the_hub_trickles(tmp_path: Path) -> None:
    trickle = [bytes([byte]) for byte in HEAD]
    with silent_server(trickle, pause=0.2) as server:
        results = call(tmp_path, server.url, [["show", "me/x"], ["list", "--hub"]])
    for code, text in results.values():
        assert (code, "has not answered for 1 s (VTTDATA_HUB_TIMEOUT)" in text) == (2, True), text


def test_shorter_limits_of_a_client_stay_and_add_up() -> None:
    with silent_server() as server, limit_hub_waits("me/x"):
        with pytest.raises(errors.LocalEntryNotFoundError) as caught:
            huggingface_hub.hf_hub_download("me/x", "a", endpoint=server.url, etag_timeout=0.4)
        assert "has not answered for 1 s" in str(hub_timeout_behind(caught.value))
    assert len(server.requests) <= 4


def test_client_is_as_before_after_the_last_block() -> None:
    client = huggingface_hub.get_session()
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with limit_hub_waits("other"):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    with limit_hub_waits("me/x"):
        with limit_hub_waits("me/y"):
            thread.start()
            entered.wait()
        assert "send" in vars(client)
    assert "send" in vars(client)
    leave.set()
    thread.join()
    assert "send" not in vars(client)


@pytest.mark.parametrize("text", ["x", "0", "-1", "nan", "inf", "1e999"])
def test_limit_that_is_no_time_is_one_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_HUB_TIMEOUT", text)
    message = f"VTTDATA_HUB_TIMEOUT: found '{text}'; it should be a number of seconds"
    with pytest.raises(VttdataError, match=message), limit_hub_waits("me/x"):
        pass
    monkeypatch.setenv("VTTDATA_HUB_TIMEOUT", "")
    with limit_hub_waits("me/x"):
        pass
