"""A swap keeps a sentence right, changes one span, and never says what is true."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.words import LEXICON, NOUNS, RIVALS, mentions, video
from vttdata.generate.foils.swaps import Swap, find_swaps, pair_concepts, select_absent_rivals, summarize_mentions


def foils(text: str, *others: str, names: tuple[str, ...] = ()) -> list[str]:
    """All foils of a caption of a video of which `others` are said too; one document."""
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
def test_number_article_case_and_possessive_stay_right(text: str, expected: set[str]) -> None:
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
def test_places_that_another_noun_may_not_fit_are_left_alone(text: str) -> None:
    first = mentions(text)[0].start
    assert not [swap for swap in swaps(text) if swap.start <= first < swap.end]


def test_a_pronoun_anywhere_in_the_document_forbids_another_gender() -> None:
    assert set(foils("a man sits", "he smiles")) == {"a boy sits", "a child sits", "a baby sits"}
    assert "a woman sits" in foils("a man sits")
    assert foils("a baby sits", "he smiles") == ["a man sits", "a boy sits"]
    assert foils("a baby sits", "he helps her") == []


def test_what_is_present_in_any_text_or_annotation_is_never_swapped_in() -> None:
    assert set(foils("a dog runs", "the cat sleeps")) == {"an ox runs"}
    assert set(foils("a dog runs", names=("cat",))) == {"an ox runs"}
    assert foils("a dog runs", "the animals sleep") == []
    assert set(foils("an ox runs", "a hound")) == {"a cat runs"}
    assert "a woman sits" not in foils("a man sits", names=("she",))


def test_a_word_for_anybody_is_never_swapped_and_says_nothing_of_who_else_is_there() -> None:
    assert foils("a person runs") == []
    assert "a woman sits" in foils("a man sits", "a person smiles")


def test_another_one_is_swapped_only_with_the_first() -> None:
    assert "another cat" not in foils("another dog")
    assert set(foils("a dog runs", "another dog")) == {"a cat runs", "an ox runs"}
    text = "another dog sits"
    around = summarize_mentions([(own, mentions(own)) for own in (text, "a dog runs")], LEXICON)
    assert len(find_swaps(text, mentions(text), LEXICON, RIVALS, around)) == 2


def test_an_adjective_of_age_or_size_keeps_grown_people_and_children_apart() -> None:
    assert set(foils("a young boy sits")) == {"a young baby sits"}
    assert "a woman sits" in foils("a boy sits")


def test_a_capital_is_kept_only_where_a_sentence_begins() -> None:
    assert set(foils("the Dog runs")) == {"the cat runs", "the ox runs"}
    assert set(foils("it rains. Dogs run")) == {"it rains. Cats run", "it rains. Oxen run"}


def test_what_is_out_of_place_is_left_out_and_its_unsound_probability_is_noted() -> None:
    probabilities = {"cat": 0.25}
    text = "a dog runs"
    around = summarize_mentions([(text, mentions(text))], LEXICON)
    found = find_swaps(text, mentions(text), LEXICON, RIVALS, around, lambda _, __, noun: probabilities.get(noun))
    assert [(swap.foil_concept, swap.unsound_probability) for swap in found] == [("cat", 0.25)]


def test_a_swap_counts_the_other_mentions_of_its_concept_and_relatives() -> None:
    assert {swap.other_mentions for swap in swaps("a dog runs", "the dog sits")} == {1}
    assert {swap.other_mentions for swap in swaps("a dog runs")} == {0}


def test_a_word_that_may_be_the_same_thing_counts_though_it_is_no_sure_mention() -> None:
    text = "a dog runs"
    texts = [(text, mentions(text)), ("the dog trots by", ())]
    around = summarize_mentions(texts, LEXICON)
    free = select_absent_rivals(RIVALS, around, LEXICON)
    assert {swap.other_mentions for swap in find_swaps(text, mentions(text), LEXICON, free, around)} == {1}


def test_what_the_document_also_calls_by_a_wider_word_is_left_alone() -> None:
    assert foils("a boy runs", "he falls")
    assert not foils("a boy runs", "the child falls")


def test_concepts_below_the_threshold_take_no_part() -> None:
    paired = pair_concepts({"dog": 9, "cat": 5, "ox": 4, "ball": 9}, LEXICON, min_count=5)
    assert {name: [noun.name for noun in rivals] for name, rivals in paired.items()} == {"dog": ["cat"], "cat": ["dog"]}


WORDS = st.sampled_from(
    ["a", "an", "the", "his", "two", "of", "and", "runs", "big", "?!", "Dog's", "ÄÖ", "", *(n.name for n in NOUNS)]
)


@given(st.lists(WORDS | st.sampled_from([noun.plural for noun in NOUNS]), max_size=12))
def test_everything_outside_the_span_stays_and_the_article_fits(words: list[str]) -> None:
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
