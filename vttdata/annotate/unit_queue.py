"""Choice of the unit that a worker gets next: the least covered one, never one twice, and controls in between.

A unit is covered by the workers who finished it and by those who have it reserved. Reservations that expire free it.
Everything is in memory; `vttdata.annotate.service` keeps it in step with the database.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

from vttdata.annotate.task import Unit
from vttdata.ids import digest


class UnitQueue:
    """Who has finished and reserved which units.

    Args:
        units: in the order in which equally covered ones are handed out.
        judgments: how many workers each unit needs.
        control_every: one unit in so many is a control.
        clock: seconds that only go forward.
    """

    def __init__(self, units: Iterable[Unit], judgments: int, control_every: int, clock: Callable[[], float]) -> None:
        units = list(units)
        self.judgments, self.control_every, self.clock = judgments, control_every, clock
        self.controls = [unit.unit for unit in units if unit.is_control]
        self.order = {unit.unit: number for number, unit in enumerate(unit for unit in units if not unit.is_control)}
        self.finished: dict[str, int] = dict.fromkeys(self.order, 0)
        self.seen: dict[str, set[str]] = {}
        self.reserved: dict[str, tuple[str, float]] = {}
        self._holders: dict[str, set[str]] = {name: set() for name in self.order}
        # Units of each coverage below the number of judgments, as a dict for its order.
        self._buckets: list[dict[str, None]] = [dict.fromkeys(self.order), *({} for _ in range(judgments - 1))]
        self._expiries: list[tuple[float, str, str]] = []

    def finish(self, worker: str, unit: str, *, counts: bool = True) -> None:
        """Note that a worker is done with a unit; one that does not count is not covered by it."""
        if self.reserved.get(worker, ("", 0))[0] == unit:
            self.release(worker)
        if unit not in self.seen.setdefault(worker, set()):
            self.seen[worker].add(unit)
            if counts and unit in self.finished:
                before = self.coverage(unit)
                self.finished[unit] += 1
                self._move(unit, before)

    def coverage(self, unit: str) -> int:
        """Return how many workers finished a unit or have it reserved."""
        return self.finished[unit] + len(self._holders[unit])

    def reserve(self, worker: str, unit: str, seconds: float) -> None:
        """Reserve a unit in the place of what the worker had reserved."""
        self.release(worker)
        expires = self.clock() + seconds
        self.reserved[worker] = (unit, expires)
        heapq.heappush(self._expiries, (expires, worker, unit))
        if unit in self._holders:
            before = self.coverage(unit)
            self._holders[unit].add(worker)
            self._move(unit, before)

    def release(self, worker: str) -> None:
        """Free what a worker has reserved."""
        unit, _ = self.reserved.pop(worker, ("", 0))
        if worker in self._holders.get(unit, ()):
            before = self.coverage(unit)
            self._holders[unit].discard(worker)
            self._move(unit, before)

    def choose(self, worker: str, *, started: Iterable[str] = (), finishing: str | None = None) -> str | None:
        """Return the unit that a worker should get next, None when there is none now.

        Args:
            worker: their name.
            started: units of which the worker has answered some items, which come first.
            finishing: unit that the worker is about to finish.
        """
        while self._expiries and self._expiries[0][0] <= self.clock():
            expires, reserver, unit = heapq.heappop(self._expiries)
            if self.reserved.get(reserver) == (unit, expires):
                self.release(reserver)
        held = self.reserved.get(worker)
        if held is not None and held[0] != finishing:
            return held[0]
        seen = self.seen.get(worker, set()) | ({finishing} if finishing is not None else set())
        for unit in started:
            if unit not in seen:
                return unit
        regular = next((unit for bucket in self._buckets for unit in bucket if unit not in seen), None)
        # Controls alone would check nobody.
        if regular is not None and self._is_turn_of_control(worker, len(seen)):
            control = min(
                (unit for unit in self.controls if unit not in seen),
                key=lambda unit: digest([worker, unit]),
                default=None,
            )
            return control or regular
        return regular

    def may_come_back(self, worker: str) -> bool:
        """Return whether units that the worker has not done wait for others, who may not finish them."""
        seen = self.seen.get(worker, set())
        return any(
            self._holders[unit] and unit not in seen for unit in self.order if self.finished[unit] < self.judgments
        )

    def _is_turn_of_control(self, worker: str, number: int) -> bool:
        """Return whether the worker's unit of a number is a control: one in each run, where nobody can foresee it."""
        run, position = divmod(number, self.control_every)
        return bool(self.controls) and int(digest([worker, run])[:8], 16) % self.control_every == position

    def _move(self, unit: str, before: int) -> None:
        after = self.coverage(unit)
        if before < self.judgments:
            self._buckets[before].pop(unit, None)
        if after < self.judgments:
            self._buckets[after][unit] = None
