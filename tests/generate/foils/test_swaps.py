"""Swaps keep the grammar, change one span, and never state what is true."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.words import LEXICON, NOUNS, RIVALS, mentions, video
from vttdata.generate.foils.swaps import Swap, find_swaps, pair_concepts, select_absent_rivals, summarize_mentions


def foils(text: str, *others: str, names: tuple[str, ...] = ()) -> list[str]:
    """Return all foils of a caption in a document that has `others` too."""
    return [swap.apply(text) for swap in swaps(text, *others, names=names)]


def swaps(text: str, *others: str, names: tuple[str, ...] = ()) -> list[Swap]:
    seen = video("v", text, *others, names=names)
    around = summarize_mentions([(own, mentions(own)) for own in (text, *others)], LEXICON)
    return find_swaps(text, mentions(text), LEXICON, select_absent_rivals(RIVALS, seen.summary, LEXICON), around)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a dog runs", {"a cat runs", "an ox runs"}),
        ("An ox runs", {"A cat runs", "A dog runs"}),
        ("two dogs run", {"two cats run", "two oxen run"}),
        ("Dogs run", {"Cats run", "Oxen run"}),
        ("THE DOG RUNS", {"THE CAT RUNS", "THE OX RUNS"}),
        ("a big ball rolls", {"a big stick rolls", "a big umbrella rolls"}),
        ("the dog's tail", {"the cat's tail", "the ox's tail"}),
        ("the dogs' tails", {"the cats' tails"}),
        ("he plays in the sand", {"he plays in the water"}),
        ("the hound's tail", {"the cat's tail", "the ox's tail"}),
    ],
)
def test_number_article_case_and_possessive_stay_correct(text: str, expected: set[str]) -> None:
    assert set(foils(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a dog-like thing",
        "a hot-dog",
        "a ball game",
        "a dog ball",
        "a bowl of a dog of wood",
        "another dog runs",
        "he goes on stick",
        "a spotted dog runs",
        "a table/chair",
        "two big water",
        "she will man the station",
    ],
)
def test_noun_in_an_unsafe_context_is_not_swapped(text: str) -> None:
    first = mentions(text)[0].start
    assert not [swap for swap in swaps(text) if swap.start <= first < swap.end]


def test_pronoun_anywhere_in_the_document_excludes_the_other_gender() -> None:
    assert set(foils("a man sits", "he smiles")) == {"a boy sits", "a child sits", "a baby sits"}
    assert "a woman sits" in foils("a man sits")
    assert foils("a baby sits", "he smiles") == ["a man sits", "a boy sits"]
    assert foils("a baby sits", "he helps her") == []


def test_noun_present_in_any_text_or_annotation_is_never_swapped_in() -> None:
    assert set(foils("a dog runs", "the cat sleeps")) == {"an ox runs"}
    assert set(foils("a dog runs", names=("cat",))) == {"an ox runs"}
    assert foils("a dog runs", "the animals sleep") == []
    assert set(foils("an ox runs", "a hound")) == {"a cat runs"}
    assert "a woman sits" not in foils("a man sits", names=("she",))


def test_vague_noun_is_never_swapped_and_excludes_no_other() -> None:
    assert foils("a person runs") == []
    assert "a woman sits" in foils("a man sits", "a person smiles")


def test_noun_after_another_is_swapped_only_with_its_first_mention() -> None:
    assert "another cat" not in foils("another dog")
    assert set(foils("a dog runs", "another dog")) == {"a cat runs", "an ox runs"}
    text = "another dog sits"
    around = summarize_mentions([(own, mentions(own)) for own in (text, "a dog runs")], LEXICON)
    assert len(find_swaps(text, mentions(text), LEXICON, RIVALS, around)) == 2


def test_adjective_of_age_or_size_separates_adults_from_children() -> None:
    assert set(foils("a young boy sits")) == {"a young baby sits"}
    assert "a woman sits" in foils("a boy sits")


def test_capital_is_kept_only_at_the_beginning_of_a_sentence() -> None:
    assert set(foils("the Dog runs")) == {"the cat runs", "the ox runs"}
    assert set(foils("it rains. Dogs run")) == {"it rains. Cats run", "it rains. Oxen run"}


def test_noun_out_of_place_is_left_out_and_unsound_probability_is_recorded() -> None:
    probabilities = {"cat": 0.25}
    text = "a dog runs"
    around = summarize_mentions([(text, mentions(text))], LEXICON)
    found = find_swaps(text, mentions(text), LEXICON, RIVALS, around, lambda _, __, noun: probabilities.get(noun))
    assert [(swap.foil_concept, swap.unsound_probability) for swap in found] == [("cat", 0.25)]


def test_swap_counts_other_mentions_of_its_concept() -> None:
    assert {swap.other_mentions for swap in swaps("a dog runs", "the dog sits")} == {1}
    assert {swap.other_mentions for swap in swaps("a dog runs")} == {0}


def test_doubtful_mention_of_the_same_thing_counts() -> None:
    text = "a dog runs"
    texts = [(text, mentions(text)), ("the dog trots by", ())]
    around = summarize_mentions(texts, LEXICON)
    free = select_absent_rivals(RIVALS, around, LEXICON)
    assert {swap.other_mentions for swap in find_swaps(text, mentions(text), LEXICON, free, around)} == {1}


def test_noun_with_a_hypernym_in_the_document_is_not_swapped() -> None:
    assert foils("a boy runs", "he falls")
    assert not foils("a boy runs", "the child falls")


def test_rare_concepts_are_not_paired() -> None:
    paired = pair_concepts({"dog": 9, "cat": 5, "ox": 4, "ball": 9}, LEXICON, min_count=5)
    assert {name: [noun.name for noun in rivals] for name, rivals in paired.items()} == {"dog": ["cat"], "cat": ["dog"]}


WORDS = st.sampled_from(
    ["a", "an", "the", "his", "two", "of", "and", "runs", "big", "?!", "Dog's", "ÄÖ", "", *(n.name for n in NOUNS)]
)


@given(st.lists(WORDS | st.sampled_from([noun.plural for noun in NOUNS]), max_size=12))
def test_text_outside_the_span_stays_and_the_article_fits(words: list[str]) -> None:
    text = " ".join(words)
    for swap in swaps(text):
        foil = swap.apply(text)
        assert foil != text
        assert foil.startswith(text[: swap.start])
        assert foil.endswith(text[swap.end :])
        assert len(foil) == len(text) - (swap.end - swap.start) + len(swap.replacement)
        assert swap.concept != swap.foil_concept
        assert not LEXICON.related(swap.concept, swap.foil_concept)
        assert swap.foil_concept not in summarize_mentions([(text, mentions(text))], LEXICON).nouns
        changed = foil[swap.start : swap.start + len(swap.replacement)].lower()
        assert not changed.startswith(("a umbrella", "a ox", "an dog", "an ball"))
