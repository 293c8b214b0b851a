"""What the answers of choices that belong together have to do with each other, learned from groups of other videos.

Examples are a pair of questions of which exactly one is right with yes, a key that is balanced within a group, and
questions with the same options whose answers exclude each other. A combination of answers of a group is a choice too,
between combinations: it is described by how often each answer occurs, and learned like any other.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from vttdata.generate.blind.choices import ChoiceSet, Examples
from vttdata.generate.blind.learning import (
    Floats,
    choice_regression,
)

_MAX_COMBINATIONS = 64
# Groups from which less is learned are left as they are.
_MIN_GROUPS = 20
# Below which combinations are as good as each other.
_TIE = 1e-6

Correct: TypeAlias = Callable[[ChoiceSet, Floats], Floats]
"""Scores of options, from choices and scores without regard to groups.

The score of an option is that of the combinations of answers with it: of the best one in groups that a set names, so
that the best options are the best combination, and of all together in others.
"""


def learn_groups(examples: Examples, scores: Floats) -> Correct:
    """Return what corrects scores of options by the answers of groups, learned from groups of examples.

    Scores are those of the examples' options, ``(options,)``, by what was learned without each.
    """
    from scipy import sparse

    groups = list_groups(examples.choices)
    usual = len({frozenset(map(str.casefold, item.options)) for item in examples.choices.items}) == 1
    if len(groups) < _MIN_GROUPS:
        return lambda _, scores: scores
    names: list[list[str]] = []
    sums, right, sizes = list[float](), list[int](), list[int]()
    for group in groups:
        for answers in _combine(examples.choices, group):
            if all(answer == examples.answers[index] for index, answer in zip(group, answers, strict=True)):
                right.append(len(names))
            names.append(_describe(examples.choices, group, answers, usual))
            sums.append(_sum(examples.choices, scores, group, answers))
        sizes.append(len(names))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(itertools.chain.from_iterable(names)))}

    def features(names: Sequence[Sequence[str]], sums: Sequence[float]) -> sparse.csr_matrix:
        rows = [(row, numbers[name]) for row, of_row in enumerate(names) for name in of_row if name in numbers]
        cells = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        one = sparse.csr_matrix((np.ones(cells.shape[1]), (cells[0], cells[1])), shape=(len(names), len(numbers)))
        return sparse.hstack([one, sparse.csr_matrix(np.array(sums)[:, None])], format="csr")

    starts = np.array([0, *sizes[:-1]], dtype=np.int64)
    weights = choice_regression(features(names, sums), starts, np.array(right, dtype=np.int64))

    def correct(choices: ChoiceSet, scores: Floats) -> Floats:
        corrected = scores.copy()
        for group in list_groups(choices):
            answers = list(_combine(choices, group))
            described = [_describe(choices, group, each, usual) for each in answers]
            totals = [_sum(choices, scores, group, each) for each in answers]
            # Of combinations that are as good one is drawn, so that the answers of a group are guessed together.
            drawn = random.Random(str([choices.items[index] for index in group]))
            joint = features(described, totals) @ weights + [drawn.random() * _TIE for _ in answers]
            # Groups that the set names count as wholes: what is wanted is their likeliest combination. In others each
            # question counts by itself: what is wanted is its likeliest answer, over all combinations.
            combine = np.maximum if choices.items[group[0]].group is not None else np.logaddexp
            for place, index in enumerate(group):
                best = np.full(choices.sizes[index], -np.inf)
                combine.at(best, [each[place] for each in answers], joint)
                corrected[choices.starts[index] : choices.starts[index] + choices.sizes[index]] = best
        return corrected

    return correct


def list_groups(choices: ChoiceSet) -> list[list[int]]:
    """Return the choices that belong together, two or more, and few enough that their answers can be combined.

    They share a group, or else a video and their options.
    """
    members: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, item in enumerate(choices.items):
        together = (
            (item.group,) if item.group is not None else (item.video_id, *sorted(map(str.casefold, item.options)))
        )
        if item.has_places:
            members[together].append(index)
    return [
        group
        for group in members.values()
        if len(group) > 1 and np.prod(choices.sizes[group], dtype=float) <= _MAX_COMBINATIONS
    ]


def _combine(choices: ChoiceSet, group: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(choices.sizes[index]) for index in group))


def _describe(choices: ChoiceSet, group: Sequence[int], answers: Sequence[int], usual: bool) -> list[str]:
    """Name how often answers are repeated in a group, and how often each is given if all questions have the same."""
    texts = Counter(
        choices.items[index].options[answer].casefold() for index, answer in zip(group, answers, strict=True)
    )
    repeats = len(group) - len(texts)
    counts = [f"{len(group)}: {repeats} repeated"]
    places = Counter(answers)
    counts.append(f"{len(group)}: {len(group) - len(places)} places repeated")
    if usual:
        counts += [f"{len(group)}: {count} {text}" for text, count in sorted(texts.items())]
    return counts


def _sum(choices: ChoiceSet, scores: Floats, group: Sequence[int], answers: Sequence[int]) -> float:
    return float(sum(scores[choices.starts[index] + answer] for index, answer in zip(group, answers, strict=True)))
