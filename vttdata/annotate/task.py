"""Contract of annotation tasks: what a task module defines, and the items that campaigns consist of.

A task is a module of `vttdata.annotate.tasks`, or of ``tasks/`` in a user's folder of plugins, that defines `TASK`,
with the script of its page beside it: ``caption.py`` and ``caption.js``. Nothing here knows of servers or databases.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from vttdata.annotate.tasks import TASKS
from vttdata.errors import VttdataError
from vttdata.files.table_formats import as_csv
from vttdata.ids import digest
from vttdata.records import Caption

Row = dict[str, Any]
Level = Literal["nominal", "ordinal", "interval"]


class AnswerError(Exception):
    """Answer that cannot be accepted; the message is a sentence for the worker."""


@dataclass(frozen=True, slots=True)
class Item:
    """Question that a worker answers about a video.

    Fields:
        item: id, unique in its unit; reveals nothing.
        video_id: video that the page plays.
        shown: what the page gets, plain JSON.
        facts: what only the requester sees: systems, what controls expect.
    """

    item: str
    video_id: str
    shown: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unit:
    """Items that one worker answers one after another, such as a HIT.

    Fields:
        unit: id, unique in the campaign; reveals nothing.
        items: at least one.
        is_control: the unit only checks workers: any number of them may answer it.
    """

    unit: str
    items: tuple[Item, ...]
    is_control: bool = False


class Answered(NamedTuple):
    """Answer of a worker to an item.

    Fields:
        worker: name of the worker, hashed wherever it leaves the campaign.
        unit, item: what was answered.
        answer: as `Task.check` returned it.
        seconds: from showing to answering, as the page measured.
        saved: seconds since the epoch.
    """

    worker: str
    unit: str
    item: Item
    answer: Mapping[str, Any]
    seconds: float
    saved: float


class Question(NamedTuple):
    """Question of the qualification, with the index of the right choice and why it is right."""

    text: str
    choices: tuple[str, ...]
    right: int
    reason: str


class Earlier(NamedTuple):
    """Earlier answers: of other workers to the same item, and of this worker to other items."""

    others: Sequence[Mapping[str, Any]]
    own: Sequence[Mapping[str, Any]]


class Ratings(NamedTuple):
    """Answers as agreement is computed from them: item -> worker -> value, on a level of measurement."""

    name: str
    level: Level
    values: Mapping[str, Mapping[str, float | str]]


class Verdict(NamedTuple):
    """Decision on whether a worker's answers count, with the evidence in a sentence."""

    keep: bool
    name: str
    evidence: str


@dataclass(frozen=True)
class Material:
    """Files and settings from which a campaign is made.

    Fields:
        inputs: files, folders and names of datasets as the command got them.
        videos: returns the file of each of some ids that has one.
        human: human captions, for controls and as a system of their own.
        source_of: `video_id` -> `source_id`; a video without an entry is its own source.
        columns: name of a column -> its name in the inputs.
        seed: of all draws.
        notes: sentences for the requester about what was left out.
    """

    inputs: Sequence[str]
    videos: Callable[[Iterable[str]], Mapping[str, Path]]
    human: Sequence[Caption] = ()
    source_of: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    notes: list[str] = field(default_factory=list)

    def draw(self, *purpose: object) -> random.Random:
        """Return a generator that depends on the seed and a purpose only."""
        return random.Random(digest([self.seed, *map(str, purpose)]))

    def with_videos(self, wanted: Iterable[str]) -> dict[str, Path]:
        """Return the files of videos, and note those that have none.

        Raises:
            VttdataError: when no video has a file.
        """
        names = sorted(set(wanted))
        files = dict(self.videos(names))
        missing = [name for name in names if name not in files]
        if not files:
            raise VttdataError(f"None of the {len(names):,} videos has a file (first {(names or ['none'])[0]!a}).")
        if missing:
            self.notes.append(f"{len(missing):,} videos have no file and are left out (first {missing[0]!a}).")
        return files


