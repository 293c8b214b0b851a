"""Tokenized references of many items as arrays, so that n-grams of candidates are matched without a loop over captions.

Indexes are kept by content: the last ones in memory, so that several metrics share one, and on disk if a folder is
given, so that a second system is scored without tokenizing the references again.
"""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vttdata.evaluate.score_cache import keep_arrays, read_arrays
from vttdata.text.tokenizers import load_tokenizer

ORDERS = (1, 2, 3, 4)
_TABLES = ("keys", "entries", "counts", "frequencies", "norms")
IntArray = NDArray[np.int64]
# Arrays that are kept in files, where half the bytes are half the time to read them.
SmallIntArray = NDArray[np.int32]

# Raised when the arrays or a tokenizer change, so that older files are not read.
_FORMAT = 2
_IN_MEMORY = 2
_WORD_BITS = 31
_last_candidates: list[Any] = []
_last_references: list[Any] = []
_recent: OrderedDict[str, ReferenceIndex] = OrderedDict()


@dataclass(frozen=True, eq=False)
class Texts:
    """Sequences of ids, one after another: sequence i is ``ids[starts[i]:starts[i + 1]]``."""

    ids: SmallIntArray
    starts: IntArray

    @property
    def lengths(self) -> IntArray:
        """Number of ids in each sequence."""
        return np.diff(self.starts)

    def without(self, rows: IntArray) -> Texts:
        """Return the sequences but those of some rows."""
        keep = np.ones(len(self.lengths), dtype=bool)
        keep[rows] = False
        return Texts(self.ids[np.repeat(keep, self.lengths)], np.append(0, np.cumsum(self.lengths[keep])))


class LeftOut(list[list[str]]):
    """References of items without that of one rank of each, and all of them, whose index serves for every rank."""

    def __init__(self, references: Sequence[Sequence[str]], rank: int) -> None:
        super().__init__([*texts[:rank], *texts[rank + 1 :]] for texts in references)
        self.all, self.rank = references, rank


class NgramMatches(NamedTuple):
    """N-grams of candidates, and where references of the same item have them.

    Fields:
        item, gram, candidate_count: of each distinct n-gram of each candidate; a gram that no reference has is at least
            the number of known ones.
        row: for each match the index into the three arrays above, ascending.
        reference: for each match the reference.
        reference_count: for each match how often the reference has the n-gram.
    """

    item: IntArray
    gram: IntArray
    candidate_count: IntArray
    row: IntArray
    reference: IntArray
    reference_count: SmallIntArray


