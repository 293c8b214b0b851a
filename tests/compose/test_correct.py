"""Errata: each is compared with the dataset first, and only what they name changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compose.test_withdraw import TEXTS, rows_of
from tests.helpers.hub.built import build
from vttdata.cli.main import main
from vttdata.compose.correct import correct_dataset
from vttdata.dataset.manifest import find_damage
from vttdata.dataset.revise import Changes, revise_dataset
from vttdata.dataset.rows import ERRATA, ErratumRow
from vttdata.dataset.tombstones import read_history
from vttdata.errors import VttdataError
from vttdata.publish.diff import compare_datasets

FACTS = {"reason": "wrong", "who": "ann", "date": "2026-11-27"}


def table(folder: Path, *rows: dict[str, str]) -> Path:
    path = folder / "errata.jsonl"
    path.write_text("".join(json.dumps(FACTS | row) + "\n" for row in rows))
    return path


def caption(old: str, new: str, name: str = "v0#1") -> dict[str, str]:
    return {"id": name, "field": "captions.caption", "old": old, "new": new}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return build(tmp_path / "small", TEXTS, media=tmp_path / "cut")


def test_values_are_found_with_the_ids_that_errata_want(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["correct", str(dataset), "--find", TEXTS[0].upper()]) == 0
    found = capsys.readouterr().out
    assert found.splitlines() == ["id,field,old,new,reason,who,date", f"v0#1,captions.caption,{TEXTS[0]},{TEXTS[0]},,,"]
    # Filled in, it is a table of errata.
    (tmp_path / "errata.csv").write_text(found.replace(f",{TEXTS[0]},,,", ",somebody waves,wrong,ann,2026-11-27"))
    assert main(["correct", str(dataset), "--errata", str(tmp_path / "errata.csv")]) == 0
    assert main(["show", str(dataset)]) == 0
    assert "an id such as v0#1 and a field such as captions.caption" in capsys.readouterr().out
    assert main(["correct", str(dataset), "--find", "nobody said this"]) == 2
    assert "No value that can be corrected contains 'nobody said this'" in capsys.readouterr().err


def test_only_what_an_erratum_names_changes(dataset: Path, tmp_path: Path) -> None:
    before = rows_of(dataset)
    # Cleaned as the captions of builds are.
    errata = table(tmp_path, caption(TEXTS[0], " somebody\u202e\n waves\u200b"))
    folder, version, _ = correct_dataset(dataset, errata, out=tmp_path / "new")
    assert rows_of(dataset) == before
    assert version == "2.0.0"
    assert find_damage(folder) == []
    after = rows_of(folder)
    for config in before:
        for (split, old), (new_split, new) in zip(before[config], after[config], strict=True):
            wanted = dict(old)
            if old.get("video_id") == "v0":
                wanted |= {"captions": ["somebody waves"]} if config == "clips" else {"caption": "somebody waves"}
            assert (new_split, new) == (split, wanted)
    (listed,) = [
        json.loads(line) for line in (folder / "videos/train/metadata.jsonl").read_text().splitlines() if '"v0"' in line
    ]
    assert listed["captions"] == ["somebody waves"]
    assert compare_datasets(dataset, folder).needed == "major"
    assert "somebody waves" in (folder / "README.md").read_text()


def test_errata_of_several_versions_are_kept(dataset: Path, tmp_path: Path) -> None:
    correct_dataset(dataset, table(tmp_path, caption(TEXTS[0], "somebody waves")))
    correct_dataset(dataset, table(tmp_path, caption("somebody waves", "nobody waves")))
    assert [(row["version"], row["old"], row["new"]) for row in read_history(dataset, ERRATA)] == [
        ("2.0.0", TEXTS[0], "somebody waves"),
        ("3.0.0", "somebody waves", "nobody waves"),
    ]
    assert rows_of(dataset)["captions"][0][1]["caption"] == "nobody waves"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([caption("another text", "new")], "has the old value 'another text', but the dataset has"),
        ([caption(TEXTS[0], "new", "v9#1")], "names 'v9#1', which the dataset does not have"),
        ([caption(TEXTS[0], "new"), caption(TEXTS[0], "other")], "is corrected twice"),
        ([caption(TEXTS[0], "\u200b ")], "has an empty text"),
        ([caption(TEXTS[0], TEXTS[0])], "has the old value as the new one"),
        ([{"id": "v0", "field": "category", "old": "", "new": "life"}], "old value '', but the dataset has 'life'"),
        ([caption(TEXTS[0], "new") | {"date": "soon"}], "found 'soon'"),
        ([caption(TEXTS[0], "new") | {"who": ""}], "the column 'who' is empty"),
        ([caption(TEXTS[0], "new") | {"field": "colour"}], "'colour' cannot be corrected"),
        ([caption(TEXTS[0], "new") | {"field": "start"}], "'start' is a column of clips.start and questions.start"),
        ([{"id": "v0", "field": "clips.start", "old": "0", "new": "1"}], "has a file that was cut by its span"),
        ([{"id": "v0", "field": "category", "old": "life", "new": "sport"}], "'sport', which is no value"),
    ],
)
def test_a_wrong_erratum_changes_nothing(dataset: Path, tmp_path: Path, rows: list[dict[str, str]], words: str) -> None:
    before = rows_of(dataset)
    with pytest.raises(VttdataError) as raised:
        correct_dataset(dataset, table(tmp_path, *rows))
    assert words in str(raised.value)
    assert rows_of(dataset) == before
    assert find_damage(dataset) == []


def test_an_erratum_of_a_caption_that_is_gone_moves_to_no_other_erratum(dataset: Path) -> None:
    def erratum(name: str, new: str) -> ErratumRow:
        return ErratumRow(name, "captions.caption", TEXTS[0], new, "wrong", "ann", "2026-11-27", "2.0.0")

    # v0#1 is in the dataset, v0#2 is no more; both once had the same text.
    changes = Changes("2.0.0", [erratum("v0#2", "somebody sings"), erratum("v0#1", "somebody waves")], strict=False)
    revision = revise_dataset(dataset, changes)
    assert [each.id for each in revision.unfit] == ["v0#2"]
    assert rows_of(dataset)["captions"][0][1]["caption"] == "somebody waves"
