"""ROUGE-L as coco-caption defines it: longest common subsequence with the references, beta 1.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vttdata.evaluate.metric import CaptioningMetric, check_texts
from vttdata.evaluate.reference_index import IntArray, Texts, index_candidates, index_references
from vttdata.statistics.scores import ColumnScores

BETA = 1.2

# Bits of an array's element, and the length of references up to which all pairs are compared at once.
_BITS, _LONGEST_REFERENCE = 64, 256


class RougeL(CaptioningMetric):
    """ROUGE-L of Lin (2004) with coco-caption's maximum over references of precision and of recall."""

    columns = ("rouge-l",)

    def options(self) -> Mapping[str, str]:
        """Return the weight of recall."""
        return {"beta": f"{BETA:g}"}

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; the corpus score is the mean of the items' scores."""
        check_texts(candidates, references)
        if not candidates:
            return {"rouge-l": ColumnScores.from_means(np.zeros(0))}
        index = index_references(references, self.tokenizer, self.cache)
        tokens = index_candidates(index, candidates, self.tokenizer).tokens
        item_of = np.repeat(np.arange(len(candidates)), np.diff(index.item_starts))
        common = common_subsequences(tokens, index.tokens, item_of)
        first = index.item_starts[:-1]
        precision = np.maximum.reduceat(common / tokens.lengths[item_of], first)
        recall = np.maximum.reduceat(common / index.tokens.lengths, first)
        product, total = (1 + BETA**2) * precision * recall, recall + BETA**2 * precision
        return {
            "rouge-l": ColumnScores.from_means(np.divide(product, total, out=np.zeros_like(total), where=total > 0))
        }


def common_subsequences(candidates: Texts, references: Texts, item_of: IntArray) -> IntArray:
    """Return the length of the longest common subsequence of the tokens of each reference and its candidate.

    Bit p of a word stands for a candidate's token p (Hyyrö 2004); all references are read in step, a token at a time.
    `item_of` is the candidate of each reference.
    """
    long = (candidates.lengths[item_of] > _BITS) | (references.lengths > _LONGEST_REFERENCE)
    common = np.zeros(len(item_of), dtype=np.int64)
    for reference in np.flatnonzero(long):
        common[reference] = _common_subsequence(_ids(candidates, item_of[reference]), _ids(references, reference))
    short = np.flatnonzero(~long)
    # Longest first, so that those with a further token come first at each step.
    short = short[np.argsort(-references.lengths[short], kind="stable")]
    masks = _positions(candidates, references, item_of)
    rows = np.full(len(short), np.iinfo(np.uint64).max, dtype=np.uint64)
    lengths, starts = references.lengths[short], references.starts[short]
    for step in range(int(lengths.max(initial=0))):
        reading = int(np.searchsorted(-lengths, -step, side="left"))
        mask, row = masks[starts[:reading] + step], rows[:reading]
        matched = row & mask
        rows[:reading] = (row + matched) | (row - matched)
    used = candidates.lengths[item_of[short]]
    bits = np.unpackbits(rows.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little") == 0
    common[short] = (bits & (np.arange(_BITS) < used[:, np.newaxis])).sum(axis=1)
    return common


def _positions(candidates: Texts, references: Texts, item_of: IntArray) -> NDArray[np.uint64]:
    """Return for each token of the references the positions in the item's candidate that have it, as bits."""
    item = np.repeat(np.arange(len(candidates.lengths)), candidates.lengths)
    position = np.arange(len(item)) - candidates.starts[item]
    bound = int(max(candidates.ids.max(initial=0), references.ids.max(initial=0))) + 1
    within = position < _BITS
    codes, inverse = np.unique(item[within] * bound + candidates.ids[within], return_inverse=True)
    bits = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.bitwise_or.at(bits, inverse, np.left_shift(np.uint64(1), position[within].astype(np.uint64)))
    sought = np.repeat(item_of, references.lengths) * bound + references.ids
    positions = np.searchsorted(codes, sought)
    found = np.append(codes, -1)[positions] == sought
    return bits[np.where(found, positions, len(codes))]


def _ids(texts: Texts, number: np.integer) -> list[int]:
    ids: list[int] = texts.ids[texts.starts[number] : texts.starts[number + 1]].tolist()
    return ids


def _common_subsequence(first: list[int], second: list[int]) -> int:
    """Return the length of the longest common subsequence of two texts of any length."""
    # The bits are those of the shorter text, since an operation costs as much as they are long.
    first, second = sorted((first, second), key=len)
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    first, second = first[same:], second[same:]
    positions: dict[int, int] = {}
    for index, token in enumerate(first):
        positions[token] = positions.get(token, 0) | 1 << index
    row = full = (1 << len(first)) - 1
    for token in second:
        matched = row & positions.get(token, 0)
        if matched:
            row = ((row + matched) | (row - matched)) & full
    return same + len(first) - row.bit_count()
