"""Balanced choices are circulations, independent of the order of the options."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vttdata.generate.foils.selection import Option, balance_foils, choose, combine_margins

OPTIONS = st.lists(
    st.builds(
        Option,
        unit=st.integers(0, 12).map(str),
        key=st.integers(0, 10**6).map(str),
        word=st.sampled_from("abcd"),
        foil_word=st.sampled_from("abcd"),
        margin=st.floats(-4, 4),
    ),
    max_size=60,
    unique_by=lambda option: option.key,
)


@settings(max_examples=40)
@given(OPTIONS, st.integers(0, 3))
def test_pairs_and_words_are_used_about_as_often_in_both_directions(options: list[Option], seed: int) -> None:
    options = [option for option in options if option.word != option.foil_word]
    chosen = [options[index] for index in balance_foils(options, seed=seed, pair_share=1.0)]
    pairs = Counter((option.word, option.foil_word) for option in chosen)
    true, foil = Counter(option.word for option in chosen), Counter(option.foil_word for option in chosen)
    of_pairs = [abs(pairs[pair] - pairs[pair[::-1]]) - 1 for pair in itertools.combinations("abcd", 2)]
    of_words = [abs(true[word] - foil[word]) - 2 for word in "abcd"]
    for excesses, share in ((of_pairs, 0.02), (of_words, 0.03)):
        assert sum(max(0, excess) for excess in excesses) <= 2 * share * len(chosen) + 1
    assert max(Counter(option.unit for option in chosen).values(), default=1) == 1


@settings(max_examples=20)
@given(OPTIONS, st.randoms(use_true_random=False))
def test_choice_does_not_depend_on_the_order_of_options(options: list[Option], shuffler: random.Random) -> None:
    mixed = shuffler.sample(options, len(options))
    for choice in (
        partial(balance_foils, pair_share=1.0),
        partial(choose, selection="paper"),
        partial(choose, selection="random"),
    ):
        first = [options[index].key for index in choice(options, seed=1)]
        again = [mixed[index].key for index in choice(mixed, seed=1)]
        assert sorted(first) == sorted(again)


def supply(units: int, bias: float) -> list[Option]:
    """Twelve options a unit among ten words; a blind model prefers the truth by `bias`."""
    draw = random.Random(7)
    options = []
    for unit in range(units):
        word = f"w{int(10 * draw.random() ** 2)}"
        for number in range(12):
            foil_word = f"w{draw.randrange(10)}"
            if foil_word != word:
                options.append(Option(str(unit), f"{unit}-{number}", word, foil_word, draw.gauss(bias, 1)))
    return options


def test_blind_model_is_right_on_half_and_most_units_get_a_foil() -> None:
    options = supply(400, bias=1.0)
    chosen = [options[index] for index in balance_foils(options, seed=0, pair_share=1.0)]
    signs = [np.sign(option.margin) for option in chosen]
    assert len(chosen) > 300
    assert abs(sum(signs)) <= 0.05 * len(chosen) + 10
    lowest = [options[index] for index in choose(options, "paper", seed=0)]
    assert sum(option.margin > 0 for option in lowest) < 0.2 * len(lowest)


def test_association_is_right_on_half() -> None:
    draw = random.Random(11)
    options = [
        replace(option, margin=draw.gauss(0, 1), associations=(draw.gauss(0.6, 1),)) for option in supply(100, bias=0.0)
    ]
    chosen = [options[index] for index in balance_foils(options, seed=0, pair_share=1.0)]
    assert len(chosen) > 70
    assert abs(sum(np.sign(option.associations[0]) for option in chosen)) <= 0.05 * len(chosen) + 10


def test_word_beside_another_is_as_often_true_as_false() -> None:
    draw = random.Random(5)
    ways = {"stage": (("singer", "cook"), ("cook", "singer")), "kitchen": (("cook", "singer"), ("singer", "cook"))}
    options = []
    for unit in range(600):
        context = draw.choice(["stage", "kitchen"])
        way = ways[context][draw.random() < 0.3]
        options.append(Option(str(unit), str(unit), *way, draw.gauss(0, 1), context=("the", context)))
    chosen = [options[index] for index in balance_foils(options, seed=0, pair_share=1.0)]
    assert len(chosen) > 300
    for context in ways:
        true = Counter(option.word for option in chosen if context in option.context)
        assert abs(true["singer"] - true["cook"]) <= 0.25 * true.total()


def test_what_an_adversary_learns_from_the_choice_is_balanced() -> None:
    draw = random.Random(4)
    words = [draw.sample("abcdefgh", 2) for _ in range(3000)]
    options = [Option(str(n // 6), str(n), *pair, draw.gauss(0, 1)) for n, pair in enumerate(words)]
    # Nothing in the options tells this margin, which is above 0 for more of them than below.
    margins = np.array([draw.gauss(0.5, 1) for _ in options])
    choices = []

    def learn(chosen: Sequence[int]) -> list[np.ndarray]:
        choices.append(chosen)
        return [margins]

    share = 0.02
    careless = balance_foils(options, seed=0, pair_share=1.0, imbalance=share)
    chosen = balance_foils(options, seed=0, pair_share=1.0, imbalance=share, learn=learn)
    assert choices[0] == careless
    assert margins[careless].mean() > 0.3
    assert abs(margins[chosen].mean()) < 2 * share
    assert len(chosen) > 0.9 * len(careless)


def test_pair_share_limits_each_pair_of_words() -> None:
    options = supply(300, bias=0.0)
    chosen = [options[index] for index in balance_foils(options, seed=0, pair_share=0.01)]
    assert max(Counter((option.word, option.foil_word) for option in chosen).values()) == 3


def test_paper_takes_the_lowest_perplexity_and_random_depends_on_the_seed() -> None:
    options = [Option("u", str(number), "a", "b", float(margin)) for number, margin in enumerate([3, -1, 2, -4, 0])]
    assert choose(options, "paper", seed=5) == [3]
    assert len({tuple(choose(options, "random", seed=seed)) for seed in range(20)}) > 1


def test_pair_without_reverse_direction_is_chosen_at_most_once() -> None:
    assert len(balance_foils([Option(str(n), str(n), "a", "b", 0.0) for n in range(9)], seed=0)) == 1
    assert balance_foils([], seed=0) == []


def test_sounder_of_two_options_is_taken() -> None:
    ways = [("a", "b"), ("b", "a")]
    options = [Option(str(n), f"{n}{d}", *ways[n % 2], 0.0, d) for n in range(20) for d in (0.5, 0.0)]
    assert {options[index].unsound_probability for index in balance_foils(options, seed=0, pair_share=1.0)} == {0.0}


def test_unsound_penalty_leaves_out_foils_likelier_unsound_than_sound() -> None:
    ways = [("a", "b"), ("b", "a")]
    options = [Option(str(n), str(n), *ways[n % 2], 0.0, 0.1 if n < 10 else 0.6) for n in range(20)]
    assert [len(balance_foils(options, seed=0, pair_share=1.0, unsound_penalty=penalty)) for penalty in (0.0, 1.0)] == [
        20,
        10,
    ]


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_less_correlated_margins_are_shrunk_more(noise: float) -> None:
    draw = np.random.default_rng(3)
    truth = draw.normal(1, 1, 4000)
    first, second = (truth + draw.normal(0, noise, 4000) for _ in range(2))
    combined = combine_margins(first, second)
    assert abs(combined.mean() - 1) < 0.05
    assert abs(combined.std() / ((first + second) / 2).std() - 1 / (1 + noise**2 / 2)) < 0.03


def test_no_group_has_more_than_its_share() -> None:
    draw = random.Random(3)
    groups = {"people": "abcd", "animals": "efgh", "vehicles": "ijkl"}
    options = []
    for number in range(900):
        group = draw.choices([*groups], [6, 2, 1])[0]
        word, foil_word = draw.sample(groups[group], 2)
        options.append(Option(str(number), str(number), word, foil_word, draw.gauss(0, 1), group=group))
    of_all, limited = (
        Counter(options[index].group for index in balance_foils(options, seed=1, pair_share=1.0, group_share=share))
        for share in (1.0, 0.4)
    )
    assert of_all["people"] > 0.55 * of_all.total()
    assert limited["people"] <= 0.41 * limited.total()
    assert limited["vehicles"] > 0.9 * of_all["vehicles"]


def test_last_digits_of_numbers_choose_no_foil() -> None:
    draw = random.Random(8)
    options = supply(150, bias=0.0)
    noisy = [replace(option, margin=option.margin * (1 + draw.choice([-1, 1]) * 1e-14)) for option in options]
    assert balance_foils(options, seed=2, pair_share=1.0) == balance_foils(noisy, seed=2, pair_share=1.0)
