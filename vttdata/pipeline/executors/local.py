"""Run items in worker processes on this machine.

Each worker has a connection of its own, so a worker that is killed at any moment harms no other. Run as a module with
the file descriptor of that connection as argument, this file is the worker's program.
"""

from __future__ import annotations

import contextlib
import faulthandler
import math
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from vttdata.errors import HaltError
from vttdata.pipeline.executors import Executor, Tag
from vttdata.pipeline.stage import AnyStage, In, ItemResult, Out, Stage, lost_item, process_item
from vttdata.subprocesses import (
    KILLED,
    die_with_parent,
    last_line_with,
    limit_memory,
    start_module,
    usable_cores,
    worker_memory,
)

Task = tuple[Tag, Any]

# First message of a worker, after its imports.
READY = "ready"


class LocalExecutor(Executor):
    """Pool of worker processes that start when they are first needed and stay for later stages.

    A worker that dies twice over an item, or exceeds the item's wall-clock limit, costs that item and nothing else.
    """

    description = "worker processes on this machine"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or usable_cores()
        self._pool: list[WorkerProcess] = []

    def run(self, stage: Stage[In, Out], tasks: Iterable[tuple[Tag, In]]) -> Iterator[tuple[Tag, ItemResult[Out]]]:
        """Process all tasks, and yield their results in the order of completion."""
        for worker in list(self._pool):
            try:
                worker.connection.send(stage)
            except ConnectionError:
                self._discard(worker)
        queue = RetryQueue(tasks)
        while True:
            self._assign_tasks(stage, queue)
            busy = [worker for worker in self._pool if worker.task is not None]
            if not busy:
                return
            seconds = min(worker.deadline for worker in busy) - time.monotonic()
            ready = wait([worker.connection for worker in busy], None if math.isinf(seconds) else max(seconds, 0.0))
            for worker in busy:
                if worker.connection in ready:
                    yield from self._receive(stage, worker, queue)
                elif time.monotonic() >= worker.deadline:
                    yield self._fail(stage, worker, "timeout", "the wall-clock limit for one item was exceeded")

    def close(self) -> None:
        """End all workers at once, whatever they are doing."""
        while self._pool:
            self._pool.pop().kill()

    def _assign_tasks(self, stage: AnyStage, queue: RetryQueue) -> None:
        """Give every idle worker a task, and start workers while there are tasks and room for them."""
        while True:
            worker = next((worker for worker in self._pool if worker.task is None), None)
            if worker is None and len(self._pool) >= self.workers:
                return
            task = next(queue, None)
            if task is None:
                return
            if worker is None:
                worker = WorkerProcess(stage)
                self._pool.append(worker)
            worker.assign(task, stage.seconds_limit(task[1]))

    def _receive(
        self, stage: Stage[Any, Out], worker: WorkerProcess, queue: RetryQueue
    ) -> Iterator[tuple[Tag, ItemResult[Out]]]:
        """Yield the result in a worker's message, if there is one."""
        try:
            message = worker.connection.recv()
        # An OSError that is no ConnectionError is the end of a message that was cut off.
        except (EOFError, OSError):
            if worker.task is not None and queue.put_back(worker.task):
                self._discard(worker)
            else:
                reason = "killed" if worker.exit_code() == KILLED else "crashed"
                yield self._fail(stage, worker, reason, f"the worker process died ({worker.stderr_tail()})")
            return
        if isinstance(message, HaltError):
            raise message
        if message == READY:
            worker.start_clock()
        else:
            yield worker.release()[0], message

    def _fail(
        self, stage: Stage[Any, Out], worker: WorkerProcess, reason: str, detail: str
    ) -> tuple[Tag, ItemResult[Out]]:
        """Discard a worker, and return the failure of the item it was at."""
        tag, item = worker.release()
        self._discard(worker)
        return tag, lost_item(stage, item, reason, detail, stage.seconds_limit(item) or 0.0)

    def _discard(self, worker: WorkerProcess) -> None:
        worker.kill()
        self._pool.remove(worker)


class WorkerProcess:
    """Worker process, the task it is at, and the moment at which its time is over."""

    def __init__(self, stage: AnyStage) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in kill()
        self._process, self.connection = start_module(__name__, self._stderr)
        self.task: Task | None = None
        self.deadline = math.inf
        self._seconds_limit: float | None = None
        self._is_ready = False
        # A process that was killed already is noticed when its first answer is read.
        with contextlib.suppress(ConnectionError):
            self.connection.send(stage)

    def assign(self, task: Task, seconds_limit: float | None) -> None:
        """Send the next item, and start its clock unless the process is still starting."""
        self.task, self._seconds_limit = task, seconds_limit
        # A broken pipe is noticed when the answer is read.
        with contextlib.suppress(ConnectionError):
            self.connection.send((task[1],))
        if self._is_ready:
            self.start_clock()

    def start_clock(self) -> None:
        """Count the item's limit from now on; the process is ready to work."""
        self._is_ready = True
        self.deadline = time.monotonic() + self._seconds_limit if self._seconds_limit else math.inf

    def release(self) -> Task:
        """Return the task that the process was at; it is idle from now on."""
        if self.task is None:
            raise RuntimeError("an idle worker has no task")
        task, self.task = self.task, None
        return task

    def exit_code(self) -> int:
        """Return the exit code of the process, which has closed its connection."""
        return self._process.wait()

    def stderr_tail(self) -> str:
        """Return the exit code of the process, which has died, and the last line about an error that it wrote."""
        return ", ".join(filter(None, (f"exit code {self.exit_code()}", last_line_with(self._stderr, "rror"))))

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()
        self.connection.close()
        self._stderr.close()


class RetryQueue:
    """Iterator over tasks that takes each back once.

    A task whose worker died gets one more try, since something else may have killed the worker.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = iter(tasks)
        self._returned: list[Task] = []
        self._retried: set[Tag] = set()

    def __next__(self) -> Task:
        return self._returned.pop() if self._returned else next(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return self

    def put_back(self, task: Task) -> bool:
        """Take a task back and return True, or return False if it was taken back before."""
        tag, _ = task
        if tag in self._retried:
            return False
        self._retried.add(tag)
        self._returned.append(task)
        return True


def serve(connection: Connection) -> None:
    """Work as a worker until the connection closes: a `Stage` replaces the stage, a tuple of one item is processed."""
    stage: AnyStage | None = None
    connection.send(READY)
    # An end of file means that the executor is done with this worker.
    with contextlib.suppress(EOFError):
        while True:
            message = connection.recv()
            if isinstance(message, Stage):
                stage = message
                continue
            if stage is None:
                raise RuntimeError("an item came before its stage")
            try:
                connection.send(process_item(stage, message[0]))
            except HaltError as halt:
                connection.send(halt)


def main() -> None:
    """Run the program of a worker process."""
    die_with_parent()
    limit_memory(worker_memory())
    faulthandler.enable()
    # Ctrl-C, and SIGTERM from a container, reach the whole process group; the parent ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with Connection(int(sys.argv[1])) as connection:
        serve(connection)


if __name__ == "__main__":
    main()
