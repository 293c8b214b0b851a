"""The language of a corpus is detected from its captions together."""

# ruff: noqa: RUF001 -- letters of other scripts are what is tested
from __future__ import annotations

import pytest

from vttdata.text.language import (
    detect_other_language,
    estimate_share_of_others,
    has_other_script,
    primary_language,
    sample_texts,
)


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["un cane corre", "un uomo cammina nel parco"], "Italian"),
        (["\u72d7\u5728\u8dd1"], "Chinese"),
        (["ein Hund bellt laut", "a dog", "eine Frau liest"], "German"),
        (["a dog barks", "the woman reads", "un cane corre"], None),
        (["dog cat horse"], None),
        (["..."], None),
        ([], None),
    ],
)
def test_language_is_that_of_most_captions(texts: list[str], language: str | None) -> None:
    assert detect_other_language(texts, "en") == language
    assert detect_other_language(texts * 500, "en") == language


def test_sample_has_a_hundred_words_and_few_new_texts_change_it() -> None:
    texts = [f"caption number {number} of a man" for number in range(5000)]
    sample = sample_texts(texts)
    assert 100 <= sum(len(text.split()) for text in sample) < 106
    assert sample_texts(texts[::-1] + texts) == sample_texts(sample) == sample
    changed = sum(sample_texts([*texts, f"one more, the {number}th"]) != sample for number in range(200))
    # Each is among the 17 first of 5,001 with a chance of .0034.
    assert changed <= 6


@pytest.mark.parametrize(
    ("text", "language", "other"),
    [
        ("a dog barks", "en", False),
        ("ein Müller bellt", "en", False),
        ("狗在跑", "en", True),
        ("собака лает", "en", True),
        ("a dog 狗", "en", False),
        ("the sign says 小心地滑", "en", False),
        ("123 !", "en", False),
        ("ａ ｄｏｇ", "en", False),
        ("a dog barks", "zh", True),
        ("狗在跑 dog", "zh", False),
        ("犬が走っている", "ja", False),
        ("犬が走っている", "zh", True),
        ("a dog barks", "sr", False),
        ("пас лаје", "sr", False),
        ("狗在跑", "xx", False),
        ("狗在跑", "", False),
    ],
)
def test_script_tells_that_a_text_is_in_another_language(text: str, language: str, other: bool) -> None:
    assert has_other_script(text, language) == other


def test_share_of_other_languages_is_estimated() -> None:
    english = ["a man is playing the guitar on a stage", "a woman cuts vegetables in a kitchen"] * 2000
    assert estimate_share_of_others(english, "en") == 0
    # 3 of 10 everywhere.
    mixed = (["ein Mann schneidet Gemüse in der Küche"] * 3 + english[:7]) * 400
    assert estimate_share_of_others(mixed, "en") == pytest.approx(0.3, abs=0.05)
    assert estimate_share_of_others([], "en") == 0


@pytest.mark.parametrize(
    ("tag", "code"),
    [("en-GB", "en"), ("de_AT", "de"), ("PT", "pt"), (" zho ", "zho"), ("und", None), ("German", None), ("", None)],
)
def test_code_of_a_language_tag(tag: str, code: str | None) -> None:
    assert primary_language(tag) == code
