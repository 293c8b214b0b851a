"""The language of a corpus is detected from its captions together."""

from __future__ import annotations

import pytest

from vttdata.text.language import detect_other_language, primary_language


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


@pytest.mark.parametrize(
    ("tag", "code"),
    [("en-GB", "en"), ("de_AT", "de"), ("PT", "pt"), (" zho ", "zho"), ("und", None), ("German", None), ("", None)],
)
def test_code_of_a_language_tag(tag: str, code: str | None) -> None:
    assert primary_language(tag) == code
