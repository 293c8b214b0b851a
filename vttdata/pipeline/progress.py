"""Progress of the steps of a build on standard error: bars on a terminal, a plain line now and then elsewhere.

Both move while a step that takes all items at once is at work, if only by their time. Labels are shown as they are:
neither rich's markup nor a terminal's control characters in them have an effect.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.progress import Progress as Bars
from rich.table import Column
from rich.text import Text

from vttdata.files.table_formats import visible

_LINE_EVERY_SECONDS = 10.0


class BuildProgress:
    """State that all steps of a build share: its time, its losses so far, and the place of the bars on a terminal.

    `started` is `time.monotonic` at the start of the build, whose time is shown; None where there is no build.
    """

    def __init__(self, *, quiet: bool = False, started: float | None = None) -> None:
        self.quiet = quiet
        self.rejected = self.failed = 0
        self._started = started
        # Unlike `Console.is_terminal`, which variables such as FORCE_COLOR set for a file too.
        self._is_live = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown") and not quiet
        self._bars: _LiveBars | None = None

    @property
    def time_text(self) -> str:
        """Time of the build, such as ``build 03:20``; empty where there is no build."""
        return "" if self._started is None else f"build {clock_text(time.monotonic() - self._started)}"

    def start(self, label: str, total: int | None) -> TaskID | None:
        """Show the bar of a step below those of the steps that it is part of; None where there is no terminal."""
        if not self._is_live:
            return None
        if self._bars is None:
            # Bars that are started again would erase what was printed since they stopped.
            self._bars = _LiveBars(self)
            self._bars.start()
        return self._bars.add_task(visible(label), total=total or None)

    def advance(self, step: TaskID | None, rejected: int, failed: int) -> None:
        """Count an item of a step, and its losses."""
        self.rejected += rejected
        self.failed += failed
        if self._bars is not None and step is not None:
            self._bars.advance(step)

    def stop(self, step: TaskID | None) -> None:
        """Take the bar of a step away, and with the last one everything that was shown."""
        if self._bars is None or step is None:
            return
        if len(self._bars.tasks) > 1:
            self._bars.remove_task(step)
        else:
            self._bars.stop()
            self._bars = None


class Progress:
    """Context manager that counts the items of one step of a build and shows the counts.

    The number of all items is None where it is not known, or where items do not come one by one.
    """

    def __init__(self, label: str, total: int | None, build: BuildProgress) -> None:
        self._label, self._total = label, total
        self._count = self._failed = self._rejected = 0
        self._started = time.monotonic()
        self._build = build
        self._step = self._build.start(label, total)
        self._finished = threading.Event()
        self._clock = threading.Thread(target=self._write_lines, daemon=True)
        if self._step is None and not self._build.quiet:
            self._clock.start()

    def advance(self, *, rejected: int = 0, failed: int = 0) -> None:
        """Count one more item, and how many of its outcomes are rejects and failures."""
        self._count += 1
        self._rejected += rejected
        self._failed += failed
        self._build.advance(self._step, rejected, failed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._finished.set()
        if self._clock.is_alive():
            self._clock.join()
        self._build.stop(self._step)

    def _write_lines(self) -> None:
        while not self._finished.wait(_LINE_EVERY_SECONDS):
            losses = f", {self._rejected} rejected, {self._failed} failed" if self._rejected or self._failed else ""
            of_total = f" of {self._total}" if self._total else ""
            count = f" {self._count}{of_total}{losses}," if self._count or self._total else ""
            of_build = f", {self._build.time_text}" if self._build.time_text else ""
            line = f"{self._label}:{count} {clock_text(time.monotonic() - self._started)}{of_build}\n"
            sys.stderr.write(visible(line))
            sys.stderr.flush()


def clock_text(seconds: float) -> str:
    """Return a time span as ``mm:ss``, or as ``h:mm:ss`` from one hour on."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute:02}:{second:02}"


class _Counts(ProgressColumn):
    """Items so far and in all, how many a second, and the time that is left."""

    def render(self, task: Task) -> Text:
        parts = [f"{task.completed:,.0f} of {task.total:,.0f}" if task.total else f"{task.completed:,.0f}"]
        speed = task.finished_speed or task.speed
        if speed:
            parts.append(f"{speed:,.1f}/s" if speed >= 1 else f"{60 * speed:,.1f}/min")
        if task.time_remaining is not None and not task.finished:
            parts.append(f"{clock_text(task.time_remaining)} left")
        return Text(", ".join(parts) if task.total or task.completed else clock_text(task.elapsed or 0))


class _Console(Console):
    """Console that leaves the cursor visible, also in the terminal of a build that was killed."""

    def show_cursor(self, show: bool = True) -> bool:
        del show
        return False


class _LiveBars(Bars):
    """Bars of the running steps, and below them the time and the losses of the build."""

    def __init__(self, build: BuildProgress) -> None:
        self._build = build
        super().__init__(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
            BarColumn(bar_width=24),
            _Counts(table_column=Column(no_wrap=True)),
            console=_Console(file=sys.stderr, highlight=False, markup=False, emoji=False),
            refresh_per_second=5,
            transient=True,
            # Standard output may be a file; its lines come between steps.
            redirect_stdout=False,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the table of bars and the line of the build."""
        yield self.make_tasks_table(self.tasks)
        parts = [Text(self._build.time_text, "dim")] if self._build.time_text else []
        if self._build.rejected:
            parts.append(Text(f"{self._build.rejected:,} rejected", "yellow"))
        if self._build.failed:
            parts.append(Text(f"{self._build.failed:,} failed", "red"))
        yield Text("  ") + Text(", ").join(parts)
