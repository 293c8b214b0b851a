"""Questions of a dataset, with what blind attackers reach on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vttdata.generate.blind.questions import MultipleChoice, QuestionAttack
from vttdata.records import VideoQuestion


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of a dataset, in their order.

    Fields:
        attacks: kind -> results of the blind attackers on the questions of this kind, which they learn from apart.
        attacked: kind -> ids of the questions that were tried.
    """

    questions: Sequence[VideoQuestion]
    attacks: Mapping[str, Sequence[QuestionAttack]] = field(default_factory=dict)
    attacked: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)

    @property
    def blind(self) -> Mapping[str, float]:
        """Return how far the best attacker on each kind answers each question that was tried."""
        shares: dict[str, float] = {}
        for kind, attacks in self.attacks.items():
            best = max(attacks, key=lambda attack: attack.accuracy)
            shares |= zip(self.attacked[kind], best.right, strict=True)
        return shares


def choices_of(questions: Sequence[VideoQuestion], source_of: Mapping[str, str]) -> list[MultipleChoice]:
    """Return questions as blind attackers see them, all those of a source (`video_id` -> source) under one id."""
    return [
        MultipleChoice(each.question, each.options, each.answer, source_of[each.video_id], each.group)
        for each in questions
    ]
