"""Cuts a text into the words and signs that the n-gram model counts; the same rule in training and in scoring.

It is meant for modelling only: lower-casing and splitting lose what a caption looks like.
"""

from __future__ import annotations

import re

_RUN = r"[^\s!-/:-@\[-`{-~\u00a1\u00ab\u00bb\u00bf\u2010-\u205e\u3000-\u303f\uff01-\uff0f]"
_TOKEN = re.compile(rf"'(?:s|t|re|ve|ll|d|m)(?!{_RUN})|{_RUN}+|\S")


def split_words(text: str) -> list[str]:
    r"""The lower-cased words and signs of `text`, in order.

    A word is a run of anything but white space and punctuation (ASCII's, U+2010 to U+205E, the Spanish, French, CJK
    and full-width signs); every punctuation sign is a word of its own, so a hyphen parts a compound. The English
    endings 's 't 're 've 'll 'd 'm are one word with their apostrophe, wherever they stand: "the man's" and "the man
    's" are both three words. No word holds white space, so a text's words are those of its parts between spaces.
    """
    return _TOKEN.findall(text.lower().replace("\u2019", "'"))


def parts_around(text: str, start: int, end: int) -> tuple[str, str, str, str]:
    """`text` cut at the white space around `text[start:end]`: before, up to the span, from the span on, after.

    Replacing the span changes no word of the first and the last part.
    """
    left, right = start, end
    while left and not text[left - 1].isspace():
        left -= 1
    while right < len(text) and not text[right].isspace():
        right += 1
    return text[:left], text[left:start], text[end:right], text[right:]
