"""Divides clips into splits: whole groups only, close to the asked ratios, each category alike, and reproducibly.

The groups come from `vttdata.split.groups`, how they are placed from `vttdata.split.balance`; this module says what
was asked, what came out, and how far the two are apart.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from vttdata.errors import VttdataError
from vttdata.records import Clip
from vttdata.settings import STRICT, Ratio
from vttdata.split.balance import Group, balance
from vttdata.split.groups import Tie, group_clips

UNCATEGORISED = "(none)"
"""Stands for the category of clips that have none."""
_LEAST_RATIO = 1e-6


def _msrvtt_ratios() -> dict[str, float]:
    return {"train": 0.65, "validation": 0.05, "test": 0.30}


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """How clips are divided.

    Fields:
        ratios: name -> share of clips, together 1. The default is MSR-VTT's 65/5/30 (Xu et al., CVPR 2016, section 3).
        together: what never crosses a split: clips of one `source`, clips found by one `query`, clips of sources that
            are `near_duplicate`s of each other.
        stratify: `category` divides each category by the same ratios as closely as the groups allow.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    ratios: dict[str, Ratio] = field(default_factory=_msrvtt_ratios)
    together: tuple[Tie, ...] = ("source",)
    stratify: Literal["category"] | None = "category"

    def __post_init__(self) -> None:
        for name, ratio in self.ratios.items():
            if not re.fullmatch(r"\w+", name, re.ASCII) or name == "all":
                raise ValueError(f"'{name}' cannot name a split; letters, digits and _ can, but not 'all'.")
            if not ratio >= _LEAST_RATIO:
                raise ValueError(f"the ratio of '{name}' is {ratio}; leave out a split that shall get nothing.")
        total = sum(self.ratios.values())
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the ratios of {', '.join(self.ratios) or 'no splits'} add up to {total:g}, not to 1.")


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which clip went where, and how close that is to what was asked. Ratios are shares of clips, 0..1.

    Fields:
        split_of: `video_id` -> split.
        groups: how many groups there were; `largest_group` is the number of clips in the largest.
        asked, achieved: split -> ratio.
        counts: split -> number of clips.
        by_category: category -> split -> ratio; clips without a category are under ``(none)``.
        largest_gap: the largest difference between an asked and an achieved ratio.
    """

    split_of: dict[str, str]
    groups: int
    largest_group: int
    asked: dict[str, float]
    achieved: dict[str, float]
    counts: dict[str, int]
    by_category: dict[str, dict[str, float]]
    largest_gap: float


def assign_splits(
    clips: Sequence[Clip], settings: SplitSettings, *, seed: int, pairs: Iterable[tuple[str, str]] = ()
) -> Assignment:
    """Divide clips into splits so that no group crosses one.

    The result depends on the set of clips, the settings and the seed, never on any order. Every split's count is off
    by less than the largest group's, unless that would leave a split empty; see `vttdata.split.balance` for the rule.

    Args:
        clips: with distinct ids.
        settings: ratios, what belongs together, and what is stratified.
        seed: decides which groups of equal size and category go where.
        pairs: ids of sources that are near-duplicates; heeded when `settings.together` says so.

    Raises:
        VttdataError: when two clips have one id.
    """
    doubled = [video_id for video_id, number in Counter(clip.video_id for clip in clips).items() if number > 1]
    if doubled:
        raise VttdataError(f"The clip id '{min(doubled)}' appears twice; splits need distinct ids.")
    group_of = group_clips(clips, settings.together, pairs)
    split_of_group = balance(_groups(clips, group_of, settings, seed), settings.ratios)
    split_of = {clip.video_id: split_of_group[group_of[clip.video_id]] for clip in clips}
    return _report(clips, split_of, Counter(group_of.values()), settings.ratios)


def _groups(clips: Sequence[Clip], group_of: Mapping[str, str], settings: SplitSettings, seed: int) -> list[Group]:
    """The groups in the order of a hash of seed and id, which is as good as random and the same everywhere."""
    strata: dict[str, Counter[str]] = {}
    for clip in clips:
        stratum = (clip.category or UNCATEGORISED) if settings.stratify else ""
        strata.setdefault(group_of[clip.video_id], Counter())[stratum] += 1
    groups = [Group(group_id, tuple(sorted(counts.items()))) for group_id, counts in strata.items()]
    return sorted(groups, key=lambda group: hashlib.sha256(f"split\0{seed}\0{group.group_id}".encode()).digest())


def _report(
    clips: Sequence[Clip], split_of: dict[str, str], groups: Counter[str], asked: Mapping[str, float]
) -> Assignment:
    counts = Counter(split_of.values())
    in_category: dict[str, Counter[str]] = {}
    for clip in sorted(clips, key=lambda clip: clip.category or UNCATEGORISED):
        in_category.setdefault(clip.category or UNCATEGORISED, Counter())[split_of[clip.video_id]] += 1
    achieved = _shares(counts, asked)
    return Assignment(
        split_of=split_of,
        groups=len(groups),
        largest_group=max(groups.values(), default=0),
        asked=dict(asked),
        achieved=achieved,
        counts={split: counts[split] for split in asked},
        by_category={category: _shares(own, asked) for category, own in in_category.items()},
        largest_gap=max(abs(achieved[split] - ratio) for split, ratio in asked.items()) if clips else 0.0,
    )


def _shares(counts: Counter[str], splits: Iterable[str]) -> dict[str, float]:
    return {split: counts[split] / max(counts.total(), 1) for split in splits}
