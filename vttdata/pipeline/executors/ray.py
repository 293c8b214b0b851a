"""Run items on the nodes of a Ray cluster, or of a private one on this machine.

Each worker is a Ray actor that holds one worker process of `vttdata.pipeline.executors.local`, so that crashes, limits
on time and memory, and their wording are the same as on one machine. Files are read and written where they lie, in
folders that all nodes share; only records travel. Ray itself is imported in a process between the build and the cluster
(`vttdata.pipeline.ray_gateway`): what Ray prints, and how it ends when its cluster is lost, stays in there.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import itertools
import math
import os
import pickle
import socket
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vttdata.errors import HaltError, VttdataError
from vttdata.json_types import JsonObject
from vttdata.missing_modules import MissingLibraryError
from vttdata.pipeline.executors import Executor, Tag
from vttdata.pipeline.executors.local import LocalExecutor, Task
from vttdata.pipeline.stage import AnyStage, In, ItemResult, Out, Stage, lost_item
from vttdata.settings import environment_number
from vttdata.subprocesses import last_line_with, start_module, usable_cores
from vttdata.version import __version__

# Items that take less than this are sent in batches that take about as long.
BATCH_SECONDS = 0.1
MAX_BATCH = 64
# A worker gets a second batch to go on with while items take less; it may have to wait for the first one at the end.
PREFETCH_SECONDS = 1.0
# So many workers lost in a row come from the cluster, hardly from the items.
MAX_LOST_IN_A_ROW = 8
_CONNECTING_SECONDS = 90
_RESOURCES_EVERY_SECONDS = 10.0
_CLOSING_SECONDS = 5
_RESUME = "What is done is kept; run the same command later to go on."


@dataclass(slots=True)
class RemoteWorker:
    """Worker on the cluster: its node once it has started, and the batches that it has not answered, oldest first."""

    node: str = ""
    batches: deque[list[Task]] = field(default_factory=deque)


class RayExecutor(Executor):
    """Workers on a Ray cluster that start as there are tasks for them and stay for later stages.

    There are `workers` at most, by default as many as the cluster has room for, or on this machine one per core. The
    address is ``HOST:PORT`` of the cluster, or ``auto`` on one of its nodes; by default that in ``RAY_ADDRESS``,
    without which a private Ray runs on this machine.

    Raises:
        VttdataError: when Ray is not installed, or the address is of another form.
    """

    description = "workers on a Ray cluster (pip install 'vttdata[ray]')"

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        if importlib.util.find_spec("ray") is None:
            raise MissingLibraryError("Ray is not installed: pip install 'vttdata[ray]'.", name="ray")
        address = address or os.environ.get("RAY_ADDRESS") or None
        if address is not None and address not in {"auto", "local"} and not _is_host_and_port(address):
            raise VttdataError(
                f"'{address}' is not the address of a Ray cluster: write HOST:PORT, as 'ray start' prints it, or auto "
                "on one of its nodes."
            )
        self._address = None if address == "local" else address
        self._limit = workers
        self._seconds_to_start = environment_number("VTTDATA_RAY_START_SECONDS", 180, "seconds")
        self._witness: Path | None = None
        self._gateway: GatewayProcess | None = None
        self._numbers = itertools.count()
        self._workers: dict[int, RemoteWorker] = {}
        # What each worker has reserved, so that it serves all stages that need no more.
        self._cpus, self._memory = 0.0, 0
        self._nodes: list[Mapping[str, float]] = []
        self._free: Mapping[str, float] = {}
        self._lost_in_a_row = 0
        self._last_ready = self._resources_requested = 0.0

    def prepare(self, witness: Path) -> None:
        """Take note of a file by which workers tell that they see the build folder."""
        self._witness = witness.absolute()

    def run(self, stage: Stage[In, Out], tasks: Iterable[tuple[Tag, In]]) -> Iterator[tuple[Tag, ItemResult[Out]]]:
        """Process all tasks, and yield their results in the order of completion.

        Raises:
            VttdataError: when there is no such cluster, or a worker cannot give the same results as this machine.
            HaltError: when the cluster is lost, or no worker starts in time.
        """
        queue = BatchQueue(tasks)
        if not queue.fill(1):
            return
        gateway = self._connect()
        if stage.cpus > self._cpus or stage.memory > self._memory:
            for number in self._workers:
                gateway.send("stop", number)
            self._workers.clear()
            self._cpus, self._memory = max(stage.cpus, self._cpus), max(stage.memory, self._memory)
        stage_data = pickle.dumps(stage)
        for number in self._workers:
            gateway.send("stage", number, stage_data)
        self._last_ready = self._resources_requested = time.monotonic()
        while queue.fill(1) or any(worker.batches for worker in self._workers.values()):
            self._start_workers(stage_data, queue)
            self._assign_tasks(queue)
            self._watch_cluster()
            message = gateway.receive(seconds=1.0)
            if message is not None:
                yield from self._handle(stage, message, queue)

    def close(self) -> None:
        """End the connection, and with it all workers, whatever they are doing."""
        self._workers.clear()
        if self._gateway is not None:
            self._gateway.close()
            self._gateway = None

    def _connect(self) -> GatewayProcess:
        """Return the process that is connected to the cluster, started if need be."""
        if self._gateway is None:
            if self._address is not None and self._address != "auto":
                host, _, port = self._address.rpartition(":")
                # Ray itself would try for minutes where nothing listens.
                try:
                    socket.create_connection((host, int(port)), timeout=10).close()
                except OSError as error:
                    raise _no_cluster(self._address, error.strerror or str(error)) from error
            self._gateway = GatewayProcess(self._address)
            cpus = self._limit or usable_cores() if self._address is None else None
            self._gateway.send("connect", self._address, cpus)
            message = self._gateway.receive(seconds=_CONNECTING_SECONDS)
            if message is None or message[0] != "resources":
                raise _no_cluster(self._address, message[1] if message else f"no answer in {_CONNECTING_SECONDS} s")
            self._nodes, self._free = message[1:]
        return self._gateway

    def _watch_cluster(self) -> None:
        """Ask now and then what the cluster has, and give up when no worker starts on it."""
        now = time.monotonic()
        if any(worker.node for worker in self._workers.values()):
            self._last_ready = now
        elif now - self._last_ready > self._seconds_to_start:
            raise HaltError(self._why_none_started())
        if now - self._resources_requested > _RESOURCES_EVERY_SECONDS:
            self._connect().send("resources")
            self._resources_requested = now

    def _max_workers(self) -> int:
        """Return how many workers there may be: what is asked for, or what the nodes have room for, and at least 1."""
        if self._limit is not None:
            return self._limit
        cpus, memory = self._cpus, self._memory * 2**20
        return max(
            1, int(sum(min(node.get("CPU", 0) // cpus, node.get("memory", 0) // memory) for node in self._nodes))
        )

    def _start_workers(self, stage_data: bytes, queue: BatchQueue) -> None:
        """Start workers while there is room for them and, for each that is not ready yet, a task."""
        gateway = self._connect()
        starting = sum(not worker.node for worker in self._workers.values())
        max_workers = self._max_workers()
        while len(self._workers) < max_workers and queue.fill(starting + 1):
            number = next(self._numbers)
            self._workers[number] = RemoteWorker()
            variables = {name: value for name, value in os.environ.items() if name.startswith("VTTDATA_")}
            gateway.send("start", number, (self._cpus, self._memory), variables, os.getcwd(), _state(self._witness))
            gateway.send("stage", number, stage_data)
            starting += 1

    def _assign_tasks(self, queue: BatchQueue) -> None:
        """Give every worker a batch, and then each a second one to go on with where items take little time."""
        gateway = self._connect()
        for depth in (1, 2) if queue.item_seconds < PREFETCH_SECONDS else (1,):
            for number, worker in self._workers.items():
                if worker.node and len(worker.batches) < depth and (batch := queue.take()):
                    worker.batches.append(batch)
                    gateway.send("process", number, pickle.dumps(batch))

    def _handle(
        self, stage: Stage[Any, Out], message: tuple[Any, ...], queue: BatchQueue
    ) -> Iterator[tuple[Tag, ItemResult[Out]]]:
        """Take in a message of the gateway, and yield the results in it."""
        match message:
            case ("resources", nodes, free):
                self._nodes, self._free = nodes, free
            case ("ready", number, facts) if number in self._workers:
                self._lost_in_a_row = 0
                self._check(facts)
                self._workers[number].node = facts["node"]
            case ("done", number, data) if number in self._workers:
                self._lost_in_a_row = 0
                results, seconds, halt = pickle.loads(data)  # noqa: S301 - of our own worker
                queue.add_answer(self._workers[number].batches.popleft(), len(results), seconds)
                yield from results
                if halt is not None:
                    raise halt
            case ("lost", number, detail) if number in self._workers:
                yield from self._lose(stage, self._workers.pop(number), detail, queue)
            case ("refused", number, detail) if number in self._workers:
                raise VttdataError(
                    f"A worker on the Ray cluster could not start ({detail}); install vttdata {__version__} "
                    "with its extra 'build' on all nodes. What is done is kept."
                )
            case ("broken", text):
                raise RuntimeError(f"the Ray worker failed: {text}")

    def _check(self, facts: Mapping[str, Any]) -> None:
        """Refuse a worker whose results would differ, or would not be found."""
        ours, theirs = _versions(), facts["tools"]
        other = [
            f"{name} {theirs.get(name)} instead of {here}" for name, here in ours.items() if theirs.get(name) != here
        ]
        if other:
            raise VttdataError(
                f"The worker on {facts['node']} has {', '.join(other)}, so that its results would differ from this "
                "machine's; install the same versions on all nodes. What is done is kept."
            )
        if not facts["sees_build"] and self._witness is not None:
            raise VttdataError(
                f"The worker on {facts['node']} does not see the build folder {self._witness.parent}; build in a "
                "folder that all nodes share under the same path."
            )

    def _lose(
        self, stage: Stage[Any, Out], worker: RemoteWorker, detail: str, queue: BatchQueue
    ) -> Iterator[tuple[Tag, ItemResult[Out]]]:
        """Put the tasks of a lost worker back; yield the failures of those that lost their second one."""
        self._lost_in_a_row += 1
        if "its owner has died" in detail:
            raise HaltError(f"Ray no longer runs on this machine's node of the cluster ({detail}). {_RESUME}")
        if self._lost_in_a_row >= MAX_LOST_IN_A_ROW:
            raise HaltError(f"The Ray cluster lost {self._lost_in_a_row} workers in a row ({detail}). {_RESUME}")
        for tag, item in queue.put_back_lost(worker.batches):
            yield tag, lost_item(stage, item, "killed", f"the worker on {worker.node} was lost twice ({detail})", 0.0)

    def _why_none_started(self) -> str:
        """Return a sentence on what the cluster has and what a worker needs."""
        cpus = sum(node.get("CPU", 0) for node in self._nodes)
        memory = sum(node.get("memory", 0) for node in self._nodes) / 2**20
        free_cpus, free_memory = self._free.get("CPU", 0), self._free.get("memory", 0) / 2**20
        return (
            f"No worker started on the Ray cluster within {self._seconds_to_start} s: one needs {self._cpus:g} CPU and "
            f"{self._memory} MiB of memory on one node; of the {cpus:g} CPUs and {memory:.0f} MiB of "
            f"{len(self._nodes)} nodes, {free_cpus:g} CPUs and {free_memory:.0f} MiB are free, and other jobs may hold "
            f"the rest. {_RESUME}"
        )


class BatchQueue:
    """Tasks in batches of `size` tasks, which follows the time that items take.

    A task whose worker was lost gets one more try, in a batch of its own, since another task may be to blame.
    `item_seconds` is what each task of the last batch took; infinite before the first one.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.size = 1
        self.item_seconds = math.inf
        self._tasks = iter(tasks)
        self._held: deque[Task] = deque()
        self._alone: deque[Task] = deque()
        self._lost_once: set[Tag] = set()

    def fill(self, number: int) -> bool:
        """Return whether there are so many more tasks; no more are taken from the iterator than that needs."""
        missing = number - len(self._held) - len(self._alone)
        self._held.extend(itertools.islice(self._tasks, max(0, missing)))
        return len(self._held) + len(self._alone) >= number

    def take(self) -> list[Task]:
        """Return the next batch; empty when there are no more tasks."""
        if self._alone:
            return [self._alone.popleft()]
        self._held.extend(itertools.islice(self._tasks, max(0, self.size - len(self._held))))
        return [self._held.popleft() for _ in range(min(self.size, len(self._held)))]

    def add_answer(self, batch: list[Task], done: int, seconds: float) -> None:
        """Put back what a worker left of a batch, whose first tasks took so many seconds, and adapt the size."""
        self._held.extendleft(reversed(batch[done:]))
        self.item_seconds = seconds / max(1, done)
        if done < len(batch):
            self.size = max(1, done)
        elif len(batch) == self.size and seconds < BATCH_SECONDS / 2:
            self.size = min(2 * self.size, MAX_BATCH)

    def put_back_lost(self, batches: Iterable[list[Task]]) -> Iterator[Task]:
        """Put back the batches of a lost worker, the first of which it was at; yield tasks that were lost before."""
        for number, batch in enumerate(batches):
            for task in batch:
                if number == 0 and task[0] in self._lost_once:
                    yield task
                elif number == 0:
                    self._lost_once.add(task[0])
                    self._alone.append(task)
                else:
                    self._held.appendleft(task)


