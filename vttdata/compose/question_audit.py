"""Audit of the questions of a dataset: counts by place of the answer, repeats in other splits, and blind attackers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from vttdata.compose.foils import find_repeated_questions, read_dataset_questions
from vttdata.files.results import Section
from vttdata.generate.blind.fixed_rules import FixedRule, try_fixed_rules
from vttdata.generate.blind.questions import (
    MultipleChoice,
    QuestionAttack,
    audit_questions,
    can_be_attacked,
    question_headline,
    question_section,
)
from vttdata.text.questions import letters


class AttackedQuestions(NamedTuple):
    """Questions of one kind: their number, answers by place, repeats in other splits, and the blind attackers.

    `attacks` is empty where there are too few questions, of which `rules` says what fixed rules reach. `repeated` is
    None where there are no splits, and `kind` empty for a table.
    """

    kind: str
    number: int
    places: Mapping[str, int]
    repeated: int | None
    attacks: Sequence[QuestionAttack]
    rules: Sequence[FixedRule]

    @classmethod
    def of(cls, questions: Sequence[MultipleChoice], kind: str = "", repeated: int | None = None) -> AttackedQuestions:
        """Let blind attackers try questions, or fixed rules where they are too few."""
        places = Counter(question.answer for question in questions)
        names = letters(max(len(question.options) for question in questions))
        attacks = audit_questions(questions) if can_be_attacked(questions) else []
        rules = [] if attacks else try_fixed_rules((each.options, each.answer) for each in questions)
        counts = {letter: places[index] for index, letter in enumerate(names)}
        return cls(kind, len(questions), counts, repeated, attacks, rules)

    def as_json(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "questions": self.number,
            "answers_by_place": dict(self.places),
            **({"repeated_in_other_splits": self.repeated} if self.repeated is not None else {}),
            "attacks": [attack.as_json() for attack in self.attacks],
            **({"rules": [rule.as_json() for rule in self.rules]} if self.rules else {}),
        }

    def headline(self) -> str:
        """Return what the attackers reach in a short sentence, or fixed rules to which the set is open; else empty."""
        if self.attacks:
            return question_headline(f"`{self.kind}`", self.attacks, self.number)
        return " ".join(f"`{self.kind}`: {rule.sentence()}" for rule in self.rules if rule.open)

    def section(self) -> Section:
        """Return the counts, and what the attackers reach."""
        title = f"Blind attackers on questions, `{self.kind}`" if self.kind else ""
        section = question_section(self.attacks, self.number, title)
        places = ", ".join(f"{letter} {count:,}" for letter, count in self.places.items())
        counts = f"Questions: {self.number:,}; answers by place: {places}."
        repeated = f" Asked with the same options in another split as well: {self.repeated:,}." if self.repeated else ""
        rules = [rule.sentence() for rule in self.rules]
        return replace(section, sentences=[counts + repeated, *section.sentences, *rules])


def attack_questions(folder: Path) -> dict[str, AttackedQuestions]:
    """Let blind attackers try the questions of a dataset, each kind apart; nothing if it has none."""
    repeated = find_repeated_questions(folder)
    asked = read_dataset_questions(folder)
    return {kind: AttackedQuestions.of(questions, kind, repeated[kind]) for kind, questions in asked.items()}
