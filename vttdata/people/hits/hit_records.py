"""Records of planned HITs and their items, and the settings of HITs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge

from vttdata.people.answers.manifest import Manifest, ManifestItem
from vttdata.records import Degraded, JudgmentKind
from vttdata.settings import Count, PositiveCount, Strict

DEFAULT_QUESTION = "How adequately does the caption describe what took place in the video?"
"""Question of every item (Graham, Awad and Smeaton, PLOS ONE 2018, section on Direct Assessment of captions)."""

DEFAULT_SCALE_ENDS = ("Not at all", "Perfectly")
"""Labels of the ends of the scale, 0 and 100."""

DEFAULT_TITLE = "Video caption assessment"
"""Title of the pages."""

INSTRUCTIONS = (
    "You will see videos with a caption, one at a time, and rate how well each caption fits its video.",
    "Watch the video first, then read the caption. Judge each caption on its own, even if you have seen the video "
    "before. An answer cannot be changed afterwards.",
)
"""What an assessor reads before the first item, in paragraphs."""

NOTES = {
    "empty_caption": "captions of systems in which nothing is to be read; left out",
    "missing_caption": "videos that a system has no caption for; it is judged by its other captions",
    "no_human": "videos without a human caption; they are assessed, and no control is made from them",
    "not_degraded": "videos none of whose human captions can be degraded; no control is made from them",
    "only_human": "videos that no system has a caption for; they are not shown, their words go into degraded captions",
    "readable": "videos whose degraded caption may be found by reading, since its new words come from between others; "
    "with more human captions, of any videos, there are fewer",
    "same_text": "items that say word for word what another item of their HIT says of another video",
    "assessed_again": "captions that are assessed once more than asked for, since HITs are filled up",
}
"""Kinds of notes on a plan and their meanings."""


@dataclass(frozen=True, slots=True)
class HitSettings(Strict):
    """Composition of HITs.

    Fields:
        system: captions of systems in a HIT. 70, with 10 each of human, degraded and repeat, is the composition of
            Graham's scripts; ``system=75, human=10, degraded=10, repeat=5`` fits what TRECVID published.
        human: human captions in a HIT, each about another video. They are ranked like a system.
        degraded: how many of these human captions are shown a second time, degraded; at most `human`.
        repeat: how many of the HIT's system captions are shown a second time unchanged; at most `system`.
        assessments: minimum number of HITs that show each system's caption.
        min_pairs: minimum number of pairs of a human caption and its degraded form in a HIT. The paper collects 10
            from each worker, and a worker may do a single HIT.
        min_distance: minimum distance in positions between a control and its original, at most half of the HIT. None
            means two fifths of the HIT, 41 positions for 100 items, as in Graham's scripts.
        human_name: name of human captions among systems.
    """

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
        """Return the number of items of a HIT."""
        return self.system + self.human + self.degraded + self.repeat

    @property
    def twins(self) -> int:
        """Return how many videos are shown with the captions of two systems: as many as with a degraded caption."""
        return min(self.degraded, (self.system - self.repeat) // 2)

    @property
    def block_length(self) -> int:
        """Return the length of the blocks into which both halves of a HIT are cut; see `vttdata.people.hits.layout`.

        By default there are ten blocks, as in Graham's scripts: 10 of 100 items, with pairs 41 to 59 positions apart.
        """
        if self.min_distance is None:
            return max(1, self.items // 10)
        return min(-(-self.items // 2) - self.min_distance + 1, max(1, self.items // 2))

    @property
    def distance(self) -> int:
        """Return the minimum distance in positions between a control and its original."""
        return -(-self.items // 2) - self.block_length + 1


@dataclass(frozen=True, slots=True)
class HitItem:
    """Item of a HIT. `degraded` says where the words of a degraded caption come from."""

    item: str
    video_id: str
    system: str
    kind: JudgmentKind
    caption: str
    degraded: Degraded | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """HIT, a task for one worker, with its items in the order shown."""

    hit: str
    items: tuple[HitItem, ...]


@dataclass(frozen=True, slots=True)
class HitPlan:
    """HITs of a campaign, the settings and seed that they were made with, and notes: kind of `NOTES` -> cases."""

    hits: tuple[Hit, ...]
    settings: HitSettings
    seed: int
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def manifest(self) -> Manifest:
        """Return what each item shows, for reading results and for simulating a crowd."""
        return {
            hit.hit: {item.item: ManifestItem(item.video_id, item.system, item.kind) for item in hit.items}
            for hit in self.hits
        }
