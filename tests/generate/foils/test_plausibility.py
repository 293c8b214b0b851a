"""A noun is plausible where it, or its like, was seen, and with what it was seen with."""

from __future__ import annotations

import pytest

from vttdata.generate.foils.plausibility import SUPERCATEGORIES, Evidence, Usage, place_of
from vttdata.text.nouns.lexicon import Mention, load_lexicon
from vttdata.text.nouns.mentions import find_mentions

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


def test_a_noun_is_less_likely_sound_where_it_was_not_seen() -> None:
    text = "he plays the guitar"
    known, unseen = (USAGE.unsound_probability(text, the("guitar", text), noun, {}) for noun in ("guitar", "banjo"))
    assert known is not None
    assert unseen is not None
    assert 0 < known < unseen < 1


def test_a_noun_that_goes_with_other_things_is_less_likely_sound() -> None:
    company = USAGE.company(["the", "cat", "sleeps", "on", "a", "bed"])
    assert company["cat"] > 0 > company["horse"]
    text = "a girl rides a camel"
    probabilities = [
        USAGE.unsound_probability(text, the("camel", text), "camel", {"camel": goes}) for goes in (0.2, 0.0, -0.4)
    ]
    assert sorted(probabilities) == probabilities
    assert len(set(probabilities)) == 3


def test_another_kind_must_have_been_seen_there() -> None:
    text = "a man rides a bike"
    assert USAGE.unsound_probability(text, the("bicycle", text), "car", {}) is None


def test_a_noun_stands_behind_no_preposition_that_is_hardly_ever_before_it() -> None:
    videos = [("a man stands on the stage", "he is on a field"), ("a man runs in the gym", "he is in a field")] * 9
    usage = Usage(videos, LEXICON)
    text = "she sings on the stage"
    assert usage.unsound_probability(text, the("stage", text), "gym", {}) is None
    assert usage.unsound_probability(text, the("stage", text), "field", {}) is not None
    assert usage.evidence(text, the("stage", text), "field", {}).linked  # type: ignore[union-attr]


def test_without_texts_nothing_is_known_and_nothing_breaks() -> None:
    empty = Usage([], LEXICON)
    text = "he plays the guitar"
    assert empty.company(["guitar"]) == {}
    evidence = empty.evidence(text, the("guitar", text), "banjo", {})
    assert evidence == Evidence(same=True, seen=0.0, alike=0, linked=False, goes=0.0, told=0.0)


def test_weights_are_given_for_supercategories_that_there_are() -> None:
    assert {noun.supercategory for noun in LEXICON.nouns.values()} >= SUPERCATEGORIES.keys()
