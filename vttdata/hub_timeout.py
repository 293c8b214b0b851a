"""Limit how long the clients of the HuggingFace Hub wait for an answer, and say what is waited for.

The clients of `huggingface_hub`, and so `datasets` and `transformers`, wait for ever for an answer to most requests,
and half a minute for a network that is not there. Import this module where these are imported: both take a while.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import huggingface_hub
from huggingface_hub import errors

from vttdata.errors import VttdataError

# Environment variable with the limit in seconds.
LIMIT_VARIABLE = "VTTDATA_HUB_TIMEOUT"
DEFAULT_LIMIT = 30.0

# Requests that change something are answered when it is done, which takes longer for large commits and uploads.
_CHANGE_FACTOR = 10
_SECONDS_UNTIL_NOTICE = 3.0
# Seconds before each further attempt to connect; only the first are made while the Hub has not answered at all.
_CONNECTION_WAITS = (1.0, 2.0, 4.0, 8.0)
_FIRST_WAITS = 2
# Share of the limit after which a client's own time limit counts as ours.
_NEARLY = 0.99
# Bytes a second below which an answer that is under way counts as none: a modem of 1998 brings seven times as many.
_MIN_BYTES_PER_SECOND = 1000
_REASON_CHARACTERS = 80


class HubTimeoutError(errors.OfflineModeIsEnabled):
    """Error for a Hub that is not there or does not answer; clients use their caches then, as without a network."""


class HubWait:
    """Time that has passed since the Hub was asked and has not answered, over all requests of one operation.

    An answer counts when its headers are complete, and its body as long as bytes come at a usable pace. The limit is in
    seconds, and `subject` says for the notice what the Hub is asked about. `failure` is the error that a request ended
    with, which clients may hide behind one of theirs.
    """

    def __init__(self, subject: str, limit: float) -> None:
        self._subject, self._limit = subject, limit
        self.failure: HubTimeoutError | None = None
        self._since: float | None = None
        self._body_seconds = self._body_bytes = 0.0
        self._answered: set[str] = set()
        self._has_notice = False

    def send(self, send: Callable[..., Any], request: Any, **options: Any) -> Any:
        """Send a request of httpx with a client's method `send` and its options, within the limit.

        Raises:
            HubTimeoutError: when there is no answer in time.
        """
        httpx = sys.modules[errors.HfHubHTTPError.__mro__[1].__module__.partition(".")[0]]
        is_change = request.method not in {"GET", "HEAD"}
        limit = self._limit * (_CHANGE_FACTOR if is_change else 1)
        for attempt in itertools.count():
            self._since = time.monotonic() if self._since is None else self._since
            left = max(self._since + limit - time.monotonic(), 0.001)
            given = request.extensions.get("timeout") or {}
            request.extensions["timeout"] = {
                step: min(left, given.get(step) or math.inf) for step in ("connect", "read", "write", "pool")
            }
            try:
                # A large upload takes longer than any wait for an answer.
                response = self._send_in_time(send, request, limit, math.inf if is_change else left, options)
            except httpx.ConnectError as error:
                # `datasets` also asks a service beside the Hub, and does without it where it is not there.
                if self._answered and request.url.host not in self._answered:
                    self._since = None
                    raise
                if self._answered and time.monotonic() - (self._since or 0.0) >= limit:
                    raise self._fail(_not_answered(request, limit)) from error
                if not self._answered and attempt >= _FIRST_WAITS:
                    raise self._fail(f"{_host(request)} cannot be reached ({error})") from error
                time.sleep(_CONNECTION_WAITS[min(attempt, len(_CONNECTION_WAITS) - 1)])
            except httpx.TimeoutException as error:
                # Another thread may have been answered meanwhile.
                if self._since is not None and time.monotonic() - self._since >= _NEARLY * limit:
                    raise self._fail(_not_answered(request, limit)) from error
                raise
            else:
                self._since, self.failure = None, None
                self._answered.add(request.url.host)
                response.stream = self._limit_stream(httpx, request, response.stream, limit)
                if not options.get("stream"):
                    with contextlib.closing(response):
                        response.read()
                return response
        raise AssertionError  # for type checkers; the loop has no end

    def _send_in_time(
        self, send: Callable[..., Any], request: Any, limit: float, left: float, options: dict[str, Any]
    ) -> Any:
        """Send a request in a thread, and return the response, whose body is not read yet.

        Limits of sockets begin anew with each byte and each address of a name.
        """
        answer: futures.Future[Any] = futures.Future()

        def run() -> None:
            try:
                answer.set_result(send(request, **options | {"stream": True}))
            except BaseException as error:
                answer.set_exception(error)

        # Counted from the first request without an answer: clients may give one up, some of them after 3 seconds too.
        now = time.monotonic()
        until_notice = max((self._since or now) + _SECONDS_UNTIL_NOTICE - now, 0.0)
        threading.Thread(target=run, daemon=True).start()
        is_answered = futures.wait([answer], min(left, until_notice)).done
        if not is_answered and left > until_notice:
            if not self._has_notice:
                self._has_notice = True
                text = f"vttdata: waiting for {_host(request)} to answer about {self._subject}, for at most {limit:g} s"
                print(text, file=sys.stderr, flush=True)
            is_answered = futures.wait([answer], None if left == math.inf else left - until_notice).done
        if not is_answered:
            answer.add_done_callback(lambda late: late.exception() or late.result().close())
            raise self._fail(_not_answered(request, limit))
        return answer.result()

    def _fail(self, message: str) -> HubTimeoutError:
        self.failure = HubTimeoutError(message)
        return self.failure

    def _limit_stream(self, httpx: Any, request: Any, stream: Any, limit: float) -> Any:
        """Return a body that raises `HubTimeoutError` where bytes come too slowly, also over several requests."""
        wait = self

        class Body(httpx.SyncByteStream):  # type: ignore[misc]
            def __iter__(self) -> Iterator[bytes]:
                started = time.monotonic()
                try:
                    for piece in stream:
                        wait._check_pace(request, limit, time.monotonic() - started, len(piece))
                        yield piece
                        started = time.monotonic()
                except httpx.ReadTimeout:
                    wait._check_pace(request, limit, time.monotonic() - started, 0)
                    raise
                wait._body_seconds = wait._body_bytes = 0.0

            def close(self) -> None:
                stream.close()

        return Body()

    def _check_pace(self, request: Any, limit: float, seconds: float, received: int) -> None:
        """Count what was received of a body; raise HubTimeoutError when too little came for as long as the limit."""
        self._body_seconds += seconds
        self._body_bytes += received
        if self._body_seconds >= _NEARLY * limit:
            if self._body_bytes < _MIN_BYTES_PER_SECOND * self._body_seconds:
                raise self._fail(_not_answered(request, limit))
            self._body_seconds = self._body_bytes = 0.0


_lock = threading.Lock()
_operations = 0
_limited_client: Any = None
_wait: HubWait | None = None


@contextlib.contextmanager
def limit_hub_waits(subject: str) -> Iterator[HubWait]:
    """Limit how long `huggingface_hub` waits in a block; a block in another one, or in another thread, joins it.

    The notice that is printed after some seconds says that the Hub is asked about `subject`.

    Raises:
        VttdataError: when `LIMIT_VARIABLE` is not a positive number, or an answer is none of a Hub, such as ``null``.
    """
    global _operations, _limited_client, _wait  # noqa: PLW0603 - the client is one for the whole process
    with _lock:
        if _wait is None:
            _wait = HubWait(subject, _read_limit())
            client: Any = huggingface_hub.get_session()
            # Versions of huggingface_hub below 1 have another client, with limits for most requests.
            if hasattr(client, "build_request"):
                client.send = functools.partial(_wait.send, client.send)
                _limited_client = client
        _operations += 1
        wait = _wait
    try:
        yield wait
    except (TypeError, LookupError, AttributeError, RecursionError, json.JSONDecodeError) as error:
        frames = (frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__))
        if not any(name.partition(".")[0] == huggingface_hub.__name__ for name in frames):
            raise
        reason = f"{type(error).__name__}: {str(error)[:_REASON_CHARACTERS]}"
        raise VttdataError(
            f"{subject}: {huggingface_hub.constants.ENDPOINT} does not answer as a Hub does ({reason})."
        ) from error
    finally:
        with _lock:
            _operations -= 1
            if _operations == 0:
                if _limited_client is not None:
                    del _limited_client.send
                _limited_client = _wait = None


def hub_timeout_behind(error: BaseException) -> HubTimeoutError | None:
    """Return the error of this module that caused another one; None if there is none."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, HubTimeoutError):
        cause = cause.__cause__ or cause.__context__
    return cause


def _read_limit() -> float:
    text = os.environ.get(LIMIT_VARIABLE) or str(DEFAULT_LIMIT)
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not 0 < limit < math.inf:
        raise VttdataError(f"{LIMIT_VARIABLE}: found '{text[:40]}'; it should be a number of seconds, such as 30.")
    return limit


def _not_answered(request: Any, limit: float) -> str:
    return f"{_host(request)} has not answered for {limit:g} s ({LIMIT_VARIABLE})"


def _host(request: Any) -> str:
    return f"the Hub ({request.url.scheme}://{request.url.netloc.decode()})"
