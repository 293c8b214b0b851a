"""Tell what a model wrote from what it was asked for: reasoning, special tokens and a repeated prompt."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

# Reasoning that is closed, and reasoning that was cut off before an answer.
_REASONED = r"(?:\w+:)?(?:think|thinking|thought|reasoning|analysis)>"
_REASONING = re.compile(rf"\A.*(?:</{_REASONED}|\u25c1/think\u25b7|<\|channel\|>final)", re.DOTALL | re.IGNORECASE)
_CUT_REASONING = re.compile(rf"(?:<{_REASONED}|\u25c1think\u25b7|<\|channel\|>).*", re.DOTALL | re.IGNORECASE)
_TOKEN = re.compile(r"<\|[^|<>]*\|>|</?s>|<(?:pad|unk|bos|eos|end_of_turn)>|\[(?:CLS|SEP|PAD|UNK)\]")

_LEAST_CAPTIONS, _LEAST_WORDS = 10, 3
_END_OF_PROMPT = re.compile(r".*[.:?!\n]\s*", re.DOTALL)


def strip_generated(text: str) -> str:
    """Return a text without reasoning and special tokens, also without reasoning that no answer follows."""
    return _TOKEN.sub("", _CUT_REASONING.sub("", _REASONING.sub("", text))).strip()


def find_prompt(texts: Sequence[str]) -> str:
    """Return the words, up to a punctuation mark, that all of ten or more different texts begin with; else nothing."""
    if len(set(texts)) < _LEAST_CAPTIONS:
        return ""
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(min(texts), max(texts), strict=False))
    prompt = _END_OF_PROMPT.match("".join(character for character, _ in alike))
    return prompt[0] if prompt and len(prompt[0].split()) >= _LEAST_WORDS else ""
