"""A noun is plausible where it, or its like, was seen, and with what it was seen with."""

from __future__ import annotations

import pytest

from vttdata.generate.usage import Usage, place_of
from vttdata.text.concepts import find_mentions
from vttdata.text.lexicon import Mention, load_lexicon

LEXICON = load_lexicon()
VIDEOS = [
    *[("a man rides a horse", "the horse runs in a field")] * 20,
    *[("a girl rides a camel", "the camel walks")] * 5,
    *[("a woman holds a cat", "the cat sleeps on a bed")] * 20,
    *[("a man plays the guitar on a stage",)] * 10,
    *[("a boy plays the piano", "he plays the drums")] * 10,
    *[("a girl holds a violin",)] * 3,
]
USAGE = Usage(VIDEOS, LEXICON)


def the(noun: str, text: str) -> Mention:
    return next(own for own in find_mentions(text, LEXICON) if own.noun == noun)


@pytest.mark.parametrize(
    ("text", "noun", "place"),
    [
        ("a man is holding the big ball", "ball", "hold"),
        ("he held his ball", "ball", "hold"),
        ("she sits on a chair", "chair", "sit on"),
        ("the dog is running away", "dog", "> run"),
        ("a man claps and the dog jumps", "dog", "> jump"),
        ("a hat and a shirt.", "shirt", "hat and"),
    ],
)
def test_a_place_is_what_governs_the_noun(text: str, noun: str, place: str) -> None:
    assert place_of(text, the(noun, text)) == place


def test_what_was_never_ridden_though_it_is_common_is_out_of_place() -> None:
    text = "a man rides a horse"
    assert USAGE.doubt(text, the("horse", text), "cat", {}) is None
    assert USAGE.doubt(text, the("horse", text), "camel", {}) == 0


def test_a_noun_is_doubted_less_where_several_of_its_kind_were_seen() -> None:
    text = "he plays the guitar"
    place = the("guitar", text)
    known = USAGE.doubt(text, place, "piano", {})
    unseen = USAGE.doubt(text, place, "flute", {})
    nowhere = "she cleans the guitar"
    assert known == 0
    assert unseen == 0.25
    assert USAGE.doubt(nowhere, the("guitar", nowhere), "flute", {}) == 0.5


def test_a_noun_that_goes_with_other_things_is_doubted_more() -> None:
    company = USAGE.company(["the", "cat", "sleeps", "on", "a", "bed"])
    assert company["cat"] > 0 > company["horse"]
    text = "a girl rides a camel"
    alone = USAGE.doubt(text, the("camel", text), "horse", {})
    among_cats = USAGE.doubt(text, the("camel", text), "horse", {"horse": -0.2})
    assert (alone, among_cats) == (0, 0.2)
    assert USAGE.doubt(text, the("camel", text), "horse", {"horse": -2.0}) is None


def test_another_kind_must_have_been_seen_there() -> None:
    text = "a man rides a bike"
    assert USAGE.doubt(text, the("bicycle", text), "car", {}) is None


def test_without_texts_nothing_is_known_and_nothing_breaks() -> None:
    empty = Usage([], LEXICON)
    text = "he plays the guitar"
    assert empty.company(["guitar"]) == {}
    assert empty.doubt(text, the("guitar", text), "piano", {}) == 0.5
    assert empty.doubt(text, the("guitar", text), "guitar", {"guitar": -1.0}) is None
