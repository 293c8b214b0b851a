"""Counts n-grams of any stream of texts into sorted arrays; how to make probabilities of them is decided elsewhere.

The n-grams of all orders form a trie: an n-gram is the index of its first n-1 words among the n-grams one shorter, and
its last word. Both fit one 64-bit key, the keys of an order are sorted, and an n-gram's index is its place among them.
Memory is 16 bytes for each distinct n-gram of each order, the distinct words, and one block of the stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vttdata.text.lm.words import split_words

Integers = NDArray[np.int64]

UNKNOWN, BEGIN, END = 0, 1, 2
MARKS = ("<unk>", "<s>", "</s>")
"""The words that no text holds, since `split_words` parts their signs; their ids are their places."""

WORD_BITS = 32
WORD_MASK = (1 << WORD_BITS) - 1
_BLOCK = 1 << 19
"""Words counted at once. On captions of MSR-VTT larger blocks are no faster, and one takes some 40 MiB."""


@dataclass(frozen=True, slots=True)
class NgramCounts:
    """How often each n-gram occurs, for n from 1 to `order`; each text is read as ``<s> words </s>``.

    Fields:
        words: the words by id: `MARKS`, then those of the texts in the order of their code points, so that the same
            texts give the same arrays in whatever order they come.
        keys: for each order the sorted keys ``prefix << 32 | word``; for order 1 the word ids themselves.
        counts: for each order the number of occurrences of each key.
        texts: the number of texts with a word in them; others are not counted.
    """

    words: tuple[str, ...]
    keys: tuple[Integers, ...]
    counts: tuple[Integers, ...]
    texts: int

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.keys)


def count_ngrams(texts: Iterable[str], order: int) -> NgramCounts:
    """Count all n-grams of `texts` up to length `order`, in one pass."""
    counter = _Counter(order)
    for block in counter.blocks(texts):
        counter.add(block)
    return counter.result()


def find(keys: Integers, prefix: Integers, word: Integers) -> Integers:
    """The index of each n-gram ``prefix, word`` among `keys`, -1 where there is none or the prefix is -1."""
    return _locate(keys, np.where(prefix >= 0, prefix << WORD_BITS | word, -1))


def _locate(keys: Integers, wanted: Integers) -> Integers:
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    place = np.searchsorted(keys, wanted)
    place[place == len(keys)] = 0
    return np.where(keys[place] == wanted, place, -1)


class _Ids(dict[str, int]):
    def __missing__(self, word: str) -> int:
        self[word] = len(self)
        return len(self) - 1


class _Counter:
    def __init__(self, order: int) -> None:
        self.texts = 0
        self._ids = _Ids({mark: number for number, mark in enumerate(MARKS)})
        self._keys = [np.empty(0, np.int64) for _ in range(order)]
        self._counts = [np.empty(0, np.int64) for _ in range(order)]

    def blocks(self, texts: Iterable[str]) -> Iterator[Integers]:
        ids: list[int] = []
        number = self._ids.__getitem__
        for text in texts:
            words = split_words(text)
            if words:
                self.texts += 1
                ids.append(BEGIN)
                ids.extend(map(number, words))
                ids.append(END)
            if len(ids) >= _BLOCK:
                yield np.array(ids, np.int64)
                ids.clear()
        if ids:
            yield np.array(ids, np.int64)

    def add(self, ids: Integers) -> None:
        """Count one block. New n-grams come between the known ones, which move, and the keys of longer ones follow."""
        known = len(self._keys[0])
        self._keys[0] = np.arange(len(self._ids), dtype=np.int64)
        total = np.bincount(ids, minlength=len(self._ids))
        total[:known] += self._counts[0]
        self._counts[0] = total
        moved: Integers | None = None
        starts, place = np.arange(len(ids)), ids
        for level in range(1, len(self._keys)):
            inside = ids[starts + level - 1] != END
            starts, place = starts[inside], place[inside]
            seen = place << WORD_BITS | ids[starts + level]
            moved, place = self._merge(level, moved, seen)

    def _merge(self, level: int, moved: Integers | None, seen: Integers) -> tuple[Integers, Integers]:
        old = self._keys[level]
        if moved is not None:
            old = moved[old >> WORD_BITS] << WORD_BITS | old & WORD_MASK
        unique, inverse, times = np.unique(seen, return_inverse=True, return_counts=True)
        new = _locate(old, unique) < 0
        at = np.searchsorted(old, unique[new])
        keys = np.insert(old, at, unique[new])
        counts = np.insert(self._counts[level], at, 0)
        places = np.searchsorted(keys, unique)
        counts[places] += times
        self._keys[level], self._counts[level] = keys, counts
        return np.arange(len(old)) + np.searchsorted(unique[new], old), places[inverse]

    def result(self) -> NgramCounts:
        words = list(self._ids)
        ranks = [*range(len(MARKS)), *(sorted(range(len(MARKS), len(words)), key=words.__getitem__))]
        moved = np.empty(len(words), np.int64)
        moved[ranks] = np.arange(len(words))
        rank = moved
        keys, counts = [np.arange(len(words), dtype=np.int64)], [self._counts[0][ranks]]
        for old, times in zip(self._keys[1:], self._counts[1:], strict=True):
            renamed = moved[old >> WORD_BITS] << WORD_BITS | rank[old & WORD_MASK]
            order = np.argsort(renamed)
            moved = np.empty_like(order)
            moved[order] = np.arange(len(order))
            keys.append(renamed[order])
            counts.append(times[order])
        return NgramCounts(tuple(words[rank] for rank in ranks), tuple(keys), tuple(counts), self.texts)
