"""Places groups into splits so that totals and strata come close to the asked ratios; pure numbers, no records.

The rule: largest groups first, each where it helps most, then single moves and swaps for as long as they help. Where
that would miss the bounds below, the plain rule is the start instead: each group goes to the split that lacks most.

Bounds: with at least as many groups as splits no split is empty; with fewer, the splits with the highest ratios are
served first (of equal ones the first by name). A split's count differs from what was asked by less than the largest
group, unless keeping a split from being empty costs more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_ROUNDS = 20
"""Rounds of moves and swaps at most; MSR-VTT (7,180 sources, 20 categories) needs fewer than ten."""
_MOST_KINDS = 200
"""Swaps are tried between so many kinds of groups at most, since their number grows with the square."""
_LEAST_GAIN = 1e-9


@dataclass(frozen=True, slots=True)
class Group:
    """Clips that stay together: how many of each stratum, sorted by stratum."""

    group_id: str
    strata: tuple[tuple[str, int], ...]

    @property
    def size(self) -> int:
        """The number of clips."""
        return sum(number for _, number in self.strata)


def balance(groups: Sequence[Group], ratios: Mapping[str, float]) -> dict[str, str]:
    """Place each group.

    Args:
        groups: in an order that depends on nothing but them and a seed; it decides between equals.
        ratios: split -> share, together 1.

    Returns:
        group id -> split.
    """
    splits = sorted(ratios, key=lambda split: (-ratios[split], split))
    by_size = sorted(groups, key=lambda group: -group.size)
    state = _State(by_size, [ratios[split] for split in splits])
    state.fill(by_size, stratified=True)
    if not state.within_bounds():
        state = _State(by_size, [ratios[split] for split in splits])
        state.fill(by_size, stratified=False)
    state.improve(by_size)
    return {group_id: splits[place] for group_id, place in state.place.items()}


class _State:
    """How many clips each split has, in all and of each stratum, beside how many it should have.

    The cost is a sum of squared differences, each divided by the wanted number, as in Pearson's chi-square; the totals
    count as much as all strata together.
    """

    def __init__(self, groups: Sequence[Group], ratios: Sequence[float]) -> None:
        sizes: dict[str, int] = {}
        for group in groups:
            for stratum, number in group.strata:
                sizes[stratum] = sizes.get(stratum, 0) + number
        clips = sum(sizes.values())
        self.place: dict[str, int] = {}
        self._largest = max((group.size for group in groups), default=0)
        self._wanted = min(len(groups), len(ratios))
        self._members = [0] * len(ratios)
        self._excess = [-ratio * clips for ratio in ratios]
        self._weight = [len(sizes) / (ratio * max(clips, 1)) for ratio in ratios]
        self._stratum_excess = [{name: -ratio * size for name, size in sizes.items()} for ratio in ratios]
        self._stratum_weight = [{name: 1 / (ratio * size) for name, size in sizes.items()} for ratio in ratios]

    def fill(self, groups: Sequence[Group], *, stratified: bool) -> None:
        """Place all groups, the largest first; the last ones go to splits that would else stay empty."""
        for index, group in enumerate(groups):
            places = range(len(self._excess))
            empty = [place for place in places[: self._wanted] if not self._members[place]]
            if len(groups) - index <= len(empty):
                best = empty[0]
            elif stratified:
                best = min(places, key=lambda place: self._change(group, place, 1))
            else:
                best = min(places, key=lambda place: self._excess[place])
            self._put(group, best)

    def within_bounds(self) -> bool:
        """Whether every split is off by less than the largest group."""
        return all(abs(excess) < max(self._largest, 1) for excess in self._excess)

    def improve(self, groups: Sequence[Group]) -> None:
        """Move single groups and swap pairs for as long as that lowers the cost."""
        limits = [max(abs(excess), self._largest - _LEAST_GAIN) for excess in self._excess]
        for _ in range(_ROUNDS):
            moved = [self._move(group, limits) for group in groups]
            swapped = self._swap_kinds(groups, limits)
            if not any(moved) and not swapped:
                return

    def _move(self, group: Group, limits: Sequence[float]) -> bool:
        here = self.place[group.group_id]
        if self._members[here] == 1:
            return False
        leaving = self._change(group, here, -1)
        for there in range(len(self._excess)):
            helps = there != here and leaving + self._change(group, there, 1) < -_LEAST_GAIN
            if helps and self._allowed(here, there, group.size, limits):
                self._put(group, there)
                return True
        return False

    def _swap_kinds(self, groups: Sequence[Group], limits: Sequence[float]) -> bool:
        """Swap groups of different splits; those alike in size and strata are one kind, so few pairs are tried."""
        kinds: dict[tuple[int, tuple[tuple[str, int], ...]], Group] = {}
        for group in groups:
            kinds.setdefault((self.place[group.group_id], group.strata), group)
        if len(kinds) > _MOST_KINDS:
            return False
        swapped: set[str] = set()
        for (here, mine), one in kinds.items():
            for (there, theirs), other in kinds.items():
                if here >= there or mine == theirs or {one.group_id, other.group_id} & swapped:
                    continue
                if self._swap(one, other, limits):
                    swapped |= {one.group_id, other.group_id}
        return bool(swapped)

    def _swap(self, one: Group, other: Group, limits: Sequence[float]) -> bool:
        here, there = self.place[one.group_id], self.place[other.group_id]
        if not self._allowed(here, there, one.size - other.size, limits):
            return False
        before = self._cost(one, other, here, there)
        self._put(one, there)
        self._put(other, here)
        if self._cost(one, other, here, there) < before - _LEAST_GAIN:
            return True
        self._put(one, here)
        self._put(other, there)
        return False

    def _allowed(self, here: int, there: int, clips: int, limits: Sequence[float]) -> bool:
        return abs(self._excess[here] - clips) <= limits[here] and abs(self._excess[there] + clips) <= limits[there]

    def _cost(self, one: Group, other: Group, *places: int) -> float:
        """The part of the cost that placing these two groups can change."""
        names = {name for name, _ in one.strata} | {name for name, _ in other.strata}
        cost = 0.0
        for place in places:
            excess, weight = self._stratum_excess[place], self._stratum_weight[place]
            cost += self._weight[place] * self._excess[place] ** 2
            cost += sum(weight[name] * excess[name] ** 2 for name in sorted(names))
        return cost

    def _change(self, group: Group, place: int, sign: int) -> float:
        """What the cost gains when `group` enters (`sign` 1) or leaves (-1) a split."""
        cost = self._weight[place] * (2 * sign * group.size * self._excess[place] + group.size**2)
        for name, number in group.strata:
            excess, weight = self._stratum_excess[place][name], self._stratum_weight[place][name]
            cost += weight * (2 * sign * number * excess + number**2)
        return cost

    def _put(self, group: Group, place: int) -> None:
        before = self.place.get(group.group_id)
        for split, sign in ((before, -1), (place, 1)):
            if split is not None:
                self._members[split] += sign
                self._excess[split] += sign * group.size
                for name, number in group.strata:
                    self._stratum_excess[split][name] += sign * number
        self.place[group.group_id] = place
