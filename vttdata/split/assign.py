"""Division of clips into splits: whole groups only, by the wanted ratios.

The groups come from `vttdata.split.groups`, their placement from `vttdata.split.draw` or `vttdata.split.balance`; this
module holds the settings, applies pins, and reports how far the result is from what was wanted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vttdata.errors import VttdataError
from vttdata.ids import find_video_id, is_split_name
from vttdata.records import Clip
from vttdata.settings import Count, Ratio, Strict, check_date
from vttdata.split.balance import balance
from vttdata.split.draw import draw_splits
from vttdata.split.groups import ClipGroup, Tie, group_clips, take_apart

_TEST = "test"
# Category of clips that have none.
UNCATEGORISED = "(none)"
_MIN_RATIO = 1e-6


@dataclass(frozen=True, slots=True)
class SplitSettings(Strict):
    """Settings of a division into splits.

    Fields:
        ratios: name -> share of clips, together 1. The default is MSR-VTT's 65/5/30 (Xu et al., CVPR 2016, section 3).
        together: clips that never cross a split: those of one `source`, found by one `query`, of one `uploader`, or of
            sources that are near-duplicates of each other (`near_duplicate`).
        cut_ties: kinds of `together` that are cut, one after another, in groups of more clips than the smallest split
            should have. What shows the same stays together.
        method: `stable` draws the split of each group by its own hash, so that no clip changes its split because
            others came or went, and the shares come out by chance; `balanced` keeps to the ratios as closely as the
            groups allow, and further clips move some of the others.
        draw: which of the draws of a seed is used. No rule that never moves a clip keeps to the ratios, but of some
            draws one comes close to them, and stays close while sources come and go; a build names it where shares
            are off.
        stratify: with `balanced`, `category` divides each category by the same ratios as closely as the groups allow.
        pin: a file that keeps clips where they are: a table with columns `video_id` and `split`, or one id on each
            line, all of `test`. Clips tied to a pinned clip go with it. A split with pins gets nothing else, so a
            pinned test set stays as it is, unless the split of the highest ratio has pins too: then the file is an
            earlier assignment, and every split takes further groups in.
        after: a day, YYYY-MM-DD: `test` gets the clips whose sources were all uploaded on it or later, and those of
            their groups; the other splits share the rest by their ratios. A source of unknown date counts as earlier.
    """

    ratios: dict[str, Ratio] = field(default_factory=lambda: {"train": 0.65, "validation": 0.05, "test": 0.30})
    together: tuple[Tie, ...] = ("source", "near_duplicate")
    cut_ties: tuple[Literal["query", "uploader"], ...] = ()
    method: Literal["stable", "balanced"] = "stable"
    draw: Count = 0
    stratify: Literal["category"] | None = "category"
    pin: str | None = None
    after: str | None = None

    def __post_init__(self) -> None:
        check_date(self.after)
        if self.after is not None and (_TEST not in self.ratios or len(self.ratios) < 2):
            raise ValueError(f"after needs the split '{_TEST}' and another one, not {', '.join(self.ratios)}.")
        for name, ratio in self.ratios.items():
            if not is_split_name(name):
                raise ValueError(f"'{name}' is not a name for a split; use letters, digits and _, but not 'all'.")
            if not ratio >= _MIN_RATIO:
                raise ValueError(f"the ratio of '{name}' is {ratio}; leave out a split that should get nothing.")
        if missing := [tie for tie in self.cut_ties if tie not in self.together]:
            raise ValueError(f"cut_ties has '{missing[0]}', which is not in together.")
        if len(set(self.cut_ties)) < len(self.cut_ties):
            raise ValueError("cut_ties has a kind twice.")
        total = sum(self.ratios.values())
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the ratios of {', '.join(self.ratios) or 'no splits'} add up to {total:g}, not to 1.")


@dataclass(frozen=True, slots=True)
class Assignment:
    """Split of each clip, and how close that is to the settings. Ratios are shares of clips, 0..1.

    Fields:
        split_of: `video_id` -> split.
        groups: number of groups; `largest_group` is the number of clips in the largest.
        requested, achieved: split -> ratio.
        counts: split -> number of clips.
        by_category: category -> split -> ratio; clips without a category are under ``(none)``.
        largest_gap: largest difference between a requested and an achieved ratio.
        lost_pins: pinned ids that no clip has, in the order of ids.
    """

    split_of: dict[str, str]
    groups: int
    largest_group: int
    requested: dict[str, float]
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
    uploaded: Mapping[str, str] | None = None,
    group_of: Mapping[str, str] | None = None,
) -> Assignment:
    """Divide clips into splits so that no group crosses one.

    The result depends on the set of clips, the settings and the seed, never on any order. With the method ``stable``
    the split of a group depends on the seed and on the group alone, unless a split would be empty; see
    `vttdata.split.draw`. With ``balanced`` and without pins every split's count is off by less than the largest
    group's, unless that would leave a split empty; see `vttdata.split.balance`.

    Args:
        clips: with distinct ids.
        settings: ratios, ties between clips, and stratification. `settings.pin` is not read here.
        seed: decides which groups go where.
        pairs: ids of sources that are near-duplicates; used if `settings.together` has ``near_duplicate``.
        uploaders: source id -> who published it; required if `settings.together` has ``uploader``.
        pins: `video_id` -> split, as from `vttdata.files.id_lists.read_pins`; see `SplitSettings.pin`.
        uploaded: source id -> day, YYYY-MM-DD; see `SplitSettings.after`.
        group_of: the groups, where `group_clips` has found them already.

    Raises:
        VttdataError: when two clips have one id, pins name an unknown split or no clip at all, two clips of one group
            are pinned to two splits, or uploaders are required and none is known.
    """
    duplicated = [video_id for video_id, number in Counter(clip.video_id for clip in clips).items() if number > 1]
    if duplicated:
        raise VttdataError(f"The clip id '{min(duplicated)}' is duplicated; splits need distinct ids.")
    uploaders, pins = uploaders or {}, pins or {}
    if clips and "uploader" in settings.together and not uploaders:
        raise VttdataError("The splits should keep each uploader's clips together, but no source has an uploader.")
    group_of = find_groups(clips, settings, pairs, uploaders) if group_of is None else group_of
    pinned_groups, lost_pins = pin_groups(group_of, pins, settings.ratios)
    if settings.after is not None:
        pinned_groups |= _later_groups(clips, group_of, pinned_groups, settings.after, uploaded or {})
    groups = build_groups(clips, group_of, settings, seed, uploaders)
    free = [group for group in groups if group.group_id not in pinned_groups]
    pinned = [group for group in groups if group.group_id in pinned_groups]
    growing = growing_splits(settings.ratios, pinned_groups.values())
    if settings.method == "stable":
        ratios = {split: settings.ratios[split] for split in growing}
        placed = draw_splits(free, ratios, Counter(pinned_groups.values()))
    else:
        placed = balance(free, count_wanted_clips(settings.ratios, growing, free, pinned, pinned_groups))
    split_of_group = pinned_groups | placed
    split_of = {clip.video_id: split_of_group[group_of[clip.video_id]] for clip in clips}
    sizes = Counter(group_of.values())
    counts = Counter(split_of.values())
    in_category: dict[str, Counter[str]] = {}
    for clip in sorted(clips, key=lambda clip: clip.category or UNCATEGORISED):
        in_category.setdefault(clip.category or UNCATEGORISED, Counter())[split_of[clip.video_id]] += 1
    achieved = _shares(counts, settings.ratios)
    return Assignment(
        split_of=split_of,
        groups=len(sizes),
        largest_group=max(sizes.values(), default=0),
        requested=dict(settings.ratios),
        achieved=achieved,
        counts={split: counts[split] for split in settings.ratios},
        by_category={category: _shares(counter, settings.ratios) for category, counter in in_category.items()},
        largest_gap=max(abs(achieved[split] - ratio) for split, ratio in settings.ratios.items()) if clips else 0.0,
        lost_pins=lost_pins,
    )


def find_groups(
    clips: Sequence[Clip], settings: SplitSettings, pairs: Iterable[tuple[str, str]], uploaders: Mapping[str, str]
) -> dict[str, str]:
    """Return `video_id` -> group id by the ties of the settings, of which some are cut in large groups."""
    pairs, ties = tuple(pairs), list(settings.together)
    group_of = group_clips(clips, ties, pairs, uploaders)
    for tie in settings.cut_ties:
        ties.remove(tie)
        group_of = take_apart(group_of, clips, ties, min(settings.ratios.values()) * len(clips), pairs, uploaders)
    return group_of


def pin_groups(
    group_of: Mapping[str, str], pins: Mapping[str, str], splits: Collection[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return group id -> the split that it is pinned to, and the pinned ids that do not exist."""
    pinned: dict[str, str] = {}
    for name, split in sorted(pins.items()):
        if split not in splits:
            raise VttdataError(f"The clip '{name}' is pinned to '{split}'; the splits are {', '.join(splits)}.")
        video_id = find_video_id(name, group_of) or name
        if pinned.setdefault(video_id, split) != split:
            raise VttdataError(f"The clip '{video_id}' is pinned to {pinned[video_id]} and to {split}.")
    pins = pinned
    lost_pins = tuple(sorted(pins.keys() - group_of.keys()))
    if pins and len(lost_pins) == len(pins):
        example = f"; clips are called like '{min(group_of)}'" if group_of else ""
        raise VttdataError(
            f"No pinned clip exists, of {len(lost_pins):,} such as '{lost_pins[0]}'{example}, and pins name "
            "their ids or files."
        )
    first_pin: dict[str, str] = {}
    for video_id in sorted(pins.keys() & group_of.keys()):
        first = first_pin.setdefault(group_of[video_id], video_id)
        if pins[first] != pins[video_id]:
            raise VttdataError(
                f"The clips '{first}' and '{video_id}' belong together, but '{first}' is pinned to {pins[first]} "
                f"and '{video_id}' to {pins[video_id]}, which would leak; take one of them out of the file."
            )
    return {group_id: pins[video_id] for group_id, video_id in first_pin.items()}, lost_pins


