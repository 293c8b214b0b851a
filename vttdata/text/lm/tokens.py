"""Tokens of the n-gram model; the same rule in training and in scoring.

It serves modelling only: lower-casing and splitting lose what a caption looks like.
"""

from __future__ import annotations

import re

_WORD_CHARACTER = r"[^\s!-/:-@\[-`{-~\u00a1\u00ab\u00bb\u00bf\u2010-\u205e\u3000-\u303f\uff01-\uff0f]"
_TOKEN = re.compile(rf"'(?:s|t|re|ve|ll|d|m)(?!{_WORD_CHARACTER})|{_WORD_CHARACTER}+|\S")


def split_words(text: str) -> list[str]:
    r"""Split a text into lower-cased words and punctuation signs.

    A word is a run of anything but white space and punctuation (ASCII's, U+2010 to U+205E, the Spanish, French, CJK
    and full-width signs); every punctuation sign is a word of its own, so a hyphen separates the parts of a compound.
    The English endings 's 't 're 've 'll 'd 'm are words with their apostrophe, attached or not: "the man's" and "the
    man 's" are both three words. No word holds white space, so the words of a text are those of its parts between
    spaces.
    """
    return _TOKEN.findall(text.lower().replace("\u2019", "'"))


def parts_around(text: str, start: int, end: int) -> tuple[str, str, str, str]:
    """Cut a text at the span ``text[start:end]`` and at the white space around it.

    Returns:
        The text before the white space, from there to the span, from the span to the next white space, and the rest.
        A change of the span changes no word of the first and the last part.
    """
    left, right = start, end
    while left and not text[left - 1].isspace():
        left -= 1
    while right < len(text) and not text[right].isspace():
        right += 1
    return text[:left], text[left:start], text[end:right], text[right:]
