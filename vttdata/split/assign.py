"""Divides clips into splits: whole groups only, close to the asked ratios, each category alike, and stably.

The groups come from `vttdata.split.groups`, how they are placed from `vttdata.split.balance`; this module says what
was asked, what is fixed, what came out, and how far the two are apart.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from vttdata.errors import VttdataError
from vttdata.records import Clip
from vttdata.settings import STRICT, Ratio
from vttdata.split.groups import Group, Tie, group_clips

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
        together: what never crosses a split: clips of one `source`, clips found by one `query`, clips of one
            `uploader`, clips of sources that are `near_duplicate`s of each other.
        stratify: `category` divides each category by the same ratios as closely as the groups allow.
        pin: a file that keeps clips where they are: a table with columns `video_id` and `split`, or one id a line, all
            of `test`. What is tied to a pinned clip goes with it. A split with pins takes in nothing else, so a pinned
            test set stays as it is; where all splits have pins, new groups go where clips lack.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    ratios: dict[str, Ratio] = field(default_factory=_msrvtt_ratios)
    together: tuple[Tie, ...] = ("source", "near_duplicate")
    stratify: Literal["category"] | None = "category"
    pin: str | None = None

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
        lost_pins: pinned ids that no clip has, in the order of ids.
    """

    split_of: dict[str, str]
    groups: int
    largest_group: int
    asked: dict[str, float]
    achieved: dict[str, float]
    counts: dict[str, int]
    by_category: dict[str, dict[str, float]]
    largest_gap: float
    lost_pins: tuple[str, ...] = ()


def assign_splits(
    clips: Sequence[Clip],
    settings: SplitSettings,
    *,
    seed: int,
    pairs: Iterable[tuple[str, str]] = (),
    uploaders: Mapping[str, str] | None = None,
    pins: Mapping[str, str] | None = None,
) -> Assignment:
    """Divide clips into splits so that no group crosses one.

    The result depends on the set of clips, the settings and the seed, never on any order. Clips of further sources
    change the split of few others. Without pins, every split's count is off by less than the largest group's, unless
    that would leave a split empty; see `vttdata.split.balance` for the rule.

    Args:
        clips: with distinct ids.
        settings: ratios, what belongs together, and what is stratified. `settings.pin` is not read here.
        seed: decides which groups of equal size and category go where.
        pairs: ids of sources that are near-duplicates; heeded when `settings.together` says so.
        uploaders: source id -> who published it; needed when `settings.together` says ``uploader``.
        pins: `video_id` -> split, as `vttdata.files.id_lists.read_pins` reads it; what `SplitSettings.pin` says of it.

    Raises:
        VttdataError: when two clips have one id, pins name an unknown split or no clip at all, two of one group are
            pinned to two splits, or uploaders are asked for and none is known.
    """
    from vttdata.split.balance import balance

    doubled = [video_id for video_id, number in Counter(clip.video_id for clip in clips).items() if number > 1]
    if doubled:
        raise VttdataError(f"The clip id '{min(doubled)}' appears twice; splits need distinct ids.")
    if clips and "uploader" in settings.together and not uploaders:
        raise VttdataError("The splits should keep each uploader's clips together, but no source has an uploader.")
    pins = pins or {}
    group_of = group_clips(clips, settings.together, pairs, uploaders)
    pinned, lost = _pinned_groups(group_of, pins, settings.ratios)
    groups = _groups(clips, group_of, settings, seed, uploaders or {})
    free = [group for group in groups if group.group_id not in pinned]
    fixed = _by_stratum([(group, pinned[group.group_id]) for group in groups if group.group_id in pinned])
    place = pinned | balance(free, _wanted(settings.ratios, _by_stratum([(group, "") for group in free]), fixed))
    split_of = {clip.video_id: place[group_of[clip.video_id]] for clip in clips}
    return _report(clips, split_of, Counter(group_of.values()), settings.ratios, lost)


