"""Causal language models of HuggingFace: texts in, perplexities out, in batches of similar length.

Texts with a common prefix are packed, so that a model reads the prefix once. A packed row is a tree: an attention mask
lets each token see only those before it in its row.
"""

from __future__ import annotations

import functools
import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError
from vttdata.text.lm.pretrained import load_pretrained, name_of_model
from vttdata.text.lm.scorer import Scorer, Substitution

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


Floats = NDArray[np.float64]

# Rows that begin alike, to try whether a model scores them packed as it does alone.
_TRIAL_ROWS = [[0, 1, 2, 3, 0, 1], [0, 1, 3, 2, 1], [0, 1, 2, 0, 0]]
# Bytes of a weight below which rounding hides whether packed rows are scored right.
_MIN_WEIGHT_BYTES = 4
# Relative tolerance of log-probabilities. Of 21 tiny models with random weights 13 differ by less than a third of it;
# those that read in order or within a window differ by more than four times of it.
_TOLERANCE = 1e-5
# Tokens in a pack of several rows: below any model's attention window, and the mask stays small. Of the changed
# captions of ActivityNet 256 tokens hold about 20.
MAX_TOKENS = 256


@dataclass
class Pack:
    """Rows without their last tokens, which nothing follows.

    Fields:
        tokens: each prefix that rows share is present once.
        positions: position of each token in its row, from 0.
        paths: number of a row -> indices of its tokens in the pack.
    """

    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    paths: dict[int, list[int]] = field(default_factory=dict)
    _next: dict[tuple[int, int], int] = field(default_factory=dict)

    def added_tokens(self, row: Sequence[int]) -> int:
        """Return how many tokens a row would add."""
        return len(row) - 1 - len(self._shared_path(row))

    def add(self, number: int, row: Sequence[int]) -> None:
        """Add a row of at least two tokens under its number."""
        path = self._shared_path(row)
        for position in range(len(path), len(row) - 1):
            parent = path[-1] if path else -1
            path.append(self._next.setdefault((parent, row[position]), len(self.tokens)))
            self.tokens.append(row[position])
            self.positions.append(position)
        self.paths[number] = path

    def _shared_path(self, row: Sequence[int]) -> list[int]:
        path: list[int] = []
        for token in row[:-1]:
            index = self._next.get((path[-1] if path else -1, token))
            if index is None:
                break
            path.append(index)
        return path

    def attention_mask(self, width: int) -> NDArray[np.bool_]:
        """Return which tokens (columns) each token (rows) sees, padded to `width`; padding sees itself."""
        mask = np.eye(width, dtype=np.bool_)
        for path in self.paths.values():
            mask[np.ix_(path, path)] |= np.tri(len(path), dtype=np.bool_)
        return mask


def pack_rows(
    rows: Sequence[Sequence[int]], groups: Iterable[Iterable[int]], *, max_tokens: int = MAX_TOKENS
) -> list[Pack]:
    """Pack rows of two or more tokens, those of a group, which are likely to begin alike, together.

    A row of several groups belongs to the first. `max_tokens` limits packs of several rows; a single row may have more.
    """
    packed: set[int] = set()
    packs: list[Pack] = []
    for group in groups:
        pack = Pack()
        for number in group:
            row = rows[number]
            if len(row) < 2 or number in packed:
                continue
            if pack.paths and len(pack.tokens) + pack.added_tokens(row) > max_tokens:
                packs.append(pack)
                pack = Pack()
            pack.add(number, row)
            packed.add(number)
        packs += [pack] if pack.paths else []
    return packs


def batch_packs(packs: Sequence[Pack], max_tokens: int) -> Iterator[list[Pack]]:
    """Yield batches of packs of similar length, longest first, so that memory runs out at the first batch or never.

    A batch has at most `max_tokens`, padding included, or a single pack.
    """
    batch: list[Pack] = []
    for pack in sorted(packs, key=lambda pack: (-len(pack.tokens), next(iter(pack.paths)))):
        if batch and (len(batch) + 1) * len(batch[0].tokens) > max_tokens:
            yield batch
            batch = []
        batch.append(pack)
    if batch:
        yield batch


