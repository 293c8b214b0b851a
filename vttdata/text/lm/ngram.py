"""N-gram model: trained in seconds on the captions themselves, it scores many texts and substitutions at once.

Words are split and counted in `counts`; smoothing is in `kneser_ney`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.files.reading import refuse_special
from vttdata.text.lm.counts import (
    BEGIN,
    END,
    MARKS,
    UNKNOWN,
    WORD_BITS,
    WORD_MASK,
    Integers,
    NgramCounts,
    WordRows,
    count_ngrams,
    find_ngrams,
    model_tokens,
)
from vttdata.text.lm.kneser_ney import Floats, SmoothedNgrams, smooth
from vttdata.text.lm.scorer import Scorer, Substitution

# Texts, or changed texts, that are scored at once; on captions both more and fewer are slower.
_TEXTS_PER_BLOCK = 1 << 13
# Format of saved models; rises when files of earlier versions can no longer be read.
_FORMAT = 1


class NgramModel(Scorer):
    """N-gram language model with interpolated modified Kneser-Ney smoothing.

    A text is read as ``<s> words </s>``; ``<s>`` is given and never predicted. A word that training did not see is
    ``<unk>``, with the minimum probability that smoothing gives every word; no longer n-gram continues it.

    It is made of its words by id, `MARKS` first, their smoothed n-grams, and the number of texts it was trained on.
    """

    def __init__(self, words: Sequence[str], ngrams: SmoothedNgrams, trained_on: int) -> None:
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
            order: length of the longest n-grams, 1 or more; 4 looks at three words before each.
            min_count: n-grams of two and more words that occur fewer times are dropped after training. With 2 a model
                of captions is four to five times smaller and its perplexity on other captions a tenth higher.

        Raises:
            VttdataError: when no text has a word, or a number is below 1.
        """
        if order < 1 or min_count < 1:
            raise VttdataError(f"An n-gram model needs order and min_count of 1 or more, not {order} and {min_count}.")
        return cls.smooth(count_ngrams(texts, order), min_count)

    @classmethod
    def smooth(cls, counts: NgramCounts, min_count: int = 1) -> NgramModel:
        """Return the model of counted n-grams; arguments and errors are those of `train`."""
        if not counts.texts:
            raise VttdataError("There is no caption with a word in it to train a language model on.")
        return cls(counts.words, smooth(counts, min_count), counts.texts)

    def save(self, path: Path) -> None:
        """Write the model to `path`, an uncompressed ``.npz`` of plain arrays; equal models give equal bytes.

        Raises:
            VttdataError: when the file cannot be written.
        """
        # No word holds white space, so line breaks can separate them.
        text = "\n".join(self.words).encode("utf-8", "surrogatepass")
        arrays: dict[str, Any] = {
            "format": np.array([_FORMAT, self.order, self.trained_on], np.int64),
            "words": np.frombuffer(text, np.uint8),
        }
        for name, of_orders in self.ngrams._asdict().items():
            arrays |= {f"{name}_{order}": values for order, values in enumerate(of_orders, 1)}
        try:
            with path.open("wb") as file:
                np.savez(file, **arrays)
        except OSError as error:
            raise VttdataError(f"The language model cannot be written to {path}: {error.strerror}.") from error

    @classmethod
    def load(cls, path: Path) -> NgramModel:
        """Read what `save` wrote; nothing in the file is executed.

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
                return cls(words, ngrams, trained_on)
        except VttdataError:
            raise
        except OSError as error:
            raise VttdataError(f"The language model {path} cannot be read: {error.strerror or error}.") from error
        except Exception as error:
            # Of a damaged archive zipfile, zlib and NumPy raise almost anything, RuntimeError and MemoryError among it.
            raise VttdataError(f"{path} is damaged, or not an n-gram model of this version.") from error

    def log_probability(self, words: Sequence[str]) -> Floats:
        """Return the natural log-probability of each word given those before it, and at the end that of ``</s>``.

        `words` are as `model_tokens` splits a text.
        """
        ids = np.array([BEGIN, *self._word_ids(words), END], np.int64)
        return self._score(ids)[1:]

    def perplexity(self, texts: Sequence[str]) -> Floats:
        """Return the perplexity of each text, an array of the length of `texts`; an empty text is ``</s>`` alone."""
        firsts = range(0, len(texts), _TEXTS_PER_BLOCK)
        blocks = [WordRows.of(map(model_tokens, texts[first : first + _TEXTS_PER_BLOCK])) for first in firsts]
        return np.concatenate([np.empty(0), *map(self.score_rows, blocks)])

    def score_rows(self, rows: WordRows) -> Floats:
        """Return the perplexity of each text, from its words as `model_tokens` splits it."""
        known, ends = np.array(self._word_ids(rows.words), np.int64), np.cumsum(rows.sizes + 2)
        ids = np.full(int((rows.sizes + 2).sum()), END)
        begins = ends - rows.sizes - 2
        inside = np.ones(len(ids), np.bool_)
        inside[begins] = inside[ends - 1] = False
        ids[begins], ids[inside] = BEGIN, known[rows.ids]
        scores = self._score(ids)
        scores[begins] = 0
        sums = np.bincount(np.repeat(np.arange(len(ends)), rows.sizes + 2), scores, minlength=len(ends))
        perplexities: Floats = np.exp(-sums / (rows.sizes + 1))
        return perplexities

    def count_tokens(self, texts: Sequence[str]) -> Integers:
        """Return the number of words and punctuation signs of each text, and one more for its end."""
        return np.array([len(model_tokens(text)) + 1 for text in texts], np.int64)

    def substitution_perplexities(self, substitutions: Sequence[Substitution]) -> list[Floats]:
        """Score many texts at once; for each replacement only the words around the span are scored."""
        perplexities: list[Floats] = []
        block: list[Substitution] = []
        size = 0
        for substitution in substitutions:
            substitution.check()
            block.append(substitution)
            size += len(substitution.replacements) + 1
            if size >= _TEXTS_PER_BLOCK:
                perplexities += self._score_substitutions(block)
                block, size = [], 0
        return perplexities + self._score_substitutions(block)

    def _word_ids(self, words: Iterable[str]) -> list[int]:
        id_of = self._ids.get
        return [id_of(word, UNKNOWN) for word in words]

    def _score(self, ids: Integers) -> Floats:
        """Return the log-probability of every position of `ids`, a row of sequences begun by ``<s>`` or ``<unk>``.

        No known n-gram has either after its first word, or goes on after ``<unk>`` or ``</s>``, so none crosses the
        border of a sequence. The value at ``<s>`` itself is meaningless.
        """
        keys, logs, weights = self.ngrams
        scores = logs[0][ids]
        indices = ids
        for level in range(1, min(self.order, len(ids))):
            if not len(keys[level]):
                break
            context = indices[:-1]
            indices = find_ngrams(keys[level], context, ids[level:])
            # An index of -1 reads the last entry, which the mask then drops.
            backed_off = scores[level:] + np.where(context >= 0, weights[level - 1][context], 0.0)
            scores[level:] = np.where(indices >= 0, logs[level][indices], backed_off)
        return scores

    def _score_substitutions(self, substitutions: Sequence[Substitution]) -> list[Floats]:
        """Score the words that no replacement changes once, and for each replacement those that it may change."""
        reach, rows = self.order - 1, _Rows()
        ids_of: dict[str, list[int]] = {}
        for substitution in substitutions:
            before, left, right, after = parts_around(substitution.text, substitution.start, substitution.end)
            start = self._word_ids(model_tokens(before))
            rest = [*self._word_ids(model_tokens(after)), END]
            unchanged = rows.begin_sum()
            rows.add([BEGIN], start)
            rows.add(rest[:reach], rest[reach:])
            context = [BEGIN, *start][max(0, len(start) + 1 - reach) :]
            for replacement in substitution.replacements:
                middle = left + replacement + right
                if middle not in ids_of:
                    ids_of[middle] = self._word_ids(model_tokens(middle))
                rows.begin_sum(unchanged)
                rows.add(context, ids_of[middle] + rest[:reach])
        if not substitutions:
            return []
        values = rows.perplexities(self._score(rows.ids()))
        # The first sum of each substitution is that of its unchanged words alone.
        sizes = np.array([len(substitution.replacements) + 1 for substitution in substitutions], np.int64)
        return [of_text[1:] for of_text in np.split(values, np.cumsum(sizes)[:-1])]


class TextParts(NamedTuple):
    """Parts of a text around a span; a change of the span changes no word of the first and the last part.

    They are the text before the white space, from there to the span, from the span to the next white space, and the
    rest.
    """

    before: str
    left: str
    right: str
    after: str


def parts_around(text: str, start: int, end: int) -> TextParts:
    """Cut a text at the span ``text[start:end]`` and at the white space around it."""
    left, right = start, end
    while left and not text[left - 1].isspace():
        left -= 1
    while right < len(text) and not text[right].isspace():
        right += 1
    return TextParts(text[:left], text[left:start], text[end:right], text[right:])


class _Rows:
    """Rows of ids with ``<unk>`` between them, and the sum that each scored id belongs to.

    Sum 0 is that of ids that are only context. Every other sum also counts all that its base sum counts.
    """

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._bases = [0]
        self._owners: list[int] = []
        self._sizes: list[int] = []

    def begin_sum(self, base: int = 0) -> int:
        """Begin a sum and return its number; base 0 means none."""
        self._bases.append(base)
        return len(self._bases) - 1

    def add(self, context: list[int], scored: list[int]) -> None:
        """Add a row to the last sum: the context, then the ids that are scored after it."""
        self._ids += context
        self._ids += scored
        self._ids.append(UNKNOWN)
        self._owners += (0, len(self._bases) - 1, 0)
        self._sizes += (len(context), len(scored), 1)

    def ids(self) -> Integers:
        """Return the ids of all rows, one after another."""
        return np.array(self._ids, np.int64)

    def perplexities(self, scores: Floats) -> Floats:
        """Return the perplexity of each sum from the scores of all ids; 1 for an empty sum."""
        owners = np.repeat(self._owners, self._sizes).astype(np.int64)
        sums = np.bincount(owners, scores, minlength=len(self._bases)).astype(np.float64)
        lengths = np.bincount(owners, minlength=len(self._bases))
        sums[0] = lengths[0] = 0
        bases = np.array(self._bases, np.int64)
        perplexities: Floats = np.exp(-(sums + sums[bases]) / np.maximum(lengths + lengths[bases], 1))
        return perplexities[1:]


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
