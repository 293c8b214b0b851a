"""Properties of every degraded caption, for any captions and donors."""

# ruff: noqa: RUF001 -- letters of other scripts are what is tested
from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.msrvtt import read as read_msrvtt
from vttdata.errors import VttdataError
from vttdata.generate import DegradeSettings, Donors, degrade, degrade_captions
from vttdata.generate.degrade.degrade import VariantName
from vttdata.generate.degrade.donors import hash64
from vttdata.records import Caption, Degraded
from vttdata.text.word_spans import find_words, split_words

WHOLE = DegradeSettings(whole=True)
REPLACED = [0, 0, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5]
"""Number of words replaced in captions of 1 to 20 words; of longer ones a quarter."""


def expected(length: int) -> int:
    return REPLACED[length - 1] if length <= 20 else length // 4


def words(first: int, number: int) -> str:
    return " ".join(f"w{first + index}" for index in range(number))


def captions_of(*texts: str, video: str = "v", author: str = "human", language: str = "en") -> list[Caption]:
    return [Caption(f"{video}{number}", 0, text, author=author, language=language) for number, text in enumerate(texts)]


LONG = captions_of(*(words(1000 * number, 70) for number in range(1, 6)), video="long")


def check(result: Degraded, donors: Sequence[Caption], source_of: dict[str, str]) -> None:
    """Check every property of a degraded caption without a flag, from its words alone."""
    before, after = result.original.split(), (result.caption or "").split()
    assert result.start is not None
    assert result.words == expected(len(before))
    assert 1 <= result.start <= len(before) - result.words - 1
    end = result.start + result.words
    assert len(after) == len(before)
    assert after[: result.start] == before[: result.start]
    assert after[end:] == before[end:]
    assert after != before
    assert result.donor_video_id is not None
    assert result.donor_start is not None
    assert source_of[result.donor_video_id] != source_of[result.video_id]
    donor = next(c for c in donors if (c.video_id, c.sen_id) == (result.donor_video_id, result.donor_sen_id))
    given_words = donor.caption.split()
    assert after[result.start : end] == given_words[result.donor_start : result.donor_start + result.words]
    assert 1 <= result.donor_start <= len(given_words) - result.words - 1
    assert given_words != before


@pytest.mark.parametrize("length", [*range(3, 25), 30, 45, 60])
@pytest.mark.sampled(5)
def test_run_length_follows_the_table_and_every_start_occurs(length: int) -> None:
    own = [Caption("own", number, words(100 * number, length)) for number in range(12 * length)]
    donors = Donors(own + LONG)
    results = [degrade(caption, donors, seed=length) for caption in own]
    for result in results:
        check(result, LONG, {c.video_id: c.video_id for c in own + LONG})
    assert {result.start for result in results} == set(range(1, length - expected(length)))


@given(st.data())
def test_every_property_holds_for_all_captions(data: st.DataObject) -> None:
    word = st.sampled_from(["a", "man", "A", "man,", "Man", "runs.", "<b>", "été", "跑", "“x”", "dog", "in"])
    text = st.lists(word, min_size=1, max_size=60).map(" ".join)
    sources = st.sampled_from(["s", "t", "u"])
    rows = data.draw(st.lists(st.tuples(text, sources), min_size=1, max_size=12))
    captions = [Caption(f"v{number}", number, own) for number, (own, _) in enumerate(rows)]
    source_of = {f"v{number}": source for number, (_, source) in enumerate(rows)}
    donors = Donors(captions, source_of)
    for caption in captions:
        result = degrade(caption, donors, seed=data.draw(st.integers(0, 2**63)))
        if result.flag is None:
            check(result, captions, source_of)
            source_captions = {
                own.caption for own in captions if source_of[own.video_id] == source_of[caption.video_id]
            }
            assert result.caption not in source_captions
        else:
            assert result.caption is None
            assert (result.flag == "too_short") == (len(caption.caption.split()) <= 2)


@given(text=st.text(max_size=80), seed=st.integers(0, 9))
def test_any_text_can_be_degraded_and_nothing_outside_the_run_changes(text: str, seed: int) -> None:
    result = degrade(Caption("own", 0, text), Donors(LONG), seed=seed)
    if result.caption is None:
        assert result.flag in {"empty", "too_short"}
        return
    assert result.start is not None
    assert result.words is not None
    spans = find_words(text)
    assert result.caption.startswith(text[: spans[result.start][0]])
    assert result.caption.endswith(text[spans[result.start + result.words - 1][1] :])


