"""Load models of HuggingFace, by name or folder, for inference.

They need the extra `lm` (torch and transformers), which is imported when a model is loaded. Weights are read from
safetensors only, and no code of a model's repository is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError


def load_pretrained(
    model: str,
    noun: str,
    *,
    auto_class: str = "AutoModel",
    revision: str | None = None,
    device: str = "cpu",
    dtype: str = "float32",
) -> tuple[Any, Any]:
    """Return a model, ready for inference on a device, and its tokenizer.

    Args:
        model: name on the Hub or a folder.
        noun: what the model is, for messages.
        auto_class: class of `transformers` that loads it.
        revision: branch, tag or commit on the Hub; the main branch by default.
        device: where to compute, such as ``cpu``, ``cuda`` or ``cuda:1``.
        dtype: type of the weights.

    Raises:
        VttdataError: when torch or transformers is missing, or model or device is not available.
    """
    try:
        import torch
        import transformers

        from vttdata.hub_timeout import hub_timeout_behind, limit_hub_waits
    except ImportError as error:
        raise VttdataError(
            f"A {noun} of HuggingFace needs torch and transformers: pip install 'vttdata[lm]'."
        ) from error
    options: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
    try:
        with limit_hub_waits(model):
            tokenizer = transformers.AutoTokenizer.from_pretrained(model, **options)
            loaded = getattr(transformers, auto_class).from_pretrained(
                model, **options, use_safetensors=True, dtype=getattr(torch, dtype)
            )
        loaded = loaded.to(device).eval()
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, AssertionError, ImportError) as error:
        reason = str(hub_timeout_behind(error) or error).strip().split("\n")[0] or type(error).__name__
        raise VttdataError(f"The {noun} '{model}' cannot be loaded on {device}: {reason}") from error
    return loaded, tokenizer


def name_of_model(model: str, revision: str | None = None) -> str:
    """Return how cards and tables name a model: a folder by its last part, a revision after ``@``."""
    folder = Path(model)
    name = folder.resolve().name if folder.is_dir() else model
    return f"{name}@{revision}" if revision else name
