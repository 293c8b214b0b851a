"""Shows how far a stage is: a bar on a terminal, plain lines elsewhere, always on standard error."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

_LINE_EVERY_SECONDS = 10.0
_KNOWN = "{desc} {n_fmt:>7} of {total_fmt} |{bar:30}| {elapsed}<{remaining}{postfix}"
_UNKNOWN = "{desc} {n_fmt:>7} {elapsed}{postfix}"


class Progress:
    """Counts the items of one stage; use it as a context manager."""

    def __init__(self, label: str, total: int | None, *, quiet: bool = False) -> None:
        self._label, self._total, self._quiet = label, total, quiet
        self._count = self._failed = self._rejected = 0
        self._said = time.monotonic()
        self._bar: tqdm[Any] | None = None
        self._over = threading.Event()
        if sys.stderr.isatty() and not quiet:
            shape = _KNOWN if total else _UNKNOWN
            self._bar = tqdm(total=total, desc=f"{label:<11}", bar_format=shape, leave=False, dynamic_ncols=True)
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()

    def advance(self, *, rejected: int = 0, failed: int = 0) -> None:
        """One more item is done."""
        self._count += 1
        self._rejected += rejected
        self._failed += failed
        if self._bar is not None:
            self._bar.update(1)
            if self._rejected or self._failed:
                self._bar.set_postfix(rejected=self._rejected, failed=self._failed, refresh=False)
        elif not self._quiet and time.monotonic() - self._said > _LINE_EVERY_SECONDS:
            self._said = time.monotonic()
            of = f" of {self._total}" if self._total else ""
            say(f"{self._label}: {self._count}{of}, {self._rejected} rejected, {self._failed} failed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        if self._bar is not None:
            self._ticker.join()
            self._bar.close()

    def _tick(self) -> None:
        """Let the clock go on while one long item is at work."""
        while self._bar is not None and not self._over.wait(1.0):
            self._bar.refresh()


def say(text: str) -> None:
    """A plain line on standard error, written so that no progress bar is torn."""
    tqdm.write(text, file=sys.stderr)
