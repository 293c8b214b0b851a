"""The adversary of a choice learns from the chosen pairs of other videos what tells their foils."""

from __future__ import annotations

import numpy as np

from vttdata.generate.blind.choices import TextPair
from vttdata.generate.foils.search import Adversary

PAIRS = [
    TextPair(f"a {true} runs in a {setting}", f"a {foil} runs in a {setting}", f"video{number}")
    for number, (true, foil, setting) in enumerate(
        [("dog", "cat", "park"), ("cat", "dog", "house"), ("dog", "fish", "park"), ("cat", "fish", "house")] * 20
    )
]
# The first attacker knows words beside others.
BESIDE = 0


def test_nothing_is_learned_from_few_pairs() -> None:
    adversary = Adversary(PAIRS, np.zeros((len(PAIRS), 1)), min_pairs=len(PAIRS))
    assert not list(adversary.margins(range(len(PAIRS) - 1)))
    assert list(adversary.margins(range(len(PAIRS))))


def test_margins_are_of_all_pairs_and_learned_from_the_chosen_ones_only() -> None:
    adversary = Adversary(PAIRS, np.zeros((len(PAIRS), 1)), min_pairs=1)
    dogs_and_cats = [index for index in range(len(PAIRS)) if index % 4 < 2]
    margins = list(adversary.margins(dogs_and_cats))
    assert [len(of_classifier) for of_classifier in margins] == [len(PAIRS)] * 4
    assert (margins[BESIDE] > 0).all()
    turned = [*dogs_and_cats[::2], *(index for index in range(len(PAIRS)) if index % 4 == 3)]
    assert (next(iter(adversary.margins(turned)))[1::4] < next(iter(adversary.margins(dogs_and_cats)))[1::4]).all()


def test_nothing_is_learned_from_the_pairs_of_the_same_video() -> None:
    alone = [TextPair(f"a w{n} runs", f"a v{n} runs", f"video{n % 5}") for n in range(20)]
    for pairs in (alone, [TextPair(pair.true, pair.foil, "video0") for pair in alone]):
        adversary = Adversary(pairs, np.zeros((len(pairs), 1)), min_pairs=1)
        assert not any(margins.any() for margins in adversary.margins([0, 5, 10, 15]))


def test_numbers_are_a_classifier() -> None:
    numbers = np.array([[3.0], [2.0], [3.0], [2.0]] * 20)
    *_, margins = Adversary(PAIRS, numbers, min_pairs=1).margins(range(len(PAIRS)))
    assert (margins > 0).all()
    assert np.allclose(margins[0::4].mean() / margins[1::4].mean(), 1.5, atol=0.1)


def test_earlier_pairs_are_learned_from() -> None:
    earlier = [TextPair(f"a {pair.foil.split()[1]} sits", "a horse sits", f"earlier {pair.video_id}") for pair in PAIRS]
    adversary = Adversary(PAIRS, np.zeros((len(PAIRS), 1)), earlier, min_pairs=1)
    by_words, by_ngrams, *_ = adversary.margins([])
    assert len(by_words) == len(PAIRS)
    assert by_ngrams[2] < 0
