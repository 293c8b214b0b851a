"""Stores results in parts: a JSON line per item, written under a temporary name and renamed when complete.

A part's key is a hash of its stage and of its items, so a file under the right key is a finished result. Where one
part ends depends only on the ids in it: adding or removing an item disturbs its own part and no other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic

from vttdata.ids import digest
from vttdata.pipeline.stage import Failed, Kept, Outcome, Rejected, Stage

Tag = tuple[int, int]
"""Which item of which part."""


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one item: its id, how many things it stood for, its outcomes, and the seconds it took."""

    id: str
    count: int
    outcomes: tuple[Outcome, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Part:
    """A run of consecutive items of one stage, and the key under which their results are stored."""

    key: str
    items: tuple[Any, ...]


def cut_into_parts(stage: Stage, items: Iterable[Any]) -> Iterator[Part]:
    """Group items, in order, into parts of about `stage.part_size`."""
    fingerprint = stage.fingerprint()
    pending: list[Any] = []
    if stage.all_at_once:
        whole = tuple(items)
        yield Part(digest([fingerprint, whole]), (whole,))
        return
    for item in items:
        pending.append(item)
        ends_here = int(digest(stage.item_id(item))[:8], 16) % stage.part_size == 0
        if ends_here or len(pending) == 2 * stage.part_size:
            yield Part(digest([fingerprint, pending]), tuple(pending))
            pending = []
    if pending:
        yield Part(digest([fingerprint, pending]), tuple(pending))


class PartStore:
    """The finished parts of one stage in one folder."""

    def __init__(self, folder: Path, stage: Stage) -> None:
        self._folder = folder
        self._records: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(stage.output)
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Where the part with this key lies or will lie."""
        return self._folder / f"{key}.jsonl"

    def has(self, key: str) -> bool:
        """Whether this part is finished."""
        return self.path(key).is_file()

    def write(self, key: str, results: Iterable[Done]) -> None:
        """Store the results of a part; a crash at any moment leaves all of them or none."""
        temporary = self._folder / f"{key}.tmp"
        with temporary.open("w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(self._line(result), ensure_ascii=True) + "\n" for result in results)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self.path(key))

    def read(self, key: str) -> Iterator[Done]:
        """The results of a part, one after the other.

        Raises:
            ValueError: when the file is damaged.
        """
        with self.path(key).open(encoding="utf-8") as stream:
            for line in stream:
                try:
                    value = json.loads(line)
                    outcomes = tuple(self._outcome(outcome) for outcome in value["outcomes"])
                    yield Done(value["id"], value["count"], outcomes, value["seconds"])
                except (KeyError, TypeError) as error:
                    raise ValueError(f"{self.path(key)} is damaged") from error

    def keep_only(self, keys: Iterable[str]) -> None:
        """Remove every file that does not belong to one of these parts."""
        wanted = {f"{key}.jsonl" for key in keys}
        for path in self._folder.iterdir():
            if path.name not in wanted:
                path.unlink()

    def _line(self, result: Done) -> dict[str, Any]:
        outcomes = [self._plain(outcome) for outcome in result.outcomes]
        return {"id": result.id, "count": result.count, "seconds": round(result.seconds, 4), "outcomes": outcomes}

    def _plain(self, outcome: Outcome) -> dict[str, Any]:
        match outcome:
            case Kept(record):
                return {"kept": self._records.dump_python(record, mode="json")}
            case Rejected(id_, reason, detail):
                return {"rejected": [id_, reason, detail]}
            case Failed(id_, reason, detail, retry):
                return {"failed": [id_, reason, detail, retry]}

    def _outcome(self, value: dict[str, Any]) -> Outcome:
        if "kept" in value:
            return Kept(self._records.validate_python(value["kept"]))
        return Rejected(*value["rejected"]) if "rejected" in value else Failed(*value["failed"])
