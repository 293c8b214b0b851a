"""Rules that answer questions without any learning, for sets with too few questions for blind attackers.

The rules are to choose one place always, that which is right most often, and to choose the longest option.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vttdata.generate.blind.questions import MAX_GAIN
from vttdata.statistics.hypothesis_tests import poisson_binomial_p
from vttdata.text.questions import MIN_OPTIONS, YES_NO, fold_text, letters

_LEVEL = 0.05


class FixedRule(NamedTuple):
    """What a rule reaches: it is right in `hits` of the `number` questions that it answers, by guessing in a share.

    `p` is exact and one-sided, each question counts for itself, and that of a place is multiplied by their number.
    """

    name: str
    answered: str
    hits: int
    number: int
    guessing: float
    p: float

    @property
    def open(self) -> bool:
        """True if the rule is right more often than guessing, by more than `MAX_GAIN` and by more than chance."""
        return self.p < _LEVEL and self.hits / self.number > self.guessing + MAX_GAIN

    def as_json(self) -> dict[str, object]:
        """Return plain values."""
        numbers = {"guessing": round(self.guessing, 6), "p": self.p, "open": self.open}
        return {"rule": self.name, "questions": self.number, "right": self.hits, **numbers}

    def sentence(self) -> str:
        """Return what the rule reaches."""
        shown = f"p = {self.p:.3f}" if self.p >= 0.001 else "p < 0.001"
        return (
            f"{self.name} is right in {self.hits:,} of {self.number:,} {self.answered}, {self.hits / self.number:.3f}, "
            f"and guessing in {self.guessing:.3f} (exact {shown}, one-sided, by question and not by video)"
            + (": open to blind solving." if self.open else ".")
        )


def try_fixed_rules(questions: Iterable[tuple[Sequence[str], int]]) -> list[FixedRule]:
    """Return what the rules reach on questions of options and the index of the right one; nothing on open questions."""
    asked = [question for question in questions if len(question[0]) >= MIN_OPTIONS and question[1] < len(question[0])]
    if not asked:
        return []
    place, hits = min(Counter(answer for _, answer in asked).items(), key=lambda found: (-found[1], found[0]))
    chances = [1 / len(options) if place < len(options) else 0.0 for options, _ in asked]
    names = letters(max(len(options) for options, _ in asked))
    p = min(1.0, len(names) * poisson_binomial_p(hits, chances))
    guessing = sum(1 / len(options) for options, _ in asked) / len(asked)
    rules = [FixedRule(f"Choosing {names[place]} always", "questions", hits, len(asked), guessing, p)]
    longest = [found for options, answer in asked if (found := _find_longest(options, answer)) is not None]
    if longest:
        hits, chances = sum(right for right, _ in longest), [chance for _, chance in longest]
        guessing, p = sum(chances) / len(chances), poisson_binomial_p(hits, chances)
        answered = "questions that have one"
        rules.append(FixedRule("Choosing the longest option", answered, hits, len(longest), guessing, p))
    return rules


def _find_longest(options: Sequence[str], answer: int) -> tuple[bool, float] | None:
    """Return whether the longest option is right, and how often by guessing; None without one, and for yes and no."""
    lengths = [len(option.strip()) for option in options]
    longest = max(lengths)
    if lengths.count(longest) > 1 or {*map(fold_text, options)} == {*YES_NO}:
        return None
    return lengths[answer] == longest, 1 / len(options)
