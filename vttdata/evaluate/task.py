"""Base of evaluation tasks, what they score predictions with, and the import of a task by its name.

A task is a module of `vttdata.evaluate.tasks`, or of ``evaluation_tasks/`` in a user's folder of plugins, that defines
`TASK`, an `EvaluationTask`. Its file name is its name, with ``-`` for ``_``. All that differs by task is in its file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

from vttdata.errors import VttdataError, list_choices
from vttdata.evaluate.answers import DEFAULT_RULES
from vttdata.evaluate.baseline import Setting, load_baseline
from vttdata.evaluate.baselines import BASELINES
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import ItemsT
from vttdata.evaluate.metric import CaptioningMetric, MetricInputs
from vttdata.evaluate.predictions import USUAL, ItemCounts, Matched, MatchRule, NamedColumns
from vttdata.evaluate.tasks import TASKS
from vttdata.json_types import JsonObject
from vttdata.statistics.arrays import Floats

DEFAULT_TASK = "captioning"
"""Task of predictions that look like those of no other one."""

OPTIONS: Mapping[str, str] = {
    "train_split": "The items of this task say nothing of sources and times, so scores cannot be given apart for what "
    "was trained on.",
    "human": "Human captions are scored beside captions only; leave the human ceiling out of other tasks.",
    "relevance": "Judgments of relevance are about retrieval; leave them out of other tasks.",
    "strip": "Captions are stripped; leave it out of other tasks.",
    "rules": "Rules read free answers to questions; leave them out of other tasks.",
    "permuted": "Permuted options are those of questions; leave them out of other tasks.",
    "errata": "Errata are about questions here; leave them out of other tasks.",
}
"""Option that not every task has -> what is said where a task does not have it."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of one system.

    Fields:
        columns: name -> values of a score.
        counts: of the predictions.
        findings: sentences on what a reader of the scores should know.
        captions: text for each item, n, or its segments with their texts; empty where predictions are no captions.
        failed: metric -> why it could not be computed.
        settings: what else the scores depend on, for the signature.
        answers: number of answers that are ``understood`` and ``not_understood``; empty for other predictions.
        not_understood: id of an item -> its answer, which no rule understood.
        texts: texts that were predicted for each item, as people read them, n; empty where predictions are no texts.
    """

    columns: Mapping[str, ScoreColumn]
    counts: ItemCounts
    findings: Sequence[str]
    captions: Sequence[Any] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, int] = field(default_factory=dict)
    not_understood: Mapping[str, str] = field(default_factory=dict)
    texts: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class Scoring(Generic[ItemsT]):
    """What predictions are matched and scored with.

    Fields:
        task: name of the task.
        items: that are to be predicted.
        metrics: captioning metrics; empty for tasks without `EvaluationTask.default_metrics`.
        rule: what happens to missing and unknown predictions.
        tokenizer: of captioning metrics.
        cache: folder in which metrics keep costly results.
        relevance: query -> video -> relevance by judges; None without judgments.
        inputs: models, videos and features of metrics.
        setting: what baselines work from.
        rules: by which free answers to questions are read.
        permuted: files of answers to the same questions with their options in other orders.
        errata: id of a question -> its errors.
        strip: captions are scored without reasoning, special tokens and a repeated prompt.
        columns: what columns of tables of predictions are called.
    """

    task: str
    items: ItemsT
    metrics: Sequence[CaptioningMetric]
    rule: MatchRule
    tokenizer: str
    cache: Path
    relevance: Mapping[str, Mapping[str, float]] | None
    inputs: MetricInputs
    setting: Setting[ItemsT]
    rules: str = DEFAULT_RULES
    permuted: Sequence[Path] = ()
    errata: Mapping[str, Sequence[str]] = field(default_factory=dict)
    strip: bool = False
    columns: NamedColumns = USUAL

    @property
    def complete(self) -> ItemCounts:
        """Counts of predictions for exactly the items."""
        return ItemCounts(len(self.items.ids), len(self.items.ids))

    def match(self, predictions: Mapping[int, Any]) -> Matched:
        """Return predictions by the index of their item as those for all items; None without one."""
        return Matched([predictions.get(index) for index in range(len(self.items.ids))], self.complete)

    def predict(self, baseline: str) -> Any:
        """Return the predictions of a baseline, see `Baseline.predict`.

        Raises:
            VttdataError: if there is none of this name, it is for another task, or it cannot be computed.
        """
        if baseline in BASELINES.files() and (loaded := load_baseline(baseline)).task == self.task:
            return loaded.predict(self.setting)
        own = [name for name in BASELINES.files() if load_baseline(name).task == self.task]
        choices = (
            f"choose from {list_choices(baseline, own)}"
            if own
            else "there is none, and scores say what guessing reaches"
        )
        raise VttdataError(f"{baseline[:80]!a} is no baseline of {self.task}; {choices}.")


@dataclass(frozen=True, slots=True)
class TextChoice:
    """Texts of which one is right about the clip of an item: their indices, and the place of the right one."""

    texts: Sequence[int]
    right: int


class EvaluationTask(ABC, Generic[ItemsT]):
    """What is predicted about items, how it is scored, and whatever else differs by task.

    Attributes:
        default_config: configuration of a dataset that the items are read from unless another one is named.
        default_metrics: captioning metrics that are computed unless others are named; empty for a task whose columns
            come from itself.
        options: those of `OPTIONS` that the task has.
        columns: columns of a table of predictions that may be called otherwise; empty where it is no table.
        headline: column by which conditions are compared unless another one is named; None without such a one.
        solves_items: whether a value of 1 solves an item, so that the items which need the video can be listed.
        observed_as: task that the built-in observers do in place of this one; None for this one.
    """

    default_config: str = "clips"
    default_metrics: Sequence[str] = ()
    options: Collection[str] = ()
    columns: Sequence[str] = ()
    headline: str | None = None
    solves_items: bool = True
    observed_as: str | None = None

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return whether a dataset, or the name of a file of predictions, tells that this is the task."""
        return False

    @abstractmethod
    def read_items(self, dataset: Path, *, config: str, split: str | None) -> ItemsT:
        """Read the items of a split, ``test`` or the only one by default.

        Raises:
            VttdataError: if the dataset has no such items.
        """

    @abstractmethod
    def read_predictions(self, path: Path, scoring: Scoring[ItemsT]) -> Any:
        """Read predictions, in the form that `score` takes.

        Raises:
            VttdataError: if they cannot be read, or do not match the items.
        """

    @abstractmethod
    def score(self, predictions: Any, scoring: Scoring[ItemsT]) -> Scored:
        """Score predictions that `read_predictions` returned.

        Raises:
            VttdataError: if nothing can be scored.
        """

    def from_baseline(self, name: str, scoring: Scoring[ItemsT]) -> Scored:
        """Compute and score the predictions of a baseline.

        Raises:
            VttdataError: if there is no such baseline of this task, or it cannot be computed.
        """
        return self.score(Matched(scoring.predict(name), scoring.complete), scoring)

    def score_human_ceiling(self, scored: Scored, scoring: Scoring[ItemsT]) -> Mapping[tuple[str, str], ScoreColumn]:  # noqa: ARG002
        """Score what people wrote beside the predictions, for the option ``human``.

        Returns:
            ``human`` or ``system``, and the name of a column -> column.

        Raises:
            VttdataError: if people wrote too little.
        """
        return {}

    def guessing(self, items: ItemsT, metric: str) -> Sequence[float] | None:  # noqa: ARG002
        """Return how often guessing solves each item, by a column; None where that is not known."""
        return None


