"""Words of captions as they are written: what white space separates, and letters of scripts that separate no words.

These words keep their punctuation and case, so that lengths can be counted and words be replaced in place. Words that
are compared come from `vttdata.text.tokenizers`, which also says which scripts those are.
"""

from __future__ import annotations

import re

from vttdata.text.tokenizers import CHARACTER_CLASSES, UNSPACED_BLOCKS

_RUN = re.compile(r"\S+")
_UNSPACED = re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in UNSPACED_BLOCKS)}]")
# Classes of a run between white space: a letter or a word with its marks, and the punctuation around it.
_TOKEN = re.compile(r"(?:\A[ M]*)?(?:UM*|W(?:[WM]| +(?=W))*)[ M]*")


def find_words(text: str) -> list[tuple[int, int]]:
    """Return start and end of the words of a text in any language.

    A word is a run between white space. Where one has letters of a script without spaces between words (Han, kana,
    Thai, Lao, Khmer, Myanmar), each of them with its marks is a word, as in the tokenizer ``unicode``, and so is what
    stands between them. Punctuation belongs to the word before it, or else to the first one of the run.
    """
    runs = [match.span() for match in _RUN.finditer(text)]
    if text.isascii() or not _UNSPACED.search(text):
        return runs
    words: list[tuple[int, int]] = []
    for first, last in runs:
        classes = text[first:last].translate(CHARACTER_CLASSES)
        tokens = [(first + token.start(), first + token.end()) for token in _TOKEN.finditer(classes)]
        words += tokens if "U" in classes else [(first, last)]
    return words


def split_words(text: str) -> list[str]:
    """Return the words of a text in any language, as `find_words` finds them."""
    if text.isascii():
        return text.split()
    return [text[start:end] for start, end in find_words(text)]
