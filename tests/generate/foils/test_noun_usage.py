"""Plausibility of nouns by the contexts and words they were seen with."""

from __future__ import annotations

import pytest

from vttdata.generate.foils.noun_usage import SUPERCATEGORY_WEIGHTS, Evidence, NounUsage, find_context
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
USAGE = NounUsage(VIDEOS, LEXICON)


def mention_of(noun: str, text: str) -> Mention:
    return next(own for own in find_mentions(text, LEXICON) if own.noun == noun)


@pytest.mark.parametrize(
    ("text", "noun", "context"),
    [
        ("a man is holding the big ball", "ball", "hold"),
        ("he held his ball", "ball", "hold"),
        ("she sits on a chair", "chair", "sit on"),
        ("the dog is running away", "dog", "> run"),
        ("a man claps and the dog jumps", "dog", "> jump"),
        ("a hat and a shirt.", "shirt", "hat and"),
    ],
)
def test_context_is_the_word_that_governs_the_noun(text: str, noun: str, context: str) -> None:
    assert find_context(text, mention_of(noun, text)) == context


def test_unseen_noun_is_less_likely_sound() -> None:
    text = "he plays the guitar"
    known, unseen = (
        USAGE.unsound_probability(text, mention_of("guitar", text), noun, {}) for noun in ("guitar", "banjo")
    )
    assert known is not None
    assert unseen is not None
    assert 0 < known < unseen < 1


def test_noun_that_does_not_fit_the_topic_is_less_likely_sound() -> None:
    topic_fit = USAGE.topic_fit(["the", "cat", "sleeps", "on", "a", "bed"])
    assert topic_fit["cat"] > 0 > topic_fit["horse"]
    text = "a girl rides a camel"
    probabilities = [
        USAGE.unsound_probability(text, mention_of("camel", text), "camel", {"camel": fit}) for fit in (0.2, 0.0, -0.4)
    ]
    assert sorted(probabilities) == probabilities
    assert len(set(probabilities)) == 3


def test_noun_of_another_subcategory_must_have_been_seen_in_the_context() -> None:
    text = "a man rides a bike"
    assert USAGE.unsound_probability(text, mention_of("bicycle", text), "car", {}) is None


def test_noun_behind_an_unusual_preposition_is_refused() -> None:
    videos = [("a man stands on the stage", "he is on a field"), ("a man runs in the gym", "he is in a field")] * 9
    usage = NounUsage(videos, LEXICON)
    text = "she sings on the stage"
    assert usage.unsound_probability(text, mention_of("stage", text), "gym", {}) is None
    assert usage.unsound_probability(text, mention_of("stage", text), "field", {}) is not None
    assert usage.evidence(text, mention_of("stage", text), "field", {}).usual_preposition  # type: ignore[union-attr]


def test_person_of_the_same_age_is_more_likely_sound() -> None:
    usage = NounUsage([("a man talks", "a woman talks", "a child talks")] * 3, LEXICON)
    text = "a man talks"
    woman, child = (usage.unsound_probability(text, mention_of("man", text), noun, {}) for noun in ("woman", "child"))
    assert woman is not None
    assert child is not None
    assert woman < child


def test_noun_that_makes_a_phrase_with_its_verb_is_kept() -> None:
    posing = [("they pose for a photograph", "she holds a newspaper", "he looks for a newspaper")]
    text = "the team poses for a photograph"
    rare, often = (NounUsage(posing * videos, LEXICON) for videos in (2, 3))
    assert rare.unsound_probability(text, mention_of("photograph", text), "newspaper", {}) is not None
    assert often.unsound_probability(text, mention_of("photograph", text), "newspaper", {}) is None
    seen = NounUsage([*posing * 3, ("he poses for a newspaper",)], LEXICON)
    assert seen.unsound_probability(text, mention_of("photograph", text), "newspaper", {}) is not None
    # One subject is no phrase.
    welding = NounUsage([("a man welds",)] * 9 + [("a woman talks",)], LEXICON)
    assert welding.unsound_probability("a man welds", mention_of("man", "a man welds"), "woman", {}) is not None


def test_usage_without_texts_gives_neutral_evidence() -> None:
    empty = NounUsage([], LEXICON)
    text = "he plays the guitar"
    assert empty.topic_fit(["guitar"]) == {}
    evidence = empty.evidence(text, mention_of("guitar", text), "banjo", {})
    assert evidence == Evidence(True, True, 0.0, 0, False, 0.0, 0.0)


def test_every_weighted_supercategory_is_in_the_lexicon() -> None:
    assert {noun.supercategory for noun in LEXICON.nouns.values()} >= SUPERCATEGORY_WEIGHTS.keys()
