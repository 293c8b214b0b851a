"""Audit of multiple-choice questions for shortcuts: attempts to answer them without any video.

An answer and each wrong option of its question are a pair of texts, so the attackers of pairs try questions too: an
attacker answers with the option that it prefers to every other one. They see the options one by one; added are
attackers that compare an option with all others, one that knows the places of the options only, one that sees the
question only, and two that compare the words of options with those of the question. Of questions that belong together,
such as pairs, it counts too how often all are answered.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError
from vttdata.files.table_formats import align_columns
from vttdata.generate.blind.attacker import (
    AttackedPairs,
    AttackerUnavailableError,
    TextPair,
    load_attackers,
    scaled_columns,
)
from vttdata.generate.blind.attackers import ATTACKERS
from vttdata.generate.blind.learning import (
    Floats,
    Integers,
    Learner,
    count_differences,
    cross_fit,
    logistic_regression,
    naive_bayes,
)
from vttdata.generate.blind.question_texts import OptionPair, compare_by_question, compare_by_words
from vttdata.generate.blind.shortcuts import ENSEMBLE, stack_margins
from vttdata.generate.blind.words import lower_words
from vttdata.statistics.bootstrap import share_intervals

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


# Words of an option, of those that not all options have, that are compared with those of the others.
_MAX_COMPARED_WORDS = 4
# Above guessing by which a set counts as open to an attacker, where the whole 95 % interval is above it.
MAX_GAIN = 0.05
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class MultipleChoice:
    """Multiple-choice question about a video, or a take that several videos are made from.

    `answer` is the index of the right option, and `group` what it shares with questions that it belongs together with.
    """

    question: str
    options: tuple[str, ...]
    answer: int
    video_id: str
    group: str | None = None


class AnsweredGroups(NamedTuple):
    """How often all questions of a group, of two or more, are answered, with its 95 % interval and that of guessing."""

    number: int
    accuracy: float
    interval: tuple[float, float]
    guessing: float


@dataclass(frozen=True, slots=True)
class QuestionAttack:
    """Result of a blind attacker on questions: its name, how it decides, and the share of questions that it answers.

    Options that it cannot tell apart share one. The 95 % interval of the accuracy is by drawing videos with
    replacement; `guessing` is the accuracy of guessing, `right` how far each question is answered, 0..1, and `groups`
    what is reached on groups; None without them.
    """

    name: str
    meaning: str
    accuracy: float
    interval: tuple[float, float]
    guessing: float
    right: Sequence[float] = field(default=(), repr=False, compare=False)
    groups: AnsweredGroups | None = None

    @property
    def open(self) -> bool:
        """True if the accuracy is more than `MAX_GAIN` above guessing with its whole interval."""
        return self.interval[0] > self.guessing + MAX_GAIN

    def as_json(self) -> dict[str, object]:
        """Return plain values, rounded to six digits."""
        low, high = self.interval
        numbers = {"accuracy": self.accuracy, "low": low, "high": high, "guessing": self.guessing}
        rounded = {key: round(n, 6) for key, n in numbers.items()}
        found = {"attacker": self.name, "meaning": self.meaning, "questions": len(self.right), **rounded}
        if self.groups is None:
            return found
        number, accuracy, interval, guessing = self.groups
        of_groups = {"accuracy": accuracy, "low": interval[0], "high": interval[1], "guessing": guessing}
        return found | {"groups": {"groups": number} | {key: round(value, 6) for key, value in of_groups.items()}}


def audit_questions(questions: Sequence[MultipleChoice]) -> list[QuestionAttack]:
    """Let every blind attacker try to answer questions, and their ensemble.

    Nothing that is learned from a question is tried on its video.

    Returns:
        The ensemble, then its members, highest accuracy first.

    Raises:
        VttdataError: when there are no questions, they are all about one video, or SciPy is not installed.
    """
    if len({question.video_id for question in questions}) < 2:
        raise VttdataError("Blind attackers learn from the questions about other videos; give those of several videos.")
    attacked, is_answered = pair_options(questions)
    numbers = np.repeat(np.arange(len(questions)), [len(question.options) - 1 for question in questions])
    rows = [(number, option) for number, question in enumerate(questions) for option in wrong_options(question)]
    folds = attacked.folds[is_answered]
    meanings, margins = ATTACKERS.descriptions(), dict[str, Floats]()
    for name, attacker in load_attackers().items():
        with contextlib.suppress(AttackerUnavailableError):
            margins[name] = cross_fit(attacker.differences(attacked)[is_answered], folds, attacker.learn)
    for name, meaning, learner, differences in _compare(questions, rows):
        margins[name], meanings[name] = cross_fit(differences, folds, learner), meaning
    meanings[ENSEMBLE] = f"Logistic regression on the margins of the other {len(margins)}"
    guesses = {ENSEMBLE: stack_margins(np.array(list(margins.values())), folds)}
    guesses |= {name: of_fold[folds, np.arange(len(rows))] for name, of_fold in margins.items()}
    # Sums that are 0 but for the last digits are ties on every machine.
    right = np.array([answer_questions(values.round(_DIGITS), numbers, len(questions)) for values in guesses.values()])
    videos: Integers = np.unique([question.video_id for question in questions], return_inverse=True)[1]
    guessing = float(np.mean([1 / len(question.options) for question in questions]))
    groups = _answer_groups(questions, right, videos)
    ensemble, *attacks = [
        QuestionAttack(name, meanings[name], float(values.mean()), interval, guessing, values.tolist(), of_groups)
        for name, values, interval, of_groups in zip(
            guesses, right, share_intervals(right, videos), groups, strict=True
        )
    ]
    return [ensemble, *sorted(attacks, key=lambda attack: (-attack.accuracy, attack.name))]


def _compare(
    questions: Sequence[MultipleChoice], rows: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, str, Learner, Matrix]]:
    """Yield name, meaning, learner and differences of the attackers that see more of a question than two options."""
    words = [tuple(lower_words(question.question)) for question in questions]
    pairs = [
        OptionPair(words[number], questions[number].options, questions[number].answer, row) for number, row in rows
    ]
    yield (
        "place",
        "Which place among the options is right most often",
        logistic_regression,
        _compare_places(questions, rows),
    )
    yield "question-only", "Which option the words of the question go with", naive_bayes, compare_by_question(pairs)
    yield (
        "question-options",
        "Which words of an option go with which words of its question",
        naive_bayes,
        compare_by_words(pairs),
    )
    yield (
        "question-words",
        "How many words an option shares with its question",
        logistic_regression,
        _compare_questions(questions, rows),
    )
    yield (
        "companions",
        "Which words are answers beside which words of other options",
        logistic_regression,
        _compare_words(questions),
    )
    yield (
        "odd-one-out",
        "How many words an option shares with the others",
        logistic_regression,
        _compare_options(questions, rows),
    )


def _answer_groups(
    questions: Sequence[MultipleChoice], right: Floats, videos: Integers
) -> Sequence[AnsweredGroups | None]:
    """Return for each attacker how often all questions of a group are answered, from attackers x questions.

    Where options are tied, each question of a group is taken to be guessed on its own.
    """
    members: dict[str, list[int]] = defaultdict(list)
    for index, question in enumerate(questions):
        if question.group is not None:
            members[question.group].append(index)
    groups = [indices for indices in members.values() if len(indices) > 1]
    if not groups:
        return [None] * len(right)
    shares = np.column_stack([right[:, indices].prod(axis=1) for indices in groups])
    guessing = float(np.mean([math.prod(1 / len(questions[index].options) for index in group) for group in groups]))
    intervals = share_intervals(shares, videos[[indices[0] for indices in groups]])
    return [
        AnsweredGroups(len(groups), float(values.mean()), interval, guessing)
        for values, interval in zip(shares, intervals, strict=True)
    ]


def wrong_options(question: MultipleChoice) -> list[int]:
    """Return the indices of the wrong options."""
    return [option for option in range(len(question.options)) if option != question.answer]


def pair_options(questions: Sequence[MultipleChoice]) -> tuple[AttackedPairs, npt.NDArray[np.bool_]]:
    """Return all pairs of options, and which of them are an answer and a wrong option, question by question.

    Pairs of wrong options are there so that every option occurs equally often: a count of words over pairs with the
    answer alone would give it away. Attackers that learn how people write get the answers of other folds.
    """
    pairs = [
        TextPair(question.options[first], question.options[second], question.video_id)
        for question in questions
        for first, second in [
            *((question.answer, option) for option in wrong_options(question)),
            *itertools.combinations(wrong_options(question), 2),
        ]
    ]
    is_answered = [
        pair_number < len(question.options) - 1
        for question in questions
        for pair_number in range(math.comb(len(question.options), 2))
    ]
    folds = AttackedPairs(pairs).folds.tolist()
    fold_of = {pair.video_id: fold for pair, fold in zip(pairs, folds, strict=True)}
    answers = [(fold_of[question.video_id], question.options[question.answer]) for question in questions]
    texts = {fold: [[text] for other, text in answers if other != fold] for fold in set(folds)}
    in_folds = [TextPair(pair.true, pair.foil, pair.video_id, fold) for pair, fold in zip(pairs, folds, strict=True)]
    return AttackedPairs(in_folds, texts), np.array(is_answered)


def answer_questions(margins: Floats, numbers: Integers, count: int) -> Floats:
    """Return how far each question is answered: 1, 0, or a share where wrong options are as good as the right one.

    Margins are by how much the right option is preferred to a wrong one, each of the question with this number.
    """
    worse = np.bincount(numbers, margins < 0, count)
    tied = np.bincount(numbers, margins == 0, count)
    shares: Floats = np.where(worse > 0, 0.0, 1 / (1 + tied))
    return shares


def questions_text(attacks: Sequence[QuestionAttack], count: int) -> str:
    """Return a table and a sentence, for a terminal."""
    return f"{align_columns(question_rows(attacks), left=range(4))}\n\n{question_sentence(attacks, count)}"


def question_rows(attacks: Sequence[QuestionAttack]) -> list[tuple[str, ...]]:
    """Return a header and a row for each attack, in the given order."""
    rows: list[tuple[str, ...]] = [("blind attacker", "accuracy", "95 % interval", "how it decides")]
    for attack in attacks:
        shown = f"{attack.accuracy:.3f}" + (" (open)" if attack.open else "")
        rows.append((attack.name, shown, f"{attack.interval[0]:.3f}-{attack.interval[1]:.3f}", attack.meaning))
    return rows


def question_sentence(attacks: Sequence[QuestionAttack], count: int) -> str:
    """Summarize attacks on that many questions: what the ensemble reaches."""
    ensemble = attacks[0]
    verdict = "the set is open to blind solving" if ensemble.open else "an attacker outside this suite may find more"
    together = ""
    if ensemble.groups is not None:
        number, accuracy, (low, high), guessing = ensemble.groups
        together = (
            f" It answers all questions of {accuracy:.3f} of {number:,} groups ({low:.3f}-{high:.3f}; guessing "
            f"{guessing:.3f})."
        )
    return (
        f"An ensemble of {len(attacks) - 1} blind attackers answers {ensemble.accuracy:.3f} of {count:,} questions "
        f"(95 % interval {ensemble.interval[0]:.3f}-{ensemble.interval[1]:.3f}); "
        f"guessing answers {ensemble.guessing:.3f}: {verdict}.{together}"
    )


def _compare_places(questions: Sequence[MultipleChoice], rows: Sequence[tuple[int, int]]) -> Floats:
    """Return 1 in the column of the right option's place, and -1 in that of the wrong one, for each pair."""
    differences = np.zeros((len(rows), max(len(question.options) for question in questions)))
    for row, (number, option) in enumerate(rows):
        differences[row, questions[number].answer] += 1
        differences[row, option] -= 1
    return differences


