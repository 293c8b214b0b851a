"""Finds mentions of visible things in captions: by spaCy, or from the token indices of annotations.

With a trained spaCy pipeline its tags and parse decide; without one, the rules of `vttdata.text.nouns.rule_finder`.
Only nouns of
the lexicon can be found, and a doubtful one is left out.
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
    """The believable mentions in a text, in its order.

    Args:
        text: a caption or a paragraph, in any case.
        lexicon: which nouns can be found.
        pipeline: a trained one, from `vttdata.text.nouns.spacy_finder.load_pipeline`; by rule without one.
    """
    if pipeline is not None:
        return find_by_pipeline(text, lexicon, pipeline)
    return _finder(lexicon).find(text)


def possible_nouns(text: str, lexicon: Lexicon) -> frozenset[str]:
    """The names of all nouns that any word or expression of a text could name, in doubt included.

    It is meant for the opposite question: what a text certainly does not speak of.
    """
    words = [match[0] for match in _WORD.finditer(text)]
    found = set()
    for start in range(len(words)):
        for end in range(start + 1, min(start + lexicon.most_words, len(words)) + 1):
            known = lexicon.noun(" ".join(words[start:end]).removesuffix("'s"))
            if known is not None:
                found.add(known[0].name)
    return frozenset(found)


def mentions_of_annotation(
    text: str, tokens: Sequence[str], indices: Sequence[int], classes: Sequence[str], lexicon: Lexicon
) -> list[Mention]:
    """The mentions of annotated concepts, such as `vttdata.records.Concepts`, in the text they were annotated in.

    Args:
        text: the sentence as it was written.
        tokens: its words, in order; lower-cased or not, with punctuation or not.
        indices: of the token of each mention, from 0.
        classes: of each mention.
        lexicon: classes that are not in it (he, top) are left out, and so are words that name another noun.

    Returns:
        In the order of the text, each span once.

    Raises:
        VttdataError: when tokens are not the text's words in order, or an index is not a token's.
    """
    places = _align(text, tokens)
    found: dict[tuple[int, int], Mention] = {}
    for index, name in zip(indices, classes, strict=True):
        if not 0 <= index < len(places):
            raise VttdataError(f"The index {index} of {name[:60]!a} is none of the text's {len(places)} tokens.")
        concept, word = lexicon.noun(name), lexicon.noun(text[slice(*places[index])])
        if concept is None or word is None or not lexicon.related(concept[0].name, word[0].name):
            continue
        found[places[index]] = Mention(*places[index], word[0].name, word[1])
    return [found[place] for place in sorted(found)]


def _align(text: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Where each token stands in the text, when between tokens there is only space and punctuation."""
    places = []
    end = 0
    lower = text.lower() if len(text.lower()) == len(text) else text
    for token in tokens:
        start = lower.find(token.lower(), end)  # the published files have empty tokens: they stand for nothing
        if start < 0 or any(character.isalnum() for character in text[end:start]):
            raise VttdataError(f"The token {token[:60]!a} is not the next word of {text[:80]!a}.")
        end = start + len(token)
        places.append((start, end))
    if any(character.isalnum() for character in text[end:]):
        raise VttdataError(f"The tokens end before {text[end:][:60]!a}.")
    return places


@functools.lru_cache(maxsize=4)
def _finder(lexicon: Lexicon) -> RuleFinder:
    return RuleFinder(lexicon)
