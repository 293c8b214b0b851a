"""Progress of a stage on standard error: a bar on a terminal, a plain line now and then elsewhere."""

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
    """Context manager that counts the items of one stage and shows the counts.

    Args:
        label: name of the stage.
        total: number of items; None where it is not known.
        quiet: show nothing.
    """

    def __init__(self, label: str, total: int | None, *, quiet: bool = False) -> None:
        self._label, self._total, self._quiet = label, total, quiet
        self._count = self._failed = self._rejected = 0
        self._last_line = time.monotonic()
        self._bar: tqdm[Any] | None = None
        self._finished = threading.Event()
        if sys.stderr.isatty() and not quiet:
            bar_format = _FORMAT_WITH_TOTAL if total else _FORMAT_WITHOUT_TOTAL
            self._bar = tqdm(total=total, desc=f"{label:<11}", bar_format=bar_format, leave=False, dynamic_ncols=True)
            self._clock = threading.Thread(target=self._refresh_every_second, daemon=True)
            self._clock.start()

    def advance(self, *, rejected: int = 0, failed: int = 0) -> None:
        """Count one more item, and how many of its outcomes are rejects and failures."""
        self._count += 1
        self._rejected += rejected
        self._failed += failed
        if self._bar is not None:
            self._bar.update(1)
            if self._rejected or self._failed:
                self._bar.set_postfix(rejected=self._rejected, failed=self._failed, refresh=False)
        elif not self._quiet and time.monotonic() - self._last_line > _LINE_EVERY_SECONDS:
            self._last_line = time.monotonic()
            of_total = f" of {self._total}" if self._total else ""
            # tqdm's own writer does not tear a bar that somebody else shows.
            line = f"{self._label}: {self._count}{of_total}, {self._rejected} rejected, {self._failed} failed"
            tqdm.write(line, file=sys.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._finished.set()
        if self._bar is not None:
            self._clock.join()
            self._bar.close()

    def _refresh_every_second(self) -> None:
        # Otherwise the time on the bar would stand still while a long item is at work.
        while self._bar is not None and not self._finished.wait(1.0):
            self._bar.refresh()
