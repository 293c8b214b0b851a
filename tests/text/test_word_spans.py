"""Words of captions as they are written, in scripts with and without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.text.word_spans import find_words, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A man's dog - a poodle - runs.", ["A", "man's", "dog", "-", "a", "poodle", "-", "runs."]),
        ("Żółw  idzie\tpowoli", ["Żółw", "idzie", "powoli"]),
        ("남자가 달린다.", ["남자가", "달린다."]),
        ("一个man在跑步。", ["一", "个", "man", "在", "跑", "步。"]),
        ("「犬」が走る!", ["「犬」", "が", "走", "る!"]),
        ("ไก่กิน ข้าว", ["ไ", "ก่", "กิ", "น", "ข้", "า", "ว"]),
        ("他说 don't 是 2.5 米。", ["他", "说", "don't", "是", "2.5", "米。"]),
        ("— 猫 —", ["—", "猫", "—"]),
        ("", []),
        (" \u3000 ", []),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(st.text(st.characters(max_codepoint=0xDFF), max_size=30))
def test_text_in_scripts_with_spaces_is_divided_at_them(text: str) -> None:
    assert split_words(text) == text.split()


@given(st.text(max_size=30))
def test_words_cover_all_but_white_space_in_order(text: str) -> None:
    assert "".join(text[start:end] for start, end in find_words(text)) == "".join(text.split())
