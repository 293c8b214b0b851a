"""Variants do what the published scripts do, as read from the scripts themselves."""

from __future__ import annotations

from typing import get_args

import pytest

from vttdata.generate import VARIANTS, DegradeSettings, Donors, degrade
from vttdata.generate.degrade.degrade import VariantName
from vttdata.records import Caption, Degraded

SEEDS = 300
OTHERS = [Caption(f"d{n}", 0, " ".join(f"D{n}x{index}" for index in range(40))) for n in range(3)]


def own(length: int) -> Caption:
    return Caption("own", 0, " ".join(f"w{index}" for index in range(length)))


def drawn(variant: VariantName, length: int) -> list[Degraded]:
    caption = own(length)
    donors = Donors([caption, *OTHERS])
    return [degrade(caption, donors, DegradeSettings(variant), seed=seed) for seed in range(SEEDS)]


# length, number of replaced words, first and last position of their start, number of inserted words
BINS = [(1, 1), (2, 2), (5, 2), (6, 3), (8, 3), (9, 4), (15, 4), (16, 5), (20, 5)]
APPRAISE = [(n, k, 0, max(0, n - k - 1), k) for n, k in BINS]
RULES: dict[VariantName, list[tuple[int, int, int, int, int]]] = {
    "wmt17": [*APPRAISE, (21, 5, 0, 15, 5), (24, 6, 0, 17, 6), (30, 7, 0, 22, 7)],
    "appraise-wmt19": [*APPRAISE, (21, 6, 0, 14, 6), (30, 6, 0, 23, 6)],
    "wmt22": [(1, 1, 0, 0, 2), *APPRAISE[1:], (21, 6, 0, 14, 6), (30, 6, 0, 23, 6)],
    "bad-refs-2016": [
        (1, 1, 0, 0, 1),
        (2, 1, 1, 1, 1),
        (3, 1, 1, 1, 1),
        (4, 2, 1, 1, 2),
        (5, 2, 1, 1, 2),
        (7, 3, 1, 2, 3),
        (8, 4, 1, 2, 4),
        (14, 4, 1, 8, 4),
        (15, 5, 1, 8, 5),
        (20, 5, 1, 13, 5),
        (27, 6, 1, 19, 6),
        (28, 7, 1, 19, 6),
    ],
    "ad-bad-refs-2013": [
        (2, 1, 1, 1, 0),
        (3, 1, 1, 1, 0),
        (4, 2, 1, 1, 0),
        (8, 3, 1, 4, 0),
        (15, 4, 1, 10, 0),
        (20, 5, 1, 14, 0),
        (21, 5, 1, 15, 0),
        (26, 6, 1, 19, 0),
    ],
    "video-2018": [
        (3, 1, 1, 1, 1),
        (4, 2, 1, 1, 2),
        (5, 2, 1, 2, 2),
        (8, 3, 1, 4, 3),
        (15, 4, 1, 10, 4),
        (20, 5, 1, 14, 5),
        (21, 5, 1, 15, 5),
        (28, 7, 1, 20, 7),
    ],
}


@pytest.mark.parametrize(
    ("variant", "length", "replaced", "first", "last", "inserted"),
    [(variant, *rule) for variant, rules in RULES.items() for rule in rules],
)
def test_lengths_and_positions_are_those_of_the_script(
    variant: VariantName, length: int, replaced: int, first: int, last: int, inserted: int
) -> None:
    results = [result for result in drawn(variant, length) if result.flag != "unchanged"]
    assert {result.words for result in results} == {replaced}
    assert {result.start for result in results} == set(range(first, last + 1))
    assert {len((result.caption or "").split()) for result in results} == {length - replaced + inserted}
    assert {result.variant for result in results} == {variant}


def test_ad_bad_refs_removes_words() -> None:
    result = degrade(own(6), Donors([]), DegradeSettings("ad-bad-refs-2013"), seed=1)
    assert (result.donor_video_id, result.flag) == (None, None)
    assert (result.caption or "").split() == [word for word in own(6).caption.split() if word in (result.caption or "")]
    assert degrade(own(1), Donors([]), DegradeSettings("ad-bad-refs-2013")).caption == "The"


def test_bad_refs_lowers_the_first_inserted_word_and_capitalizes_a_single_one() -> None:
    donors = Donors([Caption("d", 0, "One BIG DOG ran")])
    texts = {degrade(own(4), donors, DegradeSettings("bad-refs-2016"), seed=seed).caption for seed in range(9)}
    assert texts == {"w0 big DOG w3"}
    alone = {degrade(own(1), donors, DegradeSettings("bad-refs-2016"), seed=seed).caption for seed in range(30)}
    assert alone == {"Big", "Dog"}


@pytest.mark.parametrize(
    ("variant", "same_caption"), [("wmt17", True), ("bad-refs-2016", True), ("appraise-wmt19", False)]
)
def test_some_scripts_take_words_from_the_same_caption(variant: VariantName, same_caption: bool) -> None:
    donors = {result.donor_video_id for result in drawn(variant, 12)}
    assert ("own" in donors) == same_caption
    if same_caption:
        flags = {result.flag for result in drawn(variant, 12)}
        assert flags == {None, "unchanged"}
        assert all(r.caption == r.original for r in drawn(variant, 12) if r.flag == "unchanged")


def test_only_published_scripts_insert_the_first_word_of_a_donor() -> None:
    first = {variant: any(r.donor_start == 0 for r in drawn(variant, 12)) for variant in ("wmt17", "video-2018")}
    assert first == {"wmt17": True, "video-2018": False}


def test_short_donor_shortens_captions_of_appraise() -> None:
    donors = Donors([Caption("d", 0, "Too short")])
    result = degrade(own(12), donors, DegradeSettings("appraise-wmt19"))
    assert len((result.caption or "").split()) == 12 - 4 + 2
    assert degrade(own(12), donors, DegradeSettings("wmt17")).flag == "no_donor"


def test_variant_names_agree_with_the_command_line() -> None:
    assert list(VARIANTS) == list(get_args(VariantName))