@dataclass(frozen=True, eq=False)
class ReferenceIndex:
    """References of n items.

    Attributes:
        vocabulary: ids of tokens.
        tokens: tokens of each reference; the empty token for one without any.
        words: tokens of each reference, cut further at no-break spaces as pycocoevalcap does for n-grams.
        item_starts: the references of item i are ``item_starts[i]`` to ``item_starts[i + 1]``, ``(n + 1,)``.
        keys: for each order but the first, what n-grams are made of: the id of all but the last word, and that word.
        entries: for each order the sorted ``(item * grams + gram) * stride + reference within the item``.
        counts: for each order how often the n-gram of an entry occurs in its reference.
        frequencies: for each order in how many items' references each n-gram occurs.
        norms: for each order the length of each reference's vector of n-gram counts, weighted by the logarithm of
            items / frequency.
        stride: greatest number of references of an item.
    """

    vocabulary: dict[str, int]
    tokens: Texts
    words: Texts
    item_starts: IntArray
    keys: dict[int, IntArray]
    entries: dict[int, IntArray]
    counts: dict[int, SmallIntArray]
    frequencies: dict[int, IntArray]
    norms: dict[int, NDArray[np.float64]]
    stride: int

    @classmethod
    def from_tokens(cls, tokenized: Iterable[list[str]], references_per_item: IntArray) -> ReferenceIndex:
        """Index tokenized references, given item after item."""
        vocabulary: dict[str, int] = {}
        tokens, words = _number_texts(tokenized, vocabulary)
        item_starts = np.concatenate([[0], np.cumsum(references_per_item)])
        stride = int(references_per_item.max(initial=1))
        reference = np.repeat(np.arange(len(words.lengths)), words.lengths)
        item = np.repeat(np.arange(len(references_per_item)), references_per_item)[reference]
        within_item = reference - item_starts[item]
        grams, number = words.ids, len(vocabulary)
        inside = np.ones(len(grams), dtype=bool)
        keys, entries, counts, numbers = {}, {}, {}, {}
        for order in ORDERS:
            if order > 1:
                positions = max(len(grams) - 1, 0)
                inside = reference[:positions] == reference[order - 1 :]
                keys[order], named = np.unique(_pair(grams[:-1], words.ids[order - 1 :])[inside], return_inverse=True)
                number = len(keys[order])
                # Positions stay those of the text, so that the next order finds its last word.
                grams = np.full(positions, -1)
                grams[inside] = named
            pair = item[: len(grams)][inside] * number + grams[inside]
            entry = pair * stride + within_item[: len(grams)][inside]
            entries[order], times = np.unique(entry, return_counts=True)
            counts[order], numbers[order] = times.astype(np.int32), number
        return cls._of_entries(vocabulary, tokens, words, item_starts, keys, entries, counts, numbers, stride)

    @classmethod
    def _of_entries(
        cls,
        vocabulary: dict[str, int],
        tokens: Texts,
        words: Texts,
        item_starts: IntArray,
        keys: dict[int, IntArray],
        entries: dict[int, IntArray],
        counts: dict[int, SmallIntArray],
        numbers: Mapping[int, int],
        stride: int,
    ) -> ReferenceIndex:
        """Return an index, with frequencies and norms from the entries; `numbers` is how many n-grams there are."""
        frequencies, norms = {}, {}
        for order in ORDERS:
            pair, within = np.divmod(entries[order], stride)
            item_of_pair, gram = np.divmod(pair, max(numbers[order], 1))
            first_of_pair = np.append(True, pair[1:] != pair[:-1])[: len(pair)]
            frequencies[order] = np.bincount(gram[first_of_pair], minlength=numbers[order])
            squares = (counts[order] * gram_weights(frequencies[order], len(item_starts) - 1)[gram]) ** 2
            owner = item_starts[item_of_pair] + within
            norms[order] = np.sqrt(np.bincount(owner, squares, minlength=len(words.lengths)))
        return cls(vocabulary, tokens, words, item_starts, keys, entries, counts, frequencies, norms, stride)

    def without(self, rank: int) -> ReferenceIndex:
        """Return the index of the references but that of a rank of each item, all of which have one of that rank."""
        rows = self.item_starts[:-1] + rank
        entries, counts = {}, {}
        for order in ORDERS:
            within = self.entries[order] % self.stride
            kept = within != rank
            entries[order] = (self.entries[order] - (within > rank))[kept]
            counts[order] = self.counts[order][kept]
        return self._of_entries(
            self.vocabulary,
            self.tokens.without(rows),
            self.words.without(rows),
            self.item_starts - np.arange(len(self.item_starts)),
            self.keys,
            entries,
            counts,
            {order: len(of_order) for order, of_order in self.frequencies.items()},
            self.stride,
        )

    def match(self, words: Texts) -> Iterator[NgramMatches]:
        """Yield for each order the n-grams of candidates that references of the same item have.

        Args:
            words: of each item's candidate, numbered by `vocabulary`, unknown ones with further numbers.
        """
        item = np.repeat(np.arange(len(words.lengths)), words.lengths)
        grams = words.ids
        for order in ORDERS:
            known = len(self.vocabulary) if order == 1 else len(self.keys[order])
            if order > 1:
                inside = item[: max(len(grams) - 1, 0)] == item[order - 1 :]
                # Sorted keys are found several times as fast as others.
                made_of, number = np.unique(_pair(grams[:-1], words.ids[order - 1 :]), return_inverse=True)
                positions = np.searchsorted(self.keys[order], made_of)
                found = np.append(self.keys[order], -1)[positions] == made_of
                named = np.where(found, positions, known + np.arange(len(made_of)))
                grams = np.where(inside, named[number], -1)
            present = grams >= 0
            bound = int(grams.max(initial=0)) + 1
            pairs, count = np.unique(item[: len(grams)][present] * bound + grams[present], return_counts=True)
            rows, gram = np.divmod(pairs, bound)
            code = (rows * known + gram) * self.stride
            first = np.searchsorted(self.entries[order], code)
            last = np.searchsorted(self.entries[order], np.where(gram < known, code + self.stride, code))
            found_in = last - first
            row = np.repeat(np.arange(len(pairs)), found_in)
            entry = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(found_in) - found_in, found_in)
            reference = self.item_starts[rows[row]] + self.entries[order][entry] % self.stride
            yield NgramMatches(rows, gram, count, row, reference, self.counts[order][entry])


@dataclass(frozen=True, eq=False)
class CandidateIndex:
    """Captions of the items of an index, one for each item, as numbers.

    Attributes:
        index: of the references.
        tokens, words: of each candidate, as those of references; unknown ones have further numbers.
    """

    index: ReferenceIndex
    tokens: Texts
    words: Texts

    @functools.cached_property
    def matches(self) -> list[NgramMatches]:
        """N-grams of each order that references of the same item have."""
        return list(self.index.match(self.words))


def gram_weights(frequencies: IntArray, items: int) -> NDArray[np.float64]:
    """Return the logarithm of items / document frequency; an n-gram that no reference has counts as in one."""
    weights: NDArray[np.float64] = np.log(max(items, 1)) - np.log(np.maximum(frequencies, 1))
    return weights


def _pair(first: IntArray | SmallIntArray, word: SmallIntArray) -> IntArray:
    return np.where(first < 0, -1, (first.astype(np.int64) << _WORD_BITS) | word)


