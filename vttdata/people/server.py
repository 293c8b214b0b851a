"""HTTP server of a campaign: pages of workers and of the requester, videos with byte ranges, answers as JSON.

A worker is whoever has the token of their link, and the requester whoever has that of the requester's page; there are
no cookies, so that no other site can act for them. Nothing is read from outside the campaign and the package.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import socket
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from vttdata.errors import VttdataError
from vttdata.people.addresses import is_url, policy_source
from vttdata.people.campaign import Campaign, check_videos
from vttdata.people.connections import Connection, OncePerMinute
from vttdata.people.results import campaign_results
from vttdata.people.service import RequestError, Service, lock_campaign
from vttdata.people.store import SaveError, Store
from vttdata.people.task import Observed, Row, script_of

MAX_BODY = 64 * 1024
"""Bytes of the longest request."""

_WAITING_CLIENTS = 4096
_MAX_ID = 64
_MAX_PROBLEM = 500
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_HEADERS = {
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"cache-control": b"no-store",
    b"x-robots-tag": b"noindex",
    b"cross-origin-resource-policy": b"same-origin",
}
# Mechanical Turk shows the page in a frame and takes its answers from a form.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; media-src {media}; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action https://*.mturk.com; frame-ancestors {frames}; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


class _Answers:
    """Answers on their way to the disk: those that arrive while others are written share the next commit."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.waiting: list[tuple[tuple[Any, ...], asyncio.Future[Row | Exception]]] = []
        self.writing: asyncio.Task[None] | None = None

    async def save(self, *fields: Any) -> Row:
        """Return what `Service.answer` returns, once the answer is on the disk."""
        future: asyncio.Future[Row | Exception] = asyncio.get_running_loop().create_future()
        self.waiting.append((fields, future))
        if self.writing is None or self.writing.done():
            self.writing = asyncio.create_task(self._write())
        outcome = await future
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _write(self) -> None:
        while self.waiting:
            group, self.waiting = self.waiting, []
            outcomes: list[Row | Exception]
            try:
                outcomes = await run_in_threadpool(self.service.answer_together, [fields for fields, _ in group])
            except Exception as error:
                outcomes = [error] * len(group)
            for (_, future), outcome in zip(group, outcomes, strict=True):
                if not future.cancelled():
                    future.set_result(outcome)


