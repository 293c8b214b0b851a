"""Finds mentions of nouns with a trained spaCy pipeline, such as ``en_core_web_sm``.

What is found depends on the pipeline and its version; both belong beside what is made of it.
"""

from __future__ import annotations

from typing import Any

from vttdata.errors import VttdataError
from vttdata.text.nouns.lexicon import Lexicon, Mention, Noun

_NEEDED = ("POS", "DEP")


def load_pipeline(name: str) -> Any:
    """A trained spaCy pipeline by its name or folder.

    Raises:
        VttdataError: when it is not installed, cannot be loaded, or does not tag and parse.
    """
    import spacy

    try:
        pipeline = spacy.load(name, exclude=["ner"])
    except (OSError, ValueError, ImportError) as error:
        reason = " ".join(str(error).split())[:160]
        raise VttdataError(f"The spaCy pipeline {name!a} cannot be loaded ({reason}).") from error
    _tagged(pipeline("a man walks"), pipeline)
    return pipeline


def find_by_pipeline(text: str, lexicon: Lexicon, pipeline: Any) -> list[Mention]:
    """The nouns of the lexicon in a text that the pipeline takes for common nouns outside unknown compounds.

    Raises:
        VttdataError: when the pipeline does not tag and parse.
    """
    doc = _tagged(pipeline(text), pipeline)
    found: list[Mention] = []
    place = 0
    while place < len(doc):
        end, noun, plural = _longest(doc, place, lexicon)
        if noun is not None and _stands_free(doc, place, end):
            many = doc[end - 1].morph.get("Number") == ["Plur"] if noun.plural == noun.name else plural
            found.append(Mention(doc[place].idx, doc[end - 1].idx + len(doc[end - 1]), noun.name, many))
        place = end
    return found


def _tagged(doc: Any, pipeline: Any) -> Any:
    missing = [name for name in _NEEDED if len(doc) and not doc.has_annotation(name)]
    if missing:
        name = pipeline.meta.get("name")
        raise VttdataError(f"The spaCy pipeline {name!a} gives no {' and no '.join(missing)}; it must tag and parse.")
    return doc


def _longest(doc: Any, place: int, lexicon: Lexicon) -> tuple[int, Noun | None, bool]:
    """The end of the longest form of a noun that begins at a token, its noun and number; or the next token and None."""
    # a hyphen is a token of its own, so a form of n words spans up to 2n - 1 tokens
    for end in range(min(place + 2 * lexicon.most_words - 1, len(doc)), place, -1):
        known = lexicon.noun(doc[place:end].text)
        if known is not None:
            return end, *known
    return place + 1, None, False


def _stands_free(doc: Any, start: int, end: int) -> bool:
    """Whether a span is headed by a common noun and is no part of a longer compound."""
    head = doc[end - 1]
    if head.pos_ != "NOUN" or head.dep_ == "compound" or "-" in (doc[end].text if end < len(doc) else ""):
        return False
    outside = (child for child in head.children if not start <= child.i < end)
    return not any(child.dep_ == "compound" or child.pos_ == "PROPN" for child in outside if child.i < start)
