"""Verdicts of people decide which foils are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.generate.foils.test_mine import captions
from vttdata.errors import VttdataError
from vttdata.generate import mine_foils
from vttdata.generate.foils.human_verdicts import read_verdicts
from vttdata.generate.foils.settings import FoilSettings


def test_soundness_is_the_mean_of_the_verdicts(tmp_path: Path) -> None:
    table = tmp_path / "verdicts.csv"
    rows = ["a,sound", "b,odd", "c,sound", "c,Sound ", "c,implausible", "d,sound", "d,odd", "e,present"]
    table.write_text("\n".join(["foil_id,verdict,reader", *(f"{row},one" for row in rows)]))
    assert read_verdicts(table) == {"a": 1.0, "b": 0.5, "c": pytest.approx(2 / 3), "d": 0.75, "e": 0.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("foil_id,verdict\n", "there are no verdicts"),
        ("foil_id,verdict\na,sound\nb,\n", "verdicts.csv:3: a row of verdicts needs"),
        ("foil,verdict\na,sound\n", "verdicts.csv:1: there is no column 'foil_id'"),
    ],
)
def test_table_without_verdicts_is_refused(tmp_path: Path, text: str, words: str) -> None:
    table = tmp_path / "verdicts.csv"
    table.write_text(text)
    with pytest.raises(VttdataError, match=words):
        read_verdicts(table)


def test_unsound_foils_are_not_taken() -> None:
    given = captions()
    first = mine_foils(given, seed=3).pairs
    unsound = {pair.foil_id for pair in first[::2]}
    second = mine_foils(given, seed=3, verdicts=dict.fromkeys(unsound, 0.4)).pairs
    assert second
    assert not unsound & {pair.foil_id for pair in second}


@pytest.mark.parametrize(("share", "taken"), [(0.4, False), (0.5, True)])
def test_foil_needs_a_soundness_of_one_half(share: float, taken: bool) -> None:
    given = captions()
    verdicts = dict.fromkeys((pair.foil_id for pair in mine_foils(given, seed=3).pairs), share)
    settings = FoilSettings(judged_only=True)
    assert bool(mine_foils(given, seed=3, settings=settings, verdicts=verdicts).pairs) == taken


def test_judged_only_takes_sound_foils_with_unsound_probability_0() -> None:
    given = captions()
    first = mine_foils(given, seed=3).pairs
    sound = dict.fromkeys((pair.foil_id for pair in first), 1.0)
    settings = FoilSettings(judged_only=True, max_unsound_probability=0.0)
    second = mine_foils(given, seed=3, settings=settings, verdicts=sound).pairs
    assert second
    assert {pair.foil_id for pair in second} <= sound.keys()
    assert {pair.swap.unsound_probability for pair in second} == {0.0}


def test_judged_only_without_verdicts_is_refused() -> None:
    with pytest.raises(VttdataError, match="there are no verdicts"):
        mine_foils(captions(), settings=FoilSettings(judged_only=True))
    assert mine_foils(captions(), settings=FoilSettings("paper", judged_only=True)).pairs


def test_verdict_outweighs_what_a_word_implies() -> None:
    given = {video: [*texts, "the jockey waves"] for video, texts in captions().items()}
    settings = FoilSettings("random")
    unimplied, implied = (mine_foils(texts, seed=3, settings=settings).pairs for texts in (captions(), given))
    sound = {pair.foil_id: 1.0 for pair in (*unimplied, *implied)}
    assert "horse" in {pair.swap.foil_concept for pair in unimplied}
    assert "horse" not in {pair.swap.foil_concept for pair in implied}
    for judged_only in (False, True):
        settings = FoilSettings(judged_only=judged_only)
        pairs = mine_foils(given, seed=3, settings=settings, verdicts=sound).pairs
        assert ("horse" in {pair.swap.foil_concept for pair in pairs}) == judged_only