def test_captions_in_scripts_without_spaces_are_degraded_by_letters() -> None:
    texts = [
        "一个男人在厨房里切胡萝卜。",
        "两只狗在海滩上奔跑，",
        "「女孩在弹钢琴」",
        "ผู้ชายกำลังวิ่งบนชายหาด",
        "男の子が公園で走っている。",
    ]
    codes = ["zh", "zh", "zh", "th", "ja"]
    captions = [
        Caption(f"v{k}", k, text, language=code) for k, (text, code) in enumerate(zip(texts, codes, strict=True))
    ]
    captions += [
        Caption("w0", 0, "ผู้หญิงคนหนึ่งร้องเพลงในห้อง", language="th"),
        Caption("w1", 1, "女の人が歌を歌っている。", language="ja"),
    ]
    donors = Donors(captions)
    for caption in captions:
        for seed in range(20):
            result = degrade(caption, donors, seed=seed)
            before = split_words(caption.caption)
            assert (result.flag, result.words) == (None, expected(len(before)))
            assert result.caption is not None
            assert result.start is not None
            after = split_words(result.caption)
            assert len(after) == len(before)
            assert after[: result.start] == before[: result.start]
            assert after[result.start + result.words :] == before[result.start + result.words :]
            assert " " not in result.caption
            donor = next(other for other in captions if other.video_id == result.donor_video_id)
            assert "".join(after[result.start : result.start + result.words]) in donor.caption


def test_variants_of_published_scripts_degrade_captions_without_spaces() -> None:
    captions = captions_of(
        "一个男人在厨房里切胡萝卜。", "两只狗在海滩上奔跑，追着球。", "女孩在弹钢琴。", language="zh"
    )
    donors = Donors(captions)
    for variant in get_args(VariantName):
        for caption in captions:
            result = degrade(caption, donors, DegradeSettings(variant=variant))
            assert result.caption is not None
            assert (result.caption == caption.caption) == (result.flag == "unchanged")
            assert " " not in (result.caption or " ")


def test_order_of_captions_does_not_matter(shared: Path) -> None:
    known = read_msrvtt(shared / "data" / "msrvtt")
    source_of = {clip.video_id: clip.source_id for clip in known.clips if clip.split == "test"}
    captions = [caption for caption in known.captions if caption.video_id in source_of]
    captions = [caption for caption in captions if caption.sen_id % 4 == 0]
    donors = Donors(captions, source_of)
    sample = captions[::59]
    results = list(degrade_captions(sample, donors, seed=3))
    for caption, result in zip(sample, results, strict=True):
        assert (result.original, result.flag) == (caption.caption, None)
        assert result.donor_video_id is not None
        assert source_of[result.donor_video_id] != source_of[caption.video_id]
        length = len(caption.caption.split())
        assert result.words == expected(length)
        assert len((result.caption or "").split()) == length
        assert result.caption != caption.caption
    mixed = random.Random(1).sample(captions, len(captions))
    again = Donors(mixed, source_of)
    assert [degrade(caption, again, seed=3) for caption in sample[::9]] == results[::9]
    assert degrade(sample[0], donors, seed=4) != results[0]


def test_new_source_changes_few_captions() -> None:
    old = [Caption(f"v{number}", 0, words(100 * number, 12)) for number in range(400)]
    new = [Caption(f"n{number}", 0, words(10**6 + 100 * number, 12)) for number in range(4)]
    before, after = (degrade_captions(old, Donors(captions)) for captions in (old, old + new))
    changed = sum(first != second for first, second in zip(before, after, strict=True))
    # Each draws up to 32 donors, of which a hundredth are new.
    assert 1 <= changed <= 80


def test_hash_is_blake2b() -> None:
    # Output of b2sum -l 64 for the text ('source', 'video7'), least significant byte first
    assert hash64("source", "video7") == int.from_bytes(bytes.fromhex("5cbeec130bff89a2"), "little")


def test_words_come_from_another_source_not_only_another_clip() -> None:
    captions = captions_of(words(0, 9), words(100, 9), words(200, 9))
    donors = Donors(captions, {"v0": "s", "v1": "s", "v2": "t"})
    assert {degrade(captions[0], donors, seed=seed).donor_video_id for seed in range(50)} == {"v2"}
    assert degrade(captions[0], Donors(captions, dict.fromkeys(["v0", "v1", "v2"], "s"))).flag == "no_donor"


