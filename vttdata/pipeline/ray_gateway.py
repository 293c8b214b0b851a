"""Program of the process between a build and its Ray cluster.

Run as a module with the file descriptor of a connection as argument, it takes commands of `RayExecutor`, calls Ray, and
sends back what becomes of them. It decides nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, NoReturn

from vttdata.pipeline.executors.ray import RayWorker
from vttdata.subprocesses import die_with_parent

# A private cluster's memory store never holds more than records; Ray refuses less than 75 MiB.
_OBJECT_STORE_BYTES = 80 * 2**20


class Gateway:
    """Connection to the cluster: commands come in, events go out."""

    def __init__(self, connection: Connection) -> None:
        import ray

        self._ray = ray
        self._connection = connection
        self._actors: dict[int, Any] = {}
        # Ray calls back in a thread that must not wait for a full pipe.
        self._events: SimpleQueue[tuple[Any, ...]] = SimpleQueue()

    def serve(self) -> None:
        """Carry out commands until the connection closes."""
        _, address, cpus = self._connection.recv()
        if not self._connect(address, cpus):
            return
        threading.Thread(target=self._send_events, daemon=True).start()
        actor_class = self._ray.remote(max_restarts=0, max_task_retries=0)(RayWorker)
        while True:
            match self._connection.recv():
                case ("start", number, (cpus, memory), variables, folder, witness):
                    options = {"num_cpus": cpus, "memory": memory * 2**20}
                    self._actors[number] = actor_class.options(**options).remote(variables, folder)
                    self._report("ready", number, self._actors[number].describe.remote(witness))
                case ("stage", number, data):
                    self._actors[number].set_stage.remote(data)
                case ("process", number, data):
                    self._report("done", number, self._actors[number].process.remote(data))
                case ("stop", number):
                    self._ray.kill(self._actors.pop(number))
                case ("resources",):
                    self._events.put(self._resources())

    def _connect(self, address: str | None, cpus: int | None) -> bool:
        private = {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES}
        try:
            self._ray.init(
                address=address or "local", log_to_driver=False, namespace="vttdata", **({} if address else private)
            )
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            self._connection.send(("no cluster", " ".join(str(error).split())[:300].rstrip(". ")))
            return False
        # Ray has its own handler; the parent ends this process.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._connection.send(self._resources())
        return True

    def _resources(self) -> tuple[object, ...]:
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        return "resources", nodes, self._ray.available_resources()

    def _report(self, event: str, number: int, reference: Any) -> None:
        reference.future().add_done_callback(partial(self._add_event, event, number))

    def _add_event(self, event: str, number: int, future: Any) -> None:
        error = future.exception()
        is_ours = isinstance(error, self._ray.exceptions.RayTaskError) or getattr(error, "actor_init_failed", False)
        if error is None:
            self._events.put((event, number, future.result()))
        elif not is_ours:
            # The sentence of Ray's message on a lost actor that says why.
            lines = [line.strip() for line in str(error).splitlines()]
            why = next((line for line in lines if line.startswith("The actor is dead because")), lines[0])
            self._events.put(("lost", number, why.partition(". ")[0].rstrip(".")))
        elif event == "ready":
            self._events.put(("refused", number, str(error).strip().splitlines()[-1].strip(". ")))
        else:
            self._events.put(("broken", str(error)))

    def _send_events(self) -> NoReturn:
        while True:
            self._connection.send(self._events.get())


def main() -> None:
    """Run the program of the process that is connected to the cluster."""
    die_with_parent()
    # Ctrl-C, and SIGTERM from a container, reach the whole process group; the parent ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # No statistics are sent, and nothing of the working folder.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    with Connection(int(sys.argv[1])) as connection, contextlib.suppress(EOFError):
        Gateway(connection).serve()


if __name__ == "__main__":
    main()
