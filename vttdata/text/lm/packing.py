"""Packs rows of tokens that begin alike into one, so that a causal model reads what they share once.

A packed row is a tree: each token sees those before it in its own row only, which a mask of attention says. It is
about numbers only; models and tokenizers are the business of `vttdata.text.lm.causal`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

MOST = 256
"""Tokens in a pack of several rows: attention within a window, as some models have, never ends so soon, and the mask
stays small. Of the changed captions of ActivityNet 256 tokens hold about 20."""


@dataclass
class Pack:
    """Some rows without their last tokens, which nothing follows.

    Fields:
        tokens: each once where rows begin with the same ones.
        positions: the place of each in its row, from 0.
        paths: for each row by its number, where its tokens stand in the pack.
    """

    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    paths: dict[int, list[int]] = field(default_factory=dict)
    _next: dict[tuple[int, int], int] = field(default_factory=dict)

    def missing(self, row: Sequence[int]) -> int:
        """How many tokens the pack would grow by with a row."""
        return len(row) - 1 - len(self._known(row))

    def add(self, number: int, row: Sequence[int]) -> None:
        """Add a row of at least two tokens under its number."""
        path = self._known(row)
        for position in range(len(path), len(row) - 1):
            before = path[-1] if path else -1
            path.append(self._next.setdefault((before, row[position]), len(self.tokens)))
            self.tokens.append(row[position])
            self.positions.append(position)
        self.paths[number] = path

    def _known(self, row: Sequence[int]) -> list[int]:
        path: list[int] = []
        for token in row[:-1]:
            place = self._next.get((path[-1] if path else -1, token))
            if place is None:
                break
            path.append(place)
        return path

    def seen(self, width: int) -> npt.NDArray[np.bool_]:
        """Which tokens (columns) each token (rows) sees, padded to `width`; padding sees itself."""
        mask = np.eye(width, dtype=np.bool_)
        for path in self.paths.values():
            mask[np.ix_(path, path)] |= np.tri(len(path), dtype=np.bool_)
        return mask


def packs_of(rows: Sequence[Sequence[int]], groups: Iterable[Iterable[int]], *, most: int = MOST) -> list[Pack]:
    """The rows that have something to predict, those of a group together up to `most` tokens a pack.

    Args:
        rows: of tokens.
        groups: numbers of rows that are likely to begin alike; a row of several groups belongs to the first.
        most: tokens of a pack of several rows; one alone may have more.
    """
    done: set[int] = set()
    packs: list[Pack] = []
    for group in groups:
        pack = Pack()
        for number in group:
            row = rows[number]
            if len(row) < 2 or number in done:
                continue
            if pack.paths and len(pack.tokens) + pack.missing(row) > most:
                packs.append(pack)
                pack = Pack()
            pack.add(number, row)
            done.add(number)
        packs += [pack] if pack.paths else []
    return packs


def batches_of(packs: Sequence[Pack], tokens: int) -> Iterator[list[Pack]]:
    """Packs of like length, longest first, so that what fits in memory at first fits to the end.

    A batch has at most so many `tokens`, padding included, or a single pack.
    """
    batch: list[Pack] = []
    for pack in sorted(packs, key=lambda pack: (-len(pack.tokens), next(iter(pack.paths)))):
        if batch and (len(batch) + 1) * len(batch[0].tokens) > tokens:
            yield batch
            batch = []
        batch.append(pack)
    if batch:
        yield batch
