"""Mentions of nouns by a trained spaCy pipeline, such as ``en_core_web_sm``.

Results depend on the pipeline and its version; both belong in the provenance of what is made of them.
"""

from __future__ import annotations

from typing import Any

from vttdata.errors import VttdataError
from vttdata.text.nouns.lexicon import Lexicon, Mention, Noun

_REQUIRED_ANNOTATIONS = ("POS", "DEP")


def load_pipeline(name: str) -> Any:
    """Load a trained spaCy pipeline by its name or folder.

    Raises:
        VttdataError: when it is not installed, cannot be loaded, or does not tag and parse.
    """
    import spacy

    try:
        pipeline = spacy.load(name, exclude=["ner"])
    except (OSError, ValueError, ImportError) as error:
        reason = " ".join(str(error).split())[:160]
        raise VttdataError(f"The spaCy pipeline {name!a} cannot be loaded ({reason}).") from error
    _parse("a man walks", pipeline)
    return pipeline


def find_by_pipeline(text: str, lexicon: Lexicon, pipeline: Any) -> list[Mention]:
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
                plural = doc[end - 1].morph.get("Number") == ["Plur"]
            mentions.append(Mention(doc[start].idx, doc[end - 1].idx + len(doc[end - 1]), noun.name, plural))
        start = end
    return mentions


def _parse(text: str, pipeline: Any) -> Any:
    doc = pipeline(text)
    missing = [name for name in _REQUIRED_ANNOTATIONS if len(doc) and not doc.has_annotation(name)]
    if missing:
        name = pipeline.meta.get("name")
        raise VttdataError(f"The spaCy pipeline {name!a} gives no {' and no '.join(missing)}; it must tag and parse.")
    return doc


def find_longest_form(doc: Any, start: int, lexicon: Lexicon) -> tuple[int, Noun | None, bool]:
    """Return the end of the longest form that begins at a token, its noun and number; or the next token and None."""
    # A hyphen is a token of its own, so a form of n words spans up to 2n - 1 tokens.
    for end in range(min(start + 2 * lexicon.most_words - 1, len(doc)), start, -1):
        known = lexicon.noun(doc[start:end].text)
        if known is not None:
            return end, *known
    return start + 1, None, False


def is_common_noun(doc: Any, start: int, end: int) -> bool:
    """Return whether a span is headed by a common noun and is not part of a longer compound."""
    head = doc[end - 1]
    if head.pos_ != "NOUN" or head.dep_ == "compound" or "-" in (doc[end].text if end < len(doc) else ""):
        return False
    return not any(child.dep_ == "compound" or child.pos_ == "PROPN" for child in head.children if child.i < start)
