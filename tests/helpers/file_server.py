"""Run an HTTP server on the loopback interface that serves files, continues them, and fails as it is told to.

With a video it is a host of videos: any name is that of the video, and some names fail in the ways of real hosts.
"""

from __future__ import annotations

import contextlib
import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler", bytes], None]

_PIECE = 64 * 1024


class FileServer(ThreadingHTTPServer):
    """Server of `files` by path; `answers` has what the next requests for a path get instead, in order.

    Other paths are those of `video`, if there is one, or of `VIDEO_ANSWERS`. `requests` records the path and the Range
    of each request, `queries` and `cookies` what came with them. As a proxy it serves the path of any address as its
    own.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, video: bytes | None = None, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.video = video
        self.files: dict[str, bytes] = {}
        self.answers: dict[str, list[Answer]] = {}
        self.requests: list[tuple[str, str]] = []
        self.queries: list[dict[str, list[str]]] = []
        self.cookies: set[str] = set()
        self.closing = threading.Event()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}{path}"

    @property
    def hits(self) -> Counter[str]:
        """Number of requests for each path."""
        return Counter(path for path, _ in self.requests)

    def find_answer(self, path: str) -> Answer:
        """Return what the next request for a path gets."""
        if self.answers.get(path):
            return self.answers[path].pop(0)
        if path in self.files:
            return whole
        if self.video is None:
            return status(404)
        return VIDEO_ANSWERS.get(path.strip("/").split(".")[0], whole)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect, which tests do on purpose."""


class Handler(BaseHTTPRequestHandler):
    server: FileServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        address = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(address.path)
        self.server.requests.append((path, self.headers.get("Range", "")))
        self.server.queries.append(urllib.parse.parse_qs(address.query))
        self.server.cookies.add(self.headers.get("Cookie", ""))
        is_video = path not in self.server.files and self.server.video is not None
        self.content_type = "video/mp4" if is_video else "application/octet-stream"
        self.server.find_answer(path)(self, self.server.files.get(path, self.server.video or b""))
        # What follows the head of an answer to HEAD is no answer to the next request.
        self.close_connection |= self.command == "HEAD"

    do_HEAD = do_GET

    def log_message(self, *args: object) -> None:
        """Keep the test output clean."""

    def head(self, code: int, length: int | None, **headers: Any) -> None:
        self.send_response(code)
        for name, value in {"Content_Type": self.content_type, **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    @property
    def start(self) -> int:
        """First byte that is asked for."""
        return int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])


def whole(handler: Handler, data: bytes) -> None:
    """Send the file, or what is asked for of it."""
    start = handler.start
    if start and start >= len(data):
        handler.head(416, 0, Content_Range=f"bytes */{len(data)}")
    elif start:
        handler.head(206, len(data) - start, Content_Range=f"bytes {start}-{len(data) - 1}/{len(data)}")
        handler.wfile.write(data[start:])
    else:
        handler.head(200, len(data))
        handler.wfile.write(data)


def never_continued(handler: Handler, data: bytes) -> None:
    """Send the file from its beginning, whatever is asked for."""
    handler.head(200, len(data))
    handler.wfile.write(data)


def status(code: int, **headers: Any) -> Answer:
    def answer(handler: Handler, _: bytes) -> None:
        handler.head(code, 0, **headers)

    return answer


def cut_after(count: int) -> Answer:
    """Promise everything that is asked for, and end the connection after so many bytes."""

    def answer(handler: Handler, data: bytes) -> None:
        start = handler.start
        headers = {"Content_Range": f"bytes {start}-{len(data) - 1}/{len(data)}"} if start else {}
        handler.head(206 if start else 200, len(data) - start, **headers)
        handler.wfile.write(data[start : start + count])
        handler.close_connection = True

    return answer


