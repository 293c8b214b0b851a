"""Placement of groups of clips into splits, so that totals and strata come close to what is wanted; no records.

The rule: the splits lie on a line, each as long as its share. Within each stratum the groups lie on it too, in the
order of a hash, each as long as its clips, and a group belongs where a point of it, drawn by another hash, falls. Then
single moves and swaps, of groups next to a border, bring the counts to their aims. A new group pushes borders by a
fraction of its size, so few of the others change splits, and no earlier result is needed for it. Where that would miss
the bounds below, the plain rule is the start instead: the largest group first, each to the split that lacks most.

Bounds: with at least as many groups as splits no split is empty; with fewer, the splits that want most get one first
(of equal ones the first by name). A split's count differs from what it wants by less than the largest group, unless
keeping a split from being empty costs more.

Splits are numbered here by their order on the line.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vttdata.split.groups import ClipGroup

Floats = npt.NDArray[np.float64]

# Keeps the weight of an aim of no clips finite.
_MIN_WEIGHTED_AIM = 0.01

# Exchanges are weighed between the most frequent compositions only, since their number grows with the square.
_MAX_COMPOSITIONS = 256

# MSR-VTT (7,180 sources, 20 categories) needs 8 exchanges, a million clips of 20 categories about 20.
_MAX_EXCHANGES = 2_000

_MIN_GAIN = 1e-9

# Libraries add up in different orders, so equal costs may differ in their last digits from machine to machine.
_COST_DIGITS = 10


def balance(groups: Sequence[ClipGroup], wanted: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """Return group id -> split, for groups in any order.

    `wanted` is split -> stratum -> number of clips it should get; of each stratum together as many as there are.
    """
    # The largest split lies in the middle: near the ends, where the small ones lie, fewer groups cross a border.
    total = {split: sum(aims.values()) for split, aims in wanted.items()}
    by_size = sorted(wanted, key=lambda split: (total[split], split))
    splits = by_size[0::2] + by_size[1::2][::-1]
    aims = [wanted[split] for split in splits]
    groups = sorted(groups, key=lambda group: (group.rank, group.group_id))
    placement = Placement(groups, aims)
    place_by_quantile(placement, groups, aims)
    fill_empty_splits(placement, groups)
    exchange_groups(placement, groups)
    # Unless every split is off by less than the largest group.
    if (np.abs(placement.excess[:, -1]) >= max(placement.largest_size, 1)).any():
        placement = Placement(groups, aims)
        place_by_size(placement, groups)
        exchange_groups(placement, groups)
    return {group_id: splits[split] for group_id, split in placement.split_of.items()}


class Placement:
    """Placement of groups, and how many clips each split has beyond its aim.

    Fields:
        excess: float64, splits x (strata + 1), placed clips minus wanted ones; the last column is the total.
        weight: of the same shape; cost of a squared excess, 1 / wanted as in Pearson's chi-square. The totals count as
            much as all strata.
        columns: stratum -> its column.
        split_of: group id -> split.
        group_counts: number of groups in each split.
        position: group id -> where in its stratum it lies, 0..1; of groups alike, those next to a border move first.
        largest_size: number of clips of the largest group.
        nonempty: splits that may not be empty.
    """

    def __init__(self, groups: Sequence[ClipGroup], aims: Sequence[Mapping[str, float]]) -> None:
        strata = sorted({stratum for group in groups for stratum, _ in group.strata})
        self.columns = {stratum: column for column, stratum in enumerate(strata)}
        wanted = np.array([[aim.get(stratum, 0.0) for stratum in strata] for aim in aims])
        wanted = wanted.reshape(len(aims), len(strata))
        self.excess: Floats = -np.hstack([wanted, wanted.sum(axis=1, keepdims=True)])
        self.weight: Floats = 1 / np.maximum(-self.excess, _MIN_WEIGHTED_AIM)
        self.weight[:, -1] *= len(strata)
        self.split_of: dict[str, int] = {}
        self.group_counts = [0] * len(aims)
        self.position = {group.group_id: group.rank for group in groups}
        self.largest_size = max((group.size for group in groups), default=0)
        by_need = sorted(range(len(aims)), key=lambda split: (self.excess[split, -1], split))
        self.nonempty = by_need[: len(groups)]

    def put(self, group: ClipGroup, split: int) -> None:
        """Place a group, or move it."""
        for changed, sign in ((self.split_of.get(group.group_id), -1), (split, 1)):
            if changed is not None:
                self.group_counts[changed] += sign
                self.excess[changed, -1] += sign * group.size
                for stratum, clips in group.strata:
                    self.excess[changed, self.columns[stratum]] += sign * clips
        self.split_of[group.group_id] = split

    def empty_splits(self) -> list[int]:
        """Return the splits that may not be empty and are."""
        return [split for split in self.nonempty if not self.group_counts[split]]


def place_by_quantile(placement: Placement, groups: Sequence[ClipGroup], aims: Sequence[Mapping[str, float]]) -> None:
    """Place each group where its point falls on the line of the stratum that most of its clips are of.

    `groups` are in the order of rank, and `aims` (stratum -> number of clips) in the order of splits on the line.
    """
    by_stratum: dict[str, list[ClipGroup]] = {}
    for group in groups:
        main_stratum, _ = max(group.strata, key=lambda pair: pair[1])
        by_stratum.setdefault(main_stratum, []).append(group)
    for stratum, members in by_stratum.items():
        ends = list(itertools.accumulate(aim.get(stratum, 0.0) for aim in aims))
        clips = sum(group.size for group in members)
        clips_before = 0
        for group in members:
            position = (clips_before + group.point * group.size) / clips
            clips_before += group.size
            placement.position[group.group_id] = position
            placement.put(group, bisect_right(ends[:-1], position * ends[-1]))


def fill_empty_splits(placement: Placement, groups: Sequence[ClipGroup]) -> None:
    """Give every split that is empty without need the smallest group of the split with the largest excess."""
    for empty in placement.empty_splits():
        donor = max(
            # A split that may not be empty itself has to keep one group.
            (split for split, count in enumerate(placement.group_counts) if count > (split in placement.nonempty)),
            key=lambda split: (placement.excess[split, -1], split),
        )
        candidates = (group for group in groups if placement.split_of[group.group_id] == donor)
        placement.put(min(candidates, key=lambda group: group.size), empty)


def place_by_size(placement: Placement, groups: Sequence[ClipGroup]) -> None:
    """Place the largest groups first, each where most clips lack; the last ones fill splits that are still empty."""
    for index, group in enumerate(sorted(groups, key=lambda group: -group.size)):
        empty = placement.empty_splits()
        must_fill = len(groups) - index <= len(empty)
        placement.put(group, empty[0] if must_fill else int(np.argmin(placement.excess[:, -1])))


def exchange_groups(placement: Placement, groups: Sequence[ClipGroup]) -> None:
    """Make the move or swap that lowers the cost most, for as long as one does.

    No split of `placement.nonempty` is emptied, and none gets further from its aim than the largest group's size unless
    it was so before.
    """
    limits = np.maximum(np.abs(placement.excess[:, -1]), placement.largest_size - _MIN_GAIN)
    movable = MovableGroups(placement, groups)
    for _ in range(_MAX_EXCHANGES):
        best = min(
            (movable.best_exchange(a, b, limits) for a, b in itertools.combinations(range(len(limits)), 2)),
            default=None,
        )
        if best is None or best.cost > -_MIN_GAIN:
            return
        movable.exchange(best)


class Exchange(NamedTuple):
    """Change of cost, the two splits, and the compositions of the groups that leave each of them."""

    cost: float
    a: int
    b: int
    from_a: int
    from_b: int


class MovableGroups:
    """Groups that may move, by split and composition, in the order of position.

    Groups of one composition have equally many clips of each stratum, so exchanges of them cost the same. The last
    composition is that of no group, which makes a move an exchange too.
    """

    def __init__(self, placement: Placement, groups: Sequence[ClipGroup]) -> None:
        self._placement = placement
        frequency = Counter(group.strata for group in groups)
        compositions = sorted(frequency, key=lambda strata: (-frequency[strata], strata))[:_MAX_COMPOSITIONS]
        number_of = {strata: number for number, strata in enumerate(compositions)}
        # Clips that a group of each composition brings to each column of `Placement.excess`.
        self._clips = np.zeros((len(compositions) + 1, placement.excess.shape[1]))
        for strata, number in number_of.items():
            for stratum, clips in strata:
                self._clips[number, placement.columns[stratum]] += clips
                self._clips[number, -1] += clips
        splits = range(placement.excess.shape[0])
        self._queues: list[list[list[tuple[float, str, ClipGroup]]]] = [[[] for _ in compositions] for _ in splits]
        for group in groups:
            if group.strata in number_of:
                # Ids are distinct, so groups themselves are never compared.
                entry = (placement.position[group.group_id], group.group_id, group)
                self._queues[placement.split_of[group.group_id]][number_of[group.strata]].append(entry)
        for queue in itertools.chain.from_iterable(self._queues):
            queue.sort()

    def best_exchange(self, a: int, b: int, limits: Floats) -> Exchange:
        """Return the exchange between two splits that lowers the cost most.

        `limits` are those of each absolute excess.
        """
        placement, clips = self._placement, self._clips
        weight = placement.weight[a] + placement.weight[b]
        slope = 2 * (placement.weight[b] * placement.excess[b] - placement.weight[a] * placement.excess[a])
        squares = clips**2 @ weight
        leaving, coming = clips @ slope + squares, squares - clips @ slope
        cost = leaving[:, None] + coming[None, :] - 2 * (clips * weight) @ clips.T
        net = clips[:, -1][:, None] - clips[:, -1][None, :]
        cost[np.abs(placement.excess[a, -1] - net) > limits[a]] = np.inf
        cost[np.abs(placement.excess[b, -1] + net) > limits[b]] = np.inf
        cost[[not queue for queue in self._queues[a]] + [False], :] = np.inf
        cost[:, [not queue for queue in self._queues[b]] + [False]] = np.inf
        if a in placement.nonempty and placement.group_counts[a] == 1:
            cost[:-1, -1] = np.inf
        if b in placement.nonempty and placement.group_counts[b] == 1:
            cost[-1, :-1] = np.inf
        from_a, from_b = np.unravel_index(int(np.argmin(cost.round(_COST_DIGITS))), cost.shape)
        return Exchange(round(float(cost[from_a, from_b]), _COST_DIGITS), a, b, int(from_a), int(from_b))

    def exchange(self, exchange: Exchange) -> None:
        """Move a group from one of two splits to the other, and one back."""
        _, a, b, from_a, from_b = exchange
        moves = [(self._take(a, from_a, b), from_a, b), (self._take(b, from_b, a), from_b, a)]
        for entry, composition, split in moves:
            if entry is not None:
                insort(self._queues[split][composition], entry)
                self._placement.put(entry[2], split)

    def _take(self, split: int, composition: int, towards: int) -> tuple[float, str, ClipGroup] | None:
        """Remove the group next to the border to another split from its queue; None for the composition of no group."""
        if composition == len(self._clips) - 1:
            return None
        return self._queues[split][composition].pop(-1 if towards > split else 0)
