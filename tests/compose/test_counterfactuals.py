from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.compose.counterfactuals import describe_change

WORDS = st.lists(st.sampled_from(["a", "man", "dog", "", "runs"]), min_size=1, max_size=6).map(" ".join)


@given(WORDS, WORDS)
def test_change_turns_the_caption_into_its_counterfactual(caption: str, counterfactual: str) -> None:
    assert describe_change(caption, counterfactual, "Type").apply(caption) == counterfactual


@pytest.mark.parametrize(
    ("caption", "counterfactual", "concept", "replacement"),
    [
        ("a man puts a cup down", "a man takes a cup down", "puts", "takes"),
        ("a man runs", "a dog runs", "man", "dog"),
        ("a man walks in then out", "a man walks out then in", "in then out", "out then in"),
    ],
)
def test_change_is_the_words_between_what_both_share(
    caption: str, counterfactual: str, concept: str, replacement: str
) -> None:
    swap = describe_change(caption, counterfactual, "Type")
    assert (swap.concept, swap.foil_concept) == (concept, replacement)
