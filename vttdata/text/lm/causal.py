"""Any causal language model of HuggingFace, by name or folder: texts in, perplexities out, in batches of like length.

It needs the extra `lm` (torch and transformers), which is imported when a model is loaded. Weights are read from
safetensors only and no code of a model's repository is run.
"""

from __future__ import annotations

import functools
import inspect
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError
from vttdata.text.lm.packing import Pack, batches_of, packs_of
from vttdata.text.lm.scorer import Substitution, check_swap

Floats = NDArray[np.float64]

_TRIED = [[0, 1, 2, 3, 0, 1], [0, 1, 3, 2, 1], [0, 1, 2, 0, 0]]
_EXACT = 4
"""Bytes of a weight from which on packed rows can be compared."""
_ROUNDING = 1e-5
"""Of log-probabilities, relative. Of 21 tiny models with drawn weights 13 differ by less than a third of it, what reads
in order or within a window by more than four times of it."""


class CausalModel:
    """A causal language model and its tokenizer.

    A text is read as ``begin tokens end``. The begin token is the tokenizer's, or its end token where it has none (as
    GPT-2 was trained); it is given and never predicted. Without either, the first token of a text is given instead. The
    end token is predicted where the tokenizer has one. Perplexity is per token of this tokenizer, so values of
    different models do not compare.

    Args:
        model: a ``transformers`` model that answers with logits.
        tokenizer: its tokenizer.
        name: what cards call it.
        batch_tokens: tokens scored at once, padding included; the logits take 4 bytes times this times the vocabulary
            (400 MB for GPT-2), and as much again in passing.
    """

    def __init__(self, model: Any, tokenizer: Any, name: str, *, batch_tokens: int = 2048) -> None:
        self.name = name
        self.batch_tokens = batch_tokens
        self._model = model
        self._tokenizer = tokenizer
        self._end = tokenizer.eos_token_id
        self._begin = self._end if tokenizer.bos_token_id is None else tokenizer.bos_token_id
        self._longest = getattr(model.config, "max_position_embeddings", None)

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
        """Load `model`, a name on the Hub or a folder; `revision` pins a branch, tag or commit of the Hub.

        Args:
            model: name or folder; a folder's last part becomes the name.
            revision: what to load from the Hub; none means its main branch.
            device: where to compute, such as ``cpu``, ``cuda`` or ``cuda:1``.
            dtype: the type of the weights; 16 bits are faster on a GPU, and values then depend on the batch.
            batch_tokens: see the class.

        Raises:
            VttdataError: when torch or transformers is missing, or model or device cannot be had.
        """
        torch, transformers = _libraries()
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(model, revision=revision, trust_remote_code=False)
            loaded = transformers.AutoModelForCausalLM.from_pretrained(
                model, revision=revision, trust_remote_code=False, use_safetensors=True, dtype=getattr(torch, dtype)
            )
            loaded = loaded.to(device).eval()
        except (OSError, ValueError, RuntimeError, KeyError, TypeError, AssertionError, ImportError) as error:
            reason = str(error).strip().split("\n")[0] or type(error).__name__
            raise VttdataError(f"The language model '{model}' cannot be loaded on {device}: {reason}") from error
        folder = Path(model)
        name = folder.resolve().name if folder.is_dir() else model
        return cls(loaded, tokenizer, f"{name}@{revision}" if revision else name, batch_tokens=batch_tokens)

    def log_probabilities(self, texts: Sequence[str]) -> list[Floats]:
        """The natural log-probability of each predicted token of each text, sentence end last.

        Raises:
            VttdataError: when a text has more tokens than the model can see.
        """
        return self._scores(self._rows(texts), [[place] for place in range(len(texts))])

    def perplexity(self, texts: Sequence[str]) -> Floats:
        """The perplexity of each text: exp of the mean negative log-probability of its predicted tokens; 1 for none.

        Raises:
            VttdataError: when a text has more tokens than the model can see.
        """
        return _perplexities(self.log_probabilities(texts))

    def substitution_perplexity(self, text: str, start: int, end: int, replacements: Sequence[str]) -> Floats:
        """The perplexity of `text` with ``text[start:end]`` replaced by each of `replacements`.

        Raises:
            VttdataError: when the span does not lie in the text, or a changed text has too many tokens.
        """
        return self.substitution_perplexities([Substitution(text, start, end, replacements)])[0]

    def substitution_perplexities(self, swaps: Sequence[Substitution]) -> list[Floats]:
        """`substitution_perplexity` of many texts at once; equal changed texts are scored once.

        What changed texts of one text begin with is read once for all of them, where the model allows it: where the
        caller can say which tokens each token sees.

        Raises:
            VttdataError: when a span does not lie in its text, or a changed text has too many tokens.
        """
        for swap in swaps:
            check_swap(swap)
        changed = [swap.changed() for swap in swaps]
        places = {text: place for place, text in enumerate(dict.fromkeys(text for own in changed for text in own))}
        alike: dict[str | int, list[int]] = defaultdict(list)
        for swap, own in zip(swaps, changed, strict=True):
            for text in own:
                alike[swap.text if self._packs else places[text]].append(places[text])
        values = _perplexities(self._scores(self._rows(list(places)), list(alike.values())))
        return [values[np.array([places[text] for text in own], np.int64)] for own in changed]

    @functools.cached_property
    def _packs(self) -> bool:
        """Whether the model scores packed rows as it does each alone, tried on a few tokens.

        What reads its tokens one after another, or places them by their order only, does not. In 16 bits the difference
        could not be told from what rounding makes.
        """
        takes_places = "position_ids" in inspect.signature(self._model.forward).parameters
        if not takes_places or self._model.dtype.itemsize < _EXACT:
            return False
        alone = self._scores(_TRIED, [[place] for place in range(len(_TRIED))])
        try:
            packed = self._scores(_TRIED, [range(len(_TRIED))])
        except (RuntimeError, ValueError, TypeError, IndexError):
            return False
        return all(np.allclose(*both, rtol=_ROUNDING, atol=0) for both in zip(alone, packed, strict=True))

    def _scores(self, rows: Sequence[list[int]], groups: Sequence[Sequence[int]]) -> list[Floats]:
        """The log-probabilities of each row's tokens after the first; rows of a group are packed together."""
        found: list[Floats] = [np.empty(0)] * len(rows)
        for batch in batches_of(packs_of(rows, groups), self.batch_tokens):
            places = [place for pack in batch for place in pack.paths]
            ends = np.cumsum([len(rows[place]) - 1 for place in places])
            for place, values in zip(places, np.split(self._forward(batch, rows), ends[:-1]), strict=True):
                found[place] = values
        return found

    def _rows(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._row(ids, text) for ids, text in zip(self._encode(texts), texts, strict=True)]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        # Tokenizers take only what UTF-8 can say; half a surrogate pair becomes a question mark.
        sayable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encoded: list[list[int]] = self._tokenizer(sayable, add_special_tokens=False)["input_ids"]
        return encoded

    def _row(self, ids: list[int], text: str) -> list[int]:
        row = [token for token in (self._begin, *ids, self._end) if token is not None]
        if self._longest is not None and len(row) > self._longest:
            told = f"{len(row)} tokens, and {self.name} sees at most {self._longest}"
            raise VttdataError(f"A text has {told}: {text[:80]!r}.")
        return row

    def _forward(self, batch: Sequence[Pack], rows: Sequence[list[int]]) -> Floats:
        """The log-probability of each token after the first of each row of a batch, one row after another."""
        import torch

        width = len(batch[0].tokens)
        # Padding stands on the right, where no other token looks; any token serves.
        given = {"input_ids": self._tensor([pack.tokens + [0] * (width - len(pack.tokens)) for pack in batch])}
        if any(len(pack.paths) > 1 for pack in batch):
            positions = [pack.positions + [0] * (width - len(pack.tokens)) for pack in batch]
            given |= {"position_ids": self._tensor(positions), "attention_mask": self._mask(batch, width)}
        asked = [
            (number, at, told)
            for number, pack in enumerate(batch)
            for place, path in pack.paths.items()
            for at, told in zip(path, rows[place][1:], strict=True)
        ]
        numbers, at, told = self._tensor(np.array(asked).T)
        with torch.inference_mode():
            logits = self._model(**given, use_cache=False).logits.float()
            found: Floats = (logits[numbers, at, told] - logits.logsumexp(2)[numbers, at]).double().cpu().numpy()
        return found

    def _mask(self, batch: Sequence[Pack], width: int) -> Any:
        """What is added to attention: nothing where a token sees another, all but minus infinity where it does not."""
        import torch

        seen = self._tensor(np.stack([pack.seen(width) for pack in batch])[:, None])
        dtype = self._model.dtype
        return torch.zeros(seen.shape, device=seen.device, dtype=dtype).masked_fill_(~seen, torch.finfo(dtype).min)

    def _tensor(self, numbers: Any) -> Any:
        import torch

        return torch.as_tensor(numbers, device=self._model.device)


def _perplexities(scores: Sequence[Floats]) -> Floats:
    means = [values.mean() if len(values) else 0.0 for values in scores]
    return np.exp(-np.array(means, np.float64))


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise VttdataError("To score with a model of HuggingFace: pip install 'vttdata[lm]'.") from error
    return torch, transformers
