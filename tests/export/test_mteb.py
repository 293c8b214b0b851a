from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pytest

from tests.export.conftest import Write, texts_of
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.export import export
from vttdata.export.formats.mteb import format_citation
from vttdata.records import Caption


def load(folder: Path, name: str | None = None) -> Any:
    return datasets.load_dataset(str(folder), name, cache_dir=str(folder.parent / "cache"))


def test_datasets_loads_corpus_queries_and_qrels(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "mteb", tmp_path / "x")
    assert datasets.get_dataset_config_names(str(tmp_path / "x")) == ["corpus", "queries", "qrels"]
    corpus, queries = load(tmp_path / "x", "corpus"), load(tmp_path / "x", "queries")
    assert list(corpus) == list(queries) == ["train", "validation", "test"]
    assert corpus["test"]["id"][:] == ["video11", "video12"]
    assert corpus["test"]["video"][:] == ["video11.mp4", "video12.mp4"]
    assert corpus["test"].column_names == ["id", "video"]
    assert queries["test"]["text"][:] == [texts_of("video11")[0], texts_of("video12")[0]]
    assert load(tmp_path / "x")["test"].column_names == ["query-id", "corpus-id", "score"]


def test_qrels_join_each_query_with_its_clip(dataset: Path, tmp_path: Path) -> None:
    """Follow MTEB's loader: select a split, cast ids and scores, and map query -> clip -> score."""
    export(dataset, "mteb", tmp_path / "x")
    types = {"query-id": "string", "corpus-id": "string", "score": "int32"}
    features = datasets.Features({name: datasets.Value(dtype) for name, dtype in types.items()})
    qrels: dict[str, dict[str, int]] = {}
    for row in load(tmp_path / "x", "qrels")["test"].select_columns(list(types)).cast(features):
        qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = row["score"]
    queries = load(tmp_path / "x", "queries")["test"]
    assert qrels == {queries[0]["id"]: {"video11": 1}, queries[1]["id"]: {"video12": 1}}
    assert all(re.fullmatch(r"video1[12]#\d+", name) for name in qrels)


def test_video_column_can_be_cast_as_in_the_readme(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "mteb", tmp_path / "x")
    (tmp_path / "video11.mp4").write_bytes(b"film")
    assert 'cast_column("video", datasets.Video())' in (tmp_path / "x/README.md").read_text()
    corpus = load(tmp_path / "x", "corpus")["test"].map(lambda row: {"video": str(tmp_path / f"{row['id']}.mp4")})
    corpus = corpus.cast_column("video", datasets.Video(decode=False))
    assert corpus[0]["video"]["path"] == str(tmp_path / "video11.mp4")


def test_queries_of_several_clips_are_kept_and_counted(write: Write, tmp_path: Path) -> None:
    same = [Caption(video_id, 1, "a man is singing") for video_id in ("video11", "video12", "video13")]
    folder = write(captions=[*same, Caption("video7", 1, "a man is singing"), Caption("video8", 1, "a dog")])
    with pytest.raises(VttdataError, match="'validation'"):
        export(folder, "mteb", tmp_path / "x")
    written = export(folder, "mteb", tmp_path / "x", split="test")
    assert written.notes == ("test: 3 queries; 3 of them are the query of another clip as well.",)
    assert len(load(tmp_path / "x", "queries")["test"]) == 3
    train = export(folder, "mteb", tmp_path / "x", split="train")
    assert train.notes == ("train: 2 queries; 0 of them are the query of another clip as well.",)


def test_protocol_is_a_separate_task(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "mteb", tmp_path / "x", config="one-k", split="test")
    assert load(tmp_path / "x", "corpus")["test"]["id"][:] == ["video12", "video7"]


def test_every_caption_can_be_a_query(dataset: Path, tmp_path: Path) -> None:
    warned: list[str] = []
    export(dataset, "mteb", tmp_path / "x", split="test", every_caption=True, warn=warned.append)
    assert ["--videos" in sentence for sentence in warned] == [True]
    assert load(tmp_path / "x", "queries")["test"]["text"][:] == [*texts_of("video11"), *texts_of("video12")]
    assert load(tmp_path / "x", "qrels")["test"]["corpus-id"][-1] == "video12"
    with pytest.raises(VttdataError):
        export(dataset, "coco", tmp_path / "y", every_caption=True)


def test_command_has_the_option(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", str(dataset), "--format", "mteb", "--split", "test", "--every-caption"]
    assert main([*command, "--out", str(tmp_path / "x")]) == 0
    assert "--videos" in capsys.readouterr().err
    assert len(load(tmp_path / "x", "queries")["test"]) == len(texts_of("video11")) + len(texts_of("video12"))
    assert main(["export", str(dataset), "--format", "coco", "--every-caption", "--out", str(tmp_path / "y")]) == 2
    assert not (tmp_path / "y").exists()


def test_classes_are_written_as_in_the_repository_of_mteb(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "mteb", tmp_path / "x")
    module = tmp_path / "x/mteb_tasks.py"
    text = module.read_text()
    assert re.findall(r"^class (\w+)\(AbsTaskRetrieval\):$", text, re.MULTILINE) == re.findall(r'name="(\w+)"', text)
    # A dataset with several splits is scored on one.
    assert text.count('eval_splits=["test"]') == 2
    assert text.count("is_beta=True") == 2
    assert "2 captions and 2 clips of test" in text
    assert not re.search("noqa|type: ignore|print|load_data|vttdata[.]", text)
    ruff = [sys.executable, "-m", "ruff"]
    rules = "F,I,E,W,UP,FA,C4,N,RUF100,T20"
    subprocess.run([*ruff, "check", "--isolated", "--select", rules, "--ignore", "E501", str(module)], check=True)
    subprocess.run([*ruff, "format", "--isolated", "--check", str(module)], check=True)


def test_only_split_is_scored(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "mteb", tmp_path / "x", split="validation")
    assert (tmp_path / "x/mteb_tasks.py").read_text().count('eval_splits=["validation"]') == 2


@pytest.mark.parametrize(
    ("given", "formatted"),
    [
        (
            '@Article{k, year = 2024, title={{A}: b\n  c}, author="D and E"\n}',
            "@article{k,\n  author = {D and E},\n  title = {{A}: b c},\n  year = {2024},\n}",
        ),
        (
            "@misc{b,\n  title = {B},\n}\n@misc{a, title = {A}}",
            "@misc{a,\n  title = {A},\n}\n\n@misc{b,\n  title = {B},\n}",
        ),
        ("Someone: a book, 1999.", "Someone: a book, 1999."),
    ],
)
def test_citations_have_sorted_fields_and_trailing_commas(given: str, formatted: str) -> None:
    assert format_citation(given)[0] == formatted
