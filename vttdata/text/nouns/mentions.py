"""Mentions of visible things in captions, found by rules, by a trained spaCy pipeline or in annotations.

Only nouns of the lexicon are found, and a doubtful one is left out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from vttdata.errors import VttdataError
from vttdata.text.nouns.lexicon import Lexicon, Mention
from vttdata.text.nouns.rule_finder import RuleFinder
from vttdata.text.nouns.spacy_finder import find_by_pipeline

__all__ = ["Mention", "find_mentions", "mentions_of_annotation", "possible_nouns"]

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


def find_mentions(text: str, lexicon: Lexicon, *, pipeline: Any = None) -> list[Mention]:
    """Find the nouns of a lexicon that a caption or paragraph, in any case, certainly mentions, in its order.

    Without a trained `pipeline`, from `vttdata.text.nouns.spacy_finder.load_pipeline`, the rules of
    `vttdata.text.nouns.rule_finder` decide.
    """
    if pipeline is not None:
        return find_by_pipeline(text, lexicon, pipeline)
    return _rule_finder(lexicon).find(text)


_rule_finder = functools.lru_cache(maxsize=4)(RuleFinder)


def possible_nouns(text: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the names of all nouns that any word or expression of a text could name, doubtful ones included.

    What is missing here is certainly not mentioned.
    """
    words = [match[0] for match in _WORD.finditer(text)]
    names = set()
    for start in range(len(words)):
        for end in range(start + 1, min(start + lexicon.most_words, len(words)) + 1):
            known = lexicon.noun(" ".join(words[start:end]).removesuffix("'s"))
            if known is not None:
                names.add(known[0].name)
    return frozenset(names)


def mentions_of_annotation(
    text: str, tokens: Sequence[str], indices: Sequence[int], classes: Sequence[str], lexicon: Lexicon
) -> list[Mention]:
    """Return the mentions of annotated concepts, such as `vttdata.records.Concepts`, in the text they annotate.

    Args:
        text: the sentence as it was written.
        tokens: its words, in order; lower-cased or not, with punctuation or not.
        indices: of the token of each mention, from 0.
        classes: of each mention.
        lexicon: classes that are missing in it (he, top) are left out, and so are words that name another noun.

    Returns:
        The mentions in the order of the text, each span once.

    Raises:
        VttdataError: when tokens are not the text's words in order, or an index is out of range.
    """
    spans = align_tokens(text, tokens)
    mentions: dict[tuple[int, int], Mention] = {}
    for index, name in zip(indices, classes, strict=True):
        if not 0 <= index < len(spans):
            raise VttdataError(f"The index {index} of {name[:60]!a} is none of the text's {len(spans)} tokens.")
        concept, word = lexicon.noun(name), lexicon.noun(text[slice(*spans[index])])
        if concept is not None and word is not None and lexicon.related(concept[0].name, word[0].name):
            mentions[spans[index]] = Mention(*spans[index], word[0].name, word[1])
    return [mentions[span] for span in sorted(mentions)]


def align_tokens(text: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return the span of each token in the text; between tokens there may be only space and punctuation."""
    spans = []
    end = 0
    # Lower-casing may change the length of a text, and then spans would be wrong.
    lower = text.lower() if len(text.lower()) == len(text) else text
    for token in tokens:
        # The published files have empty tokens, which are found at once and span nothing.
        start = lower.find(token.lower(), end)
        if start < 0 or any(character.isalnum() for character in text[end:start]):
            raise VttdataError(f"The token {token[:60]!a} is not the next word of {text[:80]!a}.")
        end = start + len(token)
        spans.append((start, end))
    if any(character.isalnum() for character in text[end:]):
        raise VttdataError(f"The tokens end before {text[end:][:60]!a}.")
    return spans