class ObservedTask(EvaluationTask[ItemsT]):
    """Task that observers do by choosing between texts about a clip, see `vttdata.evaluate.observers`.

    `needs_all` says that all texts are ranked for each item, which takes all items.
    """

    needs_all: bool = False

    @abstractmethod
    def list_choices(
        self, scoring: Scoring[ItemsT], present: Sequence[int]
    ) -> tuple[Sequence[Sequence[str]], Sequence[TextChoice]]:
        """Return the words of texts, and for each item that is present those of which an observer chooses one."""

    @abstractmethod
    def observe(self, scoring: Scoring[ItemsT], scores: Mapping[int, Floats]) -> Any:
        """Return predictions, as `score` takes them, from an observer's scores.

        Args:
            scoring: what they will be scored with.
            scores: index of an item that is present -> scores of the texts of its choice, or of all texts where
                `needs_all`.
        """

    @abstractmethod
    def solve_blindly(self, items: ItemsT) -> Floats | None:
        """Return how far the ensemble of blind attackers is right on each item, 0..1; None where nothing is chosen.

        Raises:
            VttdataError: if it cannot try them.
        """


class ExportedTask(EvaluationTask[ItemsT]):
    """Task that is exported for harnesses, see `vttdata.evaluate.harness`.

    `sample_column` is the column of a single answer, for harnesses that show one.
    """

    sample_column: str

    @abstractmethod
    def exported_items(self, about: JsonObject, documents: Sequence[JsonObject]) -> ItemsT:
        """Return exported documents as items; `about` are the fields of `Items` that have no default."""

    @abstractmethod
    def log_answer(self, document: JsonObject, answer: str) -> dict[str, str]:
        """Return what a harness logs of the answer to a document beside its id."""

    @abstractmethod
    def read_logged(self, items: ItemsT, logged: Sequence[Mapping[str, str]]) -> list[Any]:
        """Return the predictions of logged answers to all items, as `Matched` has them."""


def load_evaluation_task(name: str) -> EvaluationTask[Any]:
    """Import a task.

    Raises:
        VttdataError: if there is none of this name, or its module does not define `TASK`.
    """
    return TASKS.load_definition(name, "TASK", EvaluationTask)  # type: ignore[type-abstract] # none is made of it


def guess_task(dataset: Path, predictions: Path | None, baseline: str | None) -> str:
    """Return the task that a dataset or the name of a file tells, else that of the baseline, else `DEFAULT_TASK`."""
    for name in TASKS.files():
        if load_evaluation_task(name).fits(dataset, predictions):
            return name
    return DEFAULT_TASK if baseline is None else load_baseline(baseline).task
