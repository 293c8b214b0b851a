"""The trigram kernel equals the definition of Hodosh et al. (JAIR 2013, section 3.4.3), enumerated."""

from __future__ import annotations

import itertools

import pytest

from tests.helpers.needs import library
from vttdata.text.caption_kernels import count_sequences, trigram_vectors

library("scipy")

SENTENCES = ("dog runs and dog catches ball", "white dog catches red ball", "a b a b a", "ball", "")


def stretches(sentence: list[str], sequence: tuple[str, ...]) -> int:
    """Count the (i, j) such that the sequence is in the words from i to j, beginning and ending with them."""
    found = 0
    for i, j in itertools.product(range(len(sentence)), repeat=2):
        if i <= j and sentence[i] == sequence[0] and sentence[j] == sequence[-1]:
            choices = itertools.combinations(range(i, j + 1), len(sequence))
            found += any(
                chosen[0] == i and chosen[-1] == j and tuple(sentence[k] for k in chosen) == sequence
                for chosen in choices
            )
    return found


def kernel(first: str, second: str) -> float:
    one, other = first.split(), second.split()
    words = sorted({*one, *other})
    sequences = itertools.chain.from_iterable(itertools.product(words, repeat=length) for length in (1, 2, 3))
    return sum(stretches(one, w) * stretches(other, w) * 0.5 ** (2 * len(w)) for w in sequences)


def test_sequences_are_those_of_the_papers_example() -> None:
    counts = count_sequences(
        "a large white dog runs and catches a red ball on the beach", frozenset({"a", "the", "and"})
    )
    assert counts["dog", "catches", "ball"] == 1
    assert counts["dog", "runs", "beach"] == 1
    assert counts["beach", "dog"] == 0


def test_normalised_dot_products_are_the_kernel() -> None:
    texts, others = trigram_vectors([[text] for text in SENTENCES], [[text] for text in SENTENCES])
    products = (texts @ others.T).toarray()
    for (i, first), (j, second) in itertools.product(enumerate(SENTENCES), repeat=2):
        own = (kernel(first, first) * kernel(second, second)) ** 0.5
        assert products[i, j] == pytest.approx(kernel(first, second) / own if own else 0)


def test_kernel_of_clips_sums_over_all_pairs_of_captions() -> None:
    clips = [list(SENTENCES[:2]), list(SENTENCES[2:4])]
    texts, others = trigram_vectors(clips, clips)

    def summed(first: list[str], second: list[str]) -> float:
        return sum(kernel(one, other) for one, other in itertools.product(first, second))

    wanted = summed(*clips) / (summed(clips[0], clips[0]) * summed(clips[1], clips[1])) ** 0.5
    assert (texts @ others.T).toarray()[0, 1] == pytest.approx(wanted)
