"""What a table says of captions by machines, and of who checked them, is in the dataset's captions."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tests.helpers.hub.built import build
from vttdata.dataset import Metadata, write_dataset
from vttdata.evaluate.items import read_clips
from vttdata.records import Clip
from vttdata.text.captions import MACHINE_COLUMNS, CaptionSettings, clean_captions, read_caption_table


def test_revision_prompt_and_who_checked_are_kept(tmp_path: Path) -> None:
    table = tmp_path / "captions.csv"
    table.write_text(
        "video_id,caption,author,revision,prompt,verified_by\n"
        "c,a person waves at us,some-model,r7,describe it,w1\n"
        "c,somebody waves at us,,,,\n"
    )
    captions = clean_captions("c", list(read_caption_table(table, {})), CaptionSettings())
    write_dataset(
        tmp_path / "d",
        clips=[Clip("c", "s", 0.0, 9.0, None, None, None, split="test")],
        captions=captions,
        sources=[],
        metadata=Metadata("me/small"),
        media=None,
    )
    (path,) = (tmp_path / "d/captions").glob("*.parquet")
    rows = pq.read_table(path).to_pylist()
    columns = ("author", "revision", "prompt", "verified_by")
    assert {tuple(row[name] for name in columns) for row in rows} == {
        ("some-model", "r7", "describe it", "w1"),
        ("human", None, None, None),
    }


def test_datasets_from_before_these_columns_are_evaluated(tmp_path: Path) -> None:
    dataset = build(tmp_path / "d")
    for path in (dataset / "captions").glob("*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(list(MACHINE_COLUMNS)), path)
    assert read_clips(dataset, split="test").references == [["a dog runs"]]
