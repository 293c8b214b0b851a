"""Mentions of visible things in captions, found by rules, by a trained spaCy pipeline or in annotations.

Only nouns of the lexicon are found, and a doubtful one is left out. Results of a pipeline, such as ``en_core_web_sm``,
depend on it and its version; both belong in the provenance of what is made of them.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vttdata.errors import VttdataError
from vttdata.text.nouns.grammar import RuleFinder
from vttdata.text.nouns.lexicon import Lexicon, Mention, Noun

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


__all__ = ["Mention", "find_mentions", "load_pipeline", "mentions_of_annotation", "possible_nouns"]

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
# Texts whose mentions are kept, some 400 bytes each: foils need those of all captions four times, and those that a word
# could name several times for the captions of one video.
_MAX_CACHED_TEXTS = 1 << 18
_MAX_CACHED_POSSIBLE = 1 << 13
_REQUIRED_ANNOTATIONS = ("POS", "DEP")


def find_mentions(text: str, lexicon: Lexicon, *, pipeline: Language | None = None) -> list[Mention]:
    """Find the nouns of a lexicon that a caption or paragraph, in any case, certainly mentions, in its order.

    Without a trained `pipeline`, from `load_pipeline`, the rules of `vttdata.text.nouns.grammar` decide.
    """
    if pipeline is not None:
        return find_by_pipeline(text, lexicon, pipeline)
    return list(_find_by_rules(text, lexicon))


@functools.lru_cache(maxsize=_MAX_CACHED_TEXTS)
def _find_by_rules(text: str, lexicon: Lexicon) -> tuple[Mention, ...]:
    return tuple(_rule_finder(lexicon).find(text))


_rule_finder = functools.lru_cache(maxsize=4)(RuleFinder)


@functools.lru_cache(maxsize=_MAX_CACHED_POSSIBLE)
def possible_nouns(text: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the names of all nouns that any word or expression of a text could name, doubtful ones included.

    What is missing here is certainly not mentioned.
    """
    words = [match[0] for match in _WORD.finditer(text)]
    names = set()
    for start in range(len(words)):
        longest = lexicon.most_words if lexicon.begins_expression(words[start]) else 1
        for end in range(start + 1, min(start + longest, len(words)) + 1):
            known = lexicon.noun(" ".join(words[start:end]).removesuffix("'s"))
            if known is not None:
                names.add(known[0].name)
    return frozenset(names)


def mentions_of_annotation(
    text: str, tokens: Sequence[str], indices: Sequence[int], classes: Sequence[str], lexicon: Lexicon
) -> list[Mention]:
    """Return the mentions of annotated concepts, such as `vttdata.records.Concepts`, in the text they annotate.

    The tokens are the words of the text in order, lower-cased or not, with punctuation or not; each mention has the
    index of its token, from 0, and its class. Classes that are missing in the lexicon (he, top) are left out, and so
    are words that name another noun. Mentions are in the order of the text, each span once.

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


def load_pipeline(name: str) -> Language:
    """Load a trained spaCy pipeline by its name or folder.

    Raises:
        VttdataError: when it is not installed, cannot be loaded, or does not tag and parse.
    """
    import spacy

    try:
        pipeline = spacy.load(name, exclude=["ner"])
    except (OSError, ValueError, ImportError) as error:
        # Published pipelines are packages, such as en_core_web_sm; folders have other names, or a separator.
        if re.fullmatch(r"[a-z]{2,3}_\w+_(?:sm|md|lg|trf)", name, re.ASCII) and importlib.util.find_spec(name) is None:
            command = f"python -m spacy download {name}"
            raise VttdataError(f"The spaCy pipeline {name} is not installed: {command}") from error
        reason = " ".join(str(error).split())[:160]
        raise VttdataError(f"The spaCy pipeline {name!a} cannot be loaded ({reason}).") from error
    _parse("a man walks", pipeline)
    return pipeline


def find_by_pipeline(text: str, lexicon: Lexicon, pipeline: Language) -> list[Mention]:
    """Find the nouns of the lexicon that the pipeline takes for common nouns outside unknown compounds.

    Raises:
        VttdataError: when the pipeline does not tag and parse.
    """
    doc = _parse(text, pipeline)
    mentions: list[Mention] = []
    start = 0
    while start < len(doc):
        end, noun, plural = find_longest_form(doc, start, lexicon)
        if noun is not None and is_common_noun(doc, start, end):
            # Where both numbers have one form, only the sentence tells them apart.
            if noun.plural == noun.name:
                plural = doc[end - 1].morph.to_dict().get("Number") == "Plur"
            mentions.append(Mention(doc[start].idx, doc[end - 1].idx + len(doc[end - 1]), noun.name, plural))
        start = end
    return mentions


def _parse(text: str, pipeline: Language) -> Doc:
    doc = pipeline(text)
    missing = [name for name in _REQUIRED_ANNOTATIONS if len(doc) and not doc.has_annotation(name)]
    if missing:
        name = pipeline.meta.get("name")
        raise VttdataError(f"The spaCy pipeline {name!a} gives no {' and no '.join(missing)}; it must tag and parse.")
    return doc


def find_longest_form(doc: Doc, start: int, lexicon: Lexicon) -> tuple[int, Noun | None, bool]:
    """Return the end of the longest form that begins at a token, its noun and number; or the next token and None."""
    # A hyphen is a token of its own, so a form of n words spans up to 2n - 1 tokens.
    for end in range(min(start + 2 * lexicon.most_words - 1, len(doc)), start, -1):
        known = lexicon.noun(doc[start:end].text)
        if known is not None:
            return end, *known
    return start + 1, None, False


def is_common_noun(doc: Doc, start: int, end: int) -> bool:
    """Return whether a span is headed by a common noun and is not part of a longer compound."""
    head = doc[end - 1]
    if head.pos_ != "NOUN" or head.dep_ == "compound" or "-" in (doc[end].text if end < len(doc) else ""):
        return False
    return not any(child.dep_ == "compound" or child.pos_ == "PROPN" for child in head.children if child.i < start)
