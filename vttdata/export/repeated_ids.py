"""Find duplicates among many ids with 8 bytes per id, without keeping the ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

Hashes = np.ndarray[Any, np.dtype[np.uint64]]


class RepeatedIds:
    """Detects ids that were seen before, and remembers only those that may come twice.

    Args:
        batches: all ids, in batches.
    """

    def __init__(self, batches: Iterable[Sequence[str]]) -> None:
        self._repeated = count_repeated(map(hash_ids, batches))
        self._seen: set[str] = set()

    def seen_before(self, video_id: str) -> bool:
        """Return whether this method was called with the id before."""
        # Ids with equal hashes are only remembered in vain, so collisions do no harm.
        if not self._repeated or int(hash_ids([video_id])[0]) not in self._repeated:
            return False
        seen = video_id in self._seen
        self._seen.add(video_id)
        return seen


def hash_ids(texts: Sequence[str]) -> Hashes:
    """Return a 64-bit hash of each text, the same on every machine."""
    # Python's own hashes of texts differ from process to process.
    return pd.util.hash_array(np.array(texts, dtype=object), categorize=False)


def count_repeated(batches: Iterable[Hashes]) -> dict[int, int]:
    """Return the hashes that occur more than once, with their counts."""
    parts = list(batches)
    if not parts:
        return {}
    values, counts = np.unique(np.concatenate(parts), return_counts=True)
    return {int(values[index]): int(counts[index]) for index in np.flatnonzero(counts > 1)}