def _number_texts(tokenized: Iterable[list[str]], vocabulary: dict[str, int]) -> tuple[Texts, Texts]:
    """Number tokens in the order of their appearance; extend the vocabulary."""
    number = vocabulary.setdefault
    tokens: list[list[int]] = []
    words: list[list[int]] = []
    for text in tokenized:
        ids = [number(token, len(vocabulary)) for token in text]
        tokens.append(ids or [number("", len(vocabulary))])
        if "\xa0" in "".join(text):
            ids = [number(word, len(vocabulary)) for token in text for word in token.split()]
        words.append(ids)
    return _concatenate(tokens), _concatenate(words)


def _concatenate(texts: list[list[int]]) -> Texts:
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    ids = np.fromiter(chain.from_iterable(texts), dtype=np.int32, count=int(lengths.sum()))
    return Texts(ids, np.concatenate([[0], np.cumsum(lengths)]))


def index_references(references: Sequence[Sequence[str]], tokenizer: str, cache: Path | None = None) -> ReferenceIndex:
    """Return the index of references, from memory or from disk if they were indexed before.

    Args:
        references: for each item its references as they were written.
        tokenizer: name of the tokenizer.
        cache: folder for files of indexes; None to use memory alone. Files in it can be deleted at any time.

    Raises:
        VttdataError: if there is no such tokenizer, or a text contains an unpaired surrogate.
    """
    # Comparing with a copy of the last references costs less than hashing their texts for each metric.
    if _last_references and _last_references[0] == (tokenizer, cache) and _last_references[1] == references:
        last: ReferenceIndex = _last_references[2]
        return last
    if isinstance(references, LeftOut):
        index = index_references(references.all, tokenizer, cache).without(references.rank)
        _last_references[:] = [(tokenizer, cache), references, index]
        return index
    per_item = np.fromiter(map(len, references), dtype=np.int64, count=len(references))
    texts = list(chain.from_iterable(references))
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    content = hashlib.sha256(f"{_FORMAT} {tokenizer} {len(per_item)} ".encode())
    for part in (per_item.tobytes(), lengths.tobytes(), "".join(texts).encode("utf-8", "surrogatepass")):
        content.update(part)
    key = content.hexdigest()[:32]
    known = _recent.pop(key, None) or read_arrays(cache, f"references-{key}", _from_arrays)
    if known is None:
        index = ReferenceIndex.from_tokens(map(load_tokenizer(tokenizer), texts), per_item)
        keep_arrays(cache, f"references-{key}", _to_arrays(index))
    else:
        index = known
    _recent[key] = index
    while len(_recent) > _IN_MEMORY:
        _recent.popitem(last=False)
    _last_references[:] = [(tokenizer, cache), [list(texts) for texts in references], index]
    return index


def index_candidates(index: ReferenceIndex, candidates: Sequence[str], tokenizer: str) -> CandidateIndex:
    """Return candidates as numbers; for the same index and texts as the last time, what was returned then."""
    if _last_candidates and _last_candidates[0] is index and _last_candidates[1:3] == [tokenizer, list(candidates)]:
        last: CandidateIndex = _last_candidates[3]
        return last
    numbered = CandidateIndex(index, *_number_texts(map(load_tokenizer(tokenizer), candidates), dict(index.vocabulary)))
    _last_candidates[:] = [index, tokenizer, list(candidates), numbered]
    return numbered


def forget_indexes() -> None:
    """Drop the indexes that are kept in memory."""
    _recent.clear()
    _last_references.clear()
    _last_candidates.clear()


def _to_arrays(index: ReferenceIndex) -> dict[str, NDArray[Any]]:
    arrays = {f"{name}-{order}": value for name in _TABLES for order, value in getattr(index, name).items()}
    return arrays | {
        "vocabulary": np.frombuffer("\n".join(index.vocabulary).encode(), dtype=np.uint8),
        "tokens": index.tokens.ids,
        "token-starts": index.tokens.starts,
        "words": index.words.ids,
        "word-starts": index.words.starts,
        "item-starts": index.item_starts,
        "stride": np.array(index.stride),
    }


def _from_arrays(arrays: Mapping[str, NDArray[Any]]) -> ReferenceIndex:
    # Tokens have no line breaks.
    words = arrays["vocabulary"].tobytes().decode().split("\n") if arrays["tokens"].size else []
    tables = {
        name: {order: arrays[f"{name}-{order}"] for order in ORDERS if (name, order) != ("keys", 1)} for name in _TABLES
    }
    return ReferenceIndex(
        vocabulary={word: number for number, word in enumerate(words)},
        tokens=Texts(arrays["tokens"], arrays["token-starts"]),
        words=Texts(arrays["words"], arrays["word-starts"]),
        item_starts=arrays["item-starts"],
        **tables,
        stride=int(arrays["stride"]),
    )
