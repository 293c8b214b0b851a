"""Base class of captioning metrics, and the import of a metric by its name.

A metric family is a module in `vttdata.evaluate.metrics` or in ``metrics/`` of a user's folder of plugins. It defines
one subclass of `CaptioningMetric`, and its file name is the family's name, with ``-`` for ``_``. A family gives one
score or several: its columns.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

from vttdata.errors import VttdataError, list_choices
from vttdata.evaluate.metrics import METRICS
from vttdata.evaluate.reference_index import LeftOut
from vttdata.plugins import load_module
from vttdata.statistics.scores import ColumnScores
from vttdata.text.tokenizers import load_tokenizer


@dataclass(frozen=True)
class MetricInputs:
    """Inputs of metrics by models besides captions and references.

    Fields:
        models: name or folder of the model of each family of metrics, with ``@REVISION`` where needed; that of the
            empty name is for all others.
        device: where models compute, such as ``cpu`` or ``cuda``.
        videos: folders of video files, called ``<video_id>.<extension>``.
        features: file of embeddings, see `vttdata.evaluate.embeddings.features`.
        frames: frames of each video, spread evenly; 0 for all.
        layer: of the encoder of BERTScore; None for the model's usual one.
        rescale: file of baselines of BERTScore; None for scores as they are.
    """

    models: Mapping[str, str] = field(default_factory=dict)
    device: str = "cpu"
    videos: Sequence[Path] = ()
    features: Path | None = None
    frames: int = 10
    layer: int | None = None
    rescale: Path | None = None

    def model_of(self, family: str) -> str | None:
        """Return the model that was named for a family."""
        return self.models.get(family, self.models.get(""))


class VideoSpan(NamedTuple):
    """Video, or the part of it from `start` to `end`, in seconds."""

    video_id: str
    start: float = 0.0
    end: float = math.inf

    @property
    def is_whole(self) -> bool:
        """Return True for the whole video."""
        return self[1:] == (0.0, math.inf)


class CaptioningMetric(ABC):
    """Family of scores of captions against the references of the same items.

    Attributes:
        name: name of the family, that of its file.
        columns: names of its scores; each begins with the family's name.
        needs: what must be installed besides vttdata, in words; empty when nothing.
        version: raised whenever a score can change.
        depends_on_items: whether a caption's score depends on the other items that are scored with it.
        english_only: whether captions in other languages cannot be scored.
        uses_tokens: whether captions are cut into tokens first; otherwise the tokenizer is ``none``.
        tokenizer: name of the tokenizer of an instance, see `vttdata.text.tokenizers`.
        cache: folder for results that are costly to compute, filed by content; None when nothing is kept on disk.
        inputs: models, videos and features, for metrics that use them.

    Args:
        tokenizer: name of the tokenizer, for metrics that use one.
        cache: folder for results that are costly to compute; made when needed.
        inputs: models, videos and features; the defaults of each metric if omitted.

    Raises:
        VttdataError: if there is no such tokenizer.
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    needs: ClassVar[str] = ""
    version: ClassVar[int] = 1
    depends_on_items: ClassVar[bool] = False
    english_only: ClassVar[bool] = False
    uses_tokens: ClassVar[bool] = True

    def __init__(
        self, tokenizer: str = "ptb-3.4.1", cache: Path | None = None, inputs: MetricInputs | None = None
    ) -> None:
        self.tokenizer = tokenizer if self.uses_tokens else "none"
        load_tokenizer(self.tokenizer)
        self.cache = cache
        self.inputs = inputs or MetricInputs()

    def unavailable(self) -> str | None:
        """Return why the metric cannot be computed here and what to do about it, in one sentence, or None."""
        return None

    def options(self) -> Mapping[str, str]:
        """Return the settings on which scores depend besides the tokenizer, for the signature."""
        return {}

    def signature(self) -> str:
        """Return what to state beside a score of this family, such as ``cider-d|tok:ptb-3.4.1|sigma:6|v:1``.

        The numbers of items and references belong to the data and are left to the report.
        """
        parts = {"tok": self.tokenizer, **self.options(), "v": str(self.version)}
        return "|".join([self.name, *(f"{key}:{value}" for key, value in parts.items())])

    @abstractmethod
    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions.

        Args:
            candidates: one caption for each of n items, as it was written, without tokenization.
            references: for each item its references, at least one, as they were written.

        Returns:
            Scores by column, in the order of `columns`.

        Raises:
            VttdataError: if a text contains an unpaired surrogate, an item has no reference, the lengths differ, or
                the metric is unavailable.
        """

    def score_videos(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], videos: Sequence[VideoSpan]
    ) -> dict[str, ColumnScores]:
        """Score captions of videos, for metrics that watch them; others see the texts only; see `score`.

        `videos` says what each of the n items shows.

        Raises:
            VttdataError: as `score`, or if a video is missing or damaged.
        """
        del videos
        return self.score(candidates, references)

    def score_left_out(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], videos: Sequence[VideoSpan]
    ) -> Iterator[tuple[str, dict[str, ColumnScores]]]:
        """Score captions against the references without those of each rank in turn; see `score_videos`.

        Yields:
            For each rank that all items have a reference of ``human`` with the scores by column of the references of
            that rank against the others, and then ``system`` with those of the candidates.

        Raises:
            VttdataError: as `score_videos`.
        """
        for rank in range(min(map(len, references), default=0)):
            others = LeftOut(references, rank)
            yield "human", self.score_videos([texts[rank] for texts in references], others, videos)
            yield "system", self.score_videos(candidates, others, videos)

    def describe(self, references: Sequence[Sequence[str]]) -> list[str]:  # noqa: ARG002
        """Return sentences on what the scores of any captions against these references cannot say."""
        return []


class VideoMetric(CaptioningMetric):
    """Metric that compares captions with videos, and with references."""

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Raise VttdataError: captions cannot be scored without their videos."""
        del candidates, references
        raise VttdataError(f"The metric '{self.name}' compares captions with videos, and none are named.")

    @abstractmethod
    def score_videos(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], videos: Sequence[VideoSpan]
    ) -> dict[str, ColumnScores]:
        """Score captions of videos; see `CaptioningMetric.score_videos`."""


