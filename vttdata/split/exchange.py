"""Lowers the cost of a placement of groups by moving single groups and swapping pairs; see `vttdata.split.balance`.

Groups alike in size and strata are one kind, so few exchanges have to be weighed, and these all at once.
"""

from __future__ import annotations

import itertools
from bisect import insort
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vttdata.split.groups import Group

if TYPE_CHECKING:
    from vttdata.split.balance import Board

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
