"""The n-gram model: trained in seconds on the captions themselves, it scores many texts and swaps at once.

How it counts is in `counts`, how it smooths in `kneser_ney`, what it calls a word in `words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from vttdata.errors import VttdataError
from vttdata.text.lm.counts import BEGIN, END, UNKNOWN, Integers, count_ngrams, find
from vttdata.text.lm.kneser_ney import Floats, Smoothed, smooth
from vttdata.text.lm.saved import load_ngrams, save_ngrams
from vttdata.text.lm.scorer import Swap, check_swap
from vttdata.text.lm.words import parts_around, split_words

_BLOCK = 1 << 13
"""Texts, or changed texts, that are scored at once: some 20 MiB for captions."""


class NgramModel:
    """An n-gram language model with interpolated modified Kneser-Ney smoothing.

    A text is read as ``<s> words </s>``; ``<s>`` is given and never predicted. A word that training did not see is
    ``<unk>``, as likely as the share that smoothing gives every word at the least; after it no longer n-gram is known.

    Args:
        words: the words by id, `MARKS` first.
        ngrams: what `smooth` made of their counts.
        trained_on: the number of texts, for the name.
    """

    def __init__(self, words: Sequence[str], ngrams: Smoothed, trained_on: int) -> None:
        self.words = tuple(words)
        self.ngrams = ngrams
        self.trained_on = trained_on
        self.order = len(ngrams.keys)
        self.name = f"ngram-{self.order} (modified Kneser-Ney, trained on {trained_on} captions)"
        self._ids = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def train(cls, texts: Iterable[str], *, order: int = 4, min_count: int = 1) -> NgramModel:
        """Count and smooth the n-grams of `texts`, which are read once and may be any number.

        Args:
            texts: captions; those without a word are skipped.
            order: the longest n-grams, 1 or more; 4 looks at three words before each.
            min_count: n-grams of two and more words that occur fewer times are forgotten after training. 2 makes a
                model of captions some four times smaller and a little worse.

        Raises:
            VttdataError: when no text has a word, or a number is below 1.
        """
        if order < 1 or min_count < 1:
            raise VttdataError(f"An n-gram model needs order and min_count of 1 or more, not {order} and {min_count}.")
        counts = count_ngrams(texts, order)
        if not counts.texts:
            raise VttdataError("There is no caption with a word in it to train a language model on.")
        return cls(counts.words, smooth(counts, min_count), counts.texts)

    def save(self, path: Path) -> None:
        """Write the model to `path`, an uncompressed ``.npz`` of plain arrays; equal models give equal bytes."""
        save_ngrams(path, self.words, self.ngrams, self.trained_on)

    @classmethod
    def load(cls, path: Path) -> NgramModel:
        """Read what `save` wrote; nothing in the file is executed.

        Raises:
            VttdataError: when there is no such file or it holds no model.
        """
        return cls(*load_ngrams(path))

    def log_probability(self, words: Sequence[str]) -> Floats:
        """The natural log-probability of each word given those before it, and at the end that of ``</s>``.

        `words` are as `split_words` cuts them.
        """
        ids = np.array([BEGIN, *self._numbers(words), END], np.int64)
        return self._scores(ids)[1:]

    def perplexity(self, texts: Sequence[str]) -> Floats:
        """The perplexity of each text, an array of the length of `texts`; an empty text is ``</s>`` alone."""
        blocks = [self._texts(texts[at : at + _BLOCK]) for at in range(0, len(texts), _BLOCK)]
        return np.concatenate([np.empty(0), *blocks])

    def swap_perplexity(self, text: str, start: int, end: int, replacements: Sequence[str]) -> Floats:
        """The perplexity of `text` with ``text[start:end]`` replaced by each of `replacements`.

        Raises:
            VttdataError: when the span does not lie in the text.
        """
        return self.swap_perplexities([Swap(text, start, end, replacements)])[0]

    def swap_perplexities(self, swaps: Sequence[Swap]) -> list[Floats]:
        """`swap_perplexity` of many texts at once; only the words around each span are scored for each replacement.

        Raises:
            VttdataError: when a span does not lie in its text.
        """
        found: list[Floats] = []
        block: list[Swap] = []
        size = 0
        for swap in swaps:
            check_swap(swap)
            block.append(swap)
            size += len(swap.replacements) + 1
            if size >= _BLOCK:
                found += self._swaps(block)
                block, size = [], 0
        return found + self._swaps(block)

    def _numbers(self, words: Iterable[str]) -> list[int]:
        number = self._ids.get
        return [number(word, UNKNOWN) for word in words]

    def _scores(self, ids: Integers) -> Floats:
        """The log-probability of every position of `ids`, a row of sequences that begin with ``<s>`` or ``<unk>``.

        Neither is known to follow anything, and nothing is known to follow ``<unk>`` or ``</s>``, so no n-gram found
        reaches over a border. What is said of ``<s>`` itself is of no use.
        """
        keys, logs, weights = self.ngrams.keys, self.ngrams.log_probabilities, self.ngrams.log_weights
        scores = logs[0][ids]
        place = ids
        for level in range(1, min(self.order, len(ids))):
            given = place[:-1]
            place = find(keys[level], given, ids[level:])
            # An index of -1 reads the last entry, which the mask then drops.
            backed_off = scores[level:] + np.where(given >= 0, weights[level - 1][given], 0.0)
            scores[level:] = np.where(place >= 0, logs[level][place], backed_off) if len(keys[level]) else backed_off
        return scores

    def _texts(self, texts: Sequence[str]) -> Floats:
        rows = [self._numbers(split_words(text)) for text in texts]
        lengths = np.array([len(row) + 1 for row in rows])
        ids = np.array([number for row in rows for number in (BEGIN, *row, END)], np.int64)
        owner = np.repeat(np.arange(len(rows)), lengths)
        return _perplexity(_sums(owner, self._scores(ids)[ids != BEGIN]), lengths)

    def _swaps(self, swaps: Sequence[Swap]) -> list[Floats]:
        """Score each block of equal words once: what lies before a span, what lies far after it, and each window."""
        reach, rows = self.order - 1, _Rows()
        lengths: list[int] = []
        for swap in swaps:
            before, left, right, after = parts_around(swap.text, swap.start, swap.end)
            start = [BEGIN, *self._numbers(split_words(before))]
            rest = [*self._numbers(split_words(after)), END]
            rows.begin()
            rows.add(start, 1)
            rows.add(rest, reach)
            given, near = start[max(0, len(start) - reach) :], rest[:reach]
            for new in swap.replacements:
                window = self._numbers(split_words(left + new + right))
                rows.begin()
                rows.add(given + window + near, len(given))
                lengths.append(len(start) + len(window) + len(rest) - 1)
        scores = self._scores(np.array(rows.ids, np.int64))
        sums = _sums(np.array(rows.owners, np.int64), scores, rows.last + 1)
        return _parts(swaps, sums[1:], np.array(lengths, np.int64))


class _Rows:
    """Rows of ids with ``<unk>`` between them, and for each id the sum that its score belongs to; sum 0 is for none."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.owners: list[int] = []
        self.last = 0

    def begin(self) -> None:
        """Begin the next sum."""
        self.last += 1

    def add(self, ids: list[int], given: int) -> None:
        """Add a row to the sum; its first `given` ids are context only."""
        given = min(given, len(ids))
        self.ids += ids
        self.ids.append(UNKNOWN)
        self.owners += [0] * given + [self.last] * (len(ids) - given)
        self.owners.append(0)


def _parts(swaps: Sequence[Swap], sums: Floats, lengths: Integers) -> list[Floats]:
    parts: list[Floats] = []
    at = 0
    for number, swap in enumerate(swaps):
        size = len(swap.replacements)
        own = sums[at + number + 1 : at + number + 1 + size] + sums[at + number]
        parts.append(_perplexity(own, lengths[at : at + size]))
        at += size
    return parts


def _sums(owners: Integers, scores: Floats, size: int = 0) -> Floats:
    return np.bincount(owners, scores, minlength=size).astype(np.float64, copy=False)


def _perplexity(sums: Floats, lengths: Integers) -> Floats:
    perplexity: Floats = np.exp(-sums / lengths)
    return perplexity
