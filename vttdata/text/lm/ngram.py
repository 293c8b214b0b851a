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
from vttdata.text.lm.scorer import Substitution, check_swap
from vttdata.text.lm.words import parts_around, split_words

_BLOCK = 1 << 13
"""Texts, or changed texts, that are scored at once; on captions both more and fewer are slower."""


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
            min_count: n-grams of two and more words that occur fewer times are forgotten after training. With 2 a
                model of captions is four to five times smaller and its perplexity on others a tenth higher.

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

    def substitution_perplexity(self, text: str, start: int, end: int, replacements: Sequence[str]) -> Floats:
        """The perplexity of `text` with ``text[start:end]`` replaced by each of `replacements`.

        Raises:
            VttdataError: when the span does not lie in the text.
        """
        return self.substitution_perplexities([Substitution(text, start, end, replacements)])[0]

    def substitution_perplexities(self, swaps: Sequence[Substitution]) -> list[Floats]:
        """Score many texts at once; for each replacement only the words around the span are scored.

        Raises:
            VttdataError: when a span does not lie in its text.
        """
        found: list[Floats] = []
        block: list[Substitution] = []
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
            if not len(keys[level]):
                break
            given = place[:-1]
            place = find(keys[level], given, ids[level:])
            # An index of -1 reads the last entry, which the mask then drops.
            backed_off = scores[level:] + np.where(given >= 0, weights[level - 1][given], 0.0)
            scores[level:] = np.where(place >= 0, logs[level][place], backed_off)
        return scores

    def _texts(self, texts: Sequence[str]) -> Floats:
        rows = _Rows()
        for text in texts:
            rows.begin()
            rows.add([BEGIN], [*self._numbers(split_words(text)), END])
        return rows.perplexities(self._scores(rows.array()))

    def _swaps(self, swaps: Sequence[Substitution]) -> list[Floats]:
        """Score once what lies before a span and far after it, and for each replacement the words between."""
        reach, rows = self.order - 1, _Rows()
        known: dict[str, list[int]] = {}
        for swap in swaps:
            before, left, right, after = parts_around(swap.text, swap.start, swap.end)
            start = self._numbers(split_words(before))
            rest = [*self._numbers(split_words(after)), END]
            rows.begin()
            rows.add([BEGIN], start)
            rows.add(rest[:reach], rest[reach:])
            base, given = rows.last, [BEGIN, *start][max(0, len(start) + 1 - reach) :]
            for new in swap.replacements:
                middle = left + new + right
                if middle not in known:
                    known[middle] = self._numbers(split_words(middle))
                rows.begin(base)
                rows.add(given, known[middle] + rest[:reach])
        values = rows.perplexities(self._scores(rows.array()))
        sizes = np.array([len(swap.replacements) + 1 for swap in swaps], np.int64)
        return [own[1:] for own in np.split(values, np.cumsum(sizes)[:-1])] if swaps else []


class _Rows:
    """Rows of ids with ``<unk>`` between them, and the sums that the scores of each piece of them belong to.

    Sum 0 is of what is only context. Every other sum also counts all that its base counts.
    """

    def __init__(self) -> None:
        self.last = 0
        self._ids: list[int] = []
        self._bases = [0]
        self._owners: list[int] = []
        self._sizes: list[int] = []

    def begin(self, base: int = 0) -> None:
        """Begin the next sum; base 0 means none."""
        self.last += 1
        self._bases.append(base)

    def add(self, given: list[int], scored: list[int]) -> None:
        """Add a row to the sum: first the context, then what is scored after it."""
        self._ids += given
        self._ids += scored
        self._ids.append(UNKNOWN)
        self._owners += (0, self.last, 0)
        self._sizes += (len(given), len(scored), 1)

    def array(self) -> Integers:
        """The ids of all rows, one after another."""
        return np.array(self._ids, np.int64)

    def perplexities(self, scores: Floats) -> Floats:
        """The perplexity that belongs to each sum, from the scores of all ids; 1 for a sum of nothing."""
        owners = np.repeat(self._owners, self._sizes).astype(np.int64)
        sums = np.bincount(owners, scores, minlength=self.last + 1).astype(np.float64)
        lengths = np.bincount(owners, minlength=self.last + 1)
        sums[0] = lengths[0] = 0
        bases = np.array(self._bases, np.int64)
        perplexities: Floats = np.exp(-(sums + sums[bases]) / np.maximum(lengths + lengths[bases], 1))
        return perplexities[1:]
