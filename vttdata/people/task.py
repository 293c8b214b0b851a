"""Contract of annotation tasks: what a task module defines, and the items that campaigns consist of.

A task is a module of `vttdata.people.tasks`, or of ``tasks/`` in a user's folder of plugins, that defines `TASK`,
with the script of its page beside it: ``caption.py`` and ``caption.js``. Nothing here knows of servers or databases.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from vttdata.errors import VttdataError
from vttdata.files.results import Section
from vttdata.files.table_formats import as_csv
from vttdata.ids import digest
from vttdata.people.addresses import is_url, video_address
from vttdata.people.tasks import TASKS
from vttdata.records import Caption
from vttdata.settings import Strict

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
        others: other videos of which it shows captions, words of captions or pictures.
        is_retired: nobody is asked it; answers that were given count.
    """

    item: str
    video_id: str
    shown: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)
    others: Sequence[str] = ()
    is_retired: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """Items that one worker answers one after another, such as a HIT.

    Fields:
        unit: id, unique in the campaign; reveals nothing.
        items: at least one.
        is_control: the unit only checks workers: any number of them may answer it.
        qualifies: the unit is a control with right answers that a worker may meet before all others; see
            `Task.qualifying`.
    """

    unit: str
    items: tuple[Item, ...]
    is_control: bool = False
    qualifies: bool = False

    @property
    def asked(self) -> tuple[Item, ...]:
        """Items that workers are asked."""
        return tuple(item for item in self.items if not item.is_retired)


class Observed(NamedTuple):
    """What the page observed while an answer was given, which are counts and nothing of what was written.

    Fields:
        shown: share of the video's length that was shown, 0..1, by the times of frames that the browser presented in a
            visible page, at twice the speed at most.
        keys: keys that were pressed in a text.
        changes: changes of the text, of whatever kind.
        pastes: of them, those that put in a text from elsewhere.
    """

    shown: float = 0.0
    keys: int = 0
    changes: int = 0
    pastes: int = 0


class Answered(NamedTuple):
    """Answer of a worker to an item.

    Fields:
        worker: name of the worker, hashed wherever it leaves the campaign.
        unit, item: what was answered.
        answer: as `Task.check` returned it.
        seconds: from showing to answering, as the page measured; None where nobody did.
        saved: seconds since the epoch.
        observed: None where the answer did not come from a page that observes.
    """

    worker: str
    unit: str
    item: Item
    answer: Mapping[str, Any]
    seconds: float | None
    saved: float
    observed: Observed | None = None

    def rounded_seconds(self, digits: int = 1) -> float | None:
        """Return the seconds as tables have them."""
        return None if self.seconds is None else round(self.seconds, digits)


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


class Note(NamedTuple):
    """What was left out or changed when a campaign was made, for the requester.

    Fields:
        name: kind of note.
        meaning: what the cases are, in words that follow their number.
        cases: what it is about, at least one.
    """

    name: str
    meaning: str
    cases: tuple[str, ...]

    def __str__(self) -> str:
        """Return a sentence with the number of cases and the first."""
        return f"{len(self.cases):,} {self.meaning} (such as {self.cases[0]!a})"


