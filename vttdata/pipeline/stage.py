"""Contract between a stage and the engine: items in, outcomes out, and failure is a value.

A stage is a frozen dataclass. Its fields are its parameters: together with its name, its version and its items they
decide whether earlier results can be used again. Fields made with `runtime()`, such as folders, are left out of that.
"""

from __future__ import annotations

import dataclasses
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from vttdata.errors import DISK_ERRORS, MACHINE_ERRORS, HaltError, UnavailableError, VttdataError, disk_error_halt
from vttdata.files.addresses import hide_secrets
from vttdata.ids import digest
from vttdata.subprocesses import OUT_OF_MEMORY

# What a stage takes, what one that takes all at once makes of it, and what it keeps.
In = TypeVar("In")
Gathered = TypeVar("Gathered")
Out = TypeVar("Out")
Out_co = TypeVar("Out_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Kept(Generic[Out_co]):
    """Record that goes on to the next stage."""

    record: Out_co


@dataclass(frozen=True, slots=True)
class Rejected:
    """Well-formed thing that the recipe does not want: its id, a reason from the stage's list, and the facts.

    `file` is the source's file where the id does not tell it, since another source has the same id.
    """

    id: str
    reason: str
    detail: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """Thing that could not be processed, with the kind of error, a word, and whether a retry may help.

    An inconclusive failure says nothing about the thing (its worker was killed, or ran out of time), so every run tries
    it again.
    """

    id: str
    reason: str
    detail: str
    retry: bool
    inconclusive: bool = False


Outcome: TypeAlias = Kept[Out] | Rejected | Failed


@dataclass(frozen=True, slots=True)
class ItemResult(Generic[Out_co]):
    """Outcomes of one item, with the number of things it counts for and the wall-clock seconds it took."""

    item_id: str
    count: int
    outcomes: tuple[Outcome[Out_co], ...]
    seconds: float


def runtime() -> Any:
    """Return a dataclass field that says where to work, not what to do: changing it makes no result stale."""
    return dataclasses.field(metadata={"runtime": True})


class Stage(ABC, Generic[In, Out]):
    """Step of a build. Subclasses are frozen dataclasses that can be pickled, and define at least `process`.

    `In` is the type of an item, and `Out` that of what is kept of it.
    """

    # Name of the stage's folder and of its entry in build.json; unique among all stages.
    name: ClassVar[str]
    # Raise it when the same parameters and items give other outcomes than before.
    version: ClassVar[int] = 1
    # The type `Out`, with which stored results are read.
    output: ClassVar[type]
    # Column for the ids of rejects and failures, and by default the attribute of an item that holds its id.
    id_column: ClassVar[str] = "source_id"
    # Every reason for which this stage rejects.
    reasons: ClassVar[frozenset[str]] = frozenset()
    # Average number of items in a part, a file of results.
    part_size: ClassVar[int] = 16
    # Whether `intact` looks at no other files than the build folder's own, which is needless where none has changed.
    files_in_build: ClassVar[bool] = False
    # CPUs, and MiB of memory with that of the programs it starts, that one item needs; a cluster reserves them.
    cpus: ClassVar[float] = 1
    memory: ClassVar[int] = 512
    # Failures for one of these reasons halt the run once `halt_after()` items in a row had one and `must_halt` agrees.
    halting_reasons: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def process(self, item: In) -> Iterable[Outcome[Out]]:
        """Return or yield the outcomes of one item, in an order that depends on nothing but the item.

        Raises:
            VttdataError: when the whole item fails; its attributes ``reason`` and ``retry``, if any, go to `Failed`.
            Without ``retry``, the reasons ``timeout`` and ``killed`` are inconclusive, and so is an `UnavailableError`.
            HaltError: when no further item can succeed.
        """

    def item_id(self, item: In) -> str:
        """Return the id under which an item is stored and reported."""
        return str(getattr(item, self.id_column))

    def label(self, item: In) -> str:  # noqa: ARG002
        """Return a file name or address that precedes the detail of a failure; empty for none."""
        return ""

    def count(self, item: In) -> int:  # noqa: ARG002
        """Return the number of things that an item counts for in the attrition table."""
        return 1

    def seconds_limit(self, item: In) -> float | None:  # noqa: ARG002
        """Return the wall-clock limit for one item, after which its worker is killed; None for no limit."""
        return None

    def halt_after(self) -> int:
        """Return the number of failures in a row, each for one of `halting_reasons`, that halts the run."""
        return 3

    def must_halt(self, row: Sequence[tuple[In, Failed]]) -> bool:  # noqa: ARG002
        """Check whether a row of items with their failures, each for one of `halting_reasons`, has to halt the run."""
        return True

    def unexplained(self, item: In, failure: Failed) -> str:  # noqa: ARG002
        """Return the words of a failure of unknown cause, without what names the item; empty for a known cause.

        Many failures in a row with the same words halt the run.
        """
        return ""

    def intact(self, record: Out) -> bool:  # noqa: ARG002
        """Check that files of a kept record are still there, before an earlier result is used again."""
        return True

    def unchanged(self, record: Out) -> bool:
        """Check the content of files of a kept record too, large inputs among them, as ``--force`` asks for."""
        return self.intact(record)

    def fingerprint(self) -> str:
        """Return a hash of the stage's name, version and parameters."""
        params = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if not field.metadata.get("runtime")
        }
        return digest([self.name, self.version, params])


