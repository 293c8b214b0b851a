"""Verdicts of people decide which foils are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.generate.foils.test_mine import captions
from vttdata.errors import VttdataError
from vttdata.generate import mine_foils
from vttdata.generate.foils.search import FoilSettings
from vttdata.generate.foils.verdicts import read_verdicts


def test_how_sound_a_foil_is_is_the_mean_of_what_is_said_of_it(tmp_path: Path) -> None:
    table = tmp_path / "verdicts.csv"
    rows = ["a,sound", "b,odd", "c,sound", "c,Sound ", "c,implausible", "d,sound", "d,odd", "e,present"]
    table.write_text("\n".join(["foil_id,verdict,reader", *(f"{row},one" for row in rows)]))
    assert read_verdicts(table) == {"a": 1.0, "b": 0.5, "c": pytest.approx(2 / 3), "d": 0.75, "e": 0.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("foil_id,verdict\n", "holds no verdicts"),
        ("foil_id,verdict\na,sound\nb,\n", "verdicts.csv:3: a row of verdicts needs"),
        ("foil,verdict\na,sound\n", "verdicts.csv:2: a row of verdicts needs"),
    ],
)
def test_a_table_without_verdicts_is_refused_in_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    table = tmp_path / "verdicts.csv"
    table.write_text(text)
    with pytest.raises(VttdataError, match=words):
        read_verdicts(table)


def test_no_foil_is_taken_that_was_found_unsound() -> None:
    given = captions()
    first = mine_foils(given, seed=3).pairs
    unsound = {pair.foil_id for pair in first[::2]}
    second = mine_foils(given, seed=3, verdicts=dict.fromkeys(unsound, 0.4)).pairs
    assert second
    assert not unsound & {pair.foil_id for pair in second}


@pytest.mark.parametrize(("share", "taken"), [(0.4, False), (0.5, True)])
def test_a_foil_is_taken_only_where_half_of_what_is_said_is_for_it(share: float, taken: bool) -> None:
    given = captions()
    said = dict.fromkeys((pair.foil_id for pair in mine_foils(given, seed=3).pairs), share)
    settings = FoilSettings(judged_only=True)
    assert bool(mine_foils(given, seed=3, settings=settings, verdicts=said).pairs) == taken


def test_foils_that_were_found_sound_can_be_the_only_ones_with_unsound_probability_0() -> None:
    given = captions()
    first = mine_foils(given, seed=3).pairs
    sound = dict.fromkeys((pair.foil_id for pair in first), 1.0)
    settings = FoilSettings(judged_only=True, max_unsound_probability=0.0)
    second = mine_foils(given, seed=3, settings=settings, verdicts=sound).pairs
    assert second
    assert {pair.foil_id for pair in second} <= sound.keys()
    assert {pair.swap.unsound_probability for pair in second} == {0.0}


def test_judged_foils_only_are_refused_in_one_sentence_where_nothing_was_judged() -> None:
    with pytest.raises(VttdataError, match="there are no verdicts"):
        mine_foils(captions(), settings=FoilSettings(judged_only=True))
    assert mine_foils(captions(), settings=FoilSettings("paper", judged_only=True)).pairs
