"""Writes n-gram models to files and reads them: arrays of numbers and UTF-8 text in numpy's npz, without pickle."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.errors import VttdataError
from vttdata.text.lm.counts import MARKS, WORD_BITS, WORD_MASK
from vttdata.text.lm.kneser_ney import Smoothed

_FORMAT = 1
"""Rises when files written before can no longer be read."""


def save_ngrams(path: Path, words: Sequence[str], ngrams: Smoothed, trained_on: int) -> None:
    """Write a model; its words hold no white space, so lines part them.

    Raises:
        VttdataError: when the file cannot be written.
    """
    text = "\n".join(words).encode("utf-8", "surrogatepass")
    arrays: dict[str, Any] = {
        "format": np.array([_FORMAT, len(ngrams.keys), trained_on], np.int64),
        "words": np.frombuffer(text, np.uint8),
    }
    for name in ("keys", "log_probabilities", "log_weights"):
        for level, values in enumerate(getattr(ngrams, name), 1):
            arrays[f"{name}_{level}"] = values
    try:
        with path.open("wb") as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise VttdataError(f"The language model cannot be written to {path}: {error.strerror}.") from error


def load_ngrams(path: Path) -> tuple[tuple[str, ...], Smoothed, int]:
    """The words, n-grams and number of texts of a model that `save_ngrams` wrote.

    Raises:
        VttdataError: when the file is missing, damaged, or holds no model or one of another format.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return _read(arrays)
    except OSError as error:
        raise VttdataError(f"The language model {path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise VttdataError(f"{path} is damaged, or no n-gram model of this version.") from error


def _read(arrays: Mapping[str, Any]) -> tuple[tuple[str, ...], Smoothed, int]:
    version, order, trained_on = (int(number) for number in arrays["format"])
    if version != _FORMAT or not 1 <= order <= 99:
        raise ValueError("format")
    words = tuple(arrays["words"].tobytes().decode("utf-8", "surrogatepass").split("\n"))
    keys = tuple(arrays[f"keys_{level}"] for level in range(1, order + 1))
    logs = tuple(arrays[f"log_probabilities_{level}"] for level in range(1, order + 1))
    weights = tuple(arrays[f"log_weights_{level}"] for level in range(1, order))
    _check(words, keys, logs, weights)
    return words, Smoothed(keys, logs, weights), trained_on


def _check(words: Sequence[str], keys: Sequence[Any], logs: Sequence[Any], weights: Sequence[Any]) -> None:
    """Refuse arrays that scoring would read out of bounds, or that are not what their name says."""
    sizes = [len(own) for own in keys]
    sound = words[: len(MARKS)] == MARKS and np.array_equal(keys[0], np.arange(len(words)))
    sound = sound and all(own.dtype == np.int64 and own.ndim == 1 and (np.diff(own) > 0).all() for own in keys)
    sound = sound and all(own.dtype == np.float64 and own.ndim == 1 for own in (*logs, *weights))
    sound = sound and [len(own) for own in logs] == sizes and [len(own) for own in weights] == sizes[:-1]
    for level in range(1, len(keys)):
        prefix, word = keys[level] >> WORD_BITS, keys[level] & WORD_MASK
        sound = sound and bool(((prefix >= 0) & (prefix < sizes[level - 1]) & (word < len(words))).all())
    if not sound:
        raise ValueError("arrays")
