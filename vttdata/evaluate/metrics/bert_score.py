"""BERTScore by any encoder: tokens of a caption matched with those of its references (Zhang et al., ICLR 2020).

As published, each token is matched with the most similar one of the other text; precision is the mean over the tokens
of the caption, recall that over the tokens of the reference, and of several references the greatest of each counts.
The tokens that begin and end a text for the encoder weigh nothing but may be matched. Columns with ``idf`` weigh tokens
by how few references have them. ``bert-score-combined`` takes all references together, in the manner of Yi et al. (ACL
2020): a token of the caption is right where any reference has its like, and recall is the mean over references, so that
no single reference has to say all that the caption says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.embeddings.matching import Tokens, TokenWeights, Vectors, match_vectors, unit_vectors
from vttdata.evaluate.java_scores import cached_rows
from vttdata.evaluate.metric import CaptioningMetric, check_texts
from vttdata.files.tables import number_or_nan
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores
from vttdata.text.lm.pretrained import explain_missing, identify_model, load_pretrained, split_revision

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


DEFAULT_MODEL = "roberta-large"
# Layers that agreed best with people on WMT16, from the published code.
_LAYERS = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "roberta-base": 10,
    "roberta-large": 17,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "microsoft/deberta-xlarge-mnli": 40,
}
_ITEMS_PER_CHUNK, _TEXTS_PER_BATCH = 256, 64
_MAX_TOKENS = 512


class _Encoded(NamedTuple):
    """Text as tokens, (t,), and their unit vectors, (t, d)."""

    tokens: Tokens
    vectors: Vectors


class _Encoder:
    """Encoder of one layer; texts are cut to the tokens that it reads."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, layer: int) -> None:
        self.model, self.tokenizer, self.layer = model, tokenizer, layer
        # Byte-level vocabularies have other tokens for a word behind a space, which the first one is given.
        self.prefix = " " if type(tokenizer).__name__.startswith(("Roberta", "GPT2")) else ""
        ends = (tokenizer.cls_token_id, tokenizer.sep_token_id)
        self.special = np.array([token for token in ends if token is not None], dtype=np.int64)
        self.limit = min(_MAX_TOKENS, tokenizer.model_max_length)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        texts = [self.prefix + text.strip() for text in texts]
        rows: list[list[int]] = self.tokenizer(texts, truncation=True, max_length=self.limit)["input_ids"]
        return rows

    def encode(self, texts: Sequence[str]) -> Iterator[tuple[str, _Encoded]]:
        import torch

        rows = dict(zip(texts, self.tokenize(texts), strict=True))
        ordered = sorted(rows, key=lambda text: len(rows[text]))
        for start in range(0, len(ordered), _TEXTS_PER_BATCH):
            batch = ordered[start : start + _TEXTS_PER_BATCH]
            padded = self.tokenizer.pad({"input_ids": [rows[text] for text in batch]}, return_tensors="pt")
            with torch.inference_mode():
                hidden = self.model(**padded.to(self.model.device), output_hidden_states=True).hidden_states
            vectors = hidden[self.layer].double().cpu().numpy()
            for text, of_text in zip(batch, vectors, strict=True):
                tokens = np.array(rows[text], dtype=np.int64)
                yield text, _Encoded(tokens, unit_vectors(of_text[: len(tokens)]))


