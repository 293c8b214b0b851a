"""Redirects and embedded players reach nothing inside of the user's network, unless the listed address is there."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.helpers.file_server import FileServer, serving_files
from vttdata.collect import CollectSettings, FetchError, LimitSettings, fetch
from vttdata.collect.ytdlp_program import EXTERNAL
from vttdata.public_hosts import check_host, hosts_of, is_public
from vttdata.records import Candidate, Source
from vttdata.subprocesses import run


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        *(("8.8.8.8", True), ("2606:4700::1111", True), ("::ffff:8.8.8.8", True)),
        *(("127.0.0.1", False), ("10.1.2.3", False), ("192.168.0.1", False), ("169.254.169.254", False)),
        *(("0.0.0.0", False), ("100.64.0.1", False), ("::1", False), ("fe80::1", False), ("fd00::1", False)),
        *(("::ffff:127.0.0.1", False), ("::ffff:169.254.169.254", False)),
        *(("64:ff9b::808:808", True), ("64:ff9b::7f00:1", False), ("64:ff9b::a9fe:a9fe", False)),
        *(("64:ff9b:1::808:808", False), ("2002:808:808::1", True), ("2002:a00:1::1", False)),
        *(("::8.8.8.8", True), ("::127.0.0.1", False), ("::10.0.0.1", False), ("::", False)),
        *(("fec0::1", False), ("224.0.0.1", False), ("ff02::1", False), ("ff0e::1", False)),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
    ],
)
def test_addresses_of_the_public_internet_are_told_from_others(address: str, expected: bool) -> None:
    assert is_public(address) is expected


def test_names_are_checked_by_what_they_resolve_to() -> None:
    with pytest.raises(PermissionError, match=r"127\.0\.0\.1 is not a public address, and the listed one is elsewhere"):
        check_host("localhost", {"::1"})
    check_host("localhost", {"127.0.0.1", "::1"})
    assert hosts_of(["http://a.org:8/x", "no address", "rtmp://[::1]:9/", "http://[bad"]) == {"a.org", "::1"}


class _Elsewhere(BaseHTTPRequestHandler):
    """Server at another loopback address, which leads to the internal one."""

    internal = ""

    def do_GET(self) -> None:
        if self.path.startswith("/page"):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f'<html><title>x</title><video src="{self.internal}"></video></html>'.encode())
            return
        self.send_response(302)
        self.send_header("Location", self.internal)
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *args: object) -> None:
        """Keep the test output clean."""


@pytest.fixture
def elsewhere(server: FileServer) -> Iterator[str]:
    handler = type("Handler", (_Elsewhere,), {"internal": server.url("/good.mp4")})
    outer = ThreadingHTTPServer(("127.0.0.2", 0), handler)
    threading.Thread(target=outer.serve_forever, daemon=True).start()
    yield f"http://127.0.0.2:{outer.server_port}"
    outer.shutdown()


def get(url: str, store: Path) -> Source:
    settings = CollectSettings(
        folder=".", limits=LimitSettings(60.0, 10.0), retries=0, backoff_seconds=0.0, sleep_seconds=0.0
    )
    return fetch(Candidate("url", url), originals=store, store=store, settings=settings)


@pytest.mark.usefixtures("fresh_interpreters")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has 127.0.0.2")
@pytest.mark.parametrize("path", ["/redirect.mp4", "/page.html"])
def test_link_into_the_network_of_the_user_is_not_followed(
    path: str, elsewhere: str, server: FileServer, tmp_path: Path
) -> None:
    before = sum(server.hits.values())
    with pytest.raises(FetchError) as caught:
        get(f"{elsewhere}{path}", tmp_path)
    assert (caught.value.reason, caught.value.retry) == ("forbidden", False)
    assert "127.0.0.1 is not a public address, and the listed one is elsewhere" in caught.value.detail
    assert sum(server.hits.values()) == before


def test_listed_address_may_be_inside(server: FileServer, tmp_path: Path) -> None:
    assert get(server.url("/good.mp4"), tmp_path).bytes == len(server.video)


UNKNOWN_KEY = (
    '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=SAMPLE-AES-X,URI="{0}"\n#EXTINF:2,\n{0}\n#EXT-X-ENDLIST\n'
)


@pytest.mark.usefixtures("fresh_interpreters")
def test_no_other_program_downloads(server: FileServer, tmp_path: Path) -> None:
    """yt-dlp gives a playlist whose key method it does not know to ffmpeg, which would follow any address in it."""
    with serving_files(server.video) as inside:
        server.files["/list.m3u8"] = UNKNOWN_KEY.format(inside.url("/good.mp4")).encode()
        with pytest.raises(FetchError) as caught:
            get(server.url("/list.m3u8"), tmp_path)
        assert inside.hits.total() == 0
    assert (caught.value.reason, caught.value.retry) == ("unsupported", False)
    assert EXTERNAL in caught.value.detail


def test_program_is_given_no_address() -> None:
    script = (
        "import subprocess, sys\nfrom vttdata.collect.ytdlp_program import guard\nguard(['--', 'http://127.0.0.2/x'])\n"
        "try: subprocess.run(['true', '-i', 'http://127.0.0.2/x.m3u8'])\n"
        "except PermissionError as error: print(error)\nsubprocess.run(['true', 'file:a.mp4'])"
    )
    done = run([sys.executable, "-c", script], seconds=30)
    assert (done.code, done.stdout) == (0, f"{EXTERNAL}\n")


def test_signature_in_an_address_is_not_published(server: FileServer, tmp_path: Path) -> None:
    source = get(server.url("/good.mp4?v=7&sig=deadbeef&Expires=99"), tmp_path)
    assert source.url == server.url("/good.mp4?v=7")
