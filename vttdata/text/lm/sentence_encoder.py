"""Sentence embeddings by any encoder of HuggingFace: the mean of its last hidden states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vttdata.text.lm.pretrained import load_pretrained

_TEXTS_PER_BATCH = 64
# Tokenizers without a limit of their own name a huge number.
_MAX_TOKENS = 512


def load_encoder(
    model: str, *, revision: str | None = None, device: str = "cpu"
) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """Return a function from texts to vectors, a row of the same length for each.

    Args:
        model: name on the Hub, such as ``sentence-transformers/all-MiniLM-L6-v2``, or a folder.
        revision: branch, tag or commit on the Hub; the main branch by default.
        device: where to compute, such as ``cpu`` or ``cuda``.

    Raises:
        VttdataError: when torch or transformers is missing, or model or device is not available.
    """
    encoder, tokenizer = load_pretrained(model, "sentence encoder", revision=revision, device=device)
    import torch

    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token

    def encode(texts: Sequence[str]) -> NDArray[np.float64]:
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors: dict[int, NDArray[np.float64]] = {}
        limit = min(_MAX_TOKENS, tokenizer.model_max_length)
        for start in range(0, len(order), _TEXTS_PER_BATCH):
            indices = order[start : start + _TEXTS_PER_BATCH]
            batch = tokenizer(
                [texts[index] for index in indices],
                padding=True,
                truncation=True,
                max_length=limit,
                return_tensors="pt",
            ).to(device)
            with torch.inference_mode():
                hidden = encoder(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
            means = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
            vectors |= zip(indices, means.double().cpu().numpy(), strict=True)
        return np.stack([vectors[index] for index in range(len(texts))])

    return encode
