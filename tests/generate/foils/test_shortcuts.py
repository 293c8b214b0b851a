"""Blind attackers find planted shortcuts, and no others."""

from __future__ import annotations

import random

import pytest

from vttdata.errors import VttdataError
from vttdata.generate.foils.blind.shortcuts import Attack, TextPair, audit_shortcuts

THINGS = ["dog", "cat", "ball", "table", "river", "guitar", "horse", "truck", "chair", "bottle"]
FRAMES = ["a man sees the {} there", "we look at the {} for long", "the {} is near the wall", "this {} moves slowly"]


def even(number: int) -> list[TextPair]:
    """Return pairs whose true word is a fair draw."""
    draw = random.Random(number)
    pairs = []
    for video in range(number):
        true, foil = draw.sample(THINGS, 2)
        frame = draw.choice(FRAMES)
        pairs.append(TextPair(frame.format(true), frame.format(foil), f"v{video}"))
    return pairs


def attacks(pairs: list[TextPair], **options: object) -> dict[str, Attack]:
    return {own.name: own for own in audit_shortcuts(pairs, **options)}  # type: ignore[arg-type]


def test_balanced_set_is_closed_to_all_attackers() -> None:
    found = attacks(even(1500))
    assert all(own.closed for own in found.values())
    assert found["length in words"].result.ties == 1500


def test_highest_accuracy_comes_first() -> None:
    accuracies = [own.accuracy for own in audit_shortcuts(even(300))]
    assert accuracies == sorted(accuracies, reverse=True)


@pytest.mark.parametrize(
    ("change", "solver"),
    [
        (lambda text: f"{text} today", "length in words"),
        (lambda text: text.replace(" ", "  ", 1), "length in characters"),
        (lambda text: f"{text} there there", "repetition"),
        (lambda text: text.replace("the", "teh"), "linear classifier"),
        (lambda text: text.replace("the", "teh"), "word prior"),
        (lambda text: text.replace("the", "teh"), "bigram model"),
    ],
)
def test_mark_on_every_foil_is_found(change: object, solver: str) -> None:
    marked = [TextPair(own.true, change(own.foil), own.video_id) for own in even(400)]  # type: ignore[operator]
    found = attacks(marked)[solver]
    assert found.accuracy > 0.7
    assert not found.closed


def test_word_that_is_always_false_is_found_by_its_prior() -> None:
    pairs = [TextPair("the dog runs", f"the {THINGS[1 + video % 3]} runs", f"v{video}") for video in range(200)]
    found = attacks(pairs)
    assert found["word prior"].accuracy == found["linear classifier"].accuracy == 1.0


def test_attackers_do_not_learn_from_the_video_they_are_tried_on() -> None:
    pairs = [TextPair(f"word{video} x", f"other{video} x", f"v{video}") for video in range(200) for _ in range(3)]
    found = attacks(pairs)["word prior"]
    assert found.result.ties == len(pairs)


def test_language_models_are_trained_on_given_texts() -> None:
    pairs = even(200)
    taught = attacks(pairs, texts={0: [own.true for own in pairs for _ in range(3)]})
    assert taught["trigram model"].accuracy > attacks(pairs)["trigram model"].accuracy


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([], "no pairs"),
        ([TextPair("a", "b", "v"), TextPair("c", "d", "v")], "one video"),
        ([TextPair("a", "b", "v"), TextPair("same", "same", "w")], "one text twice: 'same'"),
    ],
)
def test_pairs_that_cannot_be_audited_are_refused(pairs: list[TextPair], words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        audit_shortcuts(pairs)
