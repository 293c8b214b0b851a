# ruff: noqa: RUF001
"""Cases were written for this test; the tokens are what CoreNLP 3.4.1's PTBTokenizer prints for them."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.errors import VttdataError
from vttdata.text.ptb_tokenizer import tokenize_caption

CASES = [
    ("A man can't dance, but he won't stop.", "a man ca n't dance but he wo n't stop"),
    (
        "I'm gonna go; you cannot stay: gotta run, lemme see, gimme that, wanna play?",
        "i 'm gon na go you can not stay got ta run lem me see gim me that wan na play",
    ),
    ("'Tis the 1990's, or the '90s and '88 too", "'t is the 1990 's or the '90s and '88 too"),
    ("She said \"hello\" and ``goodbye'' and 'maybe'.", "she said hello and goodbye and maybe"),
    ("rock'n'roll and rock 'n' roll with Guns N' Roses", "rock 'n' roll and rock 'n' roll with guns n roses"),
    (
        "O'Neil's ma'am went o'er the hill at five o'clock with y'all",
        "o'neil 's ma'am went o'er the hill at five o'clock with y' all",
    ),
    ("D'Angelo and l'amour, ne'er seen in Hawai'i", "d'angelo and l'amour ne'er seen in hawai'i"),
    ("don’t use ’em, it’s Joe’s “curly” quotes", "do n't use ’em it 's joe 's curly quotes"),
    ("Mr. Smith lives in the U.S. The end.", "mr. smith lives in the u.s. the end"),
    (
        "He works for Acme Inc. and Dr. Who, e.g. at 5 a.m. etc.",
        "he works for acme inc. and dr. who e.g. at 5 a.m. etc.",
    ),
    ("Plan b. Then plan c. then no. 5 and No. five", "plan b then plan c. then no. 5 and no five"),
    ("a Ph.D. student, J. R. Smith vs. St. John's", "a ph.d. student j. r. smith vs. st. john 's"),
    ("end.. end... end.... wait . . . what", "end end end wait what"),
    ("wait!! what?? really?! no!", "wait !! what ?? really ?! no"),
    (
        "see http://example.org/a_b?c=d&e=f, www.example.org and example.com/path.html",
        "see http://example.org/a_b?c=d&e=f www.example.org and example.com/path.html",
    ),
    (
        "mail jane.doe@example.org or follow @jane_doe #happyDay #1",
        "mail jane.doe@example.org or follow @jane_doe #happyday # 1",
    ),
    ("3 1/2 cups, 1/2 cup, 1½ cups and ¼ tsp", "3\xa01/2 cups 1/2 cup 1 1/2 cups and 1/4 tsp"),
    ("$5.00, £3, €4, US$20, 10% of 1,000.50 for 5¢", "$ 5.00 # 3 $ 4 us$ 20 10 % of 1,000.50 for 5 cents"),
    ("at 10:30 on 12/25/2012 or 2012-12-25", "at 10:30 on 12/25/2012 or 2012-12-25"),
    ("call (412) 555-1234 or 412-555-1234 or 555 1234", "call -lrb-412-rrb-\xa0555-1234 or 412-555-1234 or 555 1234"),
    ("a 6'2\" man, 5'10\" woman and a 3-year-old t-shirt", "a 6 2 man 5 10 woman and a 3-year-old t-shirt"),
    ("and/or his/her black-and-white TV in 4K at 3x speed", "and/or his/her black-and-white tv in 4k at 3x speed"),
    (
        "(round) [square] {curly} <b>bold</b> <br/> a < b > c",
        "-lrb- round -rrb- -lsb- square -rsb- -lcb- curly -rcb- <b> bold </b> <br/> a < b > c",
    ),
    ("AT&T and R&D but r&d &amp; q&amp;a &lt;3 &quot;hi&quot;", "at&t and r&d but r & d & q & a < 3 hi"),
    (":) :-( =D ;) ^_^ (^_^) <3 xD -_-", ":-rrb- :--lrb- =d ;-rrb- ^_^ -lrb-^_^-rrb- < 3 xd -_-"),
    (
        "C++ and C# or F# code in file_1.txt, main.c and archive.tar.gz",
        "c++ and c# or f# code in file_1 txt main.c and archive.tar.gz",
    ),
    ("a–b — c -- d --- e ----- f", "a b c d e ----- f"),
    ("snake_case, __init__, a*b, **bold**, ~home, a+b=c", "snake_case __ init __ a * b ** bold ** ~ home a + b = c"),
    ("hello😀world ❤️ 👍🏽 done", "hello world ❤ done"),
    ("café naïve Ærø straße ΣΊΣΥΦΟΣ привет", "café naïve ærø straße σίσυφος привет"),
    (
        "你好 世界。日本語、テスト 한국어 العربية हिन्दी ภาษาไทย",
        "你好 世界 。 日本語 、 テスト 한국어 العربية हिन्दी ภาษาไทย",
    ),
    ("x² + y³ = 10⁵ °C ™ ® © § ¿qué?", "x ² + y ³ = 10 ⁵ ° c ™ ® © § ¿ qué"),
    (
        "zero\u200bwidth soft\xadhyphen no\xa0break byte\ufefforder ctrl\x07bell",
        "zero width softhyphen no break byte order ctrl bell",
    ),
    ("été ñ decomposed", "été ñ decomposed"),
    (
        "isn't ain't shan't wouldn't've he'd've they're we've she'll",
        "is n't ai n't sha n't would n't 've he 'd 've they 're we 've she 'll",
    ),
    ("Yahoo! and Jeopardy! a!b c?d e.f", "yahoo and jeopardy a!b c?d e.f"),
    (".5 -5 +3 5. 5.a 1.2.3.4 1,2,3 a1b2 2nd 1st", ".5 -5 +3 5 5 a 1.2.3.4 1,2,3 a1b2 2nd 1st"),
    ("'single' ''double'' `back` ``tick``", "single double back tick"),
    ("word., word.; word.: x., 5.,", "word. word. word. x. 5."),
    ("www.example.video/xyz and www.example.info/xyz", "www.example.video / xyz and www.example.info/xyz"),
    ("a \xad b", "a b"),
    ("the dogs' bowls, James' car, goin' fishin'", "the dogs bowls james car goin fishin"),
]


@pytest.mark.parametrize(("text", "tokens"), CASES)
def test_tokens_are_those_of_corenlp(text: str, tokens: str) -> None:
    assert " ".join(tokenize_caption(text)) == tokens


def test_ends_of_lines_inside_a_caption_are_spaces() -> None:
    assert tokenize_caption("a man\r\nruns\u2028fast\x0bnow") == ["a", "man", "runs", "fast", "now"]


def test_what_follows_a_space_is_seen_after_chunks_were_remembered() -> None:
    assert tokenize_caption("plan b. then no. five") == ["plan", "b.", "then", "no", "five"]
    assert tokenize_caption("plan b. Then No. 5") == ["plan", "b", "then", "no.", "5"]
    assert tokenize_caption("3 1/2") == ["3\xa01/2"]


def test_unpaired_surrogate_is_refused() -> None:
    with pytest.raises(VttdataError, match="unpaired surrogate"):
        tokenize_caption("a man \ud83d runs")


@given(st.text(max_size=200))
def test_every_text_has_tokens_without_spaces(text: str) -> None:
    for token in tokenize_caption(text):
        assert token
        assert " " not in token
        assert "\n" not in token


@given(st.lists(st.text(string.ascii_lowercase, min_size=1), max_size=20))
def test_plain_words_are_tokens(words: list[str]) -> None:
    special = {"cannot", "gonna", "gotta", "lemme", "gimme", "wanna"}
    kept = [word for word in words if word not in special]
    assert tokenize_caption(" ".join(kept)) == kept


@pytest.mark.parametrize(
    "piece", ["a", "a.", ".", "-", "'", "<", "<a ", "(", "1-", "1 ", "a@", "&amp;", "http://", "é", "😀", "a😀"]
)
def test_time_grows_with_length(piece: str) -> None:
    # Ten thousand repetitions would take minutes if any rule read the rest of the text at each token.
    assert isinstance(tokenize_caption(piece * 10_000), list)


@given(st.one_of(st.text(string.ascii_letters), st.sampled_from(["cannot", "Gonna", "GOTTA", "lemme", "no", "Mr"])))
def test_words_of_letters_are_cut_as_by_all_rules(word: str) -> None:
    # With a "<" anywhere a caption is read by the rules alone.
    assert [*tokenize_caption(word), "<"] == tokenize_caption(f"{word} <")