class Task(ABC):
    """Kind of question that people answer about videos.

    Attributes:
        Settings: settings class, a frozen dataclass with `vttdata.settings.Strict`.
        title: of the page.
        takes: what the inputs of a campaign are, for messages.
        columns: column of the table of results -> its meaning.
        compares: `check` looks at earlier answers.
        counted_controls: what `control_results` counts, after a number, for the evidence of a verdict.
        keeps_times: the page needs the time of every frame, so that `Item.shown` gets ``times``.
    """

    Settings: ClassVar[type]
    title: ClassVar[str]
    takes: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]
    compares: ClassVar[bool] = False
    keeps_times: ClassVar[bool] = False
    counted_controls: ClassVar[str] = "controls right"

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    @abstractmethod
    def instructions(self) -> Sequence[str]:
        """Return the paragraphs that a worker reads before the first item."""

    def quiz(self) -> Sequence[Question]:
        """Return the qualification; empty where there is none."""
        return ()

    @abstractmethod
    def make(self, material: Material) -> list[Unit]:
        """Return the units of a campaign; equal material gives equal units.

        Raises:
            VttdataError: when an input cannot be used.
        """

    @abstractmethod
    def check(self, item: Item, answer: Mapping[str, Any], earlier: Earlier) -> Row:
        """Return an answer with nothing in it but what the task knows.

        Raises:
            AnswerError: when it is incomplete or refused.
        """

    def control_passed(self, item: Item, answer: Mapping[str, Any]) -> bool | None:  # noqa: ARG002
        """Return whether the answer to a control is right; None for items that are no controls."""
        return None

    def control_results(self, answers: Sequence[Answered]) -> list[bool]:
        """Return for each control that a worker met whether the answer is right."""
        results = (self.control_passed(entry.item, entry.answer) for entry in answers)
        return [result for result in results if result is not None]

    @abstractmethod
    def label(self, answer: Mapping[str, Any]) -> str:
        """Return an answer in a few characters: equal labels of one worker in a row are straight-lining."""

    def verdict(self, answers: Sequence[Answered]) -> Verdict:
        """Judge a worker by the controls: at least `pass_mark` of them must be right."""
        passed = self.control_results(answers)
        if not passed:
            return Verdict(True, "untested", "met no control")
        evidence = f"{sum(passed)} of {len(passed)} {self.counted_controls}"
        if len(passed) < self.settings.min_controls:
            return Verdict(True, "untested", f"{evidence}; judged from {self.settings.min_controls} on")
        keep = sum(passed) >= self.settings.pass_mark * len(passed)
        return Verdict(keep, "reliable" if keep else "failed_controls", evidence)

    @abstractmethod
    def ratings(self, answers: Iterable[Answered]) -> list[Ratings]:
        """Return the answers as agreement is computed from them, without controls."""

    @abstractmethod
    def rows(self, answers: Sequence[Answered]) -> list[Row]:
        """Return the table of results, with the columns of `columns`; workers are hashed already."""

    def further_files(self, answers: Sequence[Answered], rows: Sequence[Row]) -> dict[str, str]:  # noqa: ARG002
        """Return further files of results: name -> text."""
        return {}

    def unit(self, *items: Item, is_control: bool = False) -> Unit:
        """Return a unit whose id depends on its items."""
        content = [(item.item, item.video_id, dict(item.shown), dict(item.facts)) for item in items]
        return Unit(digest(["unit", content])[:16], tuple(items), is_control)


def item_id(*content: object) -> str:
    """Return the id of an item, which depends on its content and reveals nothing."""
    return digest(["item", *map(str, content)])[:16]


def majority(votes: Iterable[str]) -> str | None:
    """Return the vote with more than half of all votes, None without one."""
    counts = Counter(votes)
    best, number = max(counts.items(), key=lambda entry: (entry[1], entry[0]), default=("", 0))
    return best if 2 * number > counts.total() else None


def ratings_csv(rows: Iterable[Row], human: str = "") -> str:
    """Return ratings of captions as ``vttdata evaluate-metric`` reads them.

    Rows have `video_id`, `system`, `candidate`, `score` and `annotator`; `human` is the name of human captions among
    the systems.
    """
    names = ("video_id", "system", "candidate", "score", "annotator")
    table = [[*(row[name] for name in names), "yes" if row["system"] == human else "no"] for row in rows]
    return as_csv([[*names, "human"], *table])


def load_task(name: str) -> type[Task]:
    """Import a task.

    Raises:
        VttdataError: when there is no such task, it cannot be imported, or defines no subclass of `Task` as `TASK`.
    """
    found = TASKS.load_definition(name, "TASK", type)
    if not issubclass(found, Task):
        raise VttdataError(f"{TASKS.files()[name]}:1: a task must define TASK as a subclass of {Task.__module__}.Task.")
    return found


def script_of(name: str) -> Path:
    """Return the script of a task's page, which is beside its module.

    Raises:
        VttdataError: when it is missing.
    """
    path = TASKS.files()[name].with_suffix(".js")
    if not path.is_file():
        raise VttdataError(f"{path}: the script of the page of the task '{name}' is missing.")
    return path