class CausalModel(Scorer):
    """Causal language model and its tokenizer.

    A text is read as ``begin tokens end``. The begin token is the tokenizer's, or its end token where it has none (as
    GPT-2 was trained); it is given and never predicted. Without either, the first token of a text is given instead. The
    end token is predicted where the tokenizer has one. Perplexity is per token of this tokenizer, so values of
    different models do not compare.

    `model`, of ``transformers``, returns logits, and `name` stands on cards and in tables. `batch_tokens` are scored at
    once, padding included; the logits take 4 bytes times this times the vocabulary (400 MB for GPT-2), and as much
    again in passing.
    """

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str, *, batch_tokens: int = 2048
    ) -> None:
        self.name = name
        self.batch_tokens = batch_tokens
        self._model = model
        self._tokenizer = tokenizer
        self._end = tokenizer.eos_token_id
        self._begin = self._end if tokenizer.bos_token_id is None else tokenizer.bos_token_id
        self._max_tokens = getattr(model.config, "max_position_embeddings", None)

    @classmethod
    def load(
        cls,
        model: str,
        *,
        revision: str | None = None,
        device: str = "cpu",
        dtype: Literal["float32", "bfloat16", "float16"] = "float32",
        batch_tokens: int = 2048,
    ) -> CausalModel:
        """Load a model by its name on the Hub or its folder, whose last part becomes the name.

        Arguments and errors are those of `load_pretrained`, and `batch_tokens` that of the class. Weights of 16 bits
        are faster on a GPU, and values then depend on the batch.
        """
        loaded, tokenizer = load_pretrained(
            model, "language model", auto_class="AutoModelForCausalLM", revision=revision, device=device, dtype=dtype
        )
        return cls(loaded, tokenizer, name_of_model(model, revision), batch_tokens=batch_tokens)

    def log_probabilities(self, texts: Sequence[str]) -> list[Floats]:
        """Return the natural log-probability of each predicted token of each text, the end token last.

        Raises:
            VttdataError: when a text has more tokens than the model can see.
        """
        return self._score(self._tokenize(texts), [[number] for number in range(len(texts))])

    def perplexity(self, texts: Sequence[str]) -> Floats:
        """Return the perplexity of each text; 1 for one without tokens. Errors are those of `log_probabilities`."""
        return _to_perplexities(self.log_probabilities(texts))

    def count_tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the number of predicted tokens of each text. Errors are those of `log_probabilities`."""
        return np.array([len(row) - 1 for row in self._tokenize(list(texts))], np.int64)

    def substitution_perplexities(self, substitutions: Sequence[Substitution]) -> list[Floats]:
        """Score many texts at once; equal changed texts are scored once.

        What changed texts of one text begin with is read once for all of them, where the model takes an attention mask
        that says so.
        """
        for substitution in substitutions:
            substitution.check()
        changed = [substitution.changed_texts() for substitution in substitutions]
        numbers = {text: number for number, text in enumerate(dict.fromkeys(text for own in changed for text in own))}
        groups: dict[str | int, list[int]] = defaultdict(list)
        for substitution, texts in zip(substitutions, changed, strict=True):
            for text in texts:
                groups[substitution.text if self._can_pack else numbers[text]].append(numbers[text])
        values = _to_perplexities(self._score(self._tokenize(list(numbers)), list(groups.values())))
        return [values[np.array([numbers[text] for text in texts], np.int64)] for texts in changed]

    @functools.cached_property
    def _can_pack(self) -> bool:
        """True if the model scores packed rows as it does each alone, tried on a few tokens.

        Models that read tokens one after another, or know positions by their order only, do not. In 16 bits the
        difference would be hidden by rounding.
        """
        takes_positions = "position_ids" in inspect.signature(self._model.forward).parameters
        if not takes_positions or self._model.dtype.itemsize < _MIN_WEIGHT_BYTES:
            return False
        alone = self._score(_TRIAL_ROWS, [[number] for number in range(len(_TRIAL_ROWS))])
        try:
            packed = self._score(_TRIAL_ROWS, [range(len(_TRIAL_ROWS))])
        except (RuntimeError, ValueError, TypeError, IndexError):
            return False
        return all(np.allclose(*both, rtol=_TOLERANCE, atol=0) for both in zip(alone, packed, strict=True))

    def _score(self, rows: Sequence[list[int]], groups: Sequence[Sequence[int]]) -> list[Floats]:
        """Return the log-probabilities of each row's tokens after the first; rows of a group are packed together."""
        scores: list[Floats] = [np.empty(0)] * len(rows)
        for batch in batch_packs(pack_rows(rows, groups), self.batch_tokens):
            numbers = [number for pack in batch for number in pack.paths]
            ends = np.cumsum([len(rows[number]) - 1 for number in numbers])
            for number, values in zip(numbers, np.split(self._forward(batch, rows), ends[:-1]), strict=True):
                scores[number] = values
        return scores

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        # Tokenizers take only what UTF-8 can encode; an unpaired surrogate becomes a question mark.
        encodable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        rows: list[list[int]] = []
        for ids, text in zip(self._tokenizer(encodable, add_special_tokens=False)["input_ids"], texts, strict=True):
            row = [token for token in (self._begin, *ids, self._end) if token is not None]
            if self._max_tokens is not None and len(row) > self._max_tokens:
                limit = f"{len(row)} tokens, and {self.name} sees at most {self._max_tokens}"
                raise VttdataError(f"A text has {limit}: {text[:80]!r}.")
            rows.append(row)
        return rows

    def _forward(self, batch: Sequence[Pack], rows: Sequence[list[int]]) -> Floats:
        """Return the log-probability of each token after the first of each row of a batch, one row after another."""
        import torch

        width = len(batch[0].tokens)
        # Padding is on the right, where no other token looks; any token serves.
        inputs = {"input_ids": self._tensor([pack.tokens + [0] * (width - len(pack.tokens)) for pack in batch])}
        if any(len(pack.paths) > 1 for pack in batch):
            positions = [pack.positions + [0] * (width - len(pack.tokens)) for pack in batch]
            seen = self._tensor(np.stack([pack.attention_mask(width) for pack in batch])[:, None])
            dtype = self._model.dtype
            # Added to attention: nothing where a token sees another, almost minus infinity where it does not.
            mask = torch.zeros(seen.shape, device=seen.device, dtype=dtype).masked_fill_(~seen, torch.finfo(dtype).min)
            inputs |= {"position_ids": self._tensor(positions), "attention_mask": mask}
        predictions = [
            (pack_number, index, token)
            for pack_number, pack in enumerate(batch)
            for number, path in pack.paths.items()
            for index, token in zip(path, rows[number][1:], strict=True)
        ]
        packs, indices, tokens = self._tensor(np.array(predictions).T)
        with torch.inference_mode():
            logits = self._model(**inputs, use_cache=False).logits.float()
            scores = logits[packs, indices, tokens] - logits.logsumexp(2)[packs, indices]
            values: Floats = scores.double().cpu().numpy()
        return values

    def _tensor(self, numbers: npt.ArrayLike) -> torch.Tensor:
        import torch

        return torch.as_tensor(numbers, device=self._model.device)


def _to_perplexities(scores: Sequence[Floats]) -> Floats:
    means = [values.mean() if len(values) else 0.0 for values in scores]
    return np.exp(-np.array(means, np.float64))
