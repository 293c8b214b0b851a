"""Keeps text from outside from running where it is opened: in a spreadsheet, and in the HTML of a crowd task."""

from __future__ import annotations

import html
import re

# Some spreadsheets take the full-width forms for the signs themselves.
_FORMULA = re.compile(r"'*\s*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]")
_FIRST = re.compile(r"\s*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]")


def escape_formula(text: str) -> str:
    """Put a ``'`` before text that a spreadsheet would run as a formula, or that looks already escaped."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def html_cell(text: str) -> str:
    """The text as HTML, for a cell whose content a crowd platform puts into its page as it stands.

    Signs at the beginning that would make the cell a formula become character references, ``&#61;`` for ``=``: a
    spreadsheet sees text, and the page shows the signs themselves.
    """
    found = _FIRST.match(text)
    if found is None:
        return html.escape(text)
    return "".join(f"&#{ord(sign)};" for sign in found[0]) + html.escape(text[found.end() :])
