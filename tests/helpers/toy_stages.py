"""Stages over numbers, for tests of the engine: they crash, hang and fail as an item's id says."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vttdata.errors import MediaError
from vttdata.pipeline.stage import Failed, Kept, Outcome, Rejected, Stage, WholeStage, runtime
from vttdata.subprocesses import run


@dataclass(frozen=True, slots=True)
class Number:
    source_id: str
    value: int


@dataclass(frozen=True)
class Double(Stage[Number, Number]):
    """Double numbers, append to a file of marks at each call, and fail as the first part of an item's id says."""

    name = "double"
    output = Number
    part_size = 4
    reasons = frozenset({"odd"})
    halting_reasons = frozenset({"rate_limit"})

    marks: Path = runtime()
    factor: int = 2

    def seconds_limit(self, item: Number) -> float:
        return 1.0

    def process(self, item: Number) -> Iterator[Outcome[Number]]:  # noqa: C901
        with (self.marks / item.source_id).open("a") as stream:
            stream.write("x")
        match item.source_id.partition("-")[0]:
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "kill" if not (self.marks / "ready").exists():
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang" if not (self.marks / "ready").exists():
                time.sleep(60)
            case "bug":
                raise KeyError("nothing here")
            case "media":
                raise MediaError("damaged", "broken on purpose")
            case "full":
                raise OSError(errno.ENOSPC, "the toy disk is full", "somewhere")
            case "limit":
                yield Failed(item.source_id, "rate_limit", "HTTP Error 429", retry=True)
            case "premiere" if not (self.marks / "ready").exists():
                yield Failed(item.source_id, "not_yet", "Premieres in 2 hours", retry=True)
            case "later":
                ready = (self.marks / "ready").exists()
                yield Kept(item) if ready else Failed(item.source_id, "network", "not yet", retry=True)
            case "odd":
                yield Rejected(item.source_id, "odd", f"{item.value} is odd")
            case _:
                yield Kept(Number(item.source_id, item.value * self.factor))


@dataclass(frozen=True)
class Total(WholeStage[Number, Number]):
    """Add up all numbers."""

    name = "total"
    output = Number

    def process(self, item: tuple[Number, ...]) -> Iterator[Outcome[Number]]:
        yield Kept(Number("total", sum(number.value for number in item)))


@dataclass(frozen=True)
class Trouble(Stage[Number, Number]):
    """Fail for what happens to the machine, as an item's id says."""

    name = "trouble"
    output = Number

    def process(self, item: Number) -> Iterator[Outcome[Number]]:
        match item.source_id:
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "slow":
                raise MediaError("timeout", "not decoded in time")
            case "memory":
                raise MemoryError
            case "device":
                raise OSError(errno.EIO, "the toy disk is broken", "somewhere")
            case "program":
                run(["sh", "-c", "kill -9 $$"], seconds=10)
        yield Kept(item)


@dataclass(frozen=True)
class OneByOne(Double):
    """Store the result of every number at once."""

    part_size = 1


@dataclass(frozen=True)
class OnePart(Double):
    """Store results in parts that hold all the numbers of a test."""

    part_size = 2**31


@dataclass(frozen=True)
class Patient(Double):
    """Go on, however many numbers in a row end as ``rate_limit``."""

    def must_halt(self, row: Sequence[tuple[Number, Failed]]) -> bool:
        return False
