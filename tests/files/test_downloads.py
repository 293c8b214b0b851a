from __future__ import annotations

import dataclasses
import email.utils
import errno
import hashlib
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.file_server import (
    FileServer,
    cut_after,
    instead,
    never_continued,
    serving_files,
    stalled_after,
    stated_length,
    status,
)
from vttdata.errors import HaltError, VttdataError
from vttdata.files.downloads import DownloadStore, OriginFile, Timeouts, UnreachableError

DATA = random.Random(42).randbytes(300_000)
SHA256 = hashlib.sha256(DATA).hexdigest()
PAGE = b"<html>Please log in</html>"
# Downloads are written in pieces of this size.
PIECE = 2**13
REST = f"bytes={2 * PIECE}-"
FAST = Timeouts(waits=(0.01, 0.01, 0.01))
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving_files() as running:
        running.files["/data.bin"] = DATA
        yield running


@pytest.fixture
def file(server: FileServer) -> OriginFile:
    return OriginFile("lab", "sub/data.bin", (server.url("/data.bin"),), len(DATA), SHA256, "MIT")


@pytest.fixture
def store(tmp_path: Path) -> DownloadStore:
    return DownloadStore(tmp_path / "downloads", mirror="", offline=False, timeouts=FAST)


def stored(store: DownloadStore) -> list[str]:
    """Return the names under which there are files, and check that they are their digests."""
    paths = [path for path in store.folder.glob("*") if path.is_file()]
    for path in paths:
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    return [path.name for path in paths]


def refusal(store: DownloadStore, file: OriginFile) -> str:
    with pytest.raises(VttdataError) as refused:
        store.fetch([file])
    assert stored(store) == []
    assert "\n" not in str(refused.value)
    assert "lab/sub/data.bin" in str(refused.value)
    return str(refused.value)


def test_file_is_kept_under_its_digest_and_asked_for_once(
    server: FileServer, store: DownloadStore, file: OriginFile
) -> None:
    assert store.find(file) is None
    path = store.fetch([file])[file]
    assert path == store.folder / SHA256
    assert path.read_bytes() == DATA
    assert store.fetch([file]) == {file: path}
    assert server.requests == [("/data.bin", "")]


def test_damaged_stored_file_is_downloaded_again(store: DownloadStore, file: OriginFile) -> None:
    path = store.fetch([file])[file]
    path.write_bytes(DATA[:-1] + b"?")
    assert store.find(file) is None
    assert store.fetch([file])[file].read_bytes() == DATA


@pytest.mark.parametrize(
    ("answers", "ranges"),
    [
        ([cut_after(2 * PIECE), cut_after(PIECE + 9)], ["", REST, f"bytes={3 * PIECE}-"]),
        ([cut_after(2 * PIECE), never_continued], ["", REST]),
        ([cut_after(0), cut_after(0)], ["", "", ""]),
        ([cut_after(2 * PIECE), status(416)], ["", REST, ""]),
        ([cut_after(2 * PIECE), status(206, Content_Range="bytes 7-8/9")], ["", REST, ""]),
        ([status(503), status(429, Retry_After=0)], ["", "", ""]),
        ([status(429, Retry_After=email.utils.formatdate(0, usegmt=True))], ["", ""]),
        ([status(503, Retry_After="soon")], ["", ""]),
        ([stated_length(None)], [""]),
    ],
)
def test_passing_failure_ends_in_the_same_bytes(
    server: FileServer, store: DownloadStore, file: OriginFile, answers: list, ranges: list[str]
) -> None:
    server.answers["/data.bin"] = answers
    assert store.fetch([file])[file].read_bytes() == DATA
    assert [asked for _, asked in server.requests] == ranges
    assert stored(store) == [SHA256]
    assert list((store.folder / "partial").iterdir()) == []


def test_beginning_of_another_file_is_not_continued_for_ever(
    server: FileServer, store: DownloadStore, file: OriginFile
) -> None:
    partial = store.folder / "partial" / SHA256
    partial.parent.mkdir(parents=True)
    partial.write_bytes(PAGE)
    assert store.fetch([file])[file].read_bytes() == DATA
    assert [asked for _, asked in server.requests] == [f"bytes={len(PAGE)}-", ""]