class GatheringStage(Stage[Gathered, Out], Generic[In, Gathered, Out]):
    """Stage that takes all things of type `In` as one item, of type `Gathered`, in the engine's own process."""

    @abstractmethod
    def gather(self, items: Iterable[In]) -> Gathered:
        """Return the one item; it stays in memory, and may hold less than all of them."""


class WholeStage(GatheringStage[In, tuple[In, ...], Out]):
    """Stage that takes a tuple of all things of type `In` as one item."""

    def gather(self, items: Iterable[In]) -> tuple[In, ...]:
        """Return all of them."""
        return tuple(items)

    def count(self, item: tuple[In, ...]) -> int:
        """Return the number of things."""
        return len(item)


@dataclass(frozen=True)
class RecordTable(Generic[Out]):
    """Table of records that somebody returned, each kept as it is: nothing is computed that could be used again."""

    name: str
    output: type[Out]
    id_column: str = "source_id"


# Stage of things that the code at hand only passes on.
AnyStage: TypeAlias = Stage[Any, Any]


def process_item(stage: Stage[In, Out], item: In) -> ItemResult[Out]:
    """Process one item in this process; an error about the item becomes a `Failed`.

    Raises:
        HaltError: when no further item can succeed, for example because the disk is full or read-only.
    """
    started, item_id = time.monotonic(), stage.item_id(item)
    outcomes: tuple[Outcome[Out], ...]
    try:
        outcomes = tuple(stage.process(item))
    except HaltError:
        raise
    except VttdataError as error:
        reason = getattr(error, "reason", "refused")
        stopped = reason in {"timeout", "killed"} and not hasattr(error, "retry")
        inconclusive = stopped or isinstance(error, UnavailableError)
        retry = getattr(error, "retry", inconclusive)
        outcomes = (Failed(item_id, reason, _with_label(stage, item, str(error)), retry, inconclusive),)
    except OSError as error:
        if error.errno in DISK_ERRORS:
            raise disk_error_halt(error, stage.name) from error
        outcomes = (
            Failed(
                item_id, "io_error", hide_secrets(str(error)), retry=True, inconclusive=error.errno in MACHINE_ERRORS
            ),
        )
    except MemoryError:
        outcomes = (Failed(item_id, "out_of_memory", OUT_OF_MEMORY, retry=True, inconclusive=True),)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        detail = f"{type(error).__name__}: {error} ({frame.name}, line {frame.lineno})"
        outcomes = (Failed(item_id, "internal_error", hide_secrets(detail), retry=True),)
    return ItemResult(item_id, stage.count(item), outcomes, time.monotonic() - started)


def lost_item(stage: Stage[In, Out], item: In, reason: str, detail: str, seconds: float) -> ItemResult[Out]:
    """Return the result of an item whose worker was lost or stopped, which says nothing about the item."""
    item_id = stage.item_id(item)
    failed = Failed(item_id, reason, _with_label(stage, item, detail), retry=True, inconclusive=True)
    return ItemResult(item_id, stage.count(item), (failed,), seconds)


def _with_label(stage: Stage[In, Out], item: In, detail: str) -> str:
    return ": ".join(text for text in (stage.label(item), hide_secrets(detail)) if text)
