"""The contract between a stage and the engine: items in, outcomes out, and failure is a value.

A stage is a frozen dataclass. Its fields are its parameters, and they decide together with its name, its version and
its inputs what has to be done again; a field made with `runtime()` (a folder, say) does not.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from vttdata.ids import digest


@dataclass(frozen=True, slots=True)
class Kept:
    """A record that goes on."""

    record: Any


@dataclass(frozen=True, slots=True)
class Rejected:
    """A well-formed thing that the recipe does not want: its id, a reason from the stage's list, and the facts."""

    id: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Something that could not be done: what happened, and whether trying again later may help."""

    id: str
    reason: str
    detail: str
    retry: bool


Outcome = Kept | Rejected | Failed


def runtime() -> Any:
    """A stage field that says where to work, not what to do: it takes no part in deciding what is stale."""
    return dataclasses.field(metadata={"runtime": True})


class Stage(ABC):
    """One step of a build; subclasses are frozen dataclasses."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Raised when the same parameters and inputs give other outputs than before."""
    output: ClassVar[type]
    """The type of the kept records."""
    id_column: ClassVar[str] = "source_id"
    """What the ids of rejects and failures are."""
    reasons: ClassVar[frozenset[str]] = frozenset()
    """Every reason for which this stage rejects."""
    part_size: ClassVar[int] = 16
    """About how many items are lost at most when a build is killed."""
    all_at_once: ClassVar[bool] = False
    """Whether the stage must see all items at once: then there is one item, the tuple of them all."""
    halting_reasons: ClassVar[frozenset[str]] = frozenset()
    """Reasons of failure that stop the run once `halt_after()` items in a row failed for one of them."""

    @abstractmethod
    def process(self, item: Any) -> Iterable[Outcome]:
        """What becomes of one item. Raises a `VttdataError` where a whole item fails."""

    def item_id(self, item: Any) -> str:
        """The id under which an item is counted and reported."""
        return str(getattr(item, self.id_column))

    def label(self, item: Any) -> str:  # noqa: ARG002
        """What a person calls an item, beside its id: a file, an address. Stands before the detail of a failure."""
        return ""

    def count(self, item: Any) -> int:
        """How many things an item stands for in the attrition table."""
        return len(item) if self.all_at_once else 1

    def seconds_limit(self, item: Any) -> float | None:  # noqa: ARG002
        """Wall-clock limit for one item; its worker is killed then. None for no limit."""
        return None

    def halt_after(self) -> int:
        """How many failures in a row for a reason in `halting_reasons` stop the run."""
        return 3

    def intact(self, record: Any) -> bool:  # noqa: ARG002
        """Whether what a kept record points to is still there; asked before an earlier result is used again."""
        return True

    def fingerprint(self) -> str:
        """A hash of the stage's name, version and parameters."""
        params = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if not field.metadata.get("runtime")
        }
        return digest([self.name, self.version, params])
