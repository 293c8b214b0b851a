"""Keeps text from outside from running where it is opened: in a spreadsheet, and in the HTML of a crowd task."""

from __future__ import annotations

import html
import re

# Some spreadsheets take the full-width forms for the signs themselves.
_FORMULA = re.compile(r"'*\s*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]")
_FIRST = re.compile(r"\s*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]")


def guarded(text: str) -> str:
    """The text, behind a ``'`` where a spreadsheet would run it, or where it looks as if it had been guarded before."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """What `guarded` was given; a text that it did not guard as it is."""
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