def _pinned_groups(
    group_of: Mapping[str, str], pins: Mapping[str, str], splits: Collection[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Group id -> the split that it is pinned to, and the pinned ids that do not exist."""
    for video_id, split in sorted(pins.items()):
        if split not in splits:
            raise VttdataError(f"The clip '{video_id}' is pinned to '{split}'; the splits are {', '.join(splits)}.")
    lost = tuple(sorted(pins.keys() - group_of.keys()))
    if pins and len(lost) == len(pins):
        raise VttdataError(f"None of the {len(lost)} pinned clips exists, such as '{lost[0]}': is it the right file?")
    first: dict[str, str] = {}
    for video_id in sorted(pins.keys() & group_of.keys()):
        other = first.setdefault(group_of[video_id], video_id)
        if pins[other] != pins[video_id]:
            raise VttdataError(
                f"The clips '{other}' and '{video_id}' belong together, but '{other}' is pinned to {pins[other]} "
                f"and '{video_id}' to {pins[video_id]}."
            )
    return {group_id: pins[video_id] for group_id, video_id in first.items()}, lost


def _groups(
    clips: Sequence[Clip], group_of: Mapping[str, str], settings: SplitSettings, seed: int, uploaders: Mapping[str, str]
) -> list[Group]:
    strata: dict[str, dict[str, int]] = {}
    anchors: dict[str, str] = {}
    for clip in clips:
        group_id = group_of[clip.video_id]
        counts = strata.setdefault(group_id, {})
        stratum = (clip.category or UNCATEGORISED) if settings.stratify else ""
        counts[stratum] = counts.get(stratum, 0) + 1
        anchor = _anchor(clip, settings.together, uploaders)
        anchors[group_id] = min(anchor, anchors.get(group_id, anchor))
    return [
        Group(group_id, sum(own.values()), tuple(sorted(own.items())), *_two_numbers(f"{seed}\0{anchors[group_id]}"))
        for group_id, own in strata.items()
    ]


def _anchor(clip: Clip, together: Collection[Tie], uploaders: Mapping[str, str]) -> str:
    """What a clip's group is known by; the widest tie sorts first, since later sources hardly change that one."""
    if "query" in together and clip.query is not None:
        return f"0\0{clip.query}"
    if "uploader" in together and clip.source_id in uploaders:
        return f"1\0{uploaders[clip.source_id]}"
    if "source" in together or "near_duplicate" in together:
        return f"2\0{clip.source_id}\0{'' if 'source' in together else clip.video_id}"
    return f"3\0{clip.video_id}"


def _two_numbers(text: str) -> tuple[float, float]:
    """Two numbers in 0..1 that only the text decides, the same everywhere."""
    hashed = hashlib.sha256(f"split\0{text}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(hashed[:6]) / 2**48, int.from_bytes(hashed[6:12]) / 2**48


def _by_stratum(groups: Iterable[tuple[Group, str]]) -> dict[str, Counter[str]]:
    """Stratum -> split -> number of clips."""
    counts: dict[str, Counter[str]] = {}
    for group, split in groups:
        for name, number in group.strata:
            counts.setdefault(name, Counter())[split] += number
    return counts


def _wanted(
    ratios: Mapping[str, float], free: Mapping[str, Counter[str]], fixed: Mapping[str, Counter[str]]
) -> dict[str, dict[str, float]]:
    """How many of the free clips of each stratum each split that may grow should get, given what it has already."""
    closed = {split for counts in fixed.values() for split in counts}
    growing = sorted(ratios.keys() - closed) or sorted(ratios)
    wanted: dict[str, dict[str, float]] = {split: {} for split in growing}
    for name, counts in free.items():
        number, have = counts.total(), fixed.get(name, Counter())
        lacks = {split: max(ratios[split] * (number + have.total()) - have[split], 0) for split in growing}
        lacks = lacks if any(lacks.values()) else {split: ratios[split] for split in growing}
        for split, lack in lacks.items():
            wanted[split][name] = number * lack / sum(lacks.values())
    return wanted


def _report(
    clips: Sequence[Clip],
    split_of: dict[str, str],
    groups: Counter[str],
    asked: Mapping[str, float],
    lost_pins: tuple[str, ...],
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
        lost_pins=lost_pins,
    )


def _shares(counts: Counter[str], splits: Iterable[str]) -> dict[str, float]:
    return {split: counts[split] / max(counts.total(), 1) for split in splits}
