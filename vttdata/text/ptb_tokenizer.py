"""Tokenize English captions as coco-caption does: Penn Treebank tokens in lower case, without punctuation."""

from __future__ import annotations

import re

_PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"]
)
_TOKEN = re.compile(r"\w+(?=n't\b)|n't\b|'(?:s|m|d|re|ll|ve)\b|\w+(?:-\w+)*|\S")


def tokenize_caption(text: str) -> list[str]:
    """Return the tokens of a caption."""
    return [token for token in _TOKEN.findall(text.lower()) if token not in _PUNCTUATION]