class _Site:
    """Answers to the requests of a campaign's pages."""

    def __init__(self, campaign: Campaign, service: Service) -> None:
        self.campaign, self.service, self.answers = campaign, service, _Answers(service)
        site = files("vttdata.people").joinpath("site")
        self.pages = {path.name: path.read_bytes() for path in site.iterdir() if Path(path.name).suffix in _TYPES}
        self.pages["task.js"] = script_of(campaign.task_name).read_bytes()
        self.pages["transport.js"] = self.pages["served.js"]
        pages = [video.page for video in campaign.videos.values()]
        self.media = " ".join(sorted({policy_source(page) for page in pages if is_url(page)} | {"'self'"}))

    def page(self, name: str, frames: str = "'none'") -> Response:
        suffix = Path(name).suffix
        response = Response(self.pages[name], media_type=f"{_TYPES[suffix]}; charset=utf-8")
        if suffix == ".html":
            response.headers["Content-Security-Policy"] = _POLICY.format(frames=frames, media=self.media)
        return response

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self.pages or name.endswith(".html"):
            raise RequestError(404, "There is no such file.")
        return self.page(name)

    async def worker(self, request: Request) -> str:
        token = request.path_params["token"]
        known = self.service.known_tokens.get(token)
        return await run_in_threadpool(self.service.worker_of, token) if known is None else known

    async def start(self, request: Request) -> Response:
        await self.worker(request)
        return self.page("worker.html", "'self' https://*.mturk.com")

    async def join(self, request: Request) -> Response:
        key, query = request.path_params["key"], dict(request.query_params)
        token = await run_in_threadpool(self.service.join, key, query)
        return RedirectResponse(f"../w/{token}", status_code=303)

    async def state(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.service.state, await self.worker(request)))

    async def agree(self, request: Request) -> Response:
        worker = await self.worker(request)
        await _read_json(request)
        return JSONResponse(await run_in_threadpool(self.service.agree, worker))

    async def quiz(self, request: Request) -> Response:
        worker, body = await self.worker(request), await _read_json(request)
        return JSONResponse(await run_in_threadpool(self.service.take_quiz, worker, body.get("choices")))

    async def check(self, request: Request) -> Response:
        worker, body = await self.worker(request), await _read_json(request)
        unit, item = _text(body, "unit"), _text(body, "item")
        return JSONResponse(
            {"problem": await run_in_threadpool(self.service.check, worker, unit, item, body.get("answer"))}
        )

    async def answer(self, request: Request) -> Response:
        worker, body = await self.worker(request), await _read_json(request)
        problem = _text(body, "problem", _MAX_PROBLEM) if body.get("problem") is not None else None
        answer_id, unit, item = (_text(body, name) for name in ("id", "unit", "item"))
        seconds = body.get("seconds")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise RequestError(400, "The answer does not say how long it took.")
        spent = float(min(max(seconds, 0), 10**6))
        fields = (answer_id, unit, item, body.get("answer"), problem, spent, _observed(body.get("observed")))
        # The page knows by its own id that nobody else answered in our place.
        return JSONResponse(await self.answers.save(worker, *fields) | {"id": answer_id})

    async def video(self, request: Request) -> Response:
        names = [*self.campaign.video_numbers(await self.worker(request))]
        number = request.path_params["number"]
        page = self.campaign.videos[names[number]].page if number < len(names) else ""
        path = Path(page)
        if is_url(page) or not path.is_file():
            raise RequestError(404, "There is no such video.")
        kind = "video/webm" if path.suffix.lower() == ".webm" else "video/mp4"
        # Within one sitting a video may be kept, which saves slow networks a second transfer.
        return FileResponse(path, media_type=kind, headers={"Cache-Control": "private, max-age=3600"})

    def check_requester(self, request: Request) -> None:
        if not self.service.is_requester(request.path_params["token"]):
            raise RequestError(404, "There is no such page.")

    async def requester(self, request: Request) -> Response:
        self.check_requester(request)
        return self.page("requester.html")

    async def report(self, request: Request) -> Response:
        self.check_requester(request)
        return JSONResponse(await run_in_threadpool(self.service.report))

    async def download(self, request: Request) -> Response:
        self.check_requester(request)
        written = (await run_in_threadpool(campaign_results, self.campaign, self.service.store)).files
        name = request.path_params["name"]
        if name not in written:
            raise RequestError(404, "There is no such table.")
        return PlainTextResponse(written[name], headers={"Content-Disposition": f'attachment; filename="{name}"'})


def make_app(campaign: Campaign, service: Service) -> Starlette:
    """Return the application that serves a campaign."""
    site = _Site(campaign, service)
    routes = [
        Route("/static/{name}", site.static),
        Route("/w/{token}", site.start),
        Route("/w/{token}/state", site.state),
        Route("/w/{token}/video/{number:int}", site.video),
        Route("/w/{token}/agree", site.agree, methods=["POST"]),
        Route("/w/{token}/quiz", site.quiz, methods=["POST"]),
        Route("/w/{token}/check", site.check, methods=["POST"]),
        Route("/w/{token}/answer", site.answer, methods=["POST"]),
        Route("/join/{key}", site.join),
        Route("/r/{token}", site.requester),
        Route("/r/{token}/report", site.report),
        Route("/r/{token}/{name}", site.download),
    ]
    handlers: Any = {RequestError: _refuse, VttdataError: _fail, 404: _refuse, 405: _refuse}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.add_middleware(_Headers)
    return app