def test_clip_without_a_known_source_is_an_error() -> None:
    donors = Donors(LONG, {caption.video_id: "s" for caption in LONG})
    with pytest.raises(VttdataError, match=r"source of clip 'v0' is not known"):
        degrade(captions_of("a man runs")[0], donors)


def test_donors_are_human_and_of_the_same_language() -> None:
    own = Caption("own", 0, "ein Mann läuft schnell", language="de")
    assert degrade(own, Donors(LONG)).flag == "no_donor"
    systems = captions_of(words(0, 20), video="s", author="system", language="de")
    assert degrade(own, Donors(systems)).flag == "no_donor"
    german = captions_of("eine Frau singt laut mit Freude", video="g", language="de")
    assert degrade(own, Donors(systems + german + LONG)).donor_video_id == "g0"


@pytest.mark.parametrize(
    ("own", "donor"),
    [
        ("a man runs", "a man sits"),  # the only inner words are equal
        ("a man runs", "a Man, sits"),
        ("a man runs fast", "A man runs fast."),
        ("a man runs", "so short"),
    ],
)
def test_donor_that_changes_nothing_is_refused(own: str, donor: str) -> None:
    assert degrade(Caption("own", 0, own), Donors(captions_of(donor))).flag == "no_donor"


def test_result_differs_from_all_captions_about_the_same_source() -> None:
    own = [Caption("own", 0, "a man runs"), Caption("own", 1, "a dog runs")]
    donors = Donors(own + captions_of("one dog sits", "one cat sits"))
    assert {degrade(own[0], donors, seed=seed).caption for seed in range(40)} == {"a cat runs"}


def test_inserted_words_read_well_where_donors_allow_it() -> None:
    donors = captions_of(
        "He sat. Then a dog came in", "one (small) “red” car is here, now", "THE BIG BAD WOLF COMES IN"
    )
    results = [degrade(Caption("own", n, f"w{n} y z t"), Donors(donors)).caption for n in range(300)]
    inserted = {" ".join((text or "").split()[1:3]) for text in results}
    assert {"dog came"} <= inserted <= {"a dog", "dog came", "car is"}


def test_donor_full_of_brackets_serves_without_alternative() -> None:
    result = degrade(captions_of("a man runs fast")[0], Donors(captions_of("x (red) [blue] y", video="d")))
    assert result.caption == "a (red) [blue] fast"


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("- a man is running fast .", ("- a ", " fast .")),
        ("a man runs .", ("a ", " .")),
        ("A man runs fast.", ("A ", " fast.")),
        ("« a man is running very fast » !", ("« a ", " fast » !")),
        ("a \t man runs \u00a0 fast\n", ("a \t ", " \u00a0 fast\n")),
    ],
)
def test_last_word_keeps_its_punctuation_and_what_follows(text: str, fixed: tuple[str, str]) -> None:
    result = degrade(Caption("own", 0, text), Donors(LONG))
    assert (result.caption or "").startswith(fixed[0])
    assert (result.caption or "").endswith(fixed[1])
    assert result.words == expected(len(text.split()))
    assert len((result.caption or "").split()) == len(text.split())


@pytest.mark.parametrize("text", ["", " \n", "...", "— !"])
def test_caption_without_a_word_is_flagged(text: str) -> None:
    result = degrade(Caption("own", 0, text), Donors(LONG), WHOLE)
    assert (result.caption, result.start, result.flag) == (None, None, "empty")


def test_short_caption_is_flagged_or_replaced_as_a_whole_if_requested() -> None:
    own = captions_of("running !", "he runs")
    donors = Donors(own + captions_of("a cat", "He runs", "sleeping", "three words here", video="d"))
    assert [degrade(caption, donors).flag for caption in own] == ["too_short", "too_short"]
    one, two = (degrade(caption, donors, WHOLE) for caption in own)
    assert (one.caption, one.words, one.flag) == ("sleeping !", 1, "whole")
    assert (two.caption, two.words, two.flag) == ("a cat", 2, "whole")
    assert degrade(own[0], Donors(LONG), WHOLE).flag == "no_donor"


def test_very_long_caption_needs_a_long_donor() -> None:
    long = Caption("own", 0, words(0, 4000))
    assert degrade(long, Donors(LONG)).flag == "no_donor"
    result = degrade(long, Donors([*LONG, Caption("book", 0, words(10**6, 5000))]))
    assert (result.words, result.donor_video_id) == (1000, "book")
