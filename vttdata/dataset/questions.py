"""Questions of a dataset, with what blind attackers reach on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Self

from vttdata.json_types import Row
from vttdata.records import VideoQuestion
from vttdata.text.questions import MAX_OPTIONS, Choices, kind_of, least_options

if TYPE_CHECKING:
    from vttdata.generate.blind.questions import QuestionAttack

Named = frozenset[int]
"""Options that an answer names; an answer that is understood and names none of them is empty."""


@dataclass(frozen=True, slots=True)
class StoredQuestion(VideoQuestion):
    """Question of a dataset's table.

    Fields:
        source_id: original video; None where it is not known.
        blind: how far all blind attackers together answer it, 0..1; None where none tried.
    """

    source_id: str | None = None
    blind: float | None = None

    @classmethod
    def of_row(cls, row: Row) -> Self:
        """Return the question of a row, which may have other columns too."""
        names = [each.name for each in fields(cls) if each.name in row]
        lists = {name: tuple(row[name]) for name in ("options", "labels")}
        return cls(**{name: row[name] for name in names} | lists)

    @property
    def choices(self) -> Choices:
        """Options with their labels."""
        return Choices(self.options, self.labels)

    @property
    def right(self) -> Named:
        """The right option and those of the same text, which some published questions have."""
        return self.choices.copies(self.answer)

    @property
    def is_yes_no(self) -> bool:
        """Whether the options are yes and no."""
        return kind_of(self.options) == "yes_no"


def is_answerable(row: Row) -> bool:
    """Return whether a row of questions has a text, a kind, as many options as that has, and an answer among them."""
    options, labels, answer = row["options"] or (), row["labels"] or (), row["answer"]
    is_complete = isinstance(row["question"], str) and isinstance(row["kind"], str) and None not in (*options, *labels)
    is_sized = least_options(str(row["kind"])) <= len(options) <= MAX_OPTIONS and len(options) == len(labels)
    return is_complete and is_sized and answer is not None and 0 <= answer < len(options)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of a dataset, in their order.

    Fields:
        attacks: kind -> results of the blind attackers on the questions of this kind, which they learn from apart;
            their ensemble first.
        blind: id -> how far blind attackers answer a question that was tried, 0..1 (`find_floor`).
    """

    questions: Sequence[VideoQuestion]
    attacks: Mapping[str, Sequence[QuestionAttack]] = field(default_factory=dict)
    blind: Mapping[str, float] = field(default_factory=dict, repr=False)