def _later_groups(
    clips: Sequence[Clip],
    group_of: Mapping[str, str],
    pinned: Mapping[str, str],
    after: str,
    uploaded: Mapping[str, str],
) -> dict[str, str]:
    """Return the groups of which every clip's source was uploaded on a day or later, all of them pinned to `test`."""
    earlier = {group_of[clip.video_id]: clip for clip in clips if uploaded.get(clip.source_id, "") < after}
    later = {group_id: _TEST for group_id in group_of.values() if group_id not in earlier}
    if not later:
        raise VttdataError(f"No group of clips has only sources uploaded on {after} or later, so test would be empty.")
    wrong = next((group for group, split in pinned.items() if (split == _TEST) != (group in later)), None)
    if wrong is not None:
        raise VttdataError(f"The clip '{wrong}' is pinned to {pinned[wrong]}, which its day of upload contradicts.")
    return later


def build_groups(
    clips: Sequence[Clip], group_of: Mapping[str, str], settings: SplitSettings, seed: int, uploaders: Mapping[str, str]
) -> list[ClipGroup]:
    """Return the groups with their sizes, strata and hashes."""
    strata: dict[str, Counter[str]] = {}
    # Parts of a group that was taken apart are drawn apart.
    ties = set(settings.together) - set(settings.cut_ties)
    anchors: dict[str, str] = {}
    for clip in clips:
        group_id = group_of[clip.video_id]
        stratum = (clip.category or UNCATEGORISED) if settings.stratify else ""
        strata.setdefault(group_id, Counter())[stratum] += 1
        anchor = _anchor(clip, ties, uploaders)
        anchors[group_id] = min(anchor, anchors.get(group_id, anchor))
    groups = []
    drawn = f"{seed} {settings.draw}" if settings.draw else seed
    for group_id, counts in strata.items():
        text = f"split\0{drawn}\0{anchors[group_id]}"
        hashed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        groups.append(ClipGroup(group_id, counts.total(), tuple(sorted(counts.items())), hashed))
    return groups


