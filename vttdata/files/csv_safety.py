"""Escape text from outside for where it is opened: in a spreadsheet, and in the HTML of a crowd task."""

from __future__ import annotations

import html
import re

# Some spreadsheets take full-width forms for the characters themselves.
_FORMULA = re.compile(r"'*\s*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]")
_FORMULA_START = re.compile(r"\s*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]")


def escape_formula(text: str) -> str:
    """Put a ``'`` before text that a spreadsheet would run as a formula, or that looks already escaped."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def html_cell(text: str) -> str:
    """Return text as HTML, for a cell that a crowd platform puts into its page without escaping.

    Characters at the start that would make the cell a formula become character references, ``&#61;`` for ``=``: a
    spreadsheet shows text, and the page shows the characters themselves.
    """
    match = _FORMULA_START.match(text)
    if match is None:
        return html.escape(text)
    return "".join(f"&#{ord(character)};" for character in match[0]) + html.escape(text[match.end() :])
