"""Progress of a step of a build on standard error: a bar on a terminal, a plain line now and then elsewhere.

Both move while a step that takes all items at once is at work, if only by their time.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

_LINE_EVERY_SECONDS = 10.0
_FORMAT_WITH_TOTAL = "{desc} {n_fmt:>7} of {total_fmt} |{bar:30}| {elapsed}<{remaining}{postfix}"
_FORMAT_WITHOUT_TOTAL = "{desc} {n_fmt:>7} {elapsed}{postfix}"


class Progress:
    """Context manager that counts the items of one step and shows the counts.

    Args:
        label: name of the step.
        total: number of items; None where it is not known, or where items do not come one by one.
        quiet: show nothing.
        build_started: `time.monotonic` at the start of the build, whose time is shown too.
    """

    def __init__(
        self, label: str, total: int | None, *, quiet: bool = False, build_started: float | None = None
    ) -> None:
        self._label, self._total = label, total
        self._count = self._failed = self._rejected = 0
        self._started = time.monotonic()
        self._build_started = build_started
        self._bar: tqdm[Any] | None = None
        self._finished = threading.Event()
        if sys.stderr.isatty() and not quiet:
            bar_format = _FORMAT_WITH_TOTAL if total else _FORMAT_WITHOUT_TOTAL
            self._bar = tqdm(total=total, desc=f"{label:<18}", bar_format=bar_format, leave=False, dynamic_ncols=True)
        self._clock = threading.Thread(target=self._show_time, daemon=True)
        if not quiet:
            self._clock.start()

    def advance(self, *, rejected: int = 0, failed: int = 0) -> None:
        """Count one more item, and how many of its outcomes are rejects and failures."""
        self._count += 1
        self._rejected += rejected
        self._failed += failed
        if self._bar is not None:
            self._bar.update(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._finished.set()
        if self._clock.is_alive():
            self._clock.join()
        if self._bar is not None:
            self._bar.close()

    def _show_time(self) -> None:
        while not self._finished.wait(1.0 if self._bar is not None else _LINE_EVERY_SECONDS):
            losses = f", {self._rejected} rejected, {self._failed} failed" if self._rejected or self._failed else ""
            of_build = ""
            if self._build_started is not None:
                of_build = f", build {tqdm.format_interval(time.monotonic() - self._build_started)}"
            if self._bar is not None:
                self._bar.set_postfix_str(f"{losses}{of_build}".removeprefix(", "))
                continue
            of_total = f" of {self._total}" if self._total else ""
            count = f" {self._count}{of_total}{losses}," if self._count or self._total else ""
            elapsed = tqdm.format_interval(time.monotonic() - self._started)
            # tqdm's own writer does not tear a bar that somebody else shows.
            tqdm.write(f"{self._label}:{count} {elapsed}{of_build}", file=sys.stderr)
