"""Files of n-gram models: arrays of numbers and UTF-8 text in NumPy's npz format, without pickle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vttdata.errors import VttdataError
from vttdata.files.regular import refuse_special
from vttdata.text.lm.counts import MARKS, WORD_BITS, WORD_MASK
from vttdata.text.lm.kneser_ney import SmoothedNgrams

# Rises when files of earlier versions can no longer be read.
_FORMAT = 1


def save_ngrams(path: Path, words: Sequence[str], ngrams: SmoothedNgrams, trained_on: int) -> None:
    """Write the words, n-grams and number of training texts of a model.

    Raises:
        VttdataError: when the file cannot be written.
    """
    # No word holds white space, so line breaks can separate them.
    text = "\n".join(words).encode("utf-8", "surrogatepass")
    arrays: dict[str, Any] = {
        "format": np.array([_FORMAT, len(ngrams.keys), trained_on], np.int64),
        "words": np.frombuffer(text, np.uint8),
    }
    for name in ("keys", "log_probabilities", "log_weights"):
        for order, values in enumerate(getattr(ngrams, name), 1):
            arrays[f"{name}_{order}"] = values
    try:
        with path.open("wb") as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise VttdataError(f"The language model cannot be written to {path}: {error.strerror}.") from error


def load_ngrams(path: Path) -> tuple[tuple[str, ...], SmoothedNgrams, int]:
    """Read what `save_ngrams` wrote.

    Raises:
        VttdataError: when the file is missing, damaged, not a model or of another format.
    """
    try:
        refuse_special(path)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            version, order, trained_on = (int(number) for number in arrays["format"])
            words = tuple(arrays["words"].tobytes().decode("utf-8", "surrogatepass").split("\n"))
            ngrams = SmoothedNgrams(
                tuple(arrays[f"keys_{level}"] for level in range(1, order + 1)),
                tuple(arrays[f"log_probabilities_{level}"] for level in range(1, order + 1)),
                tuple(arrays[f"log_weights_{level}"] for level in range(1, order)),
            )
            _check_arrays(version, words, ngrams)
            return words, ngrams, trained_on
    except VttdataError:
        raise
    except OSError as error:
        raise VttdataError(f"The language model {path} cannot be read: {error.strerror or error}.") from error
    except Exception as error:
        # Of a damaged archive zipfile, zlib and NumPy raise almost anything, RuntimeError and MemoryError among it.
        raise VttdataError(f"{path} is damaged, or not an n-gram model of this version.") from error


def _check_arrays(version: int, words: Sequence[str], ngrams: SmoothedNgrams) -> None:
    """Refuse another format, and arrays that are of another type or shape, or that scoring would read out of bounds."""
    keys, logs, weights = ngrams
    sizes = [len(of_order) for of_order in keys]
    valid = version == _FORMAT and words[: len(MARKS)] == MARKS and np.array_equal(keys[0], np.arange(len(words)))
    valid = valid and all(own.dtype == np.int64 and own.ndim == 1 and (np.diff(own) > 0).all() for own in keys)
    valid = valid and all(own.dtype == np.float64 and own.ndim == 1 for own in (*logs, *weights))
    valid = valid and [len(own) for own in logs] == sizes and [len(own) for own in weights] == sizes[:-1]
    for level in range(1, len(keys)):
        prefix, word = keys[level] >> WORD_BITS, keys[level] & WORD_MASK
        valid = valid and bool(((prefix >= 0) & (prefix < sizes[level - 1]) & (word < len(words))).all())
    if not valid:
        raise ValueError("arrays")