def check_texts(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Check that there is a candidate and at least one reference for each item.

    Raises:
        VttdataError: if not.
    """
    if len(candidates) != len(references):
        raise VttdataError(f"There are {len(candidates)} captions for {len(references)} lists of references.")
    missing = next((item for item, texts in enumerate(references) if isinstance(texts, str) or not texts), None)
    if missing is not None:
        raise VttdataError(f"Item {missing} has no list of references, so that its caption cannot be scored.")


def load_metric_class(name: str) -> type[CaptioningMetric]:
    """Import a metric family by its name or by that of one of its columns, such as ``bleu`` or ``bleu4``.

    Raises:
        VttdataError: if there is no such metric, or its file does not define one.
    """
    files = METRICS.files()
    # A column begins with its family's name, so that no other file needs to be imported.
    family = max((known for known in files if name.startswith(known)), key=len, default=None)
    if family is None:
        raise VttdataError(f"Unknown metric {name!a}; choose from {list_choices(name, files)}.")
    path = files[family]
    module = load_module(path, "metric")
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, CaptioningMetric) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise VttdataError(f"{path}:1: a metric file defines one subclass of CaptioningMetric, not {len(classes)}.")
    metric_class: type[CaptioningMetric] = classes[0]
    metric_class.name = family
    problem = _find_problem(metric_class)
    if problem:
        raise VttdataError(f"{path}:{inspect.getsourcelines(metric_class)[1]}: metric '{family}' {problem}.")
    if name not in (family, *metric_class.columns):
        raise VttdataError(f"Unknown metric {name!a}; '{family}' has {list_choices(name, metric_class.columns)}.")
    return metric_class


def _find_problem(metric_class: type[CaptioningMetric]) -> str | None:
    if inspect.isabstract(metric_class):
        return f"does not define the method {min(metric_class.__abstractmethods__)}"
    columns = getattr(metric_class, "columns", None)
    if not isinstance(columns, tuple) or not columns:
        return "does not define the tuple columns"
    foreign_column = next((column for column in columns if not str(column).startswith(metric_class.name)), None)
    if foreign_column is not None:
        return f"has the column {foreign_column!a}, which must begin with '{metric_class.name}'"
    if not isinstance(metric_class.version, int):
        return "has a version that is not an integer"
    return None


def load_metric(
    name: str, tokenizer: str = "ptb-3.4.1", cache: Path | None = None, inputs: MetricInputs | None = None
) -> CaptioningMetric:
    """Make a metric by the name of its family or of one of its columns; see `CaptioningMetric` for the arguments.

    Raises:
        VttdataError: if there is no such metric or tokenizer, or the metric's file does not define one.
    """
    return load_metric_class(name)(tokenizer, cache, inputs)
