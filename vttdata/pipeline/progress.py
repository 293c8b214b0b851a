"""Progress of the steps of a build on standard error: bars on a terminal, a plain line now and then elsewhere.

Both move while a step that takes all items at once is at work, if only by their time. Labels are shown as they are:
neither rich's markup nor a terminal's control characters in them have an effect.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from vttdata.files.table_formats import visible

if TYPE_CHECKING:
    from rich.progress import TaskID

    from vttdata.pipeline.progress_bars import LiveBars

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
        self._bars: LiveBars | None = None

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
            from vttdata.pipeline.progress_bars import LiveBars

            self._bars = LiveBars(self._state, clock_text)
            self._bars.start()
        return self._bars.add_task(visible(label), total=total or None)

    def advance(self, step: TaskID | None, rejected: int, failed: int) -> None:
        """Count an item of a step, and its losses."""
        self.rejected += rejected
        self.failed += failed
        if self._bars is not None and step is not None:
            self._bars.advance(step)

    def _state(self) -> Iterator[tuple[str, str]]:
        if self.time_text:
            yield self.time_text, "dim"
        if self.rejected:
            yield f"{self.rejected:,} rejected", "yellow"
        if self.failed:
            yield f"{self.failed:,} failed", "red"

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
