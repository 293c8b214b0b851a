"""N-gram model against the formulas, lmplz, and properties that hold on any corpus."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.kneser_ney_literal import LiteralKneserNey
from vttdata.errors import VttdataError
from vttdata.text.lm import NgramModel, Scorer, Substitution, load_scorer
from vttdata.text.lm.counts import WordRows, count_ngrams

CAPTIONS = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=6), min_size=1, max_size=12)
ORDERS = st.integers(1, 4)
MIN_COUNTS = st.integers(1, 3)


def train(sentences: Sequence[Sequence[str]], order: int, min_count: int = 1) -> NgramModel:
    return NgramModel.train(map(" ".join, sentences), order=order, min_count=min_count)


def drawn_captions(number: int, seed: int = 7) -> list[list[str]]:
    """Captions with frequent and rare words and many repeated phrases, so that all discounts can be estimated."""
    draw = random.Random(seed)
    subjects, verbs = ["man", "woman", "dog", "old man", "girl"], ["rides", "washes", "sees", "holds"]
    things = ["horse", "bike", "car", "cat", *(f"thing{at}" for at in range(40))]
    weights = [1 / (rank + 1) for rank in range(len(things))]
    return [
        f"a {draw.choice(subjects)} {draw.choice(verbs)} {draw.choice(['a', 'the'])} "
        f"{draw.choices(things, weights)[0]}{draw.choice(['', ' in the park', ' again'])}".split()
        for _ in range(number)
    ]


@given(CAPTIONS, ORDERS, MIN_COUNTS, st.lists(st.sampled_from("abcdez"), max_size=5))
def test_probabilities_equal_the_formulas(
    sentences: list[list[str]], order: int, min_count: int, words: list[str]
) -> None:
    literal = LiteralKneserNey(sentences, order, min_count)
    known = [word if word in literal.vocabulary else "<unk>" for word in words]
    path = ["<s>", *known, "</s>"]
    expected = [float(literal.probability(path[at], tuple(path[:at]))) for at in range(1, len(path))]
    found = np.exp(train(sentences, order, min_count).log_probability(words))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_probabilities_equal_the_formulas_with_estimated_discounts(order: int) -> None:
    sentences = drawn_captions(400)
    literal = LiteralKneserNey(sentences, order)
    assert any(found != {0: 0, 1: 0.5, 2: 1, 3: 1.5} for found in literal.discounts[1:])
    model = train(sentences, order)
    for words in drawn_captions(12, seed=8):
        path = ["<s>", *(word if word in literal.vocabulary else "<unk>" for word in words), "</s>"]
        expected = [float(literal.probability(path[at], tuple(path[:at]))) for at in range(1, len(path))]
        assert np.exp(model.log_probability(words)) == pytest.approx(expected, rel=1e-9)


PARK = """a man rides a horse
a man rides a bike in the park
a man feeds a dog
a woman rides a horse in the park
a woman feeds a cat
the dog runs in the park
the dog runs after a ball
the cat sleeps
two men ride a bike
two dogs run in the park
a man and a woman run in the park
the woman feeds the dog"""

# Computed by KenLM's lmplz (release 0.3.0, -o 3 --discount_fallback, and --prune 0 1 for the second), base 10.
BY_LMPLZ = {
    (1, "a man feeds a cat"): [-0.37771, -0.3506, -0.66835, -0.15507, -0.5466, -0.17809],
    (1, "two cats sleep"): [-1.02996, -2.31575, -1.71369, -0.81123],
    (1, "park the in"): [-2.0, -1.48442, -1.35765, -1.2372],
    (2, "a man feeds a cat"): [-0.37771, -0.34858, -1.80425, -0.37522, -1.77623, -0.81123],
    (2, "two cats sleep"): [-1.02996, -1.71369, -1.71369, -0.81123],
    (2, "park the in"): [-2.0, -1.48442, -1.21152, -1.2372],
}


@pytest.mark.parametrize(("min_count", "text"), BY_LMPLZ)
def test_probabilities_equal_those_of_lmplz(min_count: int, text: str) -> None:
    model = NgramModel.train(PARK.splitlines(), order=3, min_count=min_count)
    found = model.log_probability(text.split()) / math.log(10)
    assert found == pytest.approx(BY_LMPLZ[min_count, text], abs=1e-5)


@given(CAPTIONS, ORDERS, MIN_COUNTS, st.lists(st.sampled_from("abcdez"), max_size=4))
def test_next_word_probabilities_sum_to_one(
    sentences: list[list[str]], order: int, min_count: int, before: list[str]
) -> None:
    model = train(sentences, order, min_count)
    following = [word for word in model.words if word not in {"<unk>", "<s>", "</s>"}]
    chances = [math.exp(model.log_probability([*before, word])[len(before)]) for word in [*following, "unseen"]]
    end = math.exp(model.log_probability(before)[-1])
    assert sum(chances) + end == pytest.approx(1, abs=1e-12)


def test_every_context_of_a_large_corpus_sums_to_one() -> None:
    sentences = drawn_captions(300)
    model = train(sentences, 4)
    following = [*model.words[3:], "unseen"]
    contexts = {tuple(words[:at]) for words in sentences for at in range(len(words) + 1)}
    for before in sorted(contexts)[::9]:
        chances = sum(math.exp(model.log_probability([*before, word])[len(before)]) for word in following)
        assert chances + math.exp(model.log_probability(before)[-1]) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "texts",
    [["one"], ["one", "two", "three"], ["a"] * 9, ["a b c d e f g"], ["", "  ", "a b"], ["\ud800 \x00"], ["猫が好き"]],
    ids=["one word", "singletons", "one sentence often", "one sentence", "empty ones", "odd signs", "no spaces"],
)
def test_degenerate_corpus_gives_a_model(texts: list[str]) -> None:
    for order in range(1, 6):
        model = NgramModel.train(texts, order=order)
        values = model.perplexity([*texts, "unseen words here"])
        assert np.isfinite(values).all()
        assert (values >= 1).all()


@pytest.mark.parametrize("texts", [[], ["", " \n"]])
def test_training_without_words_is_refused(texts: list[str]) -> None:
    with pytest.raises(VttdataError, match="no caption with a word"):
        NgramModel.train(texts)


@given(CAPTIONS, ORDERS)
def test_perplexity_is_the_mean_over_words_and_sentence_end(sentences: list[list[str]], order: int) -> None:
    model = train(sentences, order)
    texts = [" ".join(words) for words in sentences]
    expected = [math.exp(-float(np.mean(model.log_probability(words)))) for words in sentences]
    assert model.perplexity(texts) == pytest.approx(expected, rel=1e-12)


def test_usual_word_order_has_lower_perplexity_than_its_reverse() -> None:
    model = train(drawn_captions(300), 3)
    usual, reverse = model.perplexity(["a man rides the horse in the park", "park the in horse the rides man a"])
    assert usual * 10 < reverse


def test_known_word_is_never_less_likely_than_an_unknown_one() -> None:
    model = train(drawn_captions(300), 4)
    for before in (["a"], ["a", "man", "rides", "the"], ["park"]):
        unknown = model.log_probability([*before, "unseen"])[len(before)]
        assert all(model.log_probability([*before, word])[len(before)] >= unknown for word in model.words[3:])


def test_order_of_captions_and_block_size_change_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(words) for words in drawn_captions(200)]
    first = NgramModel.train(texts)
    monkeypatch.setattr("vttdata.text.lm.counts._WORDS_PER_BLOCK", 50)
    again = NgramModel.train(reversed(texts))
    assert first.words == again.words
    for name in ("keys", "log_probabilities", "log_weights"):
        for one, other in zip(getattr(first.ngrams, name), getattr(again.ngrams, name), strict=True):
            assert one.tobytes() == other.tobytes()


def test_rare_ngrams_are_pruned() -> None:
    sentences = drawn_captions(300)
    whole, pruned = train(sentences, 4), train(sentences, 4, min_count=2)
    assert len(whole.ngrams.keys[0]) == len(pruned.ngrams.keys[0])
    occurs = LiteralKneserNey(sentences, 4).occurs
    for length in (2, 3, 4):
        kept = sum(len(gram) == length and count >= 2 for gram, count in occurs.items())
        assert len(pruned.ngrams.keys[length - 1]) == kept < len(whole.ngrams.keys[length - 1])


def test_training_reads_a_stream_once() -> None:
    stream = itertools.islice(itertools.cycle(["a man runs", "a dog sleeps"]), 1000)
    model = load_scorer("ngram-2", stream)
    assert model.name == "ngram-2 (modified Kneser-Ney, trained on 1000 captions)"
    assert next(stream, None) is None


@pytest.mark.parametrize(("order", "min_count"), [(0, 1), (4, 0), (-1, 1)])
def test_numbers_below_one_are_refused(order: int, min_count: int) -> None:
    with pytest.raises(VttdataError, match="1 or more"):
        NgramModel.train(["a man"], order=order, min_count=min_count)


def test_texts_score_the_same_together_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Scorer = train(drawn_captions(100), 3)
    texts = [" ".join(words) for words in drawn_captions(30, seed=3)]
    substitutions = [Substitution(text, 2, 5, ["cat", "two dogs", ""]) for text in texts]
    alone = [model.perplexity([text])[0] for text in texts]
    together = [model.substitution_perplexities([substitution])[0] for substitution in substitutions]
    monkeypatch.setattr("vttdata.text.lm.ngram._TEXTS_PER_BLOCK", 7)
    assert model.perplexity(texts).tolist() == alone
    assert np.array_equal(model.substitution_perplexities(substitutions), together)
    assert model.perplexity([]).shape == (0,)
    assert model.substitution_perplexities([]) == []


def test_rows_of_words_are_taken_with_their_words() -> None:
    rows = WordRows.of([["b", "a", "b"], [], ["a", "c"]])
    assert (rows.words, rows.ids.tolist(), rows.sizes.tolist()) == (["b", "a", "c"], [0, 1, 0, 1, 2], [3, 0, 2])
    taken = rows.take(np.array([2, 1, 0, 2]))
    assert (taken.words, taken.ids.tolist(), taken.sizes.tolist()) == (rows.words, [1, 2, 0, 1, 0, 1, 2], [2, 0, 3, 2])


def test_longer_ngrams_change_nothing_of_the_counts_of_shorter_ones() -> None:
    texts = [" ".join(words) for words in drawn_captions(100)]
    shortened, short = count_ngrams(texts, 4).up_to(2), count_ngrams(texts, 2)
    assert (shortened.words, shortened.texts, shortened.order) == (short.words, 100, 2)
    for found, expected in zip((*shortened.keys, *shortened.counts), (*short.keys, *short.counts), strict=True):
        np.testing.assert_array_equal(found, expected)
