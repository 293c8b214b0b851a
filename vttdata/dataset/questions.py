"""Questions of a dataset, with what blind attackers reach on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vttdata.generate.blind.questions import MultipleChoice, QuestionAttack, find_floor
from vttdata.records import VideoQuestion


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of a dataset, in their order.

    Fields:
        attacks: kind -> results of the blind attackers on the questions of this kind, which they learn from apart;
            their ensemble first.
        attacked: kind -> ids of the questions that were tried.
    """

    questions: Sequence[VideoQuestion]
    attacks: Mapping[str, Sequence[QuestionAttack]] = field(default_factory=dict)
    attacked: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)

    @property
    def blind(self) -> Mapping[str, float]:
        """Return how far blind attackers answer each question that was tried (`find_floor`)."""
        return {
            name: share
            for kind, attacks in self.attacks.items()
            for name, share in zip(self.attacked[kind], find_floor(attacks).right, strict=True)
        }


def choices_of(questions: Sequence[VideoQuestion], source_of: Mapping[str, str]) -> list[MultipleChoice]:
    """Return questions as blind attackers see them, all those of a source (`video_id` -> source) under one id."""
    return [
        MultipleChoice(each.question, each.options, each.answer, source_of[each.video_id], each.group)
        for each in questions
    ]
