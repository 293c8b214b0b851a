"""Metric learned from people's scores by `vttdata metric train`: a text encoder and a regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from vttdata.evaluate.learned.pair_model import PairModel
from vttdata.evaluate.metric import CaptioningMetric, check_texts
from vttdata.statistics.scores import ColumnScores
from vttdata.text.lm.pretrained import explain_missing, identify_model


class Learned(CaptioningMetric):
    """Predicted score by people, in standard deviations where it was trained on z-scores."""

    columns = ("learned",)
    needs = "a folder of 'vttdata metric train': --model learned=FOLDER, and pip install 'vttdata[lm]'"
    uses_tokens = False

    @cached_property
    def _model(self) -> PairModel:
        return PairModel.load(Path(self.inputs.model_of(self.name) or ""), self.inputs.device)

    def options(self) -> Mapping[str, str]:
        """Return the model."""
        return {"model": identify_model(self.inputs.model_of(self.name) or "none")}

    def unavailable(self) -> str | None:
        """Return that no model is named, or which library is missing."""
        if self.inputs.model_of(self.name) is None:
            return "A learned metric is named with --model learned=FOLDER; 'vttdata metric train' makes one."
        return explain_missing()

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; the corpus score is the mean."""
        check_texts(candidates, references)
        return {"learned": ColumnScores.from_means(self._model.score(candidates, references))}
