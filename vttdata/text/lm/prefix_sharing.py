"""Pack token sequences with a common prefix, so that a causal model reads the prefix once.

A packed row is a tree: an attention mask lets each token see only those before it in its row. Models and tokenizers
are the business of `vttdata.text.lm.causal`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

# Tokens in a pack of several rows: below any model's attention window, and the mask stays small. Of the changed
# captions of ActivityNet 256 tokens hold about 20.
MAX_TOKENS = 256


@dataclass
class Pack:
    """Rows without their last tokens, which nothing follows.

    Fields:
        tokens: each prefix that rows share is present once.
        positions: position of each token in its row, from 0.
        paths: number of a row -> indices of its tokens in the pack.
    """

    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    paths: dict[int, list[int]] = field(default_factory=dict)
    _next: dict[tuple[int, int], int] = field(default_factory=dict)

    def added_tokens(self, row: Sequence[int]) -> int:
        """Return how many tokens a row would add."""
        return len(row) - 1 - len(self._shared_path(row))

    def add(self, number: int, row: Sequence[int]) -> None:
        """Add a row of at least two tokens under its number."""
        path = self._shared_path(row)
        for position in range(len(path), len(row) - 1):
            parent = path[-1] if path else -1
            path.append(self._next.setdefault((parent, row[position]), len(self.tokens)))
            self.tokens.append(row[position])
            self.positions.append(position)
        self.paths[number] = path

    def _shared_path(self, row: Sequence[int]) -> list[int]:
        path: list[int] = []
        for token in row[:-1]:
            index = self._next.get((path[-1] if path else -1, token))
            if index is None:
                break
            path.append(index)
        return path

    def attention_mask(self, width: int) -> npt.NDArray[np.bool_]:
        """Return which tokens (columns) each token (rows) sees, padded to `width`; padding sees itself."""
        mask = np.eye(width, dtype=np.bool_)
        for path in self.paths.values():
            mask[np.ix_(path, path)] |= np.tri(len(path), dtype=np.bool_)
        return mask


def pack_rows(
    rows: Sequence[Sequence[int]], groups: Iterable[Iterable[int]], *, max_tokens: int = MAX_TOKENS
) -> list[Pack]:
    """Pack rows of two or more tokens, those of a group together.

    Args:
        rows: of tokens.
        groups: numbers of rows that are likely to begin alike; a row of several groups belongs to the first.
        max_tokens: tokens in a pack of several rows; a single row may have more.
    """
    packed: set[int] = set()
    packs: list[Pack] = []
    for group in groups:
        pack = Pack()
        for number in group:
            row = rows[number]
            if len(row) < 2 or number in packed:
                continue
            if pack.paths and len(pack.tokens) + pack.added_tokens(row) > max_tokens:
                packs.append(pack)
                pack = Pack()
            pack.add(number, row)
            packed.add(number)
        packs += [pack] if pack.paths else []
    return packs


def batch_packs(packs: Sequence[Pack], max_tokens: int) -> Iterator[list[Pack]]:
    """Yield batches of packs of similar length, longest first, so that memory runs out at the first batch or never.

    A batch has at most `max_tokens`, padding included, or a single pack.
    """
    batch: list[Pack] = []
    for pack in sorted(packs, key=lambda pack: (-len(pack.tokens), next(iter(pack.paths)))):
        if batch and (len(batch) + 1) * len(batch[0].tokens) > max_tokens:
            yield batch
            batch = []
        batch.append(pack)
    if batch:
        yield batch
