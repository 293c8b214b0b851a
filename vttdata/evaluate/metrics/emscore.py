"""EMScore and EMScore_ref by a CLIP model, as in their paper: captions matched with frames and references."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from vttdata.evaluate.embeddings.features import ClipMetric, Features, TextVectors
from vttdata.evaluate.embeddings.matching import (
    Convention,
    TokenWeights,
    Vectors,
    best_reference,
    combine,
    match_vectors,
    video_vector,
    weigh_tokens,
)
from vttdata.evaluate.java_scores import cached_rows
from vttdata.evaluate.metric import VideoSpan, check_texts
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores

PARTS = ("", "-coarse", "-f", "-p", "-r", "-no-idf")
"""Endings of column names: EMScore, coarse score, F, precision and recall, and EMScore without weights of tokens."""

_ITEMS_PER_CHUNK = 256


def em_scores(
    features: Features,
    videos: Sequence[VideoSpan],
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    convention: Convention,
    cache: Path | None,
) -> Floats:
    """Return EMScore and EMScore_ref of captions and their parts, (n, 12): `PARTS` of both.

    Weights of tokens are those of all references, each as often as an item has it.
    """
    texts = list(dict.fromkeys([*candidates, *(text for group in references for text in group)]))
    tokens = dict(zip(texts, features.tokenize(texts), strict=True))
    weights = weigh_tokens((tokens[text] for group in references for text in group), convention)
    key = f"emscore-1-{convention}-{features.identity}"
    rows = [np.zeros((0, 2 * len(PARTS)))]
    for start in range(0, len(candidates), _ITEMS_PER_CHUNK):
        items = slice(start, start + _ITEMS_PER_CHUNK)
        frames = [features.read_video(span).vectors for span in videos[items]]
        used = dict.fromkeys(text for group in (candidates[items], *references[items]) for text in group)
        content = [
            [hashlib.sha256(np.ascontiguousarray(vectors).data).hexdigest() for vectors in frames],
            *(candidates[items], list(map(list, references[items]))),
            [weights.of(tokens[text]).tolist() for text in used],
        ]

        def compute(items: slice = items, frames: Sequence[Vectors] = frames) -> list[list[float]]:
            encoded = features.encode_texts(
                [*candidates[items], *(text for group in references[items] for text in group)]
            )
            return list(_score_chunk(encoded, frames, candidates[items], references[items], weights, convention))

        rows.append(cached_rows(cache, key, content, (len(frames), 2 * len(PARTS)), compute))
    return np.concatenate(rows)


def _score_chunk(
    encoded: dict[str, TextVectors],
    frames: Sequence[Vectors],
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    weights: TokenWeights,
    convention: Convention,
) -> Iterator[list[float]]:
    token_weights = {text: weights.of(vectors.tokens) for text, vectors in encoded.items()}
    for candidate, texts, vectors in zip(candidates, references, frames, strict=True):
        tokens, scores = encoded[candidate].vectors, []
        for of in (token_weights, {}):
            coarse = float(tokens[-1] @ video_vector(vectors))
            video = match_vectors(tokens, vectors, coarse, of.get(candidate))
            by_text = [
                match_vectors(tokens, other, float(tokens[-1] @ other[-1]), of.get(candidate), of.get(text))
                for text, other in ((text, encoded[text].vectors) for text in texts)
            ]
            scores.append((video, combine(video, best_reference(by_text, convention))))
        yield [
            value
            for weighted, plain in zip(*scores, strict=True)
            for value in (weighted.score, weighted.coarse, weighted.f, weighted.precision, weighted.recall, plain.score)
        ]


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