@dataclass(frozen=True)
class Material:
    """Files and settings from which a campaign is made.

    Fields:
        inputs: files, folders and names of datasets as the command got them.
        files: returns the file of each of some ids that has one.
        human: human captions, for controls and as a system of their own.
        source_of: `video_id` -> `source_id`; a video without an entry is its own source.
        columns: name of a column -> its name, or its names, in the inputs that have it.
        seed: of the draws that decide what is asked.
        secret: of the campaign; whatever orders and names units depends on it, so that nobody can tell controls apart.
        address: ``http(s)`` URL of the videos with ``{video_id}`` in it; None where they are files.
        notes: what was left out or changed.
        datasets: names of the datasets among what it is made from.
    """

    inputs: Sequence[str]
    files: Callable[[Iterable[str]], Mapping[str, Path]]
    human: Sequence[Caption] = ()
    source_of: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    seed: int = 0
    address: str | None = None
    secret: bytes = b""
    notes: list[Note] = field(default_factory=list)
    datasets: Sequence[str] = ()

    def draw(self, *purpose: object) -> random.Random:
        """Return a generator that depends on the seed and a purpose only."""
        return random.Random(digest([self.seed, *map(str, purpose)]))

    def draw_in_secret(self, *purpose: object) -> random.Random:
        """Return a generator that depends on the secret, too: for the order of units, and for controls."""
        return random.Random(self._keyed("draw", *purpose))

    def name(self, *content: object) -> str:
        """Return the id of a unit or item, which reveals nothing, not even to who knows what it was made from."""
        return self._keyed("name", *content)[:16]

    def _keyed(self, *purpose: object) -> str:
        text = json.dumps([self.seed, *map(str, purpose)])
        return hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()

    def videos(self, wanted: Iterable[str]) -> dict[str, Path | str]:
        """Return the file of each video that has one, or the URL of every video.

        Raises:
            VttdataError: when the address is not a URL with ``{video_id}`` in it.
        """
        if self.address is None:
            return dict(self.files(wanted))
        if not is_url(self.address) or "{video_id}" not in self.address:
            raise VttdataError(f"{self.address}: an address of videos is an http(s) URL with {{video_id}} in it.")
        return {name: video_address(self.address, name) for name in wanted}

    def with_videos(self, wanted: Iterable[str]) -> dict[str, Path | str]:
        """Return the files or URLs of videos, and note those that have none.

        Raises:
            VttdataError: when no video has a file, or the address is no address.
        """
        names = sorted(set(wanted))
        files = self.videos(names)
        missing = [name for name in names if name not in files]
        if not files:
            raise VttdataError(f"None of the {len(names):,} videos has a file (first {(names or ['none'])[0]!a}).")
        if missing:
            self.notes.append(Note("no_video", "videos that have no file; left out", tuple(missing)))
        return files


@dataclass(frozen=True, slots=True)
class NoSettings(Strict):
    """Settings of a task that has none."""


