"""Swaps keep the grammar, change one span, and never state what is true."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.words import LEXICON, NOUNS, RIVALS, mentions, video
from vttdata.generate.foils.documents import Document
from vttdata.generate.foils.edits import list_contradicted
from vttdata.generate.foils.swaps import (
    Swap,
    find_swaps,
    pair_concepts,
    select_absent_rivals,
    spell_shortly,
    summarize_mentions,
)
from vttdata.text.nouns.lexicon import load_lexicon
from vttdata.text.nouns.mentions import find_mentions


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


PACKAGED = load_lexicon()
FREQUENT = dict.fromkeys(PACKAGED.nouns, 100)


def packaged_foils(text: str, *others: str) -> set[tuple[str, str]]:
    """Return the pairs of concepts that may be swapped in a caption, where `others` are said, too."""
    texts = [(own, find_mentions(own, PACKAGED)) for own in (text, *others)]
    video = summarize_mentions(texts, PACKAGED)
    absent = select_absent_rivals(pair_concepts(FREQUENT, PACKAGED, min_count=1), video, PACKAGED)
    document = summarize_mentions(texts[:1], PACKAGED)
    found = find_swaps(text, texts[0][1], PACKAGED, absent, document)
    return {(swap.concept, swap.foil_concept) for swap in found}


@pytest.mark.parametrize(
    ("text", "others", "swap"),
    [
        # A verb or a compound implies the thing.
        ("a man sits in a raft", "people are kayaking", ("raft", "kayak")),
        ("a man holds a skateboard", "they go surfing", ("skateboard", "surfboard")),
        ("a man pushes a tricycle", "a boy is biking", ("tricycle", "motorcycle")),
        ("a man plays an accordion", "the pianist bows", ("accordion", "piano")),
        ("she puts cheese on top", "she cuts the buns", ("cheese", "bread")),
        ("a cat sleeps", "he eats hot dogs", ("cat", "dog")),
        ("she adds garlic", "she chops the parsely", ("garlic", "parsley")),
        ("a man wears an apron", "he is shirtless", ("apron", "shirt")),
        # What is worn contains what is worn.
        ("a man wears a jacket", "he smiles", ("jacket", "jersey")),
        ("a man wears a coat", "he smiles", ("coat", "shirt")),
        ("a woman wears an apron", "she smiles", ("apron", "sweater")),
        ("a man wears a coat", "a woman in a suit smiles", ("coat", "shirt")),
        ("a man wears a coat", "his outfit is black", ("coat", "shirt")),
        ("a boy wears a cap", "his coat has a hood", ("cap", "hood")),
        ("a woman in a leotard dances", "it is a ballet", ("leotard", "skirt")),
        # Kinds of each other.
        ("a man eats some bread", "he likes hamburgers", ("bread", "meat")),
        ("a girl adds the lettuce", "she eats burgers", ("lettuce", "bread")),
        ("he fries the pork", "he likes burgers", ("pork", "beef")),
        ("she lies on the mat", "he smiles", ("mat", "floor")),
        ("she adds the butter", "she kneads the flour", ("butter", "dough")),
        ("she adds the milk", "the batter is poured", ("milk", "flour")),
        ("put sauce on the salmon", "spread rice onto the seaweed", ("salmon", "sushi")),
        ("cut the lime", "place it on shredded daikon", ("lime", "radish")),
        ("add the carrots", "then chop the peppers", ("carrot", "bell pepper")),
        ("they play in a garden", "they run", ("garden", "lawn")),
        ("a man walks on a track", "he jumps", ("track", "path")),
        ("a man stands in a garage", "he talks", ("garage", "store")),
        # Families and ages.
        ("a child watches", "an adult waits", ("child", "man")),
        ("a child watches", "the parents wait", ("child", "man")),
        ("a child watches", "the family helps", ("child", "man")),
        ("a boy rides by", "the cameraman waves", ("boy", "man")),
        ("a boy rides by", "he waves", ("boy", "man")),
        ("a woman folds paper", "a boy folds paper", ("woman", "man")),
        ("a woman dances", "the couple bows", ("woman", "man")),
        ("a woman rides by", "her son waves", ("woman", "man")),
        ("a girl rides by", "the mother waves", ("girl", "young woman")),
        ("a man swims", "a male swimmer dives", ("man", "boy")),
        ("a kid rides by", "a boy waves", ("child", "man")),
        ("a man rides by", "a kid waves", ("man", "girl")),
    ],
)
def test_thing_that_is_implied_or_of_a_related_kind_is_not_surely_absent(
    text: str, others: str, swap: tuple[str, str]
) -> None:
    assert swap not in packaged_foils(text, others)


def test_thing_that_nothing_implies_is_absent() -> None:
    assert ("raft", "kayak") in packaged_foils("a man sits in a raft", "people are laughing")
    assert ("accordion", "piano") in packaged_foils("a man plays an accordion", "the crowd cheers")
    # Both are adults, so "adult" says nothing new.
    assert ("woman", "man") in packaged_foils("a woman watches", "an adult watches")


@pytest.mark.parametrize(
    "text",
    [
        "a boy with no shirt mows the lawn",
        "a man does not wear a shirt",
        "a man isn't wearing a shirt",
        "nobody wears a shirt",
        "without a shirt, he dances",
        "he wears a towel instead of a shirt",
        "it looks like a shirt",
        "he w/o a shirt mows the lawn",
        "he hardly wears a shirt",
        "other than a shirt he wears a towel",
        "he wont wear a shirt",
        "he moves like a dog",
        "he wears a hat, not a shirt",
    ],
)
def test_noun_in_a_sentence_with_a_negation_is_not_swapped(text: str) -> None:
    dropped: Counter[str] = Counter()
    mentioned = find_mentions(text, PACKAGED)
    rivals = pair_concepts(FREQUENT, PACKAGED, min_count=1)
    document = summarize_mentions([(text, mentioned)], PACKAGED)
    assert find_swaps(text, mentioned, PACKAGED, rivals, document, dropped=dropped) == []
    assert dropped.keys() <= {"negated"}


def test_negation_in_another_sentence_says_nothing() -> None:
    assert ("raft", "kayak") in packaged_foils("He does not dance. A man sits in a raft.")


def test_noun_that_a_sentence_denies_is_not_swapped_in_another() -> None:
    text, other = "a man wears a hat", "there is no hat on the table"
    texts = [(own, find_mentions(own, PACKAGED)) for own in (text, other)]
    document = summarize_mentions(texts, PACKAGED)
    absent = select_absent_rivals(pair_concepts(FREQUENT, PACKAGED, min_count=1), document, PACKAGED)
    swaps = find_swaps(text, texts[0][1], PACKAGED, absent, document)
    # The other mention cannot be swapped, so no group of swaps changes all of them.
    assert {swap.other_mentions for swap in swaps if swap.concept == "hat"} == {1}


def test_verb_of_the_true_noun_elsewhere_contradicts_its_foil() -> None:
    assert ("kayak", "raft") in packaged_foils("a man sits in a kayak")
    assert ("kayak", "raft") not in packaged_foils("a man is kayaking in a kayak")


@pytest.mark.parametrize(
    "names", [("glasses", "headphones"), ("mask", "hat"), ("wig", "mask"), ("watch", "necklace"), ("belt", "tie")]
)
def test_things_that_are_worn_together_are_not_swapped(names: tuple[str, str]) -> None:
    first, second = names
    rivals = pair_concepts(FREQUENT, PACKAGED, min_count=1)
    assert second not in {noun.name for noun in rivals.get(first, ())}
    assert first not in {noun.name for noun in rivals.get(second, ())}


def test_something_worn_is_swapped_for_what_is_worn_in_its_place() -> None:
    assert ("glove", "coat") not in packaged_foils("a man wearing gray gloves")
    assert ("coat", "cap") not in packaged_foils("a man wearing a black coat")
    assert ("shorts", "pants") in packaged_foils("a man wearing black shorts")
    assert ("guitar", "harmonica") not in packaged_foils("a man plays a guitar")
    assert ("octopus", "dog") not in packaged_foils("a man fries an octopus")


@pytest.mark.parametrize(
    ("text", "swap", "possible"),
    [
        ("a woman in a dress plays the drums", ("woman", "man"), False),
        ("a woman in a shirt plays the drums", ("woman", "man"), True),
        ("a girl in a blouse smiles", ("girl", "boy"), False),
        ("a man with a beard smiles", ("man", "woman"), False),
        ("a woman smiles at a man with a beard", ("woman", "boy"), True),
        ("a man in a swimsuit smiles", ("swimsuit", "dress"), False),
        ("a woman in a swimsuit smiles", ("swimsuit", "dress"), True),
        ("somebody in a swimsuit smiles", ("swimsuit", "dress"), True),
    ],
)
def test_what_one_gender_wears_or_has_goes_with_people_of_it(
    text: str, swap: tuple[str, str], *, possible: bool
) -> None:
    assert (swap in packaged_foils(text)) is possible


def test_thing_of_one_gender_is_not_what_a_pronoun_means() -> None:
    assert ("swimsuit", "dress") in packaged_foils("a swimsuit hangs there", "she smiles")
    assert ("swimsuit", "dress") not in packaged_foils("a swimsuit hangs there", "her dress is red")


def test_noun_with_a_hyponym_in_the_document_is_not_swapped() -> None:
    assert ("child", "woman") in packaged_foils("all of the children play")
    assert not packaged_foils("a girl sings, and all of the children play") & {("child", "woman"), ("child", "man")}


@pytest.mark.parametrize("text", ["the children take the stage", "a man made chair", "add the water chestnuts"])
def test_noun_of_a_fixed_phrase_is_not_swapped(text: str) -> None:
    assert {concept for concept, _ in packaged_foils(text)} <= {"child", "chair"}


def test_food_with_a_color_or_in_a_compound_is_not_swapped() -> None:
    assert ("pea", "carrot") in packaged_foils("she adds the peas")
    assert ("pea", "carrot") not in packaged_foils("she adds the green peas")
    assert not packaged_foils("add the egg whites")
    assert ("octopus", "crab") in packaged_foils("soak the squid")
    assert not packaged_foils("soak the squid rings")


def test_dropped_rivals_are_counted_by_reason() -> None:
    texts = ["a man sits in a raft", "people are kayaking near a ship", "she waves"]
    video = summarize_mentions([(text, find_mentions(text, PACKAGED)) for text in texts], PACKAGED)
    dropped: Counter[str] = Counter()
    rivals = pair_concepts(FREQUENT, PACKAGED, min_count=1)
    select_absent_rivals({"raft": rivals["raft"], "man": rivals["man"]}, video, PACKAGED, dropped)
    assert dropped["implied"] >= 1
    assert dropped["mentioned"] >= 1
    assert dropped["pronoun"] >= 1


@pytest.mark.parametrize(
    ("text", "is_heard"),
    [
        ("a man talks about a dog", True),
        ("a voice over describes the dog", True),
        ("she is singing a song about her dog", True),
        ("a man talks. He holds a dog", False),
        ("a man talks to a dog", False),
        ("a dog listens as a man talks about life", False),
    ],
)
def test_what_somebody_only_speaks_of_makes_no_foil(text: str, is_heard: bool) -> None:
    assert all(swap.concept != "dog" for swap in swaps(text)) == is_heard


@pytest.mark.parametrize(
    ("texts", "doubtful"),
    [
        (["she sits in the living room", "she sits in the bathroom"], {"living room", "bathroom"}),
        (["a bathroom", "a living room", "the living room"], {"bathroom"}),
        (["from the kitchen to the bedroom", "the bedroom"], set()),
        (["a dog runs", "a cat runs", "the cat is brown"], {"dog"}),
        (["a dog runs", "the animal runs", "the cat is brown", "a cat"], set()),
        (["a dog runs", "a cat runs"], set()),
        (["a dog and a cat", "the cat", "a cat"], set()),
    ],
)
def test_what_other_captions_speak_against_is_doubted(texts: list[str], doubtful: set[str]) -> None:
    lexicon = load_lexicon()
    documents = [
        Document((f"v_{number}",), (text,), (tuple(find_mentions(text, lexicon)),)) for number, text in enumerate(texts)
    ]
    found = list_contradicted(documents, lexicon)
    assert found == doubtful


def test_a_name_of_two_words_is_written_by_a_synonym_of_one() -> None:
    lexicon = load_lexicon()
    assert spell_shortly(lexicon.nouns["lawn mower"], False) == ("lawnmower", "lawnmower")
    assert spell_shortly(lexicon.nouns["balance beam"], True) == ("beam", "beams")
    assert spell_shortly(lexicon.nouns["dog"], True) == ("dog", "dogs")
