"""ChrF2 as sacreBLEU computes it: character n-grams up to 6 without spaces, beta 2, the best reference, 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.metric import CaptioningMetric, check_texts
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores

CHARACTER_ORDER, BETA = 6, 2.0

# Characters that are compared at once; bounds memory.
CHARACTERS_AT_ONCE = 400_000


class ChrF(CaptioningMetric):
    """ChrF of Popović (2015). Case counts, and no tokenizer is used, so that every language is treated alike."""

    columns = ("chrf",)
    uses_tokens = False

    def options(self) -> Mapping[str, str]:
        """Return sacreBLEU's settings: case, effective order, n-grams of characters and of words, spaces."""
        return {"case": "mixed", "eff": "yes", "nc": str(CHARACTER_ORDER), "nw": "0", "space": "no"}

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; for the corpus score the counts with each item's best reference are summed."""
        check_texts(candidates, references)
        statistics = np.zeros((len(candidates), 3 * CHARACTER_ORDER))
        first = characters = 0
        for last, (text, texts) in enumerate(zip(candidates, references, strict=True), start=1):
            characters += len(text) + sum(map(len, texts))
            if characters >= CHARACTERS_AT_ONCE or last == len(candidates):
                statistics[first:last] = best_counts(candidates[first:last], references[first:last])
                first, characters = last, 0
        return {"chrf": ColumnScores(f_scores(statistics), statistics, lambda sums, _: f_scores(sums))}


def f_scores(counts: Floats) -> Floats:
    """Return F scores from ``(..., 18)`` counts: for each order n-grams of caption, of reference, and matches."""
    hypothesis, reference, matches = (counts[..., start::3] for start in range(3))
    effective = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(effective.sum(axis=-1), 1)
    precision = np.divide(matches, hypothesis, out=np.zeros_like(matches), where=effective).sum(axis=-1) / orders
    recall = np.divide(matches, reference, out=np.zeros_like(matches), where=effective).sum(axis=-1) / orders
    product, total = (1 + BETA**2) * precision * recall, BETA**2 * precision + recall
    scores: Floats = np.divide(product, total, out=np.zeros_like(product), where=total > 0)
    return scores


def best_counts(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """Return the counts of each candidate with the reference that gives it the highest F score, ``(n, 18)``.

    Raises:
        VttdataError: if a text contains an unpaired surrogate.
    """
    number = len(candidates)
    texts = ["".join(text.split()) for text in (*candidates, *(text for group in references for text in group))]
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    try:
        grams = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    except UnicodeEncodeError as error:
        raise VttdataError("A caption or reference contains an unpaired surrogate, which no text has.") from error
    characters = grams
    owner = np.repeat(np.arange(len(texts)), lengths)
    item_of = np.repeat(np.arange(number), [len(group) for group in references])
    counts = np.zeros((len(item_of), 3 * CHARACTER_ORDER))
    for order in range(1, CHARACTER_ORDER + 1):
        if order > 1:
            # A longer n-gram is a shorter one and a character; code points have 21 bits.
            grams = (grams[:-1] << 21) | characters[order - 1 :]
        grams = np.unique(grams, return_inverse=True)[1]
        inside = owner[: len(grams)] == owner[order - 1 :]
        bound = int(grams.max(initial=0)) + 1
        pairs, times = np.unique(owner[: len(grams)][inside] * bound + grams[inside], return_counts=True)
        of_reference = int(np.searchsorted(pairs, number * bound))
        text, gram = np.divmod(pairs[of_reference:], bound)
        sought = item_of[text - number] * bound + gram
        place = np.searchsorted(pairs[:of_reference], sought)
        found = np.append(pairs[:of_reference], -1)[place] == sought
        matched = np.minimum(np.append(times[:of_reference], 0)[place], times[of_reference:]) * found
        present = np.maximum(lengths - order + 1, 0)
        # Without n-grams in the reference those of the caption are not counted.
        counts[:, 3 * order - 3] = np.where(present[number:] > 0, present[item_of], 0)
        counts[:, 3 * order - 2] = present[number:]
        counts[:, 3 * order - 1] = np.bincount(text - number, matched, minlength=len(item_of))
    scores = f_scores(counts)
    best = np.lexsort((np.arange(len(item_of)), -scores, item_of))
    chosen: Floats = counts[best[np.searchsorted(item_of, np.arange(number))]]
    return chosen
