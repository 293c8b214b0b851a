"""Run an S3 server on the loopback interface behind a proxy that can refuse and fail as real stores do."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Method and path of a request -> HTTP status to answer with, or None to let it through.
Fault = Callable[[str, str], int | None]
_CODES = {403: "AccessDenied", 503: "SlowDown"}


class FaultyProxy(ThreadingHTTPServer):
    """Proxy before the server at `port`; `fault` decides about each request."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port = port
        self.fault: Fault = lambda _method, _path: None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that were killed."""


class _Handler(BaseHTTPRequestHandler):
    server: FaultyProxy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status = self.server.fault(self.command, self.path)
        if status is not None:
            code = _CODES[status]
            content = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
            self.answer(status, [("Content-Type", "application/xml")], content)
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.request(self.command, self.path, body, dict(self.headers))
        response = connection.getresponse()
        headers = [(k, v) for k, v in response.getheaders() if k.lower() not in ("transfer-encoding", "connection")]
        self.answer(response.status, headers, response.read())
        connection.close()

    def answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response(status)
        has_length = False
        for name, value in headers:
            has_length |= name.lower() == "content-length"
            self.send_header(name, value)
        if not has_length:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = forward
