"""Blind attackers tried on a set of choices: each learns on four fifths of the videos and answers the last one.

An attacker answers only where what it learned holds among the videos that it learned from; otherwise it does not tell
the options apart, which is guessing. So it is nowhere below guessing by learning noise. The ensemble adds up what holds
of all attackers, and is corrected for what answers of choices of one group have to do with each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from vttdata.generate.blind.attacker import BlindAttacker
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet, Examples, fold_by_video
from vttdata.generate.blind.groups import learn_groups, list_groups
from vttdata.generate.blind.learning import Floats, Integers, center_rows, nonnegative_choice_regression
from vttdata.generate.blind.siblings import look_again
from vttdata.statistics.arrays import Flags

ENSEMBLE = "ensemble"
ONE_BY_ONE = "one-by-one"
# Standard deviations of what noise would gain beyond which an attacker is believed, alone and in the ensemble.
_DEVIATIONS = 3.0
_MAX_SCORE = 3.0
# Scores that differ in later digits only are ties on every machine.
_DIGITS = 9


class Trial(NamedTuple):
    """Scores of each attacker and of the ensemble, 0 for options that it does not tell apart, and who could not try.

    Fields:
        scores: name -> score of each option by what was learned from other videos, ``(options,)``; the ensemble first.
            `ONE_BY_ONE` is the ensemble of attackers that see one choice at a time, where others are tried, too.
        unavailable: name -> why the attacker could not try the set.
    """

    scores: Mapping[str, Floats]
    unavailable: Mapping[str, str]


def try_attackers(
    attackers: Mapping[str, BlindAttacker],
    choices: ChoiceSet,
    answers: Integers,
    *,
    watch: Callable[[Any, str], Iterable[Any]] = lambda attackers, _: attackers,
) -> Trial:
    """Let attackers answer choices by what they learn on those about other videos.

    Args:
        attackers: by name.
        choices: choices about two videos or more.
        answers: index of the right option of each choice.
        watch: is given the attackers and what they do, and gives them back one by one, to show progress.
    """
    examples = Examples(choices, answers, fold_by_video([item.video_id for item in choices.items]))
    guesses: dict[str, Floats] = {}
    unavailable: dict[str, str] = {}
    for name, attacker in watch([*attackers.items()], "attackers"):
        try:
            guesses[name] = cross_fit(attacker, examples)
        except AttackerUnavailableError as error:
            unavailable[name] = str(error)
    every = np.array([*guesses.values()]).reshape(len(guesses), len(examples.fold_numbers), len(choices.owners))
    scores = {ENSEMBLE: stack_guesses(every, examples)} | dict(
        zip(guesses, believe_guesses(every, examples), strict=True)
    )
    alone = np.array([attackers[name].one_by_one for name in guesses], dtype=np.bool_)
    if not alone.all() or list_groups(choices):
        scores[ONE_BY_ONE] = stack_guesses(every[alone], examples, in_groups=False)
    return Trial({name: values.round(_DIGITS) for name, values in scores.items()}, unavailable)


def cross_fit(attacker: BlindAttacker, examples: Examples) -> Floats:
    """Return the scores of options by what was learned from neither their fold nor one more: folds x options.

    Row k holds the scores by what was learned without fold k and without the option's fold, so that what is learned
    from this row, in turn, has seen nothing of fold k; of the options of fold k itself they are scores by what was
    learned from all other folds.
    """
    folds = examples.fold_numbers
    scores = np.zeros((len(folds), len(examples.choices.owners)))
    of_option = examples.folds[examples.choices.owners]
    parts = {fold: examples.keep([fold]).choices for fold in folds}
    for first, second in itertools.combinations_with_replacement(folds, 2):
        training = [fold for fold in folds if fold not in (first, second)]
        if training:
            guess = attacker.learn(examples.keep(training))
            scores[first, of_option == second] = guess(parts[second])
            scores[second, of_option == first] = guess(parts[first])
    return scores


def believe_guesses(guesses: Floats, examples: Examples) -> Floats:
    """Return what is believed of the guesses of each attacker, attackers x options.

    Guesses are attackers x folds x options; see `cross_fit`. What is believed of a fold is decided on the others.
    """
    believed = np.zeros((len(guesses), len(examples.choices.owners)))
    for _, others, tried, scaled in _scale_guesses(guesses, examples):
        weights = [
            nonnegative_choice_regression(column[:, None], others.choices.starts, others.right, _DEVIATIONS)[0]
            for column in scaled[~tried].T
        ]
        believed[:, tried] = (scaled[tried] * weights).T
    return believed


def stack_guesses(guesses: Floats, examples: Examples, *, in_groups: bool = True) -> Floats:
    """Return what is believed of the guesses of all attackers together, ``(options,)``.

    Guesses and what is believed are as of `believe_guesses`. With `in_groups` answers of one group are corrected
    together.
    """
    stacked = np.zeros(len(examples.choices.owners))
    for fold, others, tried, scaled in _scale_guesses(guesses, examples):
        weights = nonnegative_choice_regression(scaled[~tried], others.choices.starts, others.right, _DEVIATIONS)
        totals = scaled @ weights
        if in_groups:
            totals = look_again(others, examples.choices, totals)
            totals[tried] = learn_groups(others, totals[~tried])(examples.keep([fold]).choices, totals[tried])
        stacked[tried] = totals[tried]
    return stacked


def _scale_guesses(guesses: Floats, examples: Examples) -> Iterator[tuple[int, Examples, Flags, Floats]]:
    """Yield each fold, the examples of all others, which options are its own, and guesses: options x attackers.

    Guesses have mean 0 in each choice, and one size in the other folds.
    """
    for row, fold in enumerate(examples.fold_numbers):
        tried = examples.folds[examples.choices.owners] == fold
        centered = center_rows(guesses[:, row].T, examples.choices.starts)
        scale = np.sqrt((centered[~tried] ** 2).mean(axis=0)) if not tried.all() else np.ones(1)
        scaled = np.clip(centered / np.where(scale > 0, scale, np.inf), -_MAX_SCORE, _MAX_SCORE)
        yield fold, examples.keep([other for other in examples.fold_numbers if other != fold]), tried, scaled


def answer_choices(scores: Floats, starts: Integers, answers: Integers, copies: Flags | None = None) -> Floats:
    """Return how far each choice is answered: 1, 0, or a share where wrong options score as high as the right one.

    Args:
        scores: of all options, ``(options,)``.
        starts: row of the first option of each choice.
        answers: index of the right option of each.
        copies: which options are right as well, ``(options,)``.
    """
    sizes = np.diff(np.append(starts, len(scores)))
    best = scores == np.repeat(np.maximum.reduceat(scores, starts), sizes)
    right = np.zeros(len(scores), dtype=np.bool_) if copies is None else copies.copy()
    right[starts + answers] = True
    shares: Floats = np.add.reduceat(best & right, starts, dtype=np.int64) / np.add.reduceat(
        best, starts, dtype=np.int64
    )
    return shares
