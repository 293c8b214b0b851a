"""EMScore and EMScore_ref by a CLIP model, as in their paper: captions matched with frames and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from vttdata.evaluate.embeddings.clip_metric import ClipMetric
from vttdata.evaluate.embeddings.emscore import PARTS, em_scores
from vttdata.evaluate.embeddings.matching import Convention
from vttdata.evaluate.metric import ColumnScores, VideoSpan, check_texts


class EmScore(ClipMetric):
    """EMScore of Shi et al. (CVPR 2022); see `vttdata.evaluate.embeddings.matching` for its conventions.

    `emscore` needs no references; columns with `ref` compare with them, too.
    """

    columns = tuple(f"emscore{part}{ending}" for part in ("", "-ref") for ending in PARTS)
    depends_on_items = True
    convention: ClassVar[Convention] = "paper"

    def options(self) -> Mapping[str, str]:
        """Return the convention, and what embeddings depend on."""
        return {"convention": self.convention, "idf": "references", "features": self.features.identity}

    def score_videos(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], videos: Sequence[VideoSpan]
    ) -> dict[str, ColumnScores]:
        """Score captions; tokens weigh by how many references have them, and the corpus score is the mean."""
        check_texts(candidates, references)
        rows = em_scores(self.features, videos, candidates, references, self.convention, self.cache)
        return {name: ColumnScores.from_means(rows[:, number]) for number, name in enumerate(self.columns)}
