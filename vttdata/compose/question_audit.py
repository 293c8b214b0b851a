"""Audit of the questions of a dataset: counts by place of the answer, repeats in other splits, and blind attackers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from vttdata.compose.foils import find_repeated_questions, read_dataset_questions
from vttdata.files.results import Section
from vttdata.generate.blind.questions import (
    QuestionAttack,
    audit_questions,
    can_be_attacked,
    question_headline,
    question_section,
)
from vttdata.text.questions import letters


class AttackedQuestions(NamedTuple):
    """Questions of one kind: their number, answers by place, repeats in other splits, and the blind attackers.

    `attacks` is empty where there are too few questions.
    """

    kind: str
    number: int
    places: Mapping[str, int]
    repeated: int
    attacks: Sequence[QuestionAttack]

    def as_json(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "questions": self.number,
            "answers_by_place": dict(self.places),
            "repeated_in_other_splits": self.repeated,
            "attacks": [attack.as_json() for attack in self.attacks],
        }

    def headline(self) -> str:
        """Return what the attackers reach in a short sentence; empty where none tried."""
        return question_headline(f"`{self.kind}`", self.attacks, self.number) if self.attacks else ""

    def section(self) -> Section:
        """Return the counts, and what the attackers reach."""
        title = f"Blind attackers on questions, `{self.kind}`"
        section = question_section(self.attacks, self.number, title)
        places = ", ".join(f"{letter} {count:,}" for letter, count in self.places.items())
        counts = (
            f"{self.number:,}; answers by place: {places}; with the text and options of one in another split: "
            f"{self.repeated:,}."
        )
        return replace(section, sentences=[counts, *section.sentences])


def attack_questions(folder: Path) -> dict[str, AttackedQuestions]:
    """Let blind attackers try the questions of a dataset, each kind apart; nothing if it has none."""
    repeated = find_repeated_questions(folder)
    found = {}
    for kind, questions in read_dataset_questions(folder).items():
        places = Counter(question.answer for question in questions)
        names = letters(max(len(question.options) for question in questions))
        found[kind] = AttackedQuestions(
            kind,
            len(questions),
            {letter: places[index] for index, letter in enumerate(names)},
            repeated[kind],
            audit_questions(questions) if can_be_attacked(questions) else (),
        )
    return found
