"""Cosine of sentence embeddings of the caption and its most similar reference, by any encoder of HuggingFace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from vttdata.evaluate.embeddings.matching import unit_vectors
from vttdata.evaluate.learned.pair_model import best_similarity
from vttdata.evaluate.metric import CaptioningMetric, check_texts
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores
from vttdata.text.lm.pretrained import explain_missing, identify_model, load_encoder, split_revision

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


class SentenceSimilarity(CaptioningMetric):
    """Best cosine similarity of a caption and its references."""

    columns = ("sentence-similarity",)
    needs = "an encoder of HuggingFace: pip install 'vttdata[lm]'"
    uses_tokens = False

    @property
    def _model(self) -> str:
        return self.inputs.model_of(self.name) or DEFAULT_MODEL

    @cached_property
    def _encode(self) -> Callable[[Sequence[str]], Floats]:
        name, revision = split_revision(self._model)
        return load_encoder(name, revision=revision, device=self.inputs.device)

    @cached_property
    def _vectors(self) -> dict[str, Floats]:
        """Unit vectors of the texts seen so far: systems are scored one after another against the same references."""
        return {}

    def options(self) -> Mapping[str, str]:
        """Return the model."""
        return {"model": identify_model(*split_revision(self._model))}

    def unavailable(self) -> str | None:
        """Return which library is missing."""
        return explain_missing()

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; the corpus score is the mean."""
        check_texts(candidates, references)
        texts = dict.fromkeys([*candidates, *(text for group in references for text in group)])
        new = [text for text in texts if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, unit_vectors(self._encode(new)), strict=True))
        items = best_similarity(self._vectors, candidates, references)
        return {"sentence-similarity": ColumnScores.from_means(items)}
