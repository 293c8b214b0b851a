"""Audit of multiple-choice questions for shortcuts: attempts to answer them without any video.

Of questions that belong together, such as pairs, it counts too how often all are answered.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.files.results import Bar, Bars, Interval, Limit, ResultTable, Section
from vttdata.generate.blind.attacker import load_attackers
from vttdata.generate.blind.attackers import ATTACKERS
from vttdata.generate.blind.choices import Choice, ChoiceSet
from vttdata.generate.blind.learning import Floats, Integers
from vttdata.generate.blind.trial import ENSEMBLE, ONE_BY_ONE, answer_choices, try_attackers
from vttdata.statistics.bootstrap import share_intervals
from vttdata.text.questions import MIN_OPTIONS, fold_text

# Above guessing by which a set counts as open to an attacker, where the whole 95 % interval is above it.
MAX_GAIN = 0.05
# Fewer questions, or questions about fewer videos, teach attackers nothing that a figure could be made of.
MIN_QUESTIONS, MIN_VIDEOS = 100, 5
_NEEDED = f"attackers learn from other videos, which takes {MIN_QUESTIONS} questions about {MIN_VIDEOS} videos"


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
    replacement, and has no width for one that guesses everywhere; `guessing` is the accuracy of guessing, `right` how
    far each question is answered, 0..1, and `groups` what is reached on groups; None without them.
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

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> QuestionAttack:
        """Return the attack of a card from its plain values, which do not say how far each question is answered.

        Raises:
            LookupError, TypeError, ValueError: when they are not those of `as_json`.
        """
        groups = None
        if "groups" in values:
            found = values["groups"]
            interval = float(found["low"]), float(found["high"])
            groups = AnsweredGroups(int(found["groups"]), float(found["accuracy"]), interval, float(found["guessing"]))
        return cls(
            str(values["attacker"]),
            str(values["meaning"]),
            float(values["accuracy"]),
            (float(values["low"]), float(values["high"])),
            float(values["guessing"]),
            groups=groups,
        )


def can_be_attacked(questions: Sequence[MultipleChoice]) -> bool:
    """Return whether there are enough questions with a choice, about enough videos, for attackers to learn from."""
    if any(len(question.options) < MIN_OPTIONS for question in questions):
        return False
    return len(questions) >= MIN_QUESTIONS and len({question.video_id for question in questions}) >= MIN_VIDEOS


def audit_questions(questions: Sequence[MultipleChoice]) -> list[QuestionAttack]:
    """Let every blind attacker try to answer questions, and their ensemble.

    Nothing that is learned from a question is tried on its video.

    Returns:
        The ensemble, then its members, highest accuracy first.

    Raises:
        VttdataError: when there are too few questions (`can_be_attacked`), or SciPy is not installed.
    """
    if not can_be_attacked(questions):
        raise VttdataError(question_sentence((), len(questions)))
    choices = ChoiceSet([Choice(each.options, each.video_id, each.question, each.group) for each in questions])
    answers = np.array([question.answer for question in questions], dtype=np.int64)
    scores, _ = try_attackers(load_attackers(), choices, answers)
    # An option of the same text is right as well.
    folded = [[fold_text(text) for text in each.options] for each in questions]
    copies = np.array(
        [text == texts[each.answer] for each, texts in zip(questions, folded, strict=True) for text in texts]
    )
    right = np.array([answer_choices(values, choices.starts, answers, copies) for values in scores.values()])
    videos: Integers = np.unique([question.video_id for question in questions], return_inverse=True)[1]
    guesses = np.add.reduceat(copies, choices.starts, dtype=np.int64) / choices.sizes
    guessing = float(guesses.mean())
    meanings = ATTACKERS.descriptions()
    meanings[ENSEMBLE] = f"What holds of the other {len(scores.keys() - {ENSEMBLE, ONE_BY_ONE})} together"
    meanings[ONE_BY_ONE] = "The same without what other questions about a video, or in a group, give away"
    groups = _answer_groups(questions, right, videos)
    # Who tells the options of no question apart guesses, which is no sample of anything.
    intervals = [
        (guessing, guessing) if np.allclose(values, guesses) else interval
        for values, interval in zip(right, share_intervals(right, videos), strict=True)
    ]
    ensemble, *attacks = [
        QuestionAttack(name, meanings[name], float(values.mean()), interval, guessing, values.tolist(), of_groups)
        for name, values, interval, of_groups in zip(scores, right, intervals, groups, strict=True)
    ]
    return [ensemble, *sorted(attacks, key=lambda attack: (-attack.accuracy, attack.name))]


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


def find_floor(attacks: Sequence[QuestionAttack]) -> QuestionAttack:
    """Return the attack with which answers of a model are compared, that of attackers that see one question at a time.

    Attacks are those of `audit_questions`, the ensemble first, which is the floor where it sees no more.
    """
    return next((attack for attack in attacks if attack.name == ONE_BY_ONE), attacks[0])


def question_section(attacks: Sequence[QuestionAttack], count: int, title: str = "") -> Section:
    """Return what attackers reach on that many questions, with a table and a figure where they were enough."""
    sentences = [question_sentence(attacks, count)]
    if not attacks:
        return Section(title, sentences)
    figure = Bars(
        [Bar.of(each.name, Interval(each.accuracy, *each.interval), "bad" if each.open else "a") for each in attacks],
        "Share of questions that an attacker without the video answers, with 95 % intervals",
        ("blind attacker", "accuracy"),
        maximum=1.0,
        limits=[Limit(attacks[0].guessing, "guessing", "good")],
        sortable=True,
    )
    return Section(title, sentences, table=ResultTable.of_rows(question_rows(attacks), "Attackers"), figures=[figure])


def question_rows(attacks: Sequence[QuestionAttack]) -> list[tuple[str, ...]]:
    """Return a header and a row for each attack, in the given order."""
    rows: list[tuple[str, ...]] = [("blind attacker", "accuracy", "95 % interval", "how it decides")]
    for attack in attacks:
        shown = f"{attack.accuracy:.3f}" + (" (open)" if attack.open else "")
        low, high = attack.interval
        rows.append((attack.name, shown, f"{low:.3f}-{high:.3f}" if low < high else "guesses", attack.meaning))
    return rows


def question_headline(kind: str, attacks: Sequence[QuestionAttack], count: int) -> str:
    """Return in a short sentence what the ensemble reaches on that many questions of a kind; there is one."""
    ensemble = attacks[0]
    verdict = "open to blind solving" if ensemble.open else "not open to blind solving by these attackers"
    alone = [f"{each.accuracy:.3f} seeing one question at a time; " for each in attacks if each.name == ONE_BY_ONE]
    return (
        f"Without the videos, {ensemble.accuracy:.3f} of the {count:,} {kind} questions are answered "
        f"({''.join(alone)}guessing {ensemble.guessing:.3f}): {verdict}."
    )


def question_sentence(attacks: Sequence[QuestionAttack], count: int) -> str:
    """Summarize attacks on that many questions: what the ensemble reaches, or that they are too few to be tried."""
    if not attacks:
        return f"No blind attacker tried these {count:,} questions: {_NEEDED}."
    ensemble = attacks[0]
    verdict = "the set is open to blind solving" if ensemble.open else "an attacker outside this suite may find more"
    members = len({attack.name for attack in attacks} - {ENSEMBLE, ONE_BY_ONE})
    together = "".join(
        f" Seeing one question at a time, as a model does, it answers {each.accuracy:.3f} ({each.interval[0]:.3f}-"
        f"{each.interval[1]:.3f})."
        for each in attacks
        if each.name == ONE_BY_ONE
    )
    if ensemble.groups is not None:
        number, accuracy, (low, high), guessing = ensemble.groups
        together += (
            f" All together answer every question of {accuracy:.3f} of {number:,} groups ({low:.3f}-{high:.3f}; "
            f"guessing {guessing:.3f})."
        )
    return (
        f"An ensemble of {members} blind attackers answers {ensemble.accuracy:.3f} of {count:,} questions "
        f"(95 % interval {ensemble.interval[0]:.3f}-{ensemble.interval[1]:.3f}); "
        f"guessing answers {ensemble.guessing:.3f}: {verdict}.{together}"
    )
