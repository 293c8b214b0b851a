"""Load models of HuggingFace, by name or folder, for inference, and embed sentences with any encoder of theirs.

They need the extra `lm` (torch and transformers), which is imported when a model is loaded. Weights are read from
safetensors only, and no code of a model's repository is run.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import VttdataError

if TYPE_CHECKING:
    import torch
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase


# Weights, settings and vocabularies of tokenizers.
_MODEL_FILES = (".safetensors", ".json", ".txt", ".model")
_TEXTS_PER_BATCH = 64
# Tokenizers without a limit of their own name a huge number.
_MAX_TOKENS = 512


def load_pretrained(
    model: str,
    noun: str,
    *,
    auto_class: str = "AutoModel",
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "float32",
    head_seed: int | None = None,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return a model by its name on the Hub or its folder, ready for inference on a device, and its tokenizer.

    A class of `transformers` loads it at a revision (branch, tag or commit) of the Hub, the main branch by default, to
    a device such as ``cpu``, ``cuda`` or ``cuda:1``; `noun` says in messages what the model is. With
    `head_seed` a class for classification predicts one value from [CLS], by a head that is drawn with this seed where
    the weights lack it.

    Raises:
        VttdataError: when torch or transformers is missing, or model or device is not available.
    """
    try:
        import torch
        import transformers

        from vttdata.hub_client import explain_timeout, hub_requests
    except ImportError as error:
        raise VttdataError(
            f"A {noun} of HuggingFace needs torch and transformers: pip install 'vttdata[lm]'."
        ) from error
    options: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
    try:
        with hub_requests(model):
            tokenizer = transformers.AutoTokenizer.from_pretrained(model, **options)
            if head_seed is not None:
                _check_cls(tokenizer)
                torch.manual_seed(head_seed)
                options["num_labels"] = 1
            loaded = getattr(transformers, auto_class).from_pretrained(
                model, **options, use_safetensors=True, dtype=getattr(torch, dtype)
            )
        loaded = loaded.to(device).eval()
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, AssertionError, ImportError) as error:
        reason = (explain_timeout(error) or str(error)).strip().split("\n")[0] or type(error).__name__
        raise VttdataError(f"The {noun} '{model}' cannot be loaded on {device}: {reason}") from error
    return loaded, tokenizer


def _check_cls(tokenizer: PreTrainedTokenizerBase) -> None:
    if tokenizer.cls_token is None:
        raise ValueError("its tokenizer has no [CLS]")


def explain_missing(*others: str) -> str | None:
    """Return, in one sentence, which library is missing to compute with a model, or None.

    Besides torch and transformers, `others` are needed, modules of the extra `build`.
    """
    missing = next((name for name in ("torch", "transformers", *others) if find_spec(name) is None), None)
    return f"{missing} is not installed: pip install 'vttdata[{'build,' if others else ''}lm]'." if missing else None


def name_of_model(model: str, revision: str | None = None) -> str:
    """Return how cards and tables name a model: a folder by its last part, a revision after ``@``."""
    folder = Path(model)
    name = folder.resolve().name if folder.is_dir() else model
    return f"{name}@{revision}" if revision else name


def split_revision(model: str) -> tuple[str, str | None]:
    """Split ``NAME@REVISION`` into the name and the revision, which is None for a folder or where there is none."""
    name, _, revision = model.partition("@")
    return (model, None) if Path(model).exists() or not revision else (name, revision)


def identify_model(model: str, revision: str | None = None) -> str:
    """Return a model's name with what tells its content: a digest of a folder's files, or the commit on the Hub.

    Loads nothing. Before a model was loaded from the Hub for the first time its commit is not known, and the requested
    revision stands for it.
    """
    folder = Path(model)
    if folder.is_dir():
        files = sorted(path for path in folder.iterdir() if path.suffix in _MODEL_FILES and path.is_file())
        stamps = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
        return f"{folder.resolve().name}@{_digest_files(stamps)}"
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(model, "config.json", revision=revision)
    except HFValidationError:
        config = None
    return f"{model}@{Path(config).parent.name[:12] if isinstance(config, str) else revision or 'main'}"


@functools.lru_cache(maxsize=16)
def _digest_files(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Return 12 hexadecimal digits of files' names and contents; sizes and times tell when to compute them anew."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        with path.open("rb") as stream:
            digest.update(path.name.encode() + hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:12]


def load_encoder(
    model: str, *, revision: str | None = None, device: str = "cpu"
) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """Return a function from texts to vectors, a row of the same length for each.

    The model is a name on the Hub, such as ``sentence-transformers/all-MiniLM-L6-v2``, or a folder; arguments and
    errors are those of `load_pretrained`.
    """
    encoder, tokenizer = load_pretrained(model, "sentence encoder", revision=revision, device=device)
    return partial(encode_texts, encoder, tokenizer)


def encode_texts(
    encoder: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]
) -> NDArray[np.float64]:
    """Return the vectors of texts, (n, d), by a model that `load_pretrained` returned."""
    return compute_rows(partial(embed_batch, encoder, tokenizer), texts)


def compute_rows(compute: Callable[..., torch.Tensor], *columns: Sequence[str]) -> NDArray[np.float64]:
    """Return what a function of columns of texts computes of each row, in batches of rows of similar length."""
    import torch

    rows = list(zip(*columns, strict=True))
    order = sorted(range(len(rows)), key=lambda index: sum(map(len, rows[index])))
    values: dict[int, NDArray[np.float64]] = {}
    for start in range(0, len(order), _TEXTS_PER_BATCH):
        indices = order[start : start + _TEXTS_PER_BATCH]
        with torch.inference_mode():
            computed = compute(*zip(*(rows[index] for index in indices), strict=True))
        values |= zip(indices, computed.double().cpu().numpy(), strict=True)
    return np.stack([values[index] for index in range(len(rows))])


def embed_batch(encoder: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> torch.Tensor:
    """Return the vectors of a batch of texts as a tensor, (n, d), through which gradients flow."""
    batch = _tokenize_batch(encoder, tokenizer, texts)
    hidden = encoder(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
    return (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)


def predict_batch(
    encoder: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, first: Sequence[str], second: Sequence[str]
) -> torch.Tensor:
    """Return what a head on [CLS] predicts of pairs of texts in one sequence each, (n,); gradients flow through it."""
    values: torch.Tensor = encoder(**_tokenize_batch(encoder, tokenizer, first, second)).logits[:, 0]
    return values


def _tokenize_batch(
    encoder: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *columns: Sequence[str]
) -> BatchEncoding:
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    limit = min(_MAX_TOKENS, tokenizer.model_max_length)
    return tokenizer(*map(list, columns), padding=True, truncation=True, max_length=limit, return_tensors="pt").to(
        encoder.device
    )
