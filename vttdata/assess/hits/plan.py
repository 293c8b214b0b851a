"""What a campaign of HITs is: its settings, and the HITs with what each of their items shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from annotated_types import Ge

from vttdata.assess.answers.intake import Described, Manifest
from vttdata.assess.hits.order import block_length
from vttdata.records import Degraded, JudgmentKind
from vttdata.settings import STRICT, Count, PositiveCount

NOTES = {
    "empty_caption": "captions of systems in which nothing is to be read; left out",
    "missing_caption": "videos that a system has no caption for; it is judged by its other captions",
    "no_human": "videos without a human caption; they are assessed, and no control is made from them",
    "not_degraded": "videos none of whose human captions can be degraded; no control is made from them",
    "only_human": "videos that no system has a caption for; they are not shown, their words go into degraded captions",
    "same_text": "items that say word for word what another item of their HIT says of another video",
    "assessed_again": "captions that are assessed once more than asked for, since HITs are filled up",
}
"""What may be told of a plan, and what it means."""


@dataclass(frozen=True, slots=True)
class HitSettings:
    """What a HIT is made of.

    Fields:
        system: captions of systems in a HIT. 70, human, degraded and repeat 10 each is the composition of Graham's
            scripts; what TRECVID published fits ``system=75, human=10, degraded=10, repeat=5``.
        human: human captions, each about another video. They are ranked as a system of their own.
        degraded: how many of these human captions are shown a second time, degraded; at most `human`.
        repeat: how many of the HIT's system captions are shown a second time as they are; at most `system`.
        assessments: in how many HITs each system's caption stands at least.
        min_pairs: refuse HITs with fewer pairs of a human caption and its degraded form. The paper collects 10 of each
            worker, and a worker may do a single HIT.
        min_distance: how many places at least lie between a control and its original. None means two fifths of the
            HIT, 41 places of 100, which is what Graham's scripts come to; at most half of the HIT.
        human_name: what human captions are called among systems.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    system: PositiveCount = 70
    human: Count = 10
    degraded: Count = 10
    repeat: Count = 10
    assessments: PositiveCount = 1
    min_pairs: Count = 10
    min_distance: Annotated[int, Ge(1)] | None = None
    human_name: str = "human"

    def __post_init__(self) -> None:
        if self.degraded > self.human:
            raise ValueError(f"{self.degraded} degraded captions need as many human ones, and human is {self.human}.")
        if self.repeat > self.system:
            raise ValueError(f"{self.repeat} repeats need as many captions of systems, and system is {self.system}.")
        if self.degraded < self.min_pairs:
            raise ValueError(
                f"A HIT would have {self.degraded} pairs to judge its worker by, and min_pairs is {self.min_pairs}."
            )
        if self.min_distance is not None and self.min_distance > -(-self.items // 2):
            raise ValueError(
                f"min_distance is {self.min_distance}, and the most that {self.items} items allow is "
                f"{-(-self.items // 2)}."
            )

    @property
    def items(self) -> int:
        """How many items a HIT has."""
        return self.system + self.human + self.degraded + self.repeat

    @property
    def distance(self) -> int:
        """How many places lie between a control and its original at least: ceil(items / 2) - block + 1."""
        return -(-self.items // 2) - block_length(self.items, self.min_distance) + 1


@dataclass(frozen=True, slots=True)
class HitItem:
    """One question of a HIT. `degraded` says where the words of a degraded caption come from."""

    item: str
    video_id: str
    system: str
    kind: JudgmentKind
    caption: str
    degraded: Degraded | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """What one worker is asked, in the order shown."""

    hit: str
    items: tuple[HitItem, ...]


@dataclass(frozen=True, slots=True)
class HitPlan:
    """All HITs of a campaign, what they were made with, and what is to be told: a kind of `NOTES` -> its cases."""

    hits: tuple[Hit, ...]
    settings: HitSettings
    seed: int
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def manifest(self) -> Manifest:
        """What each item shows, as reading results and simulating a crowd want it."""
        return {
            own.hit: {item.item: Described(item.video_id, item.system, item.kind) for item in own.items}
            for own in self.hits
        }
