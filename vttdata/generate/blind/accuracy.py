"""Accuracy of scores on pairs of a true and a false text, with ties apart and 95 % intervals.

The scores come from elsewhere: a metric, a model, or a blind attacker of `vttdata.generate.blind.shortcuts`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vttdata.json_types import JsonObject
from vttdata.statistics.intervals import wilson_interval

# ActivityNet-FOIL's published scoring: a comment in the script says 50 %, its code 40 %.
_MIN_OVERLAP = 0.4


@dataclass(frozen=True, slots=True)
class PairAccuracy:
    """Number of pairs that the true text wins, which is strictly greater then, and of ties; the same of each group."""

    pairs: int
    wins: int
    ties: int
    groups: Mapping[str, PairAccuracy] = field(default_factory=dict)

    @property
    def strict(self) -> float:
        """Wins over pairs, 0..1: ties are wrong, as in ActivityNet-FOIL's published script; NaN without pairs."""
        return self.wins / self.pairs if self.pairs else math.nan

    @property
    def half_credit(self) -> float:
        """Accuracy with half a win for a tie, 0..1: the expectation of guessing at ties; NaN without pairs."""
        return (self.wins + self.ties / 2) / self.pairs if self.pairs else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of `strict`."""
        return wilson_interval(self.wins, self.pairs)

    def as_json(self) -> JsonObject:
        """Return plain values, rounded to six digits."""
        low, high = self.interval
        shares = {"strict": self.strict, "half_credit": self.half_credit, "low": low, "high": high}
        values: JsonObject = {"pairs": self.pairs, "wins": self.wins, "ties": self.ties}
        values |= {name: round(share, 6) for name, share in shares.items()}
        if self.groups:
            values["groups"] = {name: group.as_json() for name, group in self.groups.items()}
        return values


def pairwise_accuracy(
    true_scores: npt.ArrayLike, foil_scores: npt.ArrayLike, groups: Sequence[str] | None = None
) -> PairAccuracy:
    """Count how often a true text scores strictly higher than its foil (FOIL-COCO, ActivityNet-FOIL).

    `groups` has the group of each pair, such as its supercategory.

    Raises:
        ValueError: when the numbers of scores differ, or a score is not a finite number.
    """
    true, foil = np.asarray(true_scores, dtype=float), np.asarray(foil_scores, dtype=float)
    if true.ndim != 1 or true.shape != foil.shape or (groups is not None and len(groups) != len(true)):
        numbers = [true.shape, foil.shape, *([len(groups)] if groups is not None else [])]
        raise ValueError(f"pairs need one true score, one foil score and at most one group each, not {numbers}")
    if not (np.isfinite(true).all() and np.isfinite(foil).all()):
        raise ValueError("every score must be a finite number")
    names = np.asarray(groups if groups is not None else [], dtype=object)
    return PairAccuracy(
        len(true),
        int((true > foil).sum()),
        int((true == foil).sum()),
        {str(name): pairwise_accuracy(true[names == name], foil[names == name]) for name in sorted(set(names))},
    )


def paragraph_scores(caption_scores: Sequence[Sequence[float]]) -> list[float]:
    """Return the score of each paragraph: the arithmetic mean of its captions' scores (EMScore, section 5.2)."""
    return [math.fsum(scores) / len(scores) for scores in caption_scores]


def select_references(
    span: tuple[float, float], spans: Sequence[tuple[float, float]], sentences: Sequence[str]
) -> list[str]:
    """Select the sentences of another paragraph about a span, as ActivityNet-FOIL's published scoring does.

    These are the sentences whose overlap with the span is more than 0.4 of their length; all sentences where there
    are none. Spans are in seconds; lengths count whole ones, the first and the last included.
    """
    start, end = int(span[0]), int(span[1])
    selected = []
    for (first, last), sentence in zip(spans, sentences, strict=True):
        length = int(last) - int(first) + 1
        if length > 0 and (min(end, int(last)) - max(start, int(first)) + 1) / length > _MIN_OVERLAP:
            selected.append(sentence)
    return selected or list(sentences)
