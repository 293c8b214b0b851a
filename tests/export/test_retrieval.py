"""Read the lists as CLIP4Clip's data loaders for MSR-VTT do."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections import defaultdict
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.export.conftest import Write, clips, texts_of
from vttdata.errors import VttdataError
from vttdata.export import export
from vttdata.export.formats.retrieval import write_list
from vttdata.export.reader import ClipReferences, Reference
from vttdata.records import Caption

IS_NUL_READ = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
"""Whether `pandas.read_csv` keeps NUL; before, it takes what follows for no part of the value."""


def test_training_list_joins_with_all_captions_of_the_json(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "retrieval", tmp_path / "x")
    listed = pd.read_csv(tmp_path / "x/train.csv")
    with (tmp_path / "x/data.json").open() as stream:
        data = json.load(stream)
    sentences = defaultdict(list)
    for sentence in data["sentences"]:
        sentences[sentence["video_id"]].append(sentence["caption"])
    parents = {video["video_id"]: video["url"].split("?v=")[-1] for video in data["videos"]}
    assert list(listed.columns) == ["video_id"]
    assert list(listed["video_id"].values) == ["video7", "video8"]
    assert {name: sentences[name] for name in listed["video_id"].values} == {
        name: texts_of(name) for name in ("video7", "video8")
    }
    assert len(set(parents.values())) == 6


def test_test_list_has_the_first_caption_of_each_clip(dataset: Path, tmp_path: Path) -> None:
    written = export(dataset, "retrieval", tmp_path / "x")
    listed = pd.read_csv(tmp_path / "x/test.csv")
    assert list(listed.columns) == ["key", "vid_key", "video_id", "sentence"]
    assert list(listed["key"].values) == ["ret0", "ret1"]
    assert list(listed["video_id"].values) == ["video11", "video12"]
    expected = [texts_of("video11")[0], texts_of("video12")[0]]
    assert list(listed["sentence"].values) == [text if IS_NUL_READ else text.split("\0")[0] for text in expected]
    assert any("test.csv: clips without a human caption" in note for note in written.notes)


@pytest.mark.parametrize("text", ['a "b", c', "=1+1", "@x", "a\nb", "a\rb", "a\r\nb", "\0", " x ", "\u2028", "'", ","])
def test_query_survives_csv(write: Write, tmp_path: Path, text: str) -> None:
    if text == "\0" and not IS_NUL_READ:
        pytest.skip("pandas reads no NUL before 3.1.")
    export(write(captions=[Caption("video11", 1, text), Caption("video12", 1, "b")]), "retrieval", tmp_path / "x",
           split="test")  # fmt: skip
    listed = pd.read_csv(tmp_path / "x/test.csv")["sentence"].values
    assert list(listed) == [text, "b"]


@settings(max_examples=60)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="" if IS_NUL_READ else "\0"), min_size=1),
        min_size=1,
        max_size=4,
    )
)
def test_pandas_reads_any_query_as_it_was_written(texts: list[str]) -> None:
    references = (ClipReferences({"video_id": f"v{n}"}, [Reference(1, text)], False) for n, text in enumerate(texts))
    with tempfile.TemporaryDirectory() as folder:
        write_list(Path(folder) / "x.csv", references, queries=True)
        listed = pd.read_csv(Path(folder) / "x.csv", dtype=str, keep_default_na=False)
    assert list(listed["sentence"].values) == texts


def test_protocols_have_separate_lists(dataset: Path, tmp_path: Path) -> None:
    written = export(dataset, "retrieval", tmp_path / "x")
    assert {"one-k.test.csv", "one-k.train.csv"} <= set(written.files)
    assert list(pd.read_csv(tmp_path / "x/one-k.test.csv")["video_id"].values) == ["video12", "video7"]
    export(dataset, "retrieval", tmp_path / "x", config="one-k", split="train")
    assert [path.name for path in (tmp_path / "x").glob("*.csv")] == ["one-k.train.csv"]


@pytest.mark.parametrize("text", ["None", "NA", "null"])
def test_query_that_pandas_reads_as_missing_gives_a_note(write: Write, tmp_path: Path, text: str) -> None:
    folder = write(captions=[Caption("video11", 1, text), Caption("video12", 1, "b")])
    written = export(folder, "retrieval", tmp_path / "x", split="test")
    assert pd.isna(pd.read_csv(tmp_path / "x/test.csv")["sentence"].values[0])
    assert any("queries that pandas reads as missing values" in note for note in written.notes)
    assert list(pd.read_csv(tmp_path / "x/test.csv", keep_default_na=False)["sentence"].values) == [text, "b"]


@pytest.mark.parametrize("video_id", ["0012", "1e5", "inf", "NA"])
def test_id_that_pandas_changes_gives_a_note(write: Write, tmp_path: Path, video_id: str) -> None:
    renamed = [dataclasses.replace(clips()[0], video_id=video_id)]
    folder = write(clips=renamed, captions=[Caption(video_id, 1, "x")], official=None)
    written = export(folder, "retrieval", tmp_path / "x")
    assert pd.read_csv(tmp_path / "x/train.csv")["video_id"].values[0] != video_id
    assert any("dtype=str" in note for note in written.notes)
    kept = pd.read_csv(tmp_path / "x/train.csv", dtype=str, keep_default_na=False)
    assert list(kept["video_id"].values) == [video_id]


def test_empty_list_is_an_error(write: Write, tmp_path: Path) -> None:
    folder = write(captions=[Caption("video7", 1, "x"), Caption("video11", 1, "y", author="a-system")])
    with pytest.raises(VttdataError, match=r"test.csv would be empty"):
        export(folder, "retrieval", tmp_path / "x", config="clips", split="test")
