"""Audit of a set of foils for shortcuts: attempts to solve it without any video.

An attacker learns from other videos than those it is tried on. An accuracy near 0.5 shows that its shortcut is closed
and says nothing of others.
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
from vttdata.files.plain_tables import align_columns
from vttdata.generate.foils.blind.accuracy import PairAccuracy, pairwise_accuracy, wilson_interval
from vttdata.generate.foils.blind.attackers import (
    Floats,
    Integers,
    PairFeatures,
    list_surplus_words,
    lower_words,
    margins_by_classifier,
    margins_by_naive_bayes,
    margins_by_perplexity,
    margins_by_sign,
)
from vttdata.text.lm import NgramModel, Scorer

# Accuracy up to which a shortcut counts as closed.
MAX_CLOSED_ACCURACY = 0.55

_FOLDS = 5
# Sections of a text in which the position of a word is counted.
_SECTIONS = 5
_ORDER_NAMES = {2: "bigram", 3: "trigram", 4: "4-gram"}

HEADER = ("blind attacker", "accuracy", "95 % interval", "cannot tell", "how it decides")


@dataclass(frozen=True, slots=True)
class TextPair:
    """True and false text about one video; nothing that is learned from a pair is tried on its video.

    `fold` tells which texts may train language models that try this pair, where there are several sets of texts.
    """

    true: str
    foil: str
    video_id: str
    fold: int = 0


@dataclass(frozen=True, slots=True)
class Attack:
    """Result of a blind attacker. `meaning` says how it decides."""

    name: str
    meaning: str
    result: PairAccuracy

    @property
    def accuracy(self) -> float:
        """Share of pairs on which it is right; a pair that it cannot tell counts half."""
        return self.result.half_credit

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the accuracy (Wilson)."""
        return wilson_interval(self.result.wins + self.result.ties / 2, self.result.pairs)

    @property
    def closed(self) -> bool:
        """True if the accuracy is at most `MAX_CLOSED_ACCURACY`, or its interval reaches down to it."""
        return self.interval[0] <= MAX_CLOSED_ACCURACY

    def as_json(self) -> dict[str, Any]:
        """Return plain values, rounded to six digits."""
        low, high = self.interval
        return {
            "attacker": self.name,
            "meaning": self.meaning,
            "pairs": self.result.pairs,
            "ties": self.result.ties,
            "accuracy": round(self.accuracy, 6),
            "low": round(low, 6),
            "high": round(high, 6),
        }


def audit_shortcuts(
    pairs: Sequence[TextPair],
    *,
    texts: Mapping[int, Sequence[str]] | None = None,
    models: Mapping[str, Scorer] | None = None,
) -> list[Attack]:
    """Let every blind attacker try a set.

    Args:
        pairs: the set.
        texts: fold -> true texts of other videos that train language models; the models behind the foils must not have
            been trained on them. If omitted, the true texts of other pairs serve.
        models: further language models by name, such as one of another family than the one that scored the foils.

    Returns:
        The attacks, highest accuracy first.

    Raises:
        VttdataError: when there are no pairs, when all are of one video or a pair has the same text twice, or when
            scikit-learn is not installed.
    """
    if not pairs:
        raise VttdataError("There are no pairs of texts to audit.")
    if len({pair.video_id for pair in pairs}) < 2:
        raise VttdataError("All pairs are of one video, and blind attackers learn from other videos; give several.")
    same = next((pair for pair in pairs if pair.true == pair.foil), None)
    if same is not None:
        raise VttdataError(f"A pair of video {same.video_id[:80]!a} has one text twice: {same.true[:80]!a}.")
    folds = np.array(
        [hashlib.sha256(pair.video_id.encode("utf-8", "replace")).digest()[0] % _FOLDS for pair in pairs],
        dtype=np.int64,
    )
    true, foil = [pair.true for pair in pairs], [pair.foil for pair in pairs]
    guesses = [
        *attack_by_words(pairs, folds),
        *attack_by_ngrams(pairs, folds, texts),
        *(
            (name, "the likelier text", margins_by_perplexity(true, foil, model))
            for name, model in (models or {}).items()
        ),
        ("linear classifier", "a logistic regression on 1- to 3-grams", margins_by_classifier(true, foil, folds)),
    ]
    attacks = [
        Attack(name, meaning, pairwise_accuracy(margins, np.zeros(len(margins)))) for name, meaning, margins in guesses
    ]
    return sorted(attacks, key=lambda attack: (-attack.accuracy, attack.name))


