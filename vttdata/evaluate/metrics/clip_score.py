"""CLIPScore and RefCLIPScore by a CLIP model; that of a video is the mean over its frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vttdata.evaluate.embeddings.features import ClipMetric
from vttdata.evaluate.metric import VideoSpan, check_texts
from vttdata.statistics.scores import ColumnScores

# Hessel et al., EMNLP 2021, section 3.
WEIGHT = 2.5
PROMPT = "A photo depicts "
_ITEMS_PER_CHUNK = 256


class ClipScore(ClipMetric):
    """CLIPScore of Hessel et al. (EMNLP 2021), which they define for images, and RefCLIPScore."""

    columns = ("clip-score", "clip-score-ref")

    def options(self) -> Mapping[str, str]:
        """Return the weight, and what embeddings depend on."""
        return {"w": f"{WEIGHT:g}", "features": self.features.identity}

    def score_videos(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], videos: Sequence[VideoSpan]
    ) -> dict[str, ColumnScores]:
        """Score captions; the corpus score is the mean."""
        check_texts(candidates, references)
        scores = np.zeros((len(candidates), 2))
        for start in range(0, len(candidates), _ITEMS_PER_CHUNK):
            items = range(start, min(start + _ITEMS_PER_CHUNK, len(candidates)))
            texts = (text for item in items for text in (candidates[item], *references[item]))
            vectors = {
                text[len(PROMPT) :]: encoded.vectors[-1]
                for text, encoded in self.features.encode_texts(PROMPT + text for text in texts).items()
            }
            for item in items:
                candidate, frames = vectors[candidates[item]], self.features.read_video(videos[item]).vectors
                of_video = WEIGHT * float(np.maximum(frames @ candidate, 0).mean())
                of_texts = max(0.0, *(float(vectors[text] @ candidate) for text in references[item]))
                total = of_video + of_texts
                scores[item] = of_video, 2 * of_video * of_texts / total if total else 0.0
        return {name: ColumnScores.from_means(scores[:, number]) for number, name in enumerate(self.columns)}