class BertScore(CaptioningMetric):
    """BERTScore: F, precision and recall, without and with weights of tokens, and of all references together."""

    columns = (
        "bert-score",
        "bert-score-p",
        "bert-score-r",
        "bert-score-idf",
        "bert-score-idf-p",
        "bert-score-idf-r",
        "bert-score-combined",
    )
    needs = "an encoder of HuggingFace: pip install 'vttdata[lm]'"
    depends_on_items = True
    uses_tokens = False

    @property
    def _model(self) -> str:
        return self.inputs.model_of(self.name) or DEFAULT_MODEL

    @cached_property
    def _encoder(self) -> _Encoder:
        name, revision = split_revision(self._model)
        model, tokenizer = load_pretrained(name, "text encoder", revision=revision, device=self.inputs.device)
        layers = int(model.config.num_hidden_layers)
        layer = _LAYERS.get(name, layers) if self.inputs.layer is None else self.inputs.layer
        if layer > layers:
            raise VttdataError(f"The text encoder '{name}' has {layers} layers, and the layer {layer} was asked for.")
        return _Encoder(model, tokenizer, layer)

    @cached_property
    def _baseline(self) -> Floats:
        if self.inputs.rescale is None:
            return np.zeros(3)
        return read_baseline(self.inputs.rescale, self._encoder.layer)

    def options(self) -> Mapping[str, str]:
        """Return the model, the layer, what weighs tokens, and the file of the baseline."""
        name, revision = split_revision(self._model)
        usual = _LAYERS.get(name, "last")
        layer = str(usual if self.inputs.layer is None else self.inputs.layer)
        rescale = {"rescaled": self.inputs.rescale.name} if self.inputs.rescale is not None else {}
        return {"model": identify_model(name, revision), "layer": layer, "idf": "references", **rescale}

    def unavailable(self) -> str | None:
        """Return which library is missing."""
        return explain_missing()

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; the corpus score is the mean."""
        check_texts(candidates, references)
        weights = self._weigh(references)
        name, rows = f"bert-score-{self.version}-{self.signature()}", [np.zeros((0, len(self.columns)))]
        for start in range(0, len(candidates), _ITEMS_PER_CHUNK):
            items = slice(start, start + _ITEMS_PER_CHUNK)
            own, groups = candidates[items], references[items]
            texts = list(dict.fromkeys([*own, *(text for group in groups for text in group)]))
            tokens = self._encoder.tokenize(texts)
            idf = [weights.of(np.array(row, dtype=np.int64)).tolist() for row in tokens]
            content = [list(own), list(map(list, groups)), idf, self._baseline.tolist()]

            def compute(
                own: Sequence[str] = own, groups: Sequence[Sequence[str]] = groups, texts: Sequence[str] = texts
            ) -> list[list[float]]:
                encoded = dict(self._encoder.encode(texts))
                return [list(self._score_item(encoded, *item, weights)) for item in zip(own, groups, strict=True)]

            rows.append(cached_rows(self.cache, name, content, (len(own), len(self.columns)), compute))
        scores = np.concatenate(rows)
        return {column: ColumnScores.from_means(scores[:, number]) for number, column in enumerate(self.columns)}

    def _weigh(self, references: Sequence[Sequence[str]]) -> TokenWeights:
        """Return the weights of tokens: log((N + 1) / (c + 1)) of one that c of the N references have."""
        texts = dict.fromkeys(text for group in references for text in group)
        tokens = dict(zip(texts, map(set, self._encoder.tokenize(list(texts))), strict=True))
        counts: Counter[int] = Counter()
        for group in references:
            for text in group:
                counts.update(tokens[text])
        number = sum(map(len, references))
        weights = {token: math.log((number + 1) / (count + 1)) for token, count in counts.items()}
        return TokenWeights(weights, math.log(number + 1))

    def _score_item(
        self, encoded: Mapping[str, _Encoded], candidate: str, references: Sequence[str], weights: TokenWeights
    ) -> Iterator[float]:
        special = self._encoder.special
        own, others = encoded[candidate], [encoded[text] for text in references]

        def weigh(text: _Encoded, *, idf: bool) -> Floats:
            values: Floats = weights.of(text.tokens) if idf else np.ones(len(text.tokens))
            return np.where(np.isin(text.tokens, special), 0.0, values)

        for idf in (False, True):
            matches = [
                match_vectors(own.vectors, other.vectors, 0.0, weigh(own, idf=idf), weigh(other, idf=idf))
                for other in others
            ]
            best = [max(getattr(match, part) for match in matches) for part in ("f", "precision", "recall")]
            yield from self._rescale(best)
        together = match_vectors(own.vectors, np.concatenate([o.vectors for o in others]), 0.0, weigh(own, idf=True))
        recall = math.fsum(match.recall for match in matches) / len(matches)
        total = together.precision + recall
        yield self._rescale([2 * together.precision * recall / total if total else 0.0])[0]

    def _rescale(self, values: Sequence[float]) -> list[float]:
        """Return F and, where they are given, precision and recall, so that 0 is what unrelated texts get."""
        baselines = self._baseline[: len(values)].tolist()
        return [(value - baseline) / (1 - baseline) for value, baseline in zip(values, baselines, strict=True)]


def read_baseline(file: Path, layer: int) -> Floats:
    """Read the baselines of F, precision and recall of a layer from a CSV with the columns LAYER, P, R and F.

    Raises:
        VttdataError: if it cannot be read, or has no numbers below 1 for the layer.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise VttdataError(f"{file}: cannot be read as a baseline ({error}).") from error
    for line in lines:
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == 4 and cells[0] == str(layer):
            precision, recall, f = map(number_or_nan, cells[1:4])
            if all(value < 1 for value in (precision, recall, f)):
                return np.array([f, precision, recall])
    raise VttdataError(f"{file}: has no baselines below 1 of the layer {layer} in the columns LAYER, P, R and F.")