class Task(ABC):
    """Kind of question that people answer about videos.

    Attributes:
        Settings: settings class, a frozen dataclass with `vttdata.settings.Strict`.
        title: of the page.
        takes: what the inputs of a campaign are, for messages.
        columns: column of the table of results -> its meaning.
        compares: `check` looks at earlier answers.
        counted_controls: what `control_results` counts, after a number, for the evidence of a verdict.
        repeats_own: controls repeat units that the worker has answered.
        keeps_times: the page needs the time of every frame, so that `Item.shown` gets ``times``.
        observes: what of `Observed` the page keeps, as the consent says it.
    """

    Settings: ClassVar[type] = NoSettings
    title: ClassVar[str]
    takes: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]
    compares: ClassVar[bool] = False
    repeats_own: ClassVar[bool] = False
    keeps_times: ClassVar[bool] = False
    counted_controls: ClassVar[str] = "controls right"
    observes: ClassVar[str] = "The page also notes how much of each video was shown."

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    @abstractmethod
    def instructions(self) -> Sequence[str]:
        """Return the paragraphs that a worker reads before the first item."""

    def quiz(self) -> Sequence[Question]:
        """Return the qualification; empty where there is none."""
        return ()

    def qualifying(self) -> int:
        """Return how many units that qualify a worker meets before others; one wrong answer in four is forgiven."""
        return 0

    @abstractmethod
    def make(self, material: Material) -> list[Unit]:
        """Return the units of a campaign; equal material, with the same secret, gives equal units.

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

    def chance(self) -> float:
        """Return the probability that a random answer to a control is right; 0 where it is not known."""
        return 0.0

    @property
    def min_shown(self) -> float:
        """Least share of a clip's length that must have been shown; the setting of this name, 0 without one."""
        return float(getattr(self.settings, "min_shown", 0.0))

    @property
    def alpha(self) -> float:
        """Probability below which as many right answers to controls are no chance."""
        return 0.05

    def control_chances(self, answers: Sequence[Answered]) -> list[float]:
        """Return for each of `control_results` the probability that a random answer is right."""
        return [self.chance()] * len(self.control_results(answers))

    def control_results(self, answers: Sequence[Answered]) -> list[bool]:
        """Return for each control that a worker met whether the answer is right."""
        results = (self.control_passed(entry.item, entry.answer) for entry in answers)
        return [result for result in results if result is not None]

    def label(self, answer: Mapping[str, Any]) -> str:
        """Return an answer in a few characters: equal labels of one worker in a row are straight-lining."""
        return " ".join(map(str, answer.values()))

    def verdict(self, answers: Sequence[Answered]) -> Verdict:
        """Judge a worker by what was shown, see `saw_enough`, then by the controls.

        At least `pass_mark` of them must be right, and more than by chance.
        """
        by_controls = self._judge_controls(answers)
        shares = [entry.observed.shown for entry in answers if entry.observed is not None]
        if saw_enough(shares, self.min_shown):
            return by_controls
        shown = sum(share >= self.min_shown for share in shares)
        evidence = f"{self.min_shown:.0%} of the clip were shown for {shown} of {len(shares)} answers"
        return Verdict(False, "not_shown", f"{evidence}; {by_controls.evidence}")

    def _judge_controls(self, answers: Sequence[Answered]) -> Verdict:
        passed = self.control_results(answers)
        if not passed:
            return Verdict(True, "untested", "met no control")
        evidence = f"{sum(passed)} of {len(passed)} {self.counted_controls}"
        if len(passed) < self.settings.min_controls:
            return Verdict(False, "untested", f"{evidence}; judged from {self.settings.min_controls} on")
        if sum(passed) < self.settings.pass_mark * len(passed):
            return Verdict(False, "failed_controls", evidence)
        p = chance_of(sum(passed), self.control_chances(answers))
        if p > self.alpha:
            return Verdict(False, "untested", f"{evidence}; by chance as many are right with p = {p:.2f}")
        return Verdict(True, "reliable", evidence)

    def flags(self, answers: Sequence[Answered]) -> list[tuple[str, str]]:  # noqa: ARG002
        """Return flags of a worker that this task alone knows, each with its evidence; they decide nothing."""
        return []

    @abstractmethod
    def ratings(self, answers: Iterable[Answered]) -> list[Ratings]:
        """Return the answers as agreement is computed from them, without controls."""

    @abstractmethod
    def rows(self, answers: Sequence[Answered]) -> list[Row]:
        """Return the table of results, with the columns of `columns`; workers are hashed already."""

    def further_files(
        self,
        answers: Sequence[Answered],  # noqa: ARG002
        rows: Sequence[Row],  # noqa: ARG002
        *,
        kept: Collection[str],  # noqa: ARG002
    ) -> dict[str, str | Sequence[Section]]:
        """Return further files of results: name -> text, or sections, which the page of the campaign shows too.

        Args:
            answers: of all workers.
            rows: table of results, of the workers that are kept.
            kept: names of these.
        """
        return {}

    def enough_controls(self) -> int:
        """Return how many controls a worker should meet: so many that one wrong answer leaves no doubt."""
        number = max(self.settings.min_controls, 2)
        while chance_of(number - 1, [self.chance()] * number) >= self.alpha:
            number += 1
        return int(number)

    def number_of_controls(self, units: int) -> int:
        """Return how many controls a campaign of so many units has: the share `controls`, and enough in small ones."""
        share = self.settings.controls
        return min(max(round(share * units), self.enough_controls()), units) if share else 0

    def unit(self, material: Material, *items: Item, is_control: bool = False, qualifies: bool = False) -> Unit:
        """Return a unit whose id depends on its items and the campaign's secret; the page asks for `min_shown`."""
        items = tuple(replace(item, shown={**item.shown, "min_shown": self.min_shown}) for item in items)
        content = [(item.item, item.video_id, dict(item.shown), dict(item.facts)) for item in items]
        return Unit(material.name("unit", json.dumps(content, sort_keys=True)), items, is_control, qualifies)


def chance_of(right: int, chances: Sequence[float]) -> float:
    """Return the probability of at least so many right answers, each right by its own chance."""
    # Probability of each number of right answers so far.
    numbers = [1.0]
    for chance in chances:
        numbers = [
            (1 - chance) * same + chance * fewer for same, fewer in zip([*numbers, 0.0], [0.0, *numbers], strict=True)
        ]
    return sum(numbers[right:])


def saw_enough(shares: Sequence[float], least: float) -> bool:
    """Return whether a worker saw enough: of at least half of the answers' videos, a share of `least` was shown.

    True where no share is known.
    """
    return 2 * sum(share >= least for share in shares) >= len(shares)


def majority(votes: Iterable[str]) -> str | None:
    """Return the vote with more than half of all votes, None without one."""
    counts = Counter(votes)
    best, number = max(counts.items(), key=lambda entry: (entry[1], entry[0]), default=("", 0))
    return best if 2 * number > counts.total() else None


def ratings_csv(rows: Iterable[Row], human: str = "") -> str:
    """Return ratings of captions as ``vttdata metric test`` reads them.

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
