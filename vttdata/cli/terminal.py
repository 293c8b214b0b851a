"""Text for a terminal: control characters of other people's names have no effect, and colour is for terminals only."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

import click

from vttdata.files.table_formats import visible

if TYPE_CHECKING:
    from vttdata.files.results import Section


class VisibleText:
    """Text stream whose control characters, from somebody else's names, are shown instead of obeyed by a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write text with `visible` control characters."""
        return self.stream.write(visible(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def print_styled(text: str, file: Any = None, **style: Any) -> None:
    """Print a line with `visible` control characters, in a style of `click.style` where the stream takes colours."""
    stream = sys.stdout if file is None else file
    stream = stream.stream if isinstance(stream, VisibleText) else stream
    text = visible(text)
    # Colours are for a terminal that obeys them, unless NO_COLOR is set (https://no-color.org).
    is_plain = not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown")
    print(text if is_plain else click.style(text, **style), file=stream, flush=True)


def print_result(content: Mapping[str, Any], sections: Iterable[Section], *, as_json: bool) -> None:
    """Print a result as JSON, or its sections."""
    from vttdata.files.results import format_text

    print(json.dumps(content, indent=2, ensure_ascii=False) if as_json else format_text(sections))
