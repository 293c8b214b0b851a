"""A local Hub: an HTTP server that answers the clients of the Hub as the Hub does, as far as datasets need it.

It records every request, and those it has no answer for. Left out: pull requests, gating, Xet, multipart uploads, the
dataset viewer, pages of long listings.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.helpers.hub.store import Refused, Store

WRITER, READER = "hf_writerTokenThatNobodyMaySee", "hf_readerTokenThatNobodyMaySee"
USERS = {WRITER: ("vttdata", "write"), READER: ("reader", "read")}


@dataclass
class Request:
    """One request, and what it was answered; `status` stays 0 where the connection was cut."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes = b""
    status: int = 0

    @property
    def token(self) -> str | None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token if scheme == "Bearer" else None

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    """What is sent back; `file` is sent in the place of `body`, or the part of it that was asked for."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    file: Path | None = None


class CutError(Exception):
    """Ends the connection without an answer."""


Before = Callable[[Request], "Answer | None"]
Handler = Callable[["Hub", Request, dict[str, str]], Answer]
_ROUTES: list[tuple[str, re.Pattern[str], Handler]] = []


def route(method: str, pattern: str) -> Callable[[Handler], Handler]:
    """Say that a function answers `method` on paths of this pattern; ``{repo}``, ``{rev}`` and ``{path}`` are parts."""
    parts = {"repo": r"(?P<repo>[^/]+/[^/]+)", "rev": r"(?P<rev>[^/]+)", "path": "(?P<path>.*)"}
    compiled = re.compile(re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], pattern) + r"\Z")

    def add(handler: Handler) -> Handler:
        _ROUTES.append((method, compiled, handler))
        return handler

    return add


class Hub:
    """A running Hub at `url`, which keeps large files at another address, `storage`, where no token must arrive.

    Functions in `before` see each request first, and may answer it.
    """

    def __init__(self, folder: Path) -> None:
        import tests.helpers.hub.routes  # noqa: F401

        self.store = Store(folder)
        self.requests: list[Request] = []
        self.unhandled: list[Request] = []
        self.before: list[Before] = []
        self._cuts: list[tuple[str, str, Iterator[int]]] = []
        self.lock = threading.RLock()
        hub = self

        class _Handler(_HubHandler):
            def is_cut(self, request: Request) -> bool:
                return hub.is_cut(request)

            def answer_to(self, request: Request) -> Answer:
                return hub.answer(request)

        self._servers = [_Server(("127.0.0.1", 0), _Handler) for _ in range(2)]
        # Some versions of the client follow a redirection to the same host, whatever its port is.
        hosts = ("127.0.0.1", "localhost")
        self.url, self.storage = (
            f"http://{host}:{server.server_port}" for host, server in zip(hosts, self._servers, strict=True)
        )
        for server in self._servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def answer(self, request: Request) -> Answer:
        with self.lock:
            self.requests.append(request)
            answer = self._answer(request)
            request.status = answer.status
            return answer

    def _answer(self, request: Request) -> Answer:
        for before in list(self.before):
            answer = before(request)
            if answer is not None:
                return answer
        method = "GET" if request.method == "HEAD" else request.method
        for known, pattern, handler in _ROUTES:
            found = pattern.match(request.path)
            if known == method and found:
                parts = {name: unquote(part or "") for name, part in found.groupdict().items()}
                try:
                    return handler(self, request, parts)
                except Refused as error:
                    return refusal(error)
        self.unhandled.append(request)
        return Answer(404, b"no such endpoint")

    def find_requests(self, method: str, pattern: str) -> list[Request]:
        """The requests so far of this method whose path matches."""
        return [own for own in self.requests if own.method == method and re.search(pattern, own.path)]

    def fail(self, method: str, pattern: str, status: int, times: int = 1, **headers: str) -> None:
        """Answer the next requests of this kind with an error."""
        left = iter(range(times))

        def answer(request: Request) -> Answer | None:
            if request.method == method and re.search(pattern, request.path) and next(left, None) is not None:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                return Answer(status, b'{"error":"try again"}', {"Content-Type": "application/json", **named})
            return None

        self.before.append(answer)

    def cut(self, method: str, pattern: str, times: int = 1) -> None:
        """End the connection of the next requests of this kind in the middle of what they send."""
        self._cuts.append((method, pattern, iter(range(times))))

    def is_cut(self, request: Request) -> bool:
        """Whether this request's connection is to end half way; such a request is recorded without a status."""
        for method, pattern, left in self._cuts:
            if request.method == method and re.search(pattern, request.path) and next(left, None) is not None:
                self.requests.append(request)
                return True
        return False


def refusal(error: Refused) -> Answer:
    """How a Hub says no."""
    headers = {"X-Error-Message": str(error), "Content-Type": "application/json"}
    headers |= {"X-Error-Code": error.code} if error.code else {}
    return Answer(error.status, json.dumps({"error": str(error)}).encode(), headers)


class _Server(ThreadingHTTPServer):
    """Takes as many callers at once as there are; those above the usual 5 would wait seconds on a busy machine."""

    request_queue_size = 128
    daemon_threads = True


class _HubHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def is_cut(self, request: Request) -> bool:
        raise NotImplementedError

    def answer_to(self, request: Request) -> Answer:
        raise NotImplementedError

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError, CutError):
            self.close_connection = True

    def _handle(self) -> None:
        url = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, url.path, parse_qs(url.query), headers)
        if self.is_cut(request):
            self.rfile.read(int(headers.get("content-length", 0)) // 2)
            raise CutError
        request.body = b"".join(self._body(headers))
        answer = self.answer_to(request)
        size = answer.file.stat().st_size if answer.file else len(answer.body)
        start, stop = _range(headers.get("range"), size) if answer.file else (0, size)
        if answer.file and "range" in headers:
            answer.status = request.status = 206
            answer.headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(stop - start)}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(_read(answer.file, start, stop) if answer.file else answer.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle

    def _body(self, headers: dict[str, str]) -> Iterator[bytes]:
        if headers.get("transfer-encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            announced = int(headers.get("content-length", 0))
            content = self.rfile.read(announced)
            if len(content) < announced:
                raise CutError
            yield content

    def log_message(self, *arguments: Any) -> None:
        """Say nothing: the requests are recorded."""


def _range(header: str | None, size: int) -> tuple[int, int]:
    found = re.fullmatch(r"bytes=(\d+)-(\d*)", header or "")
    return (int(found[1]), min(size, int(found[2]) + 1) if found[2] else size) if found else (0, size)


def _read(path: Path, start: int, stop: int) -> bytes:
    with path.open("rb") as stream:
        stream.seek(start)
        return stream.read(stop - start)
