"""Balanced choices are circulations, whatever the order of the options."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vttdata.generate.foils.selection import Option, balanced, choose, joint_leans

OPTIONS = st.lists(
    st.builds(
        Option,
        unit=st.integers(0, 12).map(str),
        key=st.integers(0, 10**6).map(str),
        word=st.sampled_from("abcd"),
        foil_word=st.sampled_from("abcd"),
        lean=st.floats(-4, 4),
    ),
    max_size=60,
    unique_by=lambda own: own.key,
)


@settings(max_examples=40)
@given(OPTIONS, st.integers(0, 3))
def test_pairs_and_words_are_used_about_as_often_in_both_directions(options: list[Option], seed: int) -> None:
    options = [own for own in options if own.word != own.foil_word]
    chosen = [options[place] for place in balanced(options, seed=seed, pair_share=1.0)]
    arrows = Counter((own.word, own.foil_word) for own in chosen)
    true, foil = Counter(own.word for own in chosen), Counter(own.foil_word for own in chosen)
    directions = [(number, arrows[foil_word, word], 0.5) for (word, foil_word), number in arrows.items()]
    directions += [(true[word], foil[word], 1) for word in "abcd"]
    for one, other, slack in directions:
        assert max(one, other) <= 0.52 * (one + other) + slack
    assert max(Counter(own.unit for own in chosen).values(), default=1) == 1


@settings(max_examples=20)
@given(OPTIONS, st.randoms(use_true_random=False))
def test_the_order_of_options_changes_nothing(options: list[Option], shuffler: random.Random) -> None:
    mixed = shuffler.sample(options, len(options))
    for selection in ("balanced", "paper", "random"):
        first = [options[place].key for place in choose(options, selection, seed=1, pair_share=1.0)]
        again = [mixed[place].key for place in choose(mixed, selection, seed=1, pair_share=1.0)]
        assert sorted(first) == sorted(again)


def supply(units: int, bias: float) -> list[Option]:
    """Twelve options a unit among ten words; a blind model leans to the truth by `bias`."""
    draw = random.Random(7)
    options = []
    for unit in range(units):
        word = f"w{int(10 * draw.random() ** 2)}"
        for number in range(12):
            foil_word = f"w{draw.randrange(10)}"
            if foil_word != word:
                options.append(Option(str(unit), f"{unit}-{number}", word, foil_word, draw.gauss(bias, 1)))
    return options


def test_the_blind_model_is_right_on_half_and_most_units_are_kept() -> None:
    options = supply(400, bias=1.0)
    chosen = [options[place] for place in balanced(options, seed=0, pair_share=1.0)]
    signs = [np.sign(own.lean) for own in chosen]
    assert len(chosen) > 300
    assert abs(sum(signs)) <= 0.05 * len(chosen) + 10
    lowest = [options[place] for place in choose(options, "paper", seed=0)]
    assert sum(own.lean > 0 for own in lowest) < 0.2 * len(lowest)


def test_a_pair_is_capped() -> None:
    options = supply(300, bias=0.0)
    chosen = [options[place] for place in balanced(options, seed=0, pair_share=0.01)]
    assert max(Counter((own.word, own.foil_word) for own in chosen).values()) == 3


def test_paper_takes_the_lowest_and_random_depends_on_the_seed() -> None:
    options = [Option("u", str(number), "a", "b", float(lean)) for number, lean in enumerate([3, -1, 2, -4, 0])]
    assert choose(options, "paper", seed=5) == [3]
    assert len({tuple(choose(options, "random", seed=seed)) for seed in range(20)}) > 1


def test_without_a_way_back_at_most_one_is_chosen() -> None:
    assert len(balanced([Option(str(n), str(n), "a", "b", 0.0) for n in range(9)], seed=0)) == 1
    assert balanced([], seed=0) == []


def test_of_two_options_the_sounder_one_is_taken() -> None:
    ways = [("a", "b"), ("b", "a")]
    options = [Option(str(n), f"{n}{d}", *ways[n % 2], 0.0, d) for n in range(20) for d in (0.5, 0.0)]
    assert {options[place].unsound_probability for place in balanced(options, seed=0, pair_share=1.0)} == {0.0}


def test_with_caution_foils_that_are_likelier_unsound_than_sound_are_left() -> None:
    ways = [("a", "b"), ("b", "a")]
    options = [Option(str(n), str(n), *ways[n % 2], 0.0, 0.1 if n < 10 else 0.6) for n in range(20)]
    assert [len(balanced(options, seed=0, pair_share=1.0, unsound_penalty=own)) for own in (0.0, 1.0)] == [20, 10]


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_leans_that_agree_less_are_trusted_less(noise: float) -> None:
    draw = np.random.default_rng(3)
    truth = draw.normal(1, 1, 4000)
    one, other = (truth + draw.normal(0, noise, 4000) for _ in range(2))
    joint = joint_leans(one, other)
    assert abs(joint.mean() - 1) < 0.05
    assert abs(joint.std() / ((one + other) / 2).std() - 1 / (1 + noise**2 / 2)) < 0.03
