"""Places groups into splits so that totals and strata come close to what is wanted; pure numbers, no records.

The rule: the splits lie on a line, each as long as its share. Within each stratum the groups lie on it too, in the
order of a hash, each as long as its clips, and a group belongs where a point of it, drawn by another hash, falls. Then
single moves and swaps, of groups next to a border, bring counts to their aim (`vttdata.split.balance`). A new group
pushes borders by a fraction of its size, so few of the others change splits, and no earlier result is needed for it.
Where that would miss the bounds below, the plain rule is the start instead: the largest group first, each to the split
that lacks most.

Bounds: with at least as many groups as splits no split is empty; with fewer, the splits that want most are served first
(of equal ones the first by name). A split's count differs from what it wants by less than the largest group, unless
keeping a split from being empty costs more.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from vttdata.split.groups import Group

_LEAST_WANTED = 0.01
"""Stands for nothing wanted where a number of wanted clips is divided by."""


def balance(groups: Sequence[Group], wanted: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """Place each group.

    Args:
        groups: in any order.
        wanted: split -> stratum -> number of clips it should get; of each stratum together as many as there are.

    Returns:
        group id -> split.
    """
    splits = _line(wanted)
    groups = sorted(groups, key=lambda group: (group.rank, group.group_id))
    board = Board(groups, [wanted[split] for split in splits])
    _by_quantile(board, groups, [wanted[split] for split in splits])
    _serve(board, groups)
    exchange(board, groups)
    if not board.within_bounds():
        board = Board(groups, [wanted[split] for split in splits])
        _by_size(board, groups)
        exchange(board, groups)
    return {group_id: splits[place] for group_id, place in board.place.items()}


class Board:
    """How many clips each place (a split, by its number on the line) has beyond what it wants, of each stratum.

    Fields:
        excess: float64, places x (strata + 1); the last column is the total. `weight` has the same shape: what a
            squared excess costs, 1 / wanted as in Pearson's chi-square; the totals count as much as all strata.
        columns: stratum -> its column.
        place: group id -> place, `members` the number of groups in each.
        position: group id -> where in its stratum it lies, 0..1; of those alike, the ones next to a border move first.
    """

    def __init__(self, groups: Sequence[Group], wanted: Sequence[Mapping[str, float]]) -> None:
        names = sorted({name for group in groups for name, _ in group.strata})
        self.columns = {name: column for column, name in enumerate(names)}
        aims = np.array([[aim.get(name, 0.0) for name in names] for aim in wanted]).reshape(len(wanted), len(names))
        self.excess = -np.hstack([aims, aims.sum(axis=1, keepdims=True)])
        self.weight = 1 / np.maximum(-self.excess, _LEAST_WANTED)
        self.weight[:, -1] *= len(names)
        self.place: dict[str, int] = {}
        self.position = {group.group_id: group.rank for group in groups}
        self.members = [0] * len(wanted)
        self.largest = max((group.size for group in groups), default=0)
        by_need = sorted(range(len(wanted)), key=lambda place: (self.excess[place, -1], place))
        self.served = by_need[: len(groups)]
        """The places that may not be empty."""

    def put(self, group: Group, place: int) -> None:
        """Place a group, or move it."""
        before = self.place.get(group.group_id)
        for split, sign in ((before, -1), (place, 1)):
            if split is not None:
                self.members[split] += sign
                self.excess[split, -1] += sign * group.size
                for name, number in group.strata:
                    self.excess[split, self.columns[name]] += sign * number
        self.place[group.group_id] = place

    def within_bounds(self) -> bool:
        """Whether every split is off by less than the largest group."""
        return bool((np.abs(self.excess[:, -1]) < max(self.largest, 1)).all())


def _line(wanted: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The splits, the largest in the middle: near the ends, where the small ones lie, fewer groups cross a border."""
    total = {split: sum(aims.values()) for split, aims in wanted.items()}
    by_size = sorted(wanted, key=lambda split: (total[split], split))
    return by_size[0::2] + by_size[1::2][::-1]


def _by_quantile(board: Board, groups: Sequence[Group], wanted: Sequence[Mapping[str, float]]) -> None:
    """Place each group where its point falls on the line of its main stratum; `groups` are in the order of rank."""
    for stratum, own in _by_stratum(groups).items():
        ends = list(itertools.accumulate(aim.get(stratum, 0.0) for aim in wanted))
        clips = sum(group.size for group in own)
        before = 0
        for group in own:
            position = (before + group.point * group.size) / clips
            before += group.size
            board.position[group.group_id] = position
            board.put(group, bisect_right(ends[:-1], position * ends[-1]))