def stalled_after(count: int) -> Answer:
    """Send so many bytes of the file and then nothing more."""

    def answer(handler: Handler, data: bytes) -> None:
        handler.head(200, len(data))
        handler.wfile.write(data[:count])
        handler.wfile.flush()
        handler.server.closing.wait(60)
        handler.close_connection = True

    return answer


def stated_length(length: int | None) -> Answer:
    """Send the whole file under another length, or without any."""

    def answer(handler: Handler, data: bytes) -> None:
        handler.head(200, length)
        handler.wfile.write(data)
        handler.close_connection = True

    return answer


def instead(content: bytes) -> Answer:
    def answer(handler: Handler, _: bytes) -> None:
        handler.head(200, len(content))
        handler.wfile.write(content)

    return answer


def page(text: str, content_type: str = "text/html") -> Answer:
    def answer(handler: Handler, _: bytes) -> None:
        content = text.encode()
        handler.head(200, len(content), Content_Type=content_type)
        handler.wfile.write(content)

    return answer


def halved(handler: Handler, data: bytes) -> None:
    """Break off in the middle, and continue from there on request."""
    (whole if handler.start else cut_after(len(data) // 2))(handler, data)


def truncated(handler: Handler, data: bytes) -> None:
    """Promise twice as much as there is."""
    stated_length(2 * len(data))(handler, data)


def endless(handler: Handler, _: bytes) -> None:
    handler.head(200, None)
    while not handler.server.closing.is_set():
        handler.wfile.write(bytes(_PIECE))
    handler.close_connection = True


def huge(handler: Handler, _: bytes) -> None:
    stated_length(10**12)(handler, bytes(_PIECE))


def flaky(handler: Handler, data: bytes) -> None:
    """Fail on the first request and succeed afterwards."""
    path = handler.server.requests[-1][0]
    (status(503) if handler.server.hits[path] == 1 else whole)(handler, data)


def later(handler: Handler, data: bytes) -> None:
    """Ask to come back after the seconds that the query says, the first time."""
    address = urllib.parse.urlsplit(handler.path)
    is_first = handler.server.hits[address.path] == 1
    (status(429, Retry_After=address.query) if is_first else whole)(handler, data)


def signed(handler: Handler, data: bytes) -> None:
    """Lead to an address with a signature of the server's own, which is refused."""
    query = urllib.parse.urlsplit(handler.path).query
    status(302, Location=f"/forbidden.mp4?{query}")(handler, data)


def feed(handler: Handler, data: bytes) -> None:
    """Serve a list of videos with titles, as a search service does."""
    items = "".join(
        f"<item><title>{title}</title><link>{link}</link></item>"
        for title, link in (
            ("A dog", "https://www.youtube.com/watch?v=-aBcDeFgHiJ"),
            ("Ein Hündchen &amp; ein Ball", handler.server.url("/good.mp4")),
            ("A dog again", "https://www.youtube.com/watch?v=-aBcDeFgHiJ"),
        )
    )
    text = f'<?xml version="1.0"?><rss version="2.0"><channel>{items}</channel></rss>'
    page(text, "application/rss+xml")(handler, data)


# Name without extension -> what a host of videos answers there.
VIDEO_ANSWERS: dict[str, Answer] = {
    "gone": status(404),
    "forbidden": status(403),
    "busy": status(429),
    "down": status(503),
    "halved": halved,
    "nothing": instead(b""),
    "stall": stalled_after(0),
    "truncated": truncated,
    "endless": endless,
    "huge": huge,
    "loop": status(302, Location="/loop.mp4"),
    "page": page("<html><title>A page</title><body>There is no video here.</body></html>"),
    "several": page(
        '<html><title>Two</title><body><video src="/one.mp4"></video><video src="/two.mp4"></video></body></html>'
    ),
    "flaky": flaky,
    "later": later,
    "signed": signed,
    "feed": feed,
}


@contextlib.contextmanager
def serving_files(video: bytes | None = None, port: int = 0) -> Iterator[FileServer]:
    """Run a server for the time of the block, on any free port unless one is named."""
    with FileServer(video, port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