def _compare_words(questions: Sequence[MultipleChoice]) -> Matrix:
    """Return differences of the numbers of pairs of a word of an option and a word of another one."""
    sides = []
    for question in questions:
        options = [lower_words(option) for option in question.options]
        common = frozenset(options[0]).intersection(*options[1:])
        own = [[word for word in words if word not in common][:_MAX_COMPARED_WORDS] for words in options]
        pairs = [
            [*itertools.product(words, itertools.chain.from_iterable(own[:option] + own[option + 1 :]))]
            for option, words in enumerate(own)
        ]
        sides += [(pairs[question.answer], pairs[option]) for option in wrong_options(question)]
    return count_differences(sides)


def _compare_options(questions: Sequence[MultipleChoice], rows: Sequence[tuple[int, int]]) -> Floats:
    """Return differences of the mean and the greatest share of words that an option has in common with another one."""
    shared = []
    for question in questions:
        options = [frozenset(lower_words(option)) for option in question.options]
        shares = [
            [len(words & others) / max(len(words | others), 1) for others in options[:option] + options[option + 1 :]]
            for option, words in enumerate(options)
        ]
        shared.append([(sum(of_option) / len(of_option), max(of_option)) for of_option in shares])
    return _difference_columns(questions, rows, shared)


def _compare_questions(questions: Sequence[MultipleChoice], rows: Sequence[tuple[int, int]]) -> Floats:
    """Return differences of the number and the share of words that an option shares with its question."""
    shared = []
    for question in questions:
        question_words = set(lower_words(question.question))
        options = [lower_words(option) for option in question.options]
        counts = [sum(word in question_words for word in words) for words in options]
        shared.append([(count, count / max(len(words), 1)) for count, words in zip(counts, options, strict=True)])
    return _difference_columns(questions, rows, shared)


def _difference_columns(
    questions: Sequence[MultipleChoice],
    rows: Sequence[tuple[int, int]],
    values: Sequence[Sequence[tuple[float, float]]],
) -> Floats:
    """Return how much higher two values of the right option are than those of the wrong one of each pair, scaled."""
    pairs = [(values[number][questions[number].answer], values[number][option]) for number, option in rows]
    return scaled_columns([[right[which] - wrong[which] for right, wrong in pairs] for which in range(2)])
