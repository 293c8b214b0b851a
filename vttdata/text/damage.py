"""Find text that was damaged on its way: decoded in the wrong encoding (mojibake), or with characters replaced.

Nothing is repaired, since what was meant can only be guessed.
"""

from __future__ import annotations

import re
from typing import Literal

Damage = Literal["mojibake", "replacement_character"]

REPLACEMENT_CHARACTER = "\ufffd"

# What bytes 0x80 to 0xBF of UTF-8 become when they are taken for Windows-1252; its five gaps stay control characters.
_WINDOWS = {bytes([byte]).decode("cp1252", "ignore") or chr(byte): byte for byte in range(0x80, 0xC0)}
_REST = f"[{re.escape(''.join(_WINDOWS))}\x80-\x9f]"
_SEQUENCES = re.compile(f"(?:[\xc2-\xdf]{_REST}|[\xe0-\xef]{_REST}{{2}}|[\xf0-\xf4]{_REST}{{3}})+")
# One decoded character alone may be chance, as in a quote behind a capital; letters of western and central Europe,
# typographic punctuation and the euro sign are what is mangled most.
_LIKELY = re.compile("[\xa0-\u017e\u2010-\u2044\u20ac\u2122]")
# Behind capitals that begin Central European letters in UTF-8, these are punctuation.
_CHANCE = re.compile("[\xc4\xc5][\u2013\u2014\u2018-\u201e\u2026]")


def find_text_damage(text: str) -> Damage | None:
    """Return how a text is damaged: UTF-8 that was read as Windows-1252 or Latin-1, or with U+FFFD; None if it is not.

    Text in which a mangled character stands alone is taken for damaged where it would be a letter of European languages
    or common punctuation; runs of mangled characters in any script.
    """
    if text.isascii():
        return None
    if REPLACEMENT_CHARACTER in text:
        return "replacement_character"
    for match in _SEQUENCES.finditer(text):
        sequence = match[0]
        try:
            decoded = bytes(_WINDOWS.get(character, ord(character)) for character in sequence).decode()
        except (UnicodeDecodeError, ValueError):
            continue
        if len(decoded) > 1 or (_LIKELY.fullmatch(decoded) and not _CHANCE.fullmatch(sequence)):
            return "mojibake"
    return None