class GatewayProcess:
    """Process that is connected to the cluster, as the executor sees it."""

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._process, self._connection = start_module("vttdata.pipeline.ray_gateway", self._stderr)

    def send(self, *message: Any) -> None:
        """Send a command."""
        # A broken pipe is noticed when the answer is read.
        with contextlib.suppress(ConnectionError):
            self._connection.send(message)

    def receive(self, seconds: float) -> tuple[Any, ...] | None:
        """Return the next message, or None without one within so many seconds.

        Raises:
            HaltError: when the process has ended.
        """
        try:
            return self._connection.recv() if self._connection.poll(seconds) else None
        except (EOFError, OSError):
            where = f"at {self._address}" if self._address else "on this machine"
            error = last_line_with(self._stderr, "GCS", "rror").rpartition("] ")[2][:200]
            why = f" ({error})" if error else ""
            raise HaltError(f"The connection to the Ray cluster {where} was lost{why}. {_RESUME}") from None

    def close(self) -> None:
        """End the process, and with it the workers that it started."""
        self._connection.close()
        with contextlib.suppress(Exception):
            self._process.wait(_CLOSING_SECONDS)
        self._process.kill()
        self._process.wait()
        self._stderr.close()


class RayWorker:
    """Actor that runs items in a worker process of its own.

    It takes the environment variables of the build, and works in the build's working folder where that exists.
    """

    def __init__(self, variables: Mapping[str, str], folder: str) -> None:
        os.environ.update(variables)
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._executor = LocalExecutor(1)
        self._stage_data = b""
        self._stage: AnyStage | None = None

    def describe(self, witness: tuple[str, int, str] | None) -> JsonObject:
        """Return the name of the node, the versions of its tools, and whether it sees the build folder."""
        sees_build = witness is None or _state(Path(witness[0]), witness[1]) == witness
        return {"node": socket.gethostname(), "tools": _versions(), "sees_build": sees_build}

    def set_stage(self, data: bytes) -> None:
        """Take the stage of the batches that follow."""
        self._stage_data, self._stage = data, None

    def process(self, data: bytes) -> bytes:
        """Process the tasks of a batch in their order until `BATCH_SECONDS` are over, at least one.

        Returns:
            The pickled results, the seconds they took, and the `HaltError` that ended the last item, or None.
        """
        if self._stage is None:
            self._stage = pickle.loads(self._stage_data)  # noqa: S301 - of our own build
        batch: list[Task] = pickle.loads(data)  # noqa: S301 - of our own build
        started = time.monotonic()
        in_time = (task for index, task in enumerate(batch) if not index or time.monotonic() - started < BATCH_SECONDS)
        results: list[tuple[Tag, ItemResult[object]]] = []
        halt = None
        try:
            results.extend(self._executor.run(self._stage, in_time))
        except HaltError as error:
            halt = error
        return pickle.dumps((results, time.monotonic() - started, halt))


def _versions() -> dict[str, str]:
    # It imports what decodes, which listing the executors must not need.
    from vttdata.pipeline.build_folder import tool_versions

    return {"vttdata": __version__} | tool_versions()


def _state(path: Path | None, size: int | None = None) -> tuple[str, int, str] | None:
    """Return the path, the size and a hash of a file, or of its first `size` bytes; None where it cannot be read."""
    if path is None:
        return None
    try:
        data = path.read_bytes()[:size]
    except OSError:
        return None
    return str(path), len(data), hashlib.sha256(data).hexdigest()


def _no_cluster(address: str | None, detail: str) -> VttdataError:
    where = f"at {address}" if address else "on this machine"
    return VttdataError(
        f"No connection to a Ray cluster {where} ({detail}); check --ray-address and RAY_ADDRESS, and that 'ray "
        "status' shows the cluster. What is done is kept."
    )


def _is_host_and_port(address: str) -> bool:
    host, colon, port = address.rpartition(":")
    return bool(host and colon and "/" not in host and port.isascii() and port.isdigit() and int(port) < 2**16)
