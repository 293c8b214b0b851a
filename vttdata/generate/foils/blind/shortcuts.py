"""Tries to solve a set of (true, foil) texts without any video: blind attackers, the worst first.

What an attacker learns, it learns from other videos than it is tried on. An accuracy near 0.5 shows that this shortcut
is closed and says nothing of others.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vttdata.errors import VttdataError
from vttdata.generate.foils.blind.accuracy import PairAccuracy, pairwise_accuracy, wilson
from vttdata.generate.foils.blind.attackers import (
    Features,
    Floats,
    Integers,
    by_classifier,
    by_evidence,
    by_model,
    differing,
    directed,
    words_of,
)
from vttdata.text.lm import NgramModel, Scorer

LIMIT = 0.55
"""The accuracy up to which a shortcut counts as closed."""

_FOLDS = 5
_FIFTHS = 5
_ORDERS = {2: "bigram", 3: "trigram", 4: "4-gram"}

Placed = Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class TextPair:
    """A true and a false text about one video; what is learned from a pair is never tried on its video.

    `part` tells which texts may train language models that try this pair, where there are several lots of them.
    """

    true: str
    foil: str
    video_id: str
    part: int = 0


@dataclass(frozen=True, slots=True)
class Attack:
    """What a blind attacker reached. `meaning` says how it decides."""

    name: str
    meaning: str
    found: PairAccuracy

    @property
    def accuracy(self) -> float:
        """The share of pairs on which it is right; a pair that it cannot tell counts half."""
        return self.found.half_credit

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy (Wilson)."""
        return wilson(self.found.wins + self.found.ties / 2, self.found.pairs)

    @property
    def closed(self) -> bool:
        """Whether the accuracy is at most `LIMIT`, or its interval reaches down to it."""
        return self.interval[0] <= LIMIT

    def as_json(self) -> dict[str, Any]:
        """Plain values, rounded to six digits."""
        low, high = (round(end, 6) for end in self.interval)
        figures = {"pairs": self.found.pairs, "ties": self.found.ties, "accuracy": round(self.accuracy, 6)}
        return {"attacker": self.name, "meaning": self.meaning, **figures, "low": low, "high": high}


def audit_shortcuts(
    pairs: Sequence[TextPair],
    *,
    texts: Mapping[int, Sequence[str]] | None = None,
    models: Mapping[str, Scorer] | None = None,
) -> list[Attack]:
    """Let every blind attacker try a set.

    Args:
        pairs: the set.
        texts: part -> true texts of other videos, for language models to be trained on; none that a miner was trained
            on. Without any, the true texts of the other folds serve.
        models: further language models by name, such as one of another family than the miner's.

    Returns:
        The attacks, highest accuracy first.

    Raises:
        VttdataError: when there are no pairs, when all are of one video or a pair has the same text twice, or when
            scikit-learn is not installed.
    """
    _check(pairs)
    folds = np.array([_fold(pair.video_id) for pair in pairs], dtype=np.int64)
    true, foil = [pair.true for pair in pairs], [pair.foil for pair in pairs]
    margins = [
        *_by_words(pairs, folds),
        *_by_ngrams(pairs, folds, texts),
        *((name, "the likelier text", by_model(true, foil, own)) for name, own in (models or {}).items()),
        ("linear classifier", "a logistic regression on 1- to 3-grams", by_classifier(true, foil, folds)),
    ]
    attacks = [Attack(name, meaning, pairwise_accuracy(own, np.zeros(len(own)))) for name, meaning, own in margins]
    return sorted(attacks, key=lambda attack: (-attack.accuracy, attack.name))


def _check(pairs: Sequence[TextPair]) -> None:
    if not pairs:
        raise VttdataError("There are no pairs of texts to audit.")
    if len({pair.video_id for pair in pairs}) < 2:
        raise VttdataError("All pairs are of one video, and blind attackers learn from other videos; give several.")
    same = next((pair for pair in pairs if pair.true == pair.foil), None)
    if same is not None:
        raise VttdataError(f"A pair of video {same.video_id[:80]!a} has one text twice: {same.true[:80]!a}.")


def _fold(video_id: str) -> int:
    return hashlib.sha256(video_id.encode("utf-8", "replace")).digest()[0] % _FOLDS


