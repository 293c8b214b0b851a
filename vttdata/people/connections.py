"""Connections of a campaign's server: none holds it up, and none fills its log.

A request must arrive within seconds. Beyond a number of connections, the one that has waited longest for the rest of
its request, or one without a request, gives way to a new one, so that thousands of clients that send nothing leave room
for those that do.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_REQUEST_SECONDS = 20.0
# Half of the 1,024 files that a process may usually have open; videos need some of the others.
_MAX_CONNECTIONS = 512
_MINUTE = 60.0


class Connection(H11Protocol):
    """Connection whose requests must arrive in time, for the option `http` of uvicorn."""

    # Those that wait for a request or its rest, the one that has waited longest first.
    waiting: ClassVar[dict[Connection, asyncio.TimerHandle]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for the connection, and wait for its request."""
        super().connection_made(transport)
        if len(self.connections) > _MAX_CONNECTIONS:
            waiting = (each for each in self.waiting if each in self.connections)
            ours = (each for each in self.connections if isinstance(each, Connection))
            idle = (each for each in ours if each.timeout_keep_alive_task is not None)
            next(itertools.chain(waiting, idle), self).end()
        if not transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request, and wait for the rest."""
        if self not in self.waiting:
            self._wait()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()

    def end(self) -> None:
        """Close the connection; what it sent is dropped."""
        self._stop_waiting()
        self.transport.abort()

    def _wait(self) -> None:
        self.waiting[self] = self.loop.call_later(_REQUEST_SECONDS, self.end)

    def _stop_waiting(self) -> None:
        timer = self.waiting.pop(self, None)
        if timer is not None:
            timer.cancel()


class OncePerMinute(logging.Filter):
    """Filter of a logger that passes one message a minute, in which clients have no say."""

    def __init__(self) -> None:
        super().__init__()
        self._last, self._dropped = -_MINUTE, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a message is written; the next one says how many were not."""
        now = time.monotonic()
        if now - self._last < _MINUTE:
            self._dropped += 1
            return False
        if self._dropped:
            record.msg, record.args = f"{record.getMessage()} ({self._dropped:,} more messages since the last)", ()
        self._last, self._dropped = now, 0
        return True
