"""ChrF2 as sacreBLEU computes it: character n-grams up to 6 without spaces, beta 2, the best reference, 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError
from vttdata.evaluate.metric import CaptioningMetric, VideoSpan, check_texts
from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.scores import ColumnScores

CHARACTER_ORDER, BETA = 6, 2.0

# Characters, and pairs of texts, that are compared at once; bound memory.
CHARACTERS_AT_ONCE, PAIRS_AT_ONCE = 400_000, 200_000

# Of a non-negative number in an array.
_BITS = 63


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
        return _columns([texts.best() for texts in _compare(candidates, references, each=False)])

    def score_left_out(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], videos: Sequence[VideoSpan]
    ) -> Iterator[tuple[str, dict[str, ColumnScores]]]:
        """Score captions without the references of each rank in turn; the n-grams of a text are counted once."""
        del videos
        check_texts(candidates, references)
        ranks = min(map(len, references), default=0)
        human: list[list[Floats]] = [[] for _ in range(ranks)]
        system: list[list[Floats]] = [[] for _ in range(ranks)]
        for texts in _compare(candidates, references, each=True):
            for rank in range(ranks):
                human[rank].append(texts.best(caption=rank + 1))
                system[rank].append(texts.best(left_out=rank + 1))
        for rank in range(ranks):
            yield "human", _columns(human[rank])
            yield "system", _columns(system[rank])


def _columns(counts: Sequence[Floats]) -> dict[str, ColumnScores]:
    statistics = np.concatenate([np.empty((0, 3 * CHARACTER_ORDER)), *counts])
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


@dataclass(frozen=True, slots=True, eq=False)
class _ComparedTexts:
    """Texts of n items, each with its candidate first and then its references, at most w of both.

    Fields:
        rows: place of each item's candidate in the first axis of the others, ``(n,)``; where every text is compared as
            a caption, those of the item's references follow it.
        counts: of n-grams of a caption, of the other text and common ones for each order, ``(r, w, 18)``.
        scores: of a caption against the other text, ``(r, w)``; -1 where that is no reference, or the caption itself.
    """

    rows: Integers
    counts: Floats
    scores: Floats

    def best(self, *, caption: int = 0, left_out: int = 0) -> Floats:
        """Return the counts of one text of each item with the reference that gives it the highest score, ``(n, 18)``.

        The candidate, which is text 0, is no reference of any caption, so that by default none is left out.
        """
        rows = self.rows + caption
        scores = self.scores[rows]
        scores[:, left_out] = -1
        chosen: Floats = self.counts[rows, scores.argmax(axis=1)]
        return chosen


def _compare(candidates: Sequence[str], references: Sequence[Sequence[str]], *, each: bool) -> Iterator[_ComparedTexts]:
    """Compare candidates, or `each` text, with the references of the same item, some items at a time."""
    block: list[Sequence[str]] = []
    characters = texts = width = 0
    for candidate, others in zip(candidates, references, strict=True):
        item = [candidate, *others]
        characters, texts, width = characters + sum(map(len, item)), texts + len(item), max(width, len(item))
        rows = texts if each else len(block) + 1
        if block and (characters > CHARACTERS_AT_ONCE or rows * width > PAIRS_AT_ONCE):
            yield _compare_block(block, each=each)
            block, characters, texts, width = [], sum(map(len, item)), len(item), len(item)
        block.append(item)
    if block:
        yield _compare_block(block, each=each)


def _compare_block(items: Sequence[Sequence[str]], *, each: bool) -> _ComparedTexts:
    """Compare the texts of items; see `_compare`.

    Raises:
        VttdataError: if a text contains an unpaired surrogate.
    """
    texts = ["".join(text.split()) for item in items for text in item]
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    try:
        characters = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32)
    except UnicodeEncodeError as error:
        raise VttdataError("A caption or reference contains an unpaired surrogate, which no text has.") from error
    sizes = np.fromiter(map(len, items), dtype=np.int64, count=len(items))
    width = int(sizes.max())
    starts = np.cumsum(sizes) - sizes
    item_of = np.repeat(np.arange(len(items)), sizes)
    place = np.arange(len(texts)) - starts[item_of]
    captions = np.arange(len(texts)) if each else starts
    common = np.zeros((len(captions), width, CHARACTER_ORDER))
    for order, (item, first, second, times) in enumerate(_common_grams(characters, lengths, item_of, place, each=each)):
        row = starts[item] + first if each else item
        cells = np.bincount(row * width + second, times, minlength=len(captions) * width)
        common[:, :, order] = cells.reshape(-1, width)
    # The place of a reference that an item does not have is that of another text, and is masked below.
    others = np.minimum(starts[item_of[captions], np.newaxis] + np.arange(width), len(texts) - 1)
    if each:
        common += common[others, place[:, np.newaxis]]
    grams = np.maximum(lengths[:, np.newaxis] - np.arange(CHARACTER_ORDER), 0)
    counts = np.empty((len(captions), width, 3 * CHARACTER_ORDER))
    counts[..., 1::3] = grams[others]
    # Without n-grams in the reference those of the caption are not counted.
    counts[..., 0::3] = np.where(counts[..., 1::3] > 0, grams[captions, np.newaxis], 0)
    counts[..., 2::3] = common
    scores = f_scores(counts)
    places = np.arange(width)
    is_other = places != place[captions, np.newaxis]
    scores[~(is_other & (places > 0) & (places < sizes[item_of[captions], np.newaxis]))] = -1
    return _ComparedTexts(starts if each else np.arange(len(items)), counts, scores)


def _common_grams(
    characters: npt.NDArray[np.uint32], lengths: Integers, item_of: Integers, place: Integers, *, each: bool
) -> Iterator[tuple[Integers, Integers, Integers, Integers]]:
    """Yield for each order the n-grams that two texts of an item have in common.

    Args:
        characters: of all texts, one after the other.
        lengths: of the texts.
        item_of: item of each text, ascending.
        place: of each text in its item.
        each: whether any two texts are compared, or only the first one of an item with the others.

    Returns:
        The item, the places of the two texts, the lower one first, and how often both have the n-gram.
    """
    owner, items, places = (np.repeat(array, lengths) for array in (np.arange(len(lengths)), item_of, place))
    # The characters that occur are numbered, so that n-grams of several fit into a number.
    occurs = np.zeros(int(characters.max(initial=0)) + 1, dtype=np.bool_)
    occurs[characters] = True
    numbers = (np.cumsum(occurs) - 1)[characters]
    character_bits, item_bits, place_bits = (
        int(array.max(initial=0)).bit_length() for array in (numbers, item_of, place)
    )
    grams, bits = numbers, character_bits
    for order in range(1, CHARACTER_ORDER + 1):
        if order > 1:
            if bits + character_bits + item_bits + place_bits > _BITS:
                named, grams = np.unique(grams, return_inverse=True)
                bits = len(named).bit_length()
            # A longer n-gram is a shorter one and a character.
            grams, bits = (grams[:-1] << character_bits) | numbers[order - 1 :], bits + character_bits
        inside = owner[: len(grams)] == owner[order - 1 :]
        keys = (((items[: len(grams)] << bits) | grams) << place_bits) | places[: len(grams)]
        keys, times = _runs(np.sort(keys[inside]))
        in_text, grams_of_items = keys & ((1 << place_bits) - 1), keys >> place_bits
        _, texts = _runs(grams_of_items)
        ends = np.cumsum(texts)
        if each:
            first = np.arange(len(keys))
            later = np.repeat(ends, texts) - first - 1
        else:
            first, later = ends - texts, texts - 1
            later[in_text[first] > 0] = 0
        first = np.repeat(first, later)
        second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
        both = np.minimum(times[first], times[second])
        yield grams_of_items[first] >> bits, in_text[first], in_text[second], both


def _runs(ordered: Integers) -> tuple[Integers, Integers]:
    """Return the different numbers of an ordered array, and how often each occurs."""
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    return ordered[starts], np.diff(np.append(starts, len(ordered)))
