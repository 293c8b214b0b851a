"""Model of a learned metric: a text encoder, and a regression on how two texts relate.

Of the unit vectors u of a caption and v of its references a linear regression sees the highest and the mean cosine, and
the means of the products ``u_i v_i``, times the square root of their number. A cross-encoder reads the caption and one
reference in one sequence, and a perceptron on its [CLS] predicts the score, as BERTHA does (Lebron et al., LREC 2022);
of several references the mean counts. A folder holds the encoder as `transformers` writes it, the regression in
``head.safetensors``, and a card.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.embeddings.matching import unit_vectors
from vttdata.json_types import JsonObject
from vttdata.statistics.arrays import Floats
from vttdata.text.lm.pretrained import compute_rows, encode_texts, explain_missing, load_pretrained, predict_batch

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


HEAD = "head.safetensors"
SETTINGS = "metric.json"
CROSS_ENCODER = "AutoModelForSequenceClassification"
"""Class of `transformers` whose head is a perceptron on [CLS]."""


@dataclass
class PairModel:
    """Encoder with its tokenizer, and weights of the regression, (3 + d,), the last one the intercept's.

    A cross-encoder's weights are (2,): the factor and the intercept that turn what it predicts into people's scores.
    """

    encoder: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    head: Floats

    @classmethod
    def load(cls, folder: Path, device: str = "cpu") -> PairModel:
        """Read a folder.

        Raises:
            VttdataError: if it holds no learned metric, or a library or the device is missing.
        """
        if not (folder / HEAD).is_file():
            raise VttdataError(f"'{folder}' holds no learned metric ({HEAD}); 'vttdata metric train' makes one.")
        if missing := explain_missing():
            raise VttdataError(missing)
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            head = load_file(folder / HEAD)["weights"].astype(np.float64)
        except (OSError, KeyError, SafetensorError) as error:
            raise VttdataError(f"{folder / HEAD}: cannot be read as weights ({error}).") from error
        auto_class = CROSS_ENCODER if head.shape == (2,) else "AutoModel"
        encoder, tokenizer = load_pretrained(str(folder), "learned metric", auto_class=auto_class, device=device)
        model = cls(encoder, tokenizer, head)
        fits = encoder.config.num_labels == 1 if model.is_cross else head.shape == (encoder.config.hidden_size + 3,)
        if not fits or not np.isfinite(head).all():
            raise VttdataError(f"{folder / HEAD}: its weights do not fit the encoder beside it.")
        return model

    @property
    def is_cross(self) -> bool:
        """Whether the encoder reads both texts in one sequence."""
        return self.head.shape == (2,)

    def save(self, folder: Path, settings: JsonObject, card: str) -> None:
        """Write the folder."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        self.encoder.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        (folder / SETTINGS).write_text(
            json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
        )
        (folder / "README.md").write_text(card, encoding="utf-8", newline="\n")
        save_file({"weights": self.head}, folder / HEAD)

    def embed(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Return the unit vector of each different text."""
        different = list(dict.fromkeys(texts))
        vectors = encode_texts(self.encoder.base_model, self.tokenizer, different) if different else np.zeros((0, 1))
        return dict(zip(different, unit_vectors(vectors), strict=True))

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        vectors: dict[str, Floats] | None = None,
    ) -> Floats:
        """Return the score of each caption, in units of people's; `vectors` are those of the texts where known."""
        if self.is_cross:
            pairs = [(c, r) for c, group in zip(candidates, references, strict=True) for r in group]
            different = list(dict.fromkeys(pairs))
            predict = partial(predict_batch, self.encoder, self.tokenizer)
            values = dict(zip(different, compute_rows(predict, *zip(*different, strict=True)), strict=True))
            means = [np.mean([values[c, r] for r in group]) for c, group in zip(candidates, references, strict=True)]
            features = np.array(means)[:, None]
        else:
            vectors = vectors or self.embed([*candidates, *(text for group in references for text in group)])
            features = pair_features(vectors, candidates, references)
        scores: Floats = features @ self.head[:-1] + self.head[-1]
        return scores


def pair_features(vectors: dict[str, Floats], candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """Return what the regression sees of each caption, (n, 2 + d)."""
    rows = []
    for candidate, group in zip(candidates, references, strict=True):
        u, v = vectors[candidate], np.stack([vectors[text] for text in group])
        cosines = v @ u
        rows.append(np.array([cosines.max(), cosines.mean(), *((u * v).mean(axis=0) * np.sqrt(len(u)))]))
    return np.array(rows)


def best_similarity(
    vectors: dict[str, Floats], candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> Floats:
    """Return the cosine of each caption and its most similar reference, (n,)."""
    return np.array(
        [max(float(vectors[c] @ vectors[r]) for r in group) for c, group in zip(candidates, references, strict=True)]
    )
