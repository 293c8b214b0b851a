"""Load models of HuggingFace, by name or folder, for inference.

They need the extra `lm` (torch and transformers), which is imported when a model is loaded. Weights are read from
safetensors only, and no code of a model's repository is run.
"""

from __future__ import annotations

import functools
import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError

# Weights, settings and vocabularies of tokenizers.
_MODEL_FILES = (".safetensors", ".json", ".txt", ".model")


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
