from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import datasets
import pytest

from tests.export.conftest import Write, texts_of
from vttdata.errors import VttdataError
from vttdata.export import export
from vttdata.records import Caption


def load(folder: Path, name: str | None = None) -> Any:
    return datasets.load_dataset(str(folder), name, cache_dir=str(folder.parent / "cache"))


def test_plain_datasets_loads_corpus_queries_and_qrels(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "mteb", tmp_path / "x")
    assert datasets.get_dataset_config_names(str(tmp_path / "x")) == ["corpus", "queries", "qrels"]
    corpus, queries = load(tmp_path / "x", "corpus"), load(tmp_path / "x", "queries")
    assert list(corpus) == list(queries) == ["train", "validation", "test"]
    assert corpus["test"]["id"][:] == ["video11", "video12", "video13"]
    assert corpus["test"].column_names == ["id", "video", "url", "start", "end"]
    assert corpus["test"][0]["end"] == 12.25
    assert queries["test"]["text"][:] == [texts_of("video11")[0], texts_of("video12")[0]]
    assert load(tmp_path / "x")["test"].column_names == ["query-id", "corpus-id", "score"]


def test_judgments_join_each_query_with_its_own_clip(dataset: Path, tmp_path: Path) -> None:
    """The steps of MTEB's loader: split by name, ids and scores cast, query -> clip -> score, ids that occur kept."""
    export(dataset, "mteb", tmp_path / "x")
    kinds = {"query-id": "string", "corpus-id": "string", "score": "int32"}
    wanted = datasets.Features({name: datasets.Value(kind) for name, kind in kinds.items()})
    judged: dict[str, dict[str, int]] = {}
    for row in load(tmp_path / "x", "qrels")["test"].select_columns(list(kinds)).cast(wanted):
        judged.setdefault(row["query-id"], {})[row["corpus-id"]] = row["score"]
    queries = load(tmp_path / "x", "queries")["test"]
    assert judged == {queries[0]["id"]: {"video11": 1}, queries[1]["id"]: {"video12": 1}}
    assert all(re.fullmatch(r"video1[12]#\d+", name) for name in judged)


def test_the_column_of_videos_can_be_cast_as_the_readme_says(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "mteb", tmp_path / "x")
    (tmp_path / "video11.mp4").write_bytes(b"film")
    assert 'cast_column("video", datasets.Video())' in (tmp_path / "x/README.md").read_text()
    corpus = load(tmp_path / "x", "corpus")["test"].map(lambda row: {"video": str(tmp_path / f"{row['id']}.mp4")})
    corpus = corpus.cast_column("video", datasets.Video(decode=False))
    assert corpus[0]["video"]["path"] == str(tmp_path / "video11.mp4")


def test_queries_that_another_clip_has_word_for_word_stay_and_are_counted(write: Write, tmp_path: Path) -> None:
    same = [Caption(video_id, 1, "a man is singing") for video_id in ("video11", "video12", "video13")]
    folder = write(captions=[*same, Caption("video7", 1, "a man is singing"), Caption("video8", 1, "a dog")])
    with pytest.raises(VttdataError, match="'validation'"):
        export(folder, "mteb", tmp_path / "x")
    written = export(folder, "mteb", tmp_path / "x", split="test")
    assert written.notes == ("test: 3 queries, of which another clip has word for word: 3.",)
    assert len(load(tmp_path / "x", "queries")["test"]) == 3
    train = export(folder, "mteb", tmp_path / "x", split="train")
    assert train.notes == ("train: 2 queries, of which another clip has word for word: 0.",)


def test_a_protocol_is_a_task_of_its_own(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "mteb", tmp_path / "x", config="one-k", split="test")
    assert load(tmp_path / "x", "corpus")["test"]["id"][:] == ["video12", "video7"]
