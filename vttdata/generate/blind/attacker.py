"""Contract of blind attackers.

A blind attacker is a module of `vttdata.generate.blind.attackers`, or of ``blind/`` in a user's folder of plugins, that
defines `ATTACKER`. It learns from examples of other videos, and answers choices whose answers it is never given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vttdata.generate.blind.attackers import ATTACKERS
from vttdata.generate.blind.choices import AttackerUnavailableError, ChoiceSet, Examples, VideoCorpus
from vttdata.generate.blind.learning import Floats, Learner, Matrix, choice_regression

Guesser = Callable[[ChoiceSet], Floats]
"""Score of each option of some choices, ``(options,)``: the higher, the more likely is it right."""


@dataclass(frozen=True, slots=True)
class BlindAttacker:
    """Blind attacker. The first line of its module's docstring says how it decides.

    Fields:
        learn: returns what scores the options of other choices, learned from examples; raises
            `AttackerUnavailableError` with the reason where it cannot try a set.
        uses_corpus_texts: whether it learns from the texts of other videos, too, where there are any.
        one_by_one: whether it answers a choice by this choice alone, as a model does that is asked one question; an
            attacker that compares the questions about a video needs the whole file.
    """

    learn: Callable[[Examples], Guesser]
    uses_corpus_texts: bool = False
    one_by_one: bool = True


def by_features(describe: Callable[[ChoiceSet], Matrix], learner: Learner = choice_regression) -> BlindAttacker:
    """Return an attacker that is linear in features of options: options x features, dense or sparse."""

    def learn(examples: Examples) -> Guesser:
        weights = learner(examples.choices.features(describe), examples.choices.starts, examples.right)
        return lambda tried: np.asarray(tried.features(describe) @ weights)

    return BlindAttacker(learn)


def by_texts(
    read: Callable[[VideoCorpus, ChoiceSet], Floats], describe_alone: Callable[[ChoiceSet], Floats] | None = None
) -> BlindAttacker:
    """Return an attacker that is linear in what texts of other videos say of options: options x features, dense.

    `read` is given texts, and choices about other videos; `describe_alone` gives further features without texts. The
    texts are the right options of examples, and beside them the texts of other videos, if there are any. What examples
    look like to texts is seen by those of other folds, as it is with choices that are tried.
    """

    def describe_by_others(choices: ChoiceSet) -> Floats:
        folds = np.array([item.fold for item in choices.items], dtype=np.int64)
        columns = None
        for fold, texts in (choices.texts or {}).items():
            if (folds == fold).any():
                described = read(texts, choices.take(np.flatnonzero(folds == fold)))
                columns = np.zeros((len(choices.owners), described.shape[1])) if columns is None else columns
                columns[folds[choices.owners] == fold] = described
        return np.zeros((len(choices.owners), 0)) if columns is None else columns

    def describe(texts: VideoCorpus, choices: ChoiceSet) -> Floats:
        alone = [choices.features(describe_alone)] if describe_alone is not None else []
        return np.hstack([texts.remember(read, choices), choices.features(describe_by_others), *alone])

    def learn(examples: Examples) -> Guesser:
        if len(examples.fold_numbers) < 2:
            raise AttackerUnavailableError("there are examples of too few videos to learn from")
        of_option = examples.folds[examples.choices.owners]
        parts = {int(own.folds[0]): describe(others.texts, own.choices) for others, own in examples.without_each_fold()}
        features = np.zeros((len(of_option), next(iter(parts.values())).shape[1]))
        for fold, described in parts.items():
            features[of_option == fold] = described
        weights = choice_regression(features, examples.choices.starts, examples.right)
        return lambda tried: describe(examples.texts, tried) @ weights

    return BlindAttacker(learn, uses_corpus_texts=True)


def load_attackers() -> dict[str, BlindAttacker]:
    """Import the attackers, by name.

    Raises:
        VttdataError: when a module cannot be imported or does not define `ATTACKER`.
    """
    return {name: ATTACKERS.load_definition(name, "ATTACKER", BlindAttacker) for name in ATTACKERS.files()}