def _anchor(clip: Clip, together: Collection[Tie], uploaders: Mapping[str, str]) -> str:
    """Return the text that a clip's group is hashed by, if it is the smallest in the group.

    The widest tie sorts first, since that text hardly changes when sources are added to the group.
    """
    if "query" in together and clip.query is not None:
        return f"0\0{clip.query}"
    if "uploader" in together and clip.source_id in uploaders:
        return f"1\0{uploaders[clip.source_id]}"
    if "source" in together or "near_duplicate" in together:
        return f"2\0{clip.source_id}\0{'' if 'source' in together else clip.video_id}"
    return f"3\0{clip.video_id}"


def growing_splits(ratios: Mapping[str, float], pinned: Iterable[str]) -> list[str]:
    """Return the splits that take groups in, where `pinned` are those with pins; see `SplitSettings.pin`."""
    pinned = set(pinned)
    largest = min(ratios, key=lambda split: (-ratios[split], split))
    return sorted(ratios if largest in pinned else ratios.keys() - pinned)


def count_wanted_clips(
    ratios: Mapping[str, float],
    growing: Sequence[str],
    free: Sequence[ClipGroup],
    pinned: Sequence[ClipGroup],
    pins: Mapping[str, str],
) -> dict[str, dict[str, float]]:
    """Return split -> stratum -> number of free clips it should get, for each split that grows."""
    pinned_clips: dict[str, Counter[str]] = {}
    for group in pinned:
        for stratum, number in group.strata:
            pinned_clips.setdefault(stratum, Counter())[pins[group.group_id]] += number
    free_clips: Counter[str] = Counter()
    for group in free:
        free_clips.update(dict(group.strata))
    wanted: dict[str, dict[str, float]] = {split: {} for split in growing}
    for stratum, number in free_clips.items():
        present = pinned_clips.get(stratum, Counter())
        lacking = {split: max(ratios[split] * (number + present.total()) - present[split], 0) for split in growing}
        if not any(lacking.values()):
            lacking = {split: ratios[split] for split in growing}
        for split, lack in lacking.items():
            wanted[split][stratum] = number * lack / sum(lacking.values())
    return wanted


def _shares(counts: Counter[str], splits: Iterable[str]) -> dict[str, float]:
    return {split: counts[split] / max(counts.total(), 1) for split in splits}
