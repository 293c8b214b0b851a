"""Run an HTTP server on the loopback interface that serves videos and fails in the ways of real video hosts."""

from __future__ import annotations

import contextlib
import threading
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STATUS = {"/gone.mp4": 404, "/forbidden.mp4": 403, "/busy.mp4": 429, "/down.mp4": 503}
_PIECE = 64 * 1024


class MediaServer(ThreadingHTTPServer):
    """Server of `video` under several names, `files` under theirs, and failures under others.

    `hits` counts the requests for each path; `queries`, `cookies` and `starts` (of ranges) record what came with them.
    As a proxy it serves the path of any address as its own.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, video: bytes, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.video = video
        self.hits: Counter[str] = Counter()
        self.queries: list[dict[str, list[str]]] = []
        self.cookies: set[str] = set()
        self.starts: set[int] = set()
        self.files: dict[str, bytes] = {}
        self.closing = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect, which tests do on purpose."""


class _Handler(BaseHTTPRequestHandler):
    server: MediaServer

    def do_GET(self) -> None:
        address = urllib.parse.urlsplit(self.path)
        self.server.hits[address.path] += 1
        if address.path in STATUS:
            self.send_error(STATUS[address.path])
            return
        self.server.queries.append(urllib.parse.parse_qs(address.query))
        self.server.cookies.add(self.headers.get("Cookie", ""))
        if address.path in self.server.files:
            self.serve_file(self.server.files[address.path])
            return
        name = urllib.parse.unquote(address.path).strip("/").split(".")[0].replace("-", "_")
        getattr(self, f"serve_{name}", self.serve_good)()

    do_HEAD = do_GET

    def log_message(self, *args: object) -> None:
        """Keep the test output clean."""

    def _headers(self, length: int | None, content_type: str = "video/mp4", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _text(self, text: str, content_type: str) -> None:
        data = text.encode()
        self._headers(len(data), content_type)
        self.wfile.write(data)

    def serve_good(self) -> None:
        self._headers(len(self.server.video))
        self.wfile.write(self.server.video)

    def serve_file(self, data: bytes) -> None:
        self._headers(len(data), "application/octet-stream")
        self.wfile.write(data)

    def serve_halved(self) -> None:
        """Break off in the middle, and continue from there on request."""
        data = self.server.video
        wanted = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0]
        start = int(wanted)
        self.server.starts.add(start)
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", "video/mp4")
        self.send_header("Content-Length", str(len(data) - start))
        self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[start:] if start else data[: len(data) // 2])

    def serve_nothing(self) -> None:
        self._headers(0)

    def serve_stall(self) -> None:
        self._headers(len(self.server.video))
        self.wfile.flush()
        self.server.closing.wait(60)

    def serve_truncated(self) -> None:
        self._headers(2 * len(self.server.video))
        self.wfile.write(self.server.video)

    def serve_endless(self) -> None:
        self._headers(None)
        while not self.server.closing.is_set():
            self.wfile.write(bytes(_PIECE))

    def serve_huge(self) -> None:
        self._headers(10**12)
        self.wfile.write(bytes(_PIECE))

    def serve_loop(self) -> None:
        self.send_response(302)
        self.send_header("Location", self.path)
        self.end_headers()

    def serve_page(self) -> None:
        self._text("<html><title>A page</title><body>There is no video here.</body></html>", "text/html")

    def serve_several(self) -> None:
        embeds = "".join(f'<video src="/{name}.mp4"></video>' for name in ("one", "two"))
        self._text(f"<html><title>Two</title><body>{embeds}</body></html>", "text/html")

    def serve_flaky(self) -> None:
        """Fail on the first request and succeed afterwards."""
        if self.server.hits["/flaky.mp4"] == 1:
            self.send_error(503)
        else:
            self.serve_good()

    def serve_feed(self) -> None:
        """Serve a list of videos with titles, as a search service does."""
        items = "".join(
            f"<item><title>{title}</title><link>{link}</link></item>"
            for title, link in (
                ("A dog", "https://www.youtube.com/watch?v=-aBcDeFgHiJ"),
                ("Ein Hündchen &amp; ein Ball", self.server.url("/good.mp4")),
                ("A dog again", "https://www.youtube.com/watch?v=-aBcDeFgHiJ"),
            )
        )
        self._text(f'<?xml version="1.0"?><rss version="2.0"><channel>{items}</channel></rss>', "application/rss+xml")


@contextlib.contextmanager
def serving(video: bytes, port: int = 0) -> Iterator[MediaServer]:
    """Run a server for the length of a test, on any free port unless one is named."""
    with MediaServer(video, port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