def attack_by_words(pairs: Sequence[TextPair], folds: Integers) -> Iterator[tuple[str, str, Floats]]:
    """Attack by lengths and by the words by which the texts of a pair differ."""
    words = [(lower_words(pair.true), lower_words(pair.foil)) for pair in pairs]
    surplus = [(list_surplus_words(true, foil), list_surplus_words(foil, true)) for true, foil in words]
    frequency = Counter(word for sides in words for side in sides for word in side)

    def rarity(side: Sequence[tuple[str, int]]) -> float:
        return math.fsum(-math.log(frequency[word] + 1) for word, _ in side)

    def sections(side: Sequence[tuple[str, int]], length: int) -> list[tuple[str, int]]:
        return [(word, index * _SECTIONS // length) for word, index in side]

    differences = {
        "length in words": [len(true) - len(foil) for true, foil in words],
        "length in characters": [len(pair.true) - len(pair.foil) for pair in pairs],
        "repetition": [len(set(true)) - len(set(foil)) for true, foil in words],
        "unigram rarity": [rarity(true) - rarity(foil) for true, foil in surplus],
    }
    for name, values in differences.items():
        yield name, "less or more of it", margins_by_sign(np.array(values, dtype=float), folds)
    bare = [([word for word, _ in true], [word for word, _ in foil]) for true, foil in surplus]
    features: dict[str, tuple[str, PairFeatures]] = {
        "word prior": ("how often each word was a foil", bare),
        "pair prior": (
            "which of the same two words was the foil",
            [([(str(true), str(foil))], [(str(foil), str(true))]) for true, foil in bare],
        ),
        "position": (
            "how often each word was a foil in this fifth of the text",
            [
                (sections(true, len(true_words)), sections(foil, len(foil_words)))
                for (true, foil), (true_words, foil_words) in zip(surplus, words, strict=True)
            ],
        ),
    }
    for name, (meaning, of_pairs) in features.items():
        yield name, meaning, margins_by_naive_bayes(of_pairs, folds)


def attack_by_ngrams(
    pairs: Sequence[TextPair], folds: Integers, texts: Mapping[int, Sequence[str]] | None
) -> Iterator[tuple[str, str, Floats]]:
    """Attack by language models trained on the texts of each fold, or else on the true texts of other folds."""
    if texts is not None:
        folds = np.array([pair.fold for pair in pairs], dtype=np.int64)
    for order, name in _ORDER_NAMES.items():
        margins = np.zeros(len(pairs))
        for fold in np.unique(folds).tolist():
            tried = [pair for pair, number in zip(pairs, folds, strict=True) if number == fold]
            others = [pair.true for pair, number in zip(pairs, folds, strict=True) if number != fold]
            model = NgramModel.train(others if texts is None else texts[fold], order=order)
            true, foil = [pair.true for pair in tried], [pair.foil for pair in tried]
            margins[folds == fold] = margins_by_perplexity(true, foil, model)
        yield f"{name} model", "the likelier text, learned from texts of other videos", margins


def attack_rows(attacks: Sequence[Attack]) -> list[tuple[str, ...]]:
    """Return a header and a row for each attack, in the given order."""
    rows: list[tuple[str, ...]] = [HEADER]
    for attack in attacks:
        low, high = attack.interval
        accuracy = f"{attack.accuracy:.3f}" + ("" if attack.closed else " (open)")
        rows.append((attack.name, accuracy, f"{low:.3f}-{high:.3f}", f"{attack.result.ties:,}", attack.meaning))
    return rows


def attack_sentence(attacks: Sequence[Attack]) -> str:
    """Summarize attacks in one sentence."""
    still_open = [attack.name for attack in attacks if not attack.closed]
    limit, pairs = f"{MAX_CLOSED_ACCURACY:.2f}", f"{attacks[0].result.pairs:,} pairs"
    if not still_open:
        return f"No blind attacker is right on more than {limit} of {pairs}, its 95 % interval considered."
    number = f"{len(still_open)} of {len(attacks)} blind attackers"
    return f"{number} are right on more than {limit} of {pairs}: {', '.join(still_open)}."


def attacks_text(attacks: Sequence[Attack]) -> str:
    """Return the table and the sentence, for a terminal."""
    return f"{align_columns(attack_rows(attacks), left=range(len(HEADER)))}\n\n{attack_sentence(attacks)}"
