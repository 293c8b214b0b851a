from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.dataset.conftest import Material
from vttdata.dataset import Metadata, compute_statistics, write_dataset
from vttdata.errors import VttdataError
from vttdata.records import Caption, Clip


def test_statistics_equal_a_count_by_hand(material: Material, tmp_path: Path) -> None:
    captions = [
        Caption("video7", 1, "A man runs"),
        Caption("video7", 2, "a man WALKS slowly"),
        Caption("video11", 3, "the man sings"),
    ]
    facts = material.write(tmp_path / "d", captions=captions)
    assert facts == compute_statistics(tmp_path / "d")
    total, train = facts.total, facts.splits["train"]
    assert (total.sources, total.clips, total.sentences, total.words, total.vocabulary) == (4, 6, 3, 10, 7)
    assert (train.sources, train.clips, train.sentences, train.words, train.vocabulary) == (2, 3, 2, 7, 5)
    assert total.hours == pytest.approx(6 * 12.5 / 3600)
    assert (total.words_per_sentence, total.sentences_per_clip) == (10 / 3, 0.5)
    assert total.median_shots == 2
    assert total.median_clip == pytest.approx(12.5)
    assert total.categories == {"music": 3, "sport": 3}
    assert facts.splits["validation"].categories == {"sport": 1}
    assert facts.splits["validation"].words_per_sentence is None


def test_json_and_text_have_the_same_figures(material: Material, tmp_path: Path) -> None:
    facts = material.write(tmp_path / "d")
    plain = json.loads(json.dumps(facts.as_json()))
    assert plain["total"]["clips"] == 6
    assert plain["splits"]["test"]["sentences"] == 6
    lines = facts.as_text().splitlines()
    assert lines[0].split() == ["train", "validation", "test", "total"]
    assert next(line for line in lines if line.startswith("clips ")).split() == ["clips", "3", "1", "2", "6"]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("readme", [None, "# no head", "---\n- a\n---\n", "---\nconfigs: 3\n---\n", "---\na: [\n---\n"])
def test_statistics_refuse_folders_that_are_no_datasets(tmp_path: Path, readme: str | None) -> None:
    if readme is not None:
        (tmp_path / "README.md").write_text(readme)
    with pytest.raises(VttdataError):
        compute_statistics(tmp_path)


def test_file_pattern_outside_the_dataset_is_refused(material: Material, tmp_path: Path) -> None:
    material.write(tmp_path / "d")
    readme = tmp_path / "d/README.md"
    readme.write_text(readme.read_text().replace("path: clips/", "path: ../d/clips/"))
    with pytest.raises(VttdataError, match="leads out"):
        compute_statistics(tmp_path / "d")


@pytest.mark.long
def test_msrvtt_counts_as_its_official_release_does(shared: Path, tmp_path: Path) -> None:
    videos, sentences = [], []
    for archive in ("train_val_annotation.zip", "test_videodatainfo.json.zip"):
        with zipfile.ZipFile(shared / "data/msrvtt" / archive) as stream:
            name = next(name for name in stream.namelist() if name.endswith("videodatainfo.json") and "__" not in name)
            content = json.loads(stream.read(name))
        videos += content["videos"]
        sentences += content["sentences"]
    clips = [
        Clip(
            v["video_id"],
            v["url"],
            v["start time"],
            v["end time"],
            0,
            1,
            1,
            category=str(v["category"]),
            split=v["split"],
        )
        for v in videos
    ]
    captions = (Caption(s["video_id"], s["sen_id"], s["caption"]) for s in sentences)
    facts = write_dataset(
        tmp_path / "d", clips=clips, captions=captions, sources=[], metadata=Metadata("vttdata/msrvtt"), media=None
    )
    total = facts.total
    assert (total.sources, total.clips, total.sentences) == (7180, 10000, 200000)
    assert (total.words, total.vocabulary, round(total.hours, 2)) == (1856521, 29322, 41.70)
    assert {split: own.clips for split, own in facts.splits.items()} == {"train": 6513, "test": 2990, "validate": 497}
    assert {split: own.sources for split, own in facts.splits.items()} == {"train": 4668, "test": 2151, "validate": 361}
    assert (total.categories["3"], total.categories["15"], total.sentences_per_clip) == (1108, 159, 20)