@pytest.mark.parametrize("code", [401, 403, 404, 410])
def test_refusal_of_a_server_is_final(server: FileServer, store: DownloadStore, file: OriginFile, code: int) -> None:
    server.answers["/data.bin"] = [status(code)]
    message = refusal(store, file)
    assert f"answers {code}" in message
    assert SHA256 in message
    assert "VTTDATA_MIRROR" in message
    assert len(server.requests) == 1


def test_server_that_always_fails_is_given_up(server: FileServer, store: DownloadStore, file: OriginFile) -> None:
    server.answers["/data.bin"] = [status(503)] * 9
    assert "answers 503" in refusal(store, file)
    assert len(server.requests) == 1 + len(FAST.waits)


def test_wait_that_a_server_asks_for_is_not_longer_than_the_limit(
    server: FileServer, store: DownloadStore, file: OriginFile
) -> None:
    server.answers["/data.bin"] = [status(429, Retry_After=10**6)]
    assert "VTTDATA_DOWNLOAD_TIMEOUT" in refusal(store, file)


def test_cut_that_brings_nothing_any_more_is_given_up(
    server: FileServer, store: DownloadStore, file: OriginFile
) -> None:
    server.answers["/data.bin"] = [cut_after(2 * PIECE), *[cut_after(0)] * 9]
    assert f"after {2 * PIECE:,} of {len(DATA)} bytes" in refusal(store, file)
    server.answers.clear()
    assert store.fetch([file])[file].read_bytes() == DATA


@pytest.mark.parametrize(
    ("answer", "content"),
    [(instead(PAGE), PAGE), (stated_length(1000), DATA[:1000]), (instead(DATA[::-1]), DATA[::-1])],
)
def test_other_content_is_kept_aside_and_both_digests_are_named(
    server: FileServer, store: DownloadStore, file: OriginFile, answer: object, content: bytes
) -> None:
    server.answers["/data.bin"] = [answer]  # type: ignore[list-item]
    message = refusal(store, file)
    other = hashlib.sha256(content).hexdigest()
    assert SHA256 in message
    assert other in message
    (aside,) = (store.folder / "refused").iterdir()
    assert str(aside) in message
    assert aside.read_bytes() == content
    assert store.fetch([file])[file].read_bytes() == DATA


def test_endless_answer_is_refused(server: FileServer, store: DownloadStore, file: OriginFile) -> None:
    server.answers["/data.bin"] = [instead(bytes(2**25))]
    assert "sends more than" in refusal(store, file)


def test_other_address_is_asked_when_the_first_does_not_have_the_file(
    server: FileServer, store: DownloadStore, file: OriginFile
) -> None:
    server.files["/page"] = PAGE
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/data.bin"
        places = (nobody, server.url("/gone"), server.url("/page"), *file.addresses)
        assert store.fetch([dataclasses.replace(file, addresses=places)]).popitem()[1].read_bytes() == DATA
    assert [path for path, _ in server.requests] == ["/gone", "/page", "/data.bin"]


def test_server_that_is_not_there_is_named(store: DownloadStore, file: OriginFile) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{closed.getsockname()[1]}"
        nobody = dataclasses.replace(file, addresses=(f"http://{host}/x",))
        assert f"{host} cannot be reached" in refusal(store, nobody)
        with pytest.raises(UnreachableError):
            store.fetch([nobody])


def test_file_without_an_address_is_said_to_have_none(store: DownloadStore, file: OriginFile) -> None:
    message = refusal(store, dataclasses.replace(file, addresses=(), licence="ask somebody"))
    assert "no address of it is known" in message
    assert "ask somebody" in message


