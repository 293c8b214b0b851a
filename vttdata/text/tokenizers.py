"""Choose how captions are cut into tokens before words are compared: by name, or by the language of the captions.

A tokenizer turns a text into its tokens. Its name is part of every score's signature, since scores by different
tokenizers are not comparable.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Mapping

from vttdata.errors import VttdataError, list_choices
from vttdata.text.ptb_tokenizer import tokenize_caption

Tokenizer = Callable[[str], list[str]]

# First and last character of the blocks of scripts that put no spaces between words: Thai and Lao, Myanmar, Khmer,
# kana and Bopomofo, Han, and their extensions.
UNSPACED_BLOCKS = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3005, 0x3007),
    (0x3021, 0x312F),
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_UNSPACED_BOUNDS = [bound for first, last in UNSPACED_BLOCKS for bound in (first, last + 1)]


class _CharacterClasses(dict[int, str]):
    """Classes of characters by code point: ``U`` a token of its own, ``W`` part of a word, ``M`` a mark, or a space."""

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        if category[0] in "LN":
            found = "U" if bisect_right(_UNSPACED_BOUNDS, code) % 2 else "W"
        else:
            # Joiners are format characters inside words; the zero width space separates words.
            found = "M" if category[0] == "M" or (category == "Cf" and code != 0x200B) else " "
        self[code] = found
        return found


CHARACTER_CLASSES = _CharacterClasses()
"""Class of each character, see `_CharacterClasses`, as a table of `str.translate`."""
INVISIBLE = "\u00ad\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
"""Ranges of characters that change no word: soft hyphen, word joiner, marks of direction, byte order mark.

The joiners U+200C and U+200D are none of them, since Persian, Hindi and emoji are spelled with them.
"""
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_WORD = re.compile("UM*|W[WM]*")


def split_unicode_words(text: str) -> list[str]:
    """Return the words of a text in any language, case-folded and in form NFKC, without punctuation and symbols.

    Letters and digits with their combining marks form words, of which invisible characters are no part; in scripts that
    do not separate words (Han, kana, Thai, Lao, Khmer, Myanmar) every letter with its marks is a token.
    """
    visible = text if text.isascii() else _INVISIBLE.sub("", text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())
    return [folded[match.start() : match.end()] for match in _WORD.finditer(folded.translate(CHARACTER_CLASSES))]


# By the name that stands in signatures. `none` takes captions that are tokenized already, and leaves case alone.
TOKENIZERS: Mapping[str, Tokenizer] = {
    "ptb-3.4.1": tokenize_caption,
    "unicode": split_unicode_words,
    "none": str.split,
}


def load_tokenizer(name: str) -> Tokenizer:
    """Return a tokenizer.

    Raises:
        VttdataError: if there is no such tokenizer.
    """
    if name not in TOKENIZERS:
        raise VttdataError(f"Unknown tokenizer {name!a}; choose from {list_choices(name, TOKENIZERS)}.")
    return TOKENIZERS[name]


def tokenizer_for(language: str) -> str:
    """Return the name of the tokenizer for captions in a language: ``ptb-3.4.1`` for English, else ``unicode``.

    The language is an ISO 639 code, possibly with a region, such as ``en-GB``.
    """
    return "ptb-3.4.1" if re.split("[-_]", language.lower())[0] in {"en", "eng"} else "unicode"
