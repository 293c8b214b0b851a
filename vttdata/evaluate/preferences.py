"""Find options that a system prefers: it is right where they are, and wrong where others are.

An accuracy says nothing of a system that answers A, or yes, to everything; how it differs with the right option does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vttdata.dataset.questions import StoredQuestion
from vttdata.evaluate.answers import Answer
from vttdata.statistics.arrays import Floats, Integers
from vttdata.statistics.bootstrap import DRAWS, resample_scores
from vttdata.statistics.scores import ColumnScores, ScoredRows
from vttdata.text.questions import fold_text, letters

# Fewer questions on either side are too few for a rate of anything.
_LEAST_QUESTIONS = 10


class Preference(NamedTuple):
    """Accuracy on the questions of a kind whose right option is a certain one, and on the others.

    `low` to `high` is the interval of their difference over sources, which holds together with all others at 95 %.
    """

    kind: str
    option: str
    accuracy: float
    elsewhere: float
    low: float
    high: float


def find_preferences(
    right: Floats, options: Mapping[int, tuple[str, str]], sources: Integers, *, draws: int = DRAWS
) -> tuple[list[Preference], int]:
    """Return for each kind of questions the right option with which accuracy differs most, and what was compared.

    Args:
        right: how far each answer is right, n, 0..1.
        options: index of a question -> its kind, and its right option, for questions of which these are known. Only
            questions of one kind are compared.
        sources: number of each question's source, n.
        draws: number of bootstrap draws.

    Returns:
        The options in which the interval of the difference does not hold 0, by Bonferroni for the number of all
        comparisons, and this number.
    """
    kinds: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, (kind, option) in options.items():
        kinds[kind][option].append(index)
    rows: dict[tuple[str, str, bool], ScoredRows] = {}
    for kind, by_option in kinds.items():
        every = np.array([index for indices in by_option.values() for index in indices])
        # Of two options, one is where the other is not.
        for option, indices in sorted(by_option.items(), reverse=True)[: None if len(by_option) > 2 else 1]:
            others = np.setdiff1d(every, indices)
            if min(len(indices), len(others)) >= _LEAST_QUESTIONS:
                for is_option, chosen in ((True, np.array(indices)), (False, others)):
                    rows[kind, option, is_option] = ScoredRows(ColumnScores.from_means(right[chosen]), sources[chosen])
    resampled = resample_scores(rows, int(sources.max(initial=0)) + 1, draws=draws)
    number = len(rows) // 2
    found: dict[str, Preference] = {}
    for kind, option, is_option in rows:
        if is_option:
            one, rest = resampled[kind, option, True], resampled[kind, option, False]
            low, high = one.minus(rest).interval((0.025 / number, 0.025 / number))
            before = found.get(kind)
            is_larger = before is None or abs(one.score - rest.score) > abs(before.accuracy - before.elsewhere)
            if (low > 0 or high < 0) and is_larger:
                found[kind] = Preference(kind, option, one.score, rest.score, low, high)
    return list(found.values()), number


def describe_preferences(
    right: Floats,
    answers: Sequence[Answer | None],
    questions: Sequence[StoredQuestion],
    sources: Integers,
    agreement: float | None = None,
) -> list[str]:
    """Return a sentence where accuracy depends on which option is right, see `find_preferences`; else nothing.

    `agreement` is the share of questions with the same answer in other orders of the options, where these are known.
    """
    options = {index: _right_option(asked) for index, asked in enumerate(questions) if len(asked.right) == 1}
    found, number = find_preferences(right, options, sources)
    parts = []
    for each in found:
        of_kind = [index for index, (kind, _) in options.items() if kind == each.kind]
        named = [(questions[index], answer.named) for index in of_kind if (answer := answers[index]) and answer.named]
        said = sum(sum(_option(asked, place) == each.option for place in names) / len(names) for asked, names in named)
        true = sum(options[index][1] == each.option for index in of_kind) / len(of_kind)
        parts.append(
            f"of {each.kind} {each.accuracy:.3f} where it is {each.option} and {each.elsewhere:.3f} elsewhere "
            f"(difference {each.accuracy - each.elsewhere:.3f}, {each.low:.3f} to {each.high:.3f}); {each.option} is "
            f"{said / max(len(named), 1):.1%} of the answers, and right in {true:.1%}"
        )
    if not parts:
        return []
    tells = "answers with the options in another order (--permuted) tell"
    if agreement is not None:
        tells = f"with the options in another order (--permuted), {agreement:.1%} of the answers stay the same"
    several = f", all {number} compared ones together" if number > 1 else ""
    return [
        f"Accuracy depends on which option is right: {'; '.join(parts)}. The system may prefer these options, or the "
        f"questions differ: {tells}. Intervals are at 95 % over sources{several}."
    ]


def _right_option(asked: StoredQuestion) -> tuple[str, str]:
    kind = "yes or no" if asked.is_yes_no else f"{asked.kind} with {len(asked.options)} options"
    return kind, _option(asked, asked.answer)


def _option(asked: StoredQuestion, place: int) -> str:
    return fold_text(asked.options[place]) if asked.is_yes_no else letters(place + 1)[-1]