class _Headers:
    """Middleware that adds the headers of every response."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = (pair for pair in _HEADERS.items() if pair[0] not in present)
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


async def _refuse(request: Request, error: Exception) -> Response:
    status, message = getattr(error, "status", 404), getattr(error, "message", "There is no such page.")
    refused = getattr(error, "refused", "link")
    if "text/html" in request.headers.get("accept", ""):
        return PlainTextResponse(message, status)
    return JSONResponse({"error": message, "refused": refused}, status)


async def _fail(_: Request, error: Exception) -> Response:
    # Nothing about the server's files goes to workers.
    if isinstance(error, SaveError):
        message = "The server could not save this, so it stays here and is sent again. Keep this page open."
        return JSONResponse({"error": message, "refused": ""}, 503)
    message = "The server could not answer. Please tell the person who sent you the link."
    return JSONResponse({"error": message, "refused": ""}, 500)


async def _read_json(request: Request) -> dict[str, Any]:
    """Read the body of a request, which no page of another site can send: that would need our permission for its type.

    Raises:
        RequestError: when it is too long, of another type or not an object.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RequestError(415, "The request is not JSON.", "")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise RequestError(413, "The answer is too long.", "correction")
    except ClientDisconnect:
        raise RequestError(400, "The connection ended before the request was read.", "") from None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise RequestError(400, "The request is not a JSON object.", "")
    return value


def _observed(value: object) -> Observed:
    """Return what a page says that it observed; where it says nothing that can be, nothing was."""
    content = value if isinstance(value, dict) else {}

    def read(name: str, most: float) -> float:
        number = content.get(name)
        if isinstance(number, bool) or not isinstance(number, int | float) or math.isnan(number):
            return 0
        return min(max(number, 0), most)

    counts = (int(read(name, 10**6)) for name in ("keys", "changes", "pastes"))
    return Observed(float(read("shown", 1)), *counts)


def _text(body: dict[str, Any], name: str, length: int = _MAX_ID) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= length or not value.isprintable():
        raise RequestError(400, f"The request has no valid '{name}'.")
    return value


@contextlib.contextmanager
def opened_campaign(campaign: Campaign) -> Iterator[Service]:
    """Open a campaign for a server: lock it, check its videos, and read its answers.

    Raises:
        VttdataError: when another server works on it, a video was changed, or the database cannot be opened.
    """
    with lock_campaign(campaign.folder):
        check_videos(campaign)
        with contextlib.closing(Store(campaign)) as store:
            yield Service(campaign, store)


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        VttdataError: when the port is in use or may not be used.
    """
    try:
        # The address of an option of the command may be one of IPv6.
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # Only for sockets of this protocol does asyncio set TCP_NODELAY, without which each answer waits for 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_WAITING_CLIENTS)
    except OSError as error:
        raise VttdataError(
            f"Port {port} of {host} cannot be used ({error.strerror or error}); choose another one with --port."
        ) from error
    return listener


class _Server(uvicorn.Server):
    """Server before whose socket many clients may wait at once."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # asyncio makes the queue as short as the number of connections that it takes at once. A client for whom the
        # queue has no room waits for seconds before it tries again.
        for listener in sockets or ():
            listener.listen(_WAITING_CLIENTS)


def make_server(campaign: Campaign, service: Service) -> uvicorn.Server:
    """Return the server of a campaign."""
    app = make_app(campaign, service)
    # So many connections are taken at once. Of each, the file is open some turns of the loop before another one that
    # gives way is closed, and without a free file asyncio takes none for a second.
    options: Any = {"http": Connection, "ws": "none", "lifespan": "off", "backlog": 32}
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, **options)
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.filters = [OncePerMinute()]
    return _Server(config)


def run_server(campaign: Campaign, service: Service, listener: socket.socket) -> None:
    """Serve a campaign until the process is interrupted."""
    make_server(campaign, service).run(sockets=[listener])
