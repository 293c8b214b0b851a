"""Finds texts that come more than once among many, with 8 bytes for each instead of the texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd


class Repeated:
    """Tells whether an id was met before, remembering only ids that may come twice: 8 bytes for each of the others."""

    def __init__(self, batches: Iterable[Sequence[str]]) -> None:
        self._twice = repeated(map(hashes, batches))
        self._met: set[str] = set()

    def before(self, video_id: str) -> bool:
        """Whether this id was asked about before."""
        if not self._twice or int(hashes([video_id])[0]) not in self._twice:
            return False
        known = video_id in self._met
        self._met.add(video_id)
        return known


def hashes(texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """A 64-bit number for each text, the same on every machine."""
    return pd.util.hash_array(np.array(texts, dtype=object), categorize=False)


def repeated(batches: Iterable[np.ndarray[Any, np.dtype[np.uint64]]]) -> dict[int, int]:
    """The numbers that come more than once, and how often."""
    parts = list(batches)
    values, counts = np.unique(np.concatenate(parts), return_counts=True) if parts else ((), np.zeros(0))
    return {int(values[place]): int(counts[place]) for place in np.flatnonzero(counts > 1)}
