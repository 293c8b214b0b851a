"""How benchmarks write their sources: the packaged descriptions, and real files with the counts of their papers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from vttdata.annotations.stated_sources import StatedSource, read_official_sources
from vttdata.errors import VttdataError
from vttdata.recipe.origins import all_origins, read_origins
from vttdata.recipe.sources import SourceTable, StatedName, StatedSources, all_sources, read_stated_sources


def read(name: str, folder: Path) -> tuple[Counter[str], dict[str, StatedSource]]:
    """Return the number of items of each split, and a source of each item."""
    found = read_official_sources(read_stated_sources(all_sources()[name]), folder)
    of_item = {row.item: row for row in found.sources}
    return Counter(split for _, split in {(row.item, row.split) for row in found.sources}), of_item


@pytest.mark.parametrize("name", all_sources())
def test_packaged_description_says_where_sources_are_or_that_they_are_not(name: str) -> None:
    stated = read_stated_sources(all_sources()[name])
    assert stated.tables or stated.unknown
    if stated.tables and name in all_origins():
        # What is inside of an archive cannot be told by names.
        names = [Path(file.name) for file in read_origins(all_origins()[name]).files]
        patterns = [pattern for table in stated.tables for pattern in table.files]
        packed = any(path.suffix == ".zip" for path in names)
        assert packed or all(any(path.match(pattern) for path in names) for pattern in patterns)


@pytest.mark.parametrize(
    ("name", "folder", "counts", "item", "names"),
    [
        ("msrvtt", "msrvtt", {"train": 6513, "validation": 497, "test": 2990}, "video0", "9lZi22qLlEo msrvtt:0"),
        ("youcook2", "youcook2", {"train": 1333, "validation": 457}, "GLd3aX16zBg", "GLd3aX16zBg"),
        (
            *("activitynet-captions", "activitynet"),
            {"train": 10009, "validation": 2460, "test": 2457, "hidden_test": 3129},
            *("v_QOlSCBRmfWY", "QOlSCBRmfWY"),
        ),
        ("qvhighlights", "qvhighlights", {"validation": 1519}, "NUsG9BgSes0_210.0_360.0", "NUsG9BgSes0"),
        ("nextqa", "questions/nextqa", {"validation": 570}, "4010069381", "https://www.flickr.com/photos/_/4010069381"),
        ("tempcompass", "questions/tempcompass", {"test": 410}, "1034419625_reverse", "shutterstock:1034419625"),
        (
            *("flickr8k", "flickr8k", {"train": 5999, "validation": 1000, "test": 1000}),
            *("3385593926_d3e9c21170.jpg", "https://www.flickr.com/photos/_/3385593926"),
        ),
    ],
)
def test_real_files_have_the_published_numbers_of_items(
    shared: Path, name: str, folder: str, counts: dict[str, int], item: str, names: str
) -> None:
    found, of_item = read(name, shared / "data" / folder)
    assert found == counts
    assert [own.removeprefix("https://www.youtube.com/watch?v=") for own in of_item[item].names] == names.split()


def test_splits_spans_and_texts_of_items_come_from_all_tables(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(
        json.dumps({"own": {"aaaaaaaaaaa_3_7": {"says": ["one", "two"]}, "other": {"says": ["three"]}}})
    )
    (tmp_path / "train.txt").write_text("aaaaaaaaaaa_3_7\n")
    table = {"files": ["rows.json"], "rows": "own.*", "item": "@", "text": "says.*"}
    form = {"form": r"(.{11})_(?P<start>\d+)_(?P<end>\d+)"}
    description = tmp_path / "lab.yaml"
    tables = [table | {"names": [form]}, {"files": ["train.txt"], "item": "@", "split": "train"}]
    description.write_text(json.dumps({"tables": tables}))
    found = read_official_sources(read_stated_sources(description), tmp_path)
    known, unknown = found.sources
    assert known == ("aaaaaaaaaaa_3_7", "train", ("aaaaaaaaaaa",), "aaaaaaaaaaa", 3.0, 7.0)
    assert (unknown.item, unknown.split, unknown.names) == ("other", "unlisted", ())
    assert found.texts == {"train": ["one", "two"], "unlisted": ["three"]}


def test_groups_of_a_form_are_one_id(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"at": "videos/Art/3.mp4"}, {"at": "elsewhere"}]))
    name = StatedName("at", r"videos/(\w+)/(?P<start>0?)(\d+)\.mp4", "mmvu:{}")
    found = read_official_sources(StatedSources([SourceTable(["a.json"], names=[name])]), tmp_path)
    assert [(row.item, row.names) for row in found.sources] == [("Art_3", ("mmvu:Art_3",)), ("elsewhere", ())]


def test_mistakes_are_refused_in_one_sentence(tmp_path: Path) -> None:
    description = tmp_path / "bad.yaml"
    for form, problem in (("no group", "has no group for the id"), ("(", "is no regular expression")):
        description.write_text(json.dumps({"tables": [{"files": ["a.json"], "names": [{"form": form}]}]}))
        read_stated_sources.cache_clear()
        with pytest.raises(VttdataError, match=problem):
            read_stated_sources(description)
    with pytest.raises(VttdataError, match=r"has none of val\.csv"):
        read_official_sources(StatedSources([SourceTable(["val.csv"])]), tmp_path)