def test_redirect_to_another_host_is_followed(server: FileServer, store: DownloadStore, file: OriginFile) -> None:
    server.answers["/moved"] = [status(302, Location=server.url("/data.bin", host="localhost"))]
    moved = dataclasses.replace(file, addresses=(server.url("/moved"),))
    assert store.fetch([moved])[moved].read_bytes() == DATA


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.2", "localhost", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]"),
        # `requests` reads these as 127.0.0.1.
        *("%31%32%37.0.0.1", "127%2e0%2E0%2e1", "a@127%2e0.0.1"),
        *("127.0.0.1\\.a.org", "[::1"),
    ],
)
def test_redirect_from_a_public_address_into_a_network_is_not_followed(
    server: FileServer, store: DownloadStore, file: OriginFile, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """The origin's name has a public address, at which this server answers."""
    origin = "93.184.216.34"
    look_up, connect = socket.getaddrinfo, socket.socket.connect

    def connect_here(self: socket.socket, to: tuple[Any, ...]) -> None:
        connect(self, ("127.0.0.1", *to[1:]) if to[0] == origin else to)

    def look_up_origin(host: str, *rest: Any, **options: Any) -> list[Any]:
        return look_up(origin if host == "origin.example" else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up_origin)
    monkeypatch.setattr(socket.socket, "connect", connect_here)
    target = server.url("/data.bin", host=host)
    server.answers["/moved"] = [status(302, Location=target)]
    moved = dataclasses.replace(file, addresses=(server.url("/moved", host="origin.example"),))
    assert "redirects elsewhere: " in refusal(store, moved)
    assert [path for path, _ in server.requests] == ["/moved"]
    here = dataclasses.replace(file, addresses=(server.url("/data.bin", host="origin.example"),))
    assert store.fetch([here])[here].read_bytes() == DATA


def test_endless_redirect_is_refused(server: FileServer, store: DownloadStore, file: OriginFile) -> None:
    server.answers["/loop"] = [status(302, Location="/loop")] * 99
    assert "does not answer as it should" in refusal(store, dataclasses.replace(file, addresses=(server.url("/loop"),)))


def test_silent_server_is_given_up_when_the_time_is_over(
    server: FileServer, store: DownloadStore, file: OriginFile
) -> None:
    server.answers["/data.bin"] = [stalled_after(2 * PIECE)]
    hasty = DownloadStore(store.folder, mirror="", offline=False, timeouts=Timeouts(total=0.3))
    assert "VTTDATA_DOWNLOAD_TIMEOUT" in refusal(hasty, file)
    assert store.fetch([file])[file].read_bytes() == DATA
    assert server.requests[-1] == ("/data.bin", REST)


def test_proxy_of_the_environment_is_asked(
    server: FileServer, store: DownloadStore, file: OriginFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url(""))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    far = dataclasses.replace(file, addresses=("http://example.invalid/data.bin",))
    assert store.fetch([far])[far].read_bytes() == DATA


class TestGitBlob:
    # What `git hash-object` prints for DATA.
    BLOB = "06939d43b2c569228b8c8bcd7497f7b0fca5d6c7"

    @pytest.fixture
    def blob(self, file: OriginFile) -> OriginFile:
        return dataclasses.replace(file, bytes=None, digest=self.BLOB)

    def test_is_kept_under_its_id(self, server: FileServer, store: DownloadStore, blob: OriginFile) -> None:
        server.answers["/data.bin"] = [cut_after(2 * PIECE)]
        path = store.fetch([blob])[blob]
        assert (path.name, path.read_bytes()) == (self.BLOB, DATA)
        assert server.requests[-1] == ("/data.bin", REST)
        path.write_bytes(DATA[:-1])
        assert store.find(blob) is None

    @pytest.mark.parametrize("answer", [instead(PAGE), instead(b""), stated_length(16), cut_after(16)])
    def test_nothing_else_is_taken_in_its_place(
        self, server: FileServer, store: DownloadStore, blob: OriginFile, answer: Any
    ) -> None:
        server.answers["/data.bin"] = [answer, answer, status(404)]
        with pytest.raises(VttdataError, match=self.BLOB):
            store.fetch([blob])
        assert stored(store) == []
        server.answers.clear()
        assert store.fetch([blob])[blob].read_bytes() == DATA


class TestMirror:
    @pytest.mark.parametrize("name", ["lab/sub/data.bin", SHA256, "anywhere/below/data.bin"])
    def test_folder_has_the_file_by_name_or_digest(
        self, server: FileServer, tmp_path: Path, file: OriginFile, name: str
    ) -> None:
        path = tmp_path / "mirror" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(DATA)
        (tmp_path / "mirror" / "data.bin").write_bytes(DATA[::-1])
        store = DownloadStore(tmp_path / "downloads", mirror=str(tmp_path / "mirror"), offline=True)
        assert store.fetch([file])[file].read_bytes() == DATA
        assert path.read_bytes() == DATA
        assert server.requests == []

    @pytest.mark.parametrize("path", ["/mirror/lab/sub/data.bin", f"/mirror/{SHA256}"])
    def test_address_is_asked_before_the_origin(
        self, server: FileServer, tmp_path: Path, file: OriginFile, path: str
    ) -> None:
        server.files[path] = DATA
        store = DownloadStore(tmp_path / "downloads", mirror=server.url("/mirror/"), offline=False, timeouts=FAST)
        assert store.fetch([file])[file].read_bytes() == DATA
        assert server.requests[-1] == (path, "")

    def test_origin_is_asked_for_what_a_mirror_lacks(
        self, server: FileServer, tmp_path: Path, file: OriginFile
    ) -> None:
        store = DownloadStore(tmp_path / "downloads", mirror=str(tmp_path), offline=False, timeouts=FAST)
        assert store.fetch([file])[file].read_bytes() == DATA

    def test_that_is_no_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(VttdataError, match="VTTDATA_MIRROR"):
            DownloadStore(tmp_path, mirror=str(tmp_path / "nowhere"))
        for mirror in ("me:SECRET@a.org/x", "https://me:SEC/RET@a.org/x"):
            with pytest.raises(VttdataError, match="VTTDATA_MIRROR") as caught:
                DownloadStore(tmp_path, mirror=mirror)
            assert "SEC" not in str(caught.value)


@pytest.mark.parametrize("variable", ["VTTDATA_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline_opens_no_socket(
    server: FileServer, tmp_path: Path, file: OriginFile, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    message = refusal(DownloadStore(tmp_path / "downloads"), file)
    assert "offline" in message
    assert server.requests == []


def fetching(server: FileServer, folder: Path) -> subprocess.Popen[str]:
    code = (
        "import sys; from pathlib import Path; from vttdata.files.downloads import DownloadStore, OriginFile\n"
        f"file = OriginFile('lab', 'sub/data.bin', ({server.url('/data.bin')!r},), {len(DATA)}, {SHA256!r}, 'MIT')\n"
        f"print(DownloadStore(Path({str(folder)!r}), mirror='', offline=False).fetch([file])[file])"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)


def wait_until(server: FileServer, count: int) -> None:
    while len(server.requests) < count:
        time.sleep(0.02)


def test_two_processes_at_once_download_a_file_once(server: FileServer, store: DownloadStore) -> None:
    server.answers["/data.bin"] = [stalled_after(2 * PIECE)]
    first = fetching(server, store.folder)
    wait_until(server, 1)
    second = fetching(server, store.folder)
    # The second one is at the lock by now, or comes to it later.
    time.sleep(0.5)
    server.closing.set()
    for process in (first, second):
        assert process.communicate()[0].strip() == str(store.folder / SHA256)
        assert process.returncode == 0
    assert stored(store) == [SHA256]
    assert [asked for _, asked in server.requests] == ["", REST]


@pytest.mark.not_on("win32")
def test_killed_download_is_continued(server: FileServer, store: DownloadStore, file: OriginFile) -> None:
    server.answers["/data.bin"] = [stalled_after(70_000)]
    process = fetching(server, store.folder)
    partial = store.folder / "partial" / SHA256
    while not partial.is_file() or partial.stat().st_size == 0:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert stored(store) == []
    received = partial.stat().st_size
    assert store.fetch([file])[file].read_bytes() == DATA
    assert server.requests[-1] == ("/data.bin", f"bytes={received}-")


@pytest.mark.not_on("win32")
def test_full_disk_halts_and_loses_nothing(store: DownloadStore, file: OriginFile) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(HaltError, match=os.strerror(errno.EFBIG)):
            store.fetch([file])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert stored(store) == []
    assert store.fetch([file])[file].read_bytes() == DATA


def test_file_that_the_disk_has_no_room_for_is_not_begun(
    server: FileServer, store: DownloadStore, file: OriginFile
) -> None:
    with pytest.raises(HaltError, match=os.strerror(errno.ENOSPC)):
        store.fetch([dataclasses.replace(file, bytes=2**60)])
    assert server.requests == []