def _by_words(pairs: Sequence[TextPair], folds: Integers) -> Iterator[tuple[str, str, Floats]]:
    """Attackers that look at lengths and at the words by which the texts of a pair differ."""
    words = [(words_of(pair.true), words_of(pair.foil)) for pair in pairs]
    changed = [(differing(true, foil), differing(foil, true)) for true, foil in words]
    told = Counter(word for both in words for own in both for word in own)
    differences = {
        "length in words": [len(true) - len(foil) for true, foil in words],
        "length in characters": [len(pair.true) - len(pair.foil) for pair in pairs],
        "repetition": [len(set(true)) - len(set(foil)) for true, foil in words],
        "unigram rarity": [_rarity(true, told) - _rarity(foil, told) for true, foil in changed],
    }
    for name, own in differences.items():
        yield name, "less or more of it", directed(np.array(own, dtype=float), folds)
    features: dict[str, Features] = {
        "word prior": [([word for word, _ in true], [word for word, _ in foil]) for true, foil in changed],
        "pair prior": [([(str(true), str(foil))], [(str(foil), str(true))]) for true, foil in map(_bare, changed)],
        "position": [
            (_placed(true, len(pair[0])), _placed(foil, len(pair[1])))
            for (true, foil), pair in zip(changed, words, strict=True)
        ],
    }
    meanings = {
        "word prior": "how often each word was a foil",
        "pair prior": "which of the same two words was the foil",
        "position": "how often each word was a foil in this fifth of the text",
    }
    for name, shown in features.items():
        yield name, meanings[name], by_evidence(shown, folds)


def _rarity(changed: Placed, told: Mapping[str, int]) -> float:
    return math.fsum(-math.log(told.get(word, 0) + 1) for word, _ in changed)


def _bare(changed: tuple[Placed, Placed]) -> tuple[list[str], list[str]]:
    return [word for word, _ in changed[0]], [word for word, _ in changed[1]]


def _placed(changed: Placed, words: int) -> list[tuple[str, int]]:
    return [(word, place * _FIFTHS // words) for word, place in changed]


def _by_ngrams(
    pairs: Sequence[TextPair], folds: Integers, texts: Mapping[int, Sequence[str]] | None
) -> Iterator[tuple[str, str, Floats]]:
    """Language models trained on the texts of each part, or else on the true texts of the other folds."""
    lots = folds if texts is None else np.array([pair.part for pair in pairs], dtype=np.int64)
    for order, name in _ORDERS.items():
        margins = np.zeros(len(pairs))
        for lot in np.unique(lots):
            own = [pairs[place] for place in np.flatnonzero(lots == lot).tolist()]
            others = [pair.true for pair, fold in zip(pairs, lots, strict=True) if fold != lot]
            model = NgramModel.train(others if texts is None else texts[int(lot)], order=order)
            margins[lots == lot] = by_model([pair.true for pair in own], [pair.foil for pair in own], model)
        yield f"{name} model", "the likelier text, learned from texts of other videos", margins


HEADER = ("blind attacker", "accuracy", "95 % interval", "cannot tell", "how it decides")


def attack_rows(attacks: Sequence[Attack]) -> list[tuple[str, ...]]:
    """A header and one row an attacker, in the given order."""
    rows: list[tuple[str, ...]] = [HEADER]
    for own in attacks:
        low, high = own.interval
        accuracy = f"{own.accuracy:.3f}" + ("" if own.closed else " (open)")
        rows.append((own.name, accuracy, f"{low:.3f}-{high:.3f}", f"{own.found.ties:,}", own.meaning))
    return rows


def attack_sentence(attacks: Sequence[Attack]) -> str:
    """What the table comes to, in one sentence."""
    still = [own.name for own in attacks if not own.closed]
    pairs = attacks[0].found.pairs
    if not still:
        return f"No blind attacker is right on more than {LIMIT:.2f} of {pairs:,} pairs, its 95 % interval considered."
    return f"{len(still)} of {len(attacks)} blind attackers are right on more than {LIMIT:.2f} of {pairs:,} pairs: " + (
        f"{', '.join(still)}."
    )


def attacks_text(attacks: Sequence[Attack]) -> str:
    """The table and the sentence, for a terminal."""
    rows = attack_rows(attacks)
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", attack_sentence(attacks)])
