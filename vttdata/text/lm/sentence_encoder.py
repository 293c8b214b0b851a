"""Sentence embeddings by any encoder of HuggingFace: the mean of its last hidden states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

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

    The model is a name on the Hub, such as ``sentence-transformers/all-MiniLM-L6-v2``, or a folder; arguments and
    errors are those of `load_pretrained`.
    """
    encoder, tokenizer = load_pretrained(model, "sentence encoder", revision=revision, device=device)
    return partial(encode_texts, encoder, tokenizer)


def encode_texts(encoder: Any, tokenizer: Any, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the vectors of texts, (n, d), by a model that `load_pretrained` returned."""
    import torch

    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    vectors: dict[int, NDArray[np.float64]] = {}
    for start in range(0, len(order), _TEXTS_PER_BATCH):
        indices = order[start : start + _TEXTS_PER_BATCH]
        with torch.inference_mode():
            means = embed_batch(encoder, tokenizer, [texts[index] for index in indices])
        vectors |= zip(indices, means.double().cpu().numpy(), strict=True)
    return np.stack([vectors[index] for index in range(len(texts))])


def embed_batch(encoder: Any, tokenizer: Any, texts: Sequence[str]) -> Any:
    """Return the vectors of a batch of texts as a tensor, (n, d), through which gradients flow."""
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    limit = min(_MAX_TOKENS, tokenizer.model_max_length)
    batch = tokenizer(list(texts), padding=True, truncation=True, max_length=limit, return_tensors="pt").to(
        encoder.device
    )
    hidden = encoder(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
    return (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