def _by_stratum(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """Each group under the stratum that most of its clips are of."""
    strata: dict[str, list[Group]] = {}
    for group in groups:
        name, _ = max(group.strata, key=lambda pair: pair[1])
        strata.setdefault(name, []).append(group)
    return strata


def _serve(board: Board, groups: Sequence[Group]) -> None:
    """Give every place that would be empty without need a small group of the place that has most to spare."""
    for empty in [place for place in board.served if not board.members[place]]:
        rich = max(
            (place for place in range(len(board.members)) if board.members[place] > (place in board.served)),
            key=lambda place: (board.excess[place, -1], place),
        )
        own = (group for group in groups if board.place[group.group_id] == rich)
        board.put(min(own, key=lambda group: group.size), empty)


def _by_size(board: Board, groups: Sequence[Group]) -> None:
    """Place the largest groups first, each where most lacks; the last ones go to places that would else stay empty."""
    for index, group in enumerate(sorted(groups, key=lambda group: -group.size)):
        empty = [place for place in board.served if not board.members[place]]
        lacking = int(np.argmin(board.excess[:, -1]))
        board.put(group, empty[0] if len(groups) - index <= len(empty) else lacking)


_MOST_KINDS = 256
"""Exchanges are weighed between so many kinds at most, the most frequent; their number grows with the square."""

_MOST_EXCHANGES = 2_000
"""MSR-VTT (7,180 sources, 20 categories) needs 8, a million clips of 20 categories about 20."""

_LEAST_GAIN = 1e-9

_DIGITS = 10

Numbers = npt.NDArray[np.float64]


def exchange(board: Board, groups: Sequence[Group]) -> None:
    """Make the move or swap that lowers the cost most, for as long as one does.

    No split that has to be served is emptied, and none gets further from its aim than the largest group's size unless
    it was so before.
    """
    limits = np.maximum(np.abs(board.excess[:, -1]), board.largest - _LEAST_GAIN)
    kinds = _Kinds(board, groups)
    for _ in range(_MOST_EXCHANGES):
        best = min(
            (kinds.best(here, there, limits) for here, there in itertools.combinations(range(len(limits)), 2)),
            default=(0.0, 0, 0, 0, 0),
        )
        if best[0] > -_LEAST_GAIN:
            return
        kinds.swap(*best[1:])


class _Kinds:
    """The groups that may move: by place and kind, each in the order of position. The last kind is no group at all."""

    def __init__(self, board: Board, groups: Sequence[Group]) -> None:
        self._board = board
        often = Counter(group.strata for group in groups)
        chosen = sorted(often, key=lambda strata: (-often[strata], strata))[:_MOST_KINDS]
        self._number = {strata: number for number, strata in enumerate(chosen)}
        self._rows = np.zeros((len(chosen) + 1, board.excess.shape[1]))
        for number, strata in enumerate(chosen):
            for name, clips in strata:
                self._rows[number, board.columns[name]] += clips
                self._rows[number, -1] += clips
        places = range(board.excess.shape[0])
        self._queues: list[list[list[tuple[float, str, Group]]]] = [[[] for _ in chosen] for _ in places]
        for group in groups:
            if group.strata in self._number:
                entry = (board.position[group.group_id], group.group_id, group)
                self._queues[board.place[group.group_id]][self._number[group.strata]].append(entry)
        for queue in itertools.chain.from_iterable(self._queues):
            queue.sort()

    def best(self, here: int, there: int, limits: Numbers) -> tuple[float, int, int, int, int]:
        """The best exchange between two places: its change of cost, the places, the kinds that leave each."""
        board, rows = self._board, self._rows
        weight = board.weight[here] + board.weight[there]
        slope = 2 * (board.weight[there] * board.excess[there] - board.weight[here] * board.excess[here])
        squares = rows**2 @ weight
        leaving, coming = rows @ slope + squares, squares - rows @ slope
        cost = leaving[:, None] + coming[None, :] - 2 * (rows * weight) @ rows.T
        net = rows[:, -1][:, None] - rows[:, -1][None, :]
        cost[np.abs(board.excess[here, -1] - net) > limits[here]] = np.inf
        cost[np.abs(board.excess[there, -1] + net) > limits[there]] = np.inf
        cost[[not queue for queue in self._queues[here]] + [False], :] = np.inf
        cost[:, [not queue for queue in self._queues[there]] + [False]] = np.inf
        if here in board.served and board.members[here] == 1:
            cost[:-1, -1] = np.inf
        if there in board.served and board.members[there] == 1:
            cost[-1, :-1] = np.inf
        # libraries add up in different orders, so equals may differ in their last digits from machine to machine
        one, other = np.unravel_index(int(np.argmin(cost.round(_DIGITS))), cost.shape)
        return round(float(cost[one, other]), _DIGITS), here, there, int(one), int(other)

    def swap(self, here: int, there: int, one: int, other: int) -> None:
        """Send a group of kind `one` from `here` to `there`, and one of kind `other` back; each may be no group."""
        leaving = self._take(here, one, there)
        coming = self._take(there, other, here)
        for entry, kind, place in ((leaving, one, there), (coming, other, here)):
            if entry is not None:
                insort(self._queues[place][kind], entry)
                self._board.put(entry[2], place)

    def _take(self, place: int, kind: int, towards: int) -> tuple[float, str, Group] | None:
        """The group next to the border; of equal places on the line the id decides, so groups are never compared."""
        if kind == len(self._number):
            return None
        return self._queues[place][kind].pop(-1 if towards > place else 0)
