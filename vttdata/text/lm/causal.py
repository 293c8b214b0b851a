"""Any causal language model of HuggingFace, by name or folder: texts in, perplexities out, in batches of like length.

It needs the extra `lm` (torch and transformers), which is imported when a model is loaded. Weights are read from
safetensors only and no code of a model's repository is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError
from vttdata.text.lm.scorer import Swap, check_swap

Floats = NDArray[np.float64]


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
        rows = [self._row(ids, text) for ids, text in zip(self._encode(texts), texts, strict=True)]
        found: list[Floats] = [np.empty(0)] * len(rows)
        for batch in self._batches(rows):
            for place, values in zip(batch, self._forward([rows[place] for place in batch]), strict=True):
                found[place] = values
        return found

    def perplexity(self, texts: Sequence[str]) -> Floats:
        """The perplexity of each text: exp of the mean negative log-probability of its predicted tokens; 1 for none.

        Raises:
            VttdataError: when a text has more tokens than the model can see.
        """
        means = [values.mean() if len(values) else 0.0 for values in self.log_probabilities(texts)]
        return np.exp(-np.array(means, np.float64))

    def swap_perplexity(self, text: str, start: int, end: int, replacements: Sequence[str]) -> Floats:
        """The perplexity of `text` with ``text[start:end]`` replaced by each of `replacements`.

        Raises:
            VttdataError: when the span does not lie in the text, or a changed text has too many tokens.
        """
        return self.swap_perplexities([Swap(text, start, end, replacements)])[0]

    def swap_perplexities(self, swaps: Sequence[Swap]) -> list[Floats]:
        """`swap_perplexity` of many texts at once; every changed text is scored whole, and equal ones once.

        Raises:
            VttdataError: when a span does not lie in its text, or a changed text has too many tokens.
        """
        for swap in swaps:
            check_swap(swap)
        changed = [swap.changed() for swap in swaps]
        texts = list(dict.fromkeys(text for own in changed for text in own))
        values = dict(zip(texts, self.perplexity(texts), strict=True))
        return [np.array([values[text] for text in own], np.float64) for own in changed]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded: list[list[int]] = self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return encoded

    def _row(self, ids: list[int], text: str) -> list[int]:
        row = [token for token in (self._begin, *ids, self._end) if token is not None]
        if self._longest is not None and len(row) > self._longest:
            told = f"{len(row)} tokens, and {self.name} sees at most {self._longest}"
            raise VttdataError(f"A text has {told}: {text[:80]!r}.")
        return row

    def _batches(self, rows: Sequence[list[int]]) -> Iterator[list[int]]:
        """The places of the rows, longest first, so that what fits in memory at first fits to the end."""
        batch: list[int] = []
        width = 0
        for place in sorted(range(len(rows)), key=lambda place: (-len(rows[place]), place)):
            if len(rows[place]) < 2:
                continue
            width = width or len(rows[place])
            if batch and (len(batch) + 1) * width > self.batch_tokens:
                yield batch
                batch, width = [], len(rows[place])
            batch.append(place)
        if batch:
            yield batch

    def _forward(self, rows: Sequence[list[int]]) -> list[Floats]:
        import torch

        width = max(map(len, rows))
        # Padding stands on the right, where a causal model's tokens do not look; any token serves.
        ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=self._model.device)
        seen = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=self._model.device)
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=seen, use_cache=False).logits[:, :-1].float()
            chosen = logits.gather(2, ids[:, 1:, None])[:, :, 0] - logits.logsumexp(2)
        values: Floats = chosen.double().cpu().numpy()
        return [own[: len(row) - 1] for own, row in zip(values, rows, strict=True)]


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise VttdataError("To score with a model of HuggingFace: pip install 'vttdata[lm]'.") from error
    return torch, transformers
