"""Words of a text, the perplexity of texts with one span replaced, and files of models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.errors import VttdataError
from vttdata.text.lm import NgramModel, Substitution, load_scorer
from vttdata.text.lm.counts import model_tokens

CAPTIONS = [
    "A man's dog runs.",
    "a woman rides a T-shirt-clad horse, twice",
    "The girl doesn't see the old man",
    "L'homme voit le ΧΑΟΣ",
    "two  dogs\tand a cat",
]
MODELS = {order: NgramModel.train(CAPTIONS, order=order) for order in (1, 2, 4)}
TEXT = st.text(alphabet=st.sampled_from("aAdog'\u2019-., \t\nΣİß\u0301猫"), max_size=30) | st.sampled_from(CAPTIONS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A man's dog runs.", ["a", "man", "'s", "dog", "runs", "."]),
        ("a man 's dog", ["a", "man", "'s", "dog"]),
        ("They don\u2019t 'stop'", ["they", "don", "'t", "'", "stop", "'"]),
        ("T-shirt, 3.5 m (x)", ["t", "-", "shirt", ",", "3", ".", "5", "m", "(", "x", ")"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("¿Qué? <s> </s>", ["¿", "qué", "?", "<", "s", ">", "<", "/", "s", ">"]),
        (" \n ", []),
    ],
)
def test_words_are_separated_from_punctuation(text: str, words: list[str]) -> None:
    assert model_tokens(text) == words


@given(st.text(), st.text())
def test_words_of_a_text_are_those_of_its_parts_between_spaces(first: str, second: str) -> None:
    assert model_tokens(f"{first} {second}") == model_tokens(first) + model_tokens(second)


@given(st.text())
def test_no_text_holds_a_mark_or_a_word_with_white_space(text: str) -> None:
    words = model_tokens(text)
    assert not {"<s>", "</s>", "<unk>"} & set(words)
    assert all(word and not any(sign.isspace() for sign in word) for word in words)


@given(TEXT, st.data(), st.sampled_from(sorted(MODELS)))
def test_substitution_scores_as_the_whole_changed_text(text: str, data: st.DataObject, order: int) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    replacements = data.draw(st.lists(TEXT, max_size=4))
    substitution = Substitution(text, start, end, replacements)
    assert substitution.changed_texts() == [text[:start] + new + text[end:] for new in replacements]
    expected = MODELS[order].perplexity(substitution.changed_texts())
    assert MODELS[order].substitution_perplexities([substitution])[0] == pytest.approx(expected, rel=1e-12)


def test_substitutions_within_a_word_and_across_words_are_scored() -> None:
    model = MODELS[4]
    (values,) = model.substitution_perplexities(
        [Substitution("a man's dog runs.", 2, 11, ["dog", "woman's horse", ""])]
    )
    assert values == pytest.approx(model.perplexity(["a dog runs.", "a woman's horse runs.", "a  runs."]), rel=1e-12)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2), (0, 99)])
def test_span_outside_its_text_is_refused(start: int, end: int) -> None:
    with pytest.raises(VttdataError, match=r"does not lie in the text of 7 characters: 'a horse'"):
        MODELS[2].substitution_perplexities([Substitution("a horse", start, end, ["dog"])])


def test_saved_model_scores_the_same_and_saves_the_same_bytes(tmp_path: Path) -> None:
    for number, path in enumerate((tmp_path / "a.npz", tmp_path / "b.npz")):
        NgramModel.train(CAPTIONS[::-1] if number else CAPTIONS).save(path)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    loaded = load_scorer(str(tmp_path / "a.npz"))
    assert loaded.name == MODELS[4].name
    texts = [*CAPTIONS, "unseen"]
    assert np.array_equal(loaded.perplexity(texts), MODELS[4].perplexity(texts))


@given(st.data())
def test_damaged_model_is_refused_or_read_safely(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("model") / "model.npz"
    MODELS[2].save(path)
    sound = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(sound) - 1))
    sound[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(sound[: data.draw(st.sampled_from([len(sound), at]))])
    try:
        model = NgramModel.load(path)
    except VttdataError:
        return
    assert len(model.perplexity(CAPTIONS)) == len(CAPTIONS)


def test_file_without_a_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text(json.dumps(CAPTIONS))
    np.savez(tmp_path / "other.npz", words=np.zeros(3))
    np.savez(tmp_path / "pickle.npz", format=np.array([{}], dtype=object), allow_pickle=True)
    for name in ("text", "other", "pickle"):
        with pytest.raises(VttdataError, match="not an n-gram model"):
            load_scorer(str(tmp_path / f"{name}.npz"))
    with pytest.raises(VttdataError, match=r"model \S+missing\.npz cannot be read: ") as error:
        load_scorer(str(tmp_path / "missing.npz"))
    assert isinstance(error.value.__cause__, FileNotFoundError)
    with pytest.raises(VttdataError, match="cannot be written"):
        MODELS[2].save(tmp_path / "missing" / "model.npz")


def test_ngram_model_needs_training_captions() -> None:
    with pytest.raises(VttdataError, match="'ngram' is trained on the captions given"):
        load_scorer("ngram")
