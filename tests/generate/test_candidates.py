"""Adversarially matched captions keep their guarantees for all inputs."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.needs import library
from vttdata.errors import VttdataError
from vttdata.generate.candidates import match_adversarially, tfidf_relevance


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3), st.lists(st.integers(0, 5), min_size=4, max_size=14), st.integers(0, 2**32 - 1))
def test_matching_uses_every_caption_once_a_round_and_none_of_its_own_source(
    rounds: int, sources: list[int], seed: int
) -> None:
    relevance = np.random.default_rng(seed).random((len(sources), len(sources)))
    names = [f"s{source}" for source in sources]
    try:
        matched = match_adversarially(relevance, names, rounds, max_relevance=1)
    except VttdataError:
        # A source with more than half of the videos leaves too few others, and with few others rounds run out.
        assert max(Counter(sources).values()) + rounds > len(sources) / 2
        return
    totals = []
    for chosen in matched:
        assert sorted(chosen) == list(range(len(sources)))
        assert all(names[video] != names[caption] for video, caption in enumerate(chosen))
        totals.append(sum(relevance[video, caption] for video, caption in enumerate(chosen)))
    for chosen in zip(*matched, strict=True):
        assert len(set(chosen)) == rounds
    assert all(first >= second - 1e-9 for first, second in pairwise(totals))


def test_matching_is_the_best_one_and_leaves_out_what_says_the_same() -> None:
    relevance = np.random.default_rng(4).random((6, 6))
    relevance[0, 3] = 0.99
    (chosen,) = match_adversarially(relevance, list("abcdef"), 1, max_relevance=0.95)
    allowed = [p for p in permutations(range(6)) if all(i != j and relevance[i, j] <= 0.95 for i, j in enumerate(p))]
    best = max(sum(relevance[i, j] for i, j in enumerate(p)) for p in allowed)
    assert sum(relevance[i, j] for i, j in enumerate(chosen)) == pytest.approx(best)


def test_relevance_is_that_of_scikit_learn() -> None:
    text = library("sklearn.feature_extraction.text")
    references = [["a dog runs on the beach", "the dog runs"], ["a cat sleeps"], ["a man rides a dog"], ["rain"]]
    captions = ["a dog sleeps", "the man runs", "snow", "a a a"]
    documents = [" ".join(texts) for texts in references]
    vectorizer = text.TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True, smooth_idf=True)
    vectorizer.fit(documents)
    # scikit-learn adds 1 to every idf.
    vectorizer.idf_ = vectorizer.idf_ - 1
    expected = (vectorizer.transform(documents) @ vectorizer.transform(captions).T).toarray()
    assert tfidf_relevance(references, captions) == pytest.approx(expected)
