"""Bars of the running steps of a build on a terminal: alone in a build to import rich, which takes 0.1 s."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text


class _Counts(ProgressColumn):
    """Items so far and in all, how many a second, and the time that is left, which `clock_text` formats."""

    def __init__(self, clock_text: Callable[[float], str]) -> None:
        self._clock_text = clock_text
        super().__init__(table_column=Column(no_wrap=True))

    def render(self, task: Task) -> Text:
        parts = [f"{task.completed:,.0f} of {task.total:,.0f}" if task.total else f"{task.completed:,.0f}"]
        speed = task.finished_speed or task.speed
        if speed:
            parts.append(f"{speed:,.1f}/s" if speed >= 1 else f"{60 * speed:,.1f}/min")
        if task.time_remaining is not None and not task.finished:
            parts.append(f"{self._clock_text(task.time_remaining)} left")
        return Text(", ".join(parts) if task.total or task.completed else self._clock_text(task.elapsed or 0))


class _Console(Console):
    """Console that leaves the cursor visible, also in the terminal of a build that was killed."""

    def show_cursor(self, show: bool = True) -> bool:
        del show
        return False


class LiveBars(Progress):
    """Bars of the running steps, and below them the state of the build: texts, each with rich's name of its style."""

    def __init__(self, state: Callable[[], Iterable[tuple[str, str]]], clock_text: Callable[[float], str]) -> None:
        self._state = state
        super().__init__(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
            BarColumn(bar_width=24),
            _Counts(clock_text),
            console=_Console(file=sys.stderr, highlight=False, markup=False, emoji=False),
            refresh_per_second=5,
            transient=True,
            # Standard output may be a file; its lines come between steps.
            redirect_stdout=False,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the table of bars and the line of the build."""
        yield self.make_tasks_table(self.tasks)
        yield Text("  ") + Text(", ").join(Text(text, style) for text, style in self._state())
