"""Runs a stage's items in worker processes on this machine.

A worker that crashes twice over an item, or exceeds its wall-clock limit, costs that item and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any

from vttdata.errors import HaltError
from vttdata.pipeline.executors.worker import READY
from vttdata.pipeline.parts import Done, Tag
from vttdata.pipeline.stage import Failed, Stage

Task = tuple[Tag, Any]


class _Worker:
    """One worker process and what it is doing."""

    def __init__(self, stage: Stage) -> None:
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 - closed in end()
        self.connection, theirs = Pipe()
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "vttdata.pipeline.executors.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._messages,
            stderr=self._messages,
            env=environment,
        )
        theirs.close()
        self.task: Task | None = None
        self.started = False
        self._limit: float | None = None
        self.deadline = float("inf")
        self.connection.send(stage)

    def give(self, stage: Stage, task: Task) -> None:
        """Hand over the next item."""
        self.task = task
        self._limit = stage.seconds_limit(task[1])
        self._start_clock()
        with contextlib.suppress(BrokenPipeError):
            self.connection.send((task[1],))

    def has_started(self) -> None:
        """The process is up and at its first item: from now on the clock runs."""
        self.started = True
        self._start_clock()

    def _start_clock(self) -> None:
        self.deadline = time.monotonic() + self._limit if self._limit and self.started else float("inf")

    def release(self) -> Task:
        """The task it was busy with; it is idle now."""
        if self.task is None:
            raise RuntimeError("an idle worker has no task")
        task, self.task = self.task, None
        return task

    def last_words(self) -> str:
        """The last line that the process wrote before it died, and its exit code."""
        self._messages.seek(0)
        lines = self._messages.read()[-4096:].decode("utf-8", "replace").split("\n")
        code = self._process.wait()
        return f"exit code {code}" + "".join(f", {line.strip()}" for line in lines[-9:] if "rror" in line)

    def end(self) -> None:
        """Kill the process and forget it."""
        self._process.kill()
        self._process.wait()
        self.connection.close()
        self._messages.close()


class _Queue:
    """The tasks still to do. A task whose worker died gets one more try: something else may have killed the worker."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = iter(tasks)
        self._again: list[Task] = []
        self._tried: set[Tag] = set()

    def __next__(self) -> Task:
        return self._again.pop() if self._again else next(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return self

    def put_back(self, task: Task) -> bool:
        """Take a task back, unless it was taken back before."""
        fresh = task[0] not in self._tried
        self._tried.add(task[0])
        if fresh:
            self._again.append(task)
        return fresh


class LocalExecutor:
    """A fixed number of worker processes; started when needed, ended with `close`."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: list[_Worker] = []

    def run(self, stage: Stage, tasks: Iterable[Task]) -> Iterator[tuple[Tag, Done]]:
        """Process every task, drawing them as workers become free, and yield results in the order they finish.

        Raises:
            HaltError: as soon as a worker meets what stops the whole build.
        """
        queue = _Queue(tasks)
        self._announce(stage)
        while True:
            self._feed(stage, queue)
            busy = [worker for worker in self._pool if worker.task is not None]
            if not busy:
                return
            timeout = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
            ready = wait([worker.connection for worker in busy], timeout if timeout != float("inf") else None)
            for worker in busy:
                if worker.connection in ready:
                    result = self._collect(stage, worker, queue)
                    if result is not None:
                        yield result
                elif time.monotonic() >= worker.deadline:
                    yield self._lose(stage, worker, "timeout", "the wall-clock limit for one item was exceeded")

    def close(self) -> None:
        """End all workers at once, whatever they are doing."""
        for worker in self._pool:
            worker.end()
        self._pool = []

    def _announce(self, stage: Stage) -> None:
        for worker in list(self._pool):
            try:
                worker.connection.send(stage)
            except BrokenPipeError:
                self._drop(worker)

    def _drop(self, worker: _Worker) -> None:
        worker.end()
        self._pool.remove(worker)

    def _feed(self, stage: Stage, queue: _Queue) -> None:
        while True:
            idle = next((worker for worker in self._pool if worker.task is None), None)
            if idle is None and len(self._pool) >= self.workers:
                return
            task = next(queue, None)
            if task is None:
                return
            if idle is None:
                idle = _Worker(stage)
                self._pool.append(idle)
            idle.give(stage, task)

    def _collect(self, stage: Stage, worker: _Worker, queue: _Queue) -> tuple[Tag, Done] | None:
        try:
            message = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            if worker.task is not None and queue.put_back(worker.task):
                self._drop(worker)
                return None
            return self._lose(stage, worker, "crashed", f"the worker process died ({worker.last_words()})")
        if message == READY:
            worker.has_started()
            return None
        answer, seconds = message
        if isinstance(answer, HaltError):
            raise answer
        tag, item = worker.release()
        return tag, Done(stage.item_id(item), stage.count(item), answer, seconds)

    def _lose(self, stage: Stage, worker: _Worker, reason: str, detail: str) -> tuple[Tag, Done]:
        tag, item = worker.release()
        self._drop(worker)
        failed = Failed(stage.item_id(item), reason, detail, retry=True)
        return tag, Done(stage.item_id(item), stage.count(item), (failed,), stage.seconds_limit(item) or 0.0)
