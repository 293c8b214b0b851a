"""A server that accepts connections and answers with nothing, or with the beginning of an answer."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Sequence


class SilentServer:
    """Server on a port of this machine; `requests` holds what each connection sent first.

    Args:
        pieces: what is sent to each connection, with a pause before each.
        pause: seconds.
    """

    def __init__(self, pieces: Sequence[bytes] = (), pause: float = 0.0) -> None:
        self.requests: list[bytes] = []
        self._pieces, self._pause = pieces, pause
        self._connections: list[socket.socket] = []
        self._is_open = True
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.05)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        # A thread that still accepted would get the connections of the next server, whose socket has the same number.
        self._is_open = False
        self._thread.join()
        for opened in (self._socket, *self._connections):
            opened.close()

    def _accept(self) -> None:
        while self._is_open:
            with contextlib.suppress(TimeoutError):
                connection, _ = self._socket.accept()
                self._connections.append(connection)
                threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            self.requests.append(connection.recv(65536))
            for piece in self._pieces:
                time.sleep(self._pause)
                connection.sendall(piece)


@contextlib.contextmanager
def silent_server(pieces: Sequence[bytes] = (), pause: float = 0.0) -> Iterator[SilentServer]:
    """Run a silent server for the time of the block."""
    server = SilentServer(pieces, pause)
    try:
        yield server
    finally:
        server.close()
