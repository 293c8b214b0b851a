"""The recipes of foils, on made-up official files: what each row must satisfy, and what is counted instead."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import pytest

from builders.activitynet_captions import read as read_activitynet
from tests.helpers.official_files import paragraph, write_activitynet, write_unpacked
from tests.helpers.session_files import make_once
from vttdata.cli.main import main
from vttdata.dataset.foils.write import EMSCORE_FILES
from vttdata.generate.foils.human_verdicts import read_verdicts
from vttdata.recipe import packaged
from vttdata.text.nouns.lexicon import load_lexicon
from vttdata.text.nouns.mentions import find_mentions

ANIMALS = ["dog", "cat", "horse", "cow", "sheep", "goat"]
SENTENCES = [
    "A {} runs in the yard.",
    "The {} looks at the camera.",
    "A man watches the {}.",
    "The {} sleeps in a corner.",
]
LEXICON = load_lexicon()


def build(recipe: str, out: Path, *settings: str, code: int = 0) -> pd.DataFrame:
    """The dataset's foils after a build, with their split; nobody has judged foils of made-up files."""
    settings = ("foils.judged_only=false", *settings)
    parts = [part for setting in settings for part in ("--set", setting)]
    assert main(["build", recipe, "--quiet", "--workers", "1", "--out", str(out), *parts]) == code
    return load_foils(out, out / "cache")


def load_foils(out: Path, cache: Path) -> pd.DataFrame:
    """Return the foils of a build's dataset, with their split."""
    loaded = datasets.load_dataset(str(out / "dataset"), "foils", cache_dir=str(cache))
    return pd.concat([rows.to_pandas().assign(split=split) for split, rows in loaded.items()])


def rejected(out: Path) -> Counter[str]:
    return Counter(pd.read_parquet(out / "stages" / "foils" / "rejected.parquet")["reason"])


def annotation(animal: str, draw: random.Random) -> dict[str, Any]:
    texts = [sentence.format(animal) for sentence in draw.sample(SENTENCES, 2)]
    return paragraph(30.0, (0.0, 14.0, texts[0]), (14.0, 30.0, texts[1]))


def write_paragraphs(folder: Path, videos: int = 240) -> Path:
    """As many training and test videos, each about one animal; two test videos lack one of both paragraphs."""
    draw = random.Random(5)
    train = {f"v_train{n:06d}": annotation(draw.choice(ANIMALS), draw) for n in range(videos)}
    animals = {f"v_tests{n:06d}": draw.choice(ANIMALS) for n in range(videos)}
    first = {video: annotation(animal, draw) for video, animal in animals.items()}
    second = {
        video: paragraph(30.0, (0.0, 15.0, f"The {animal} plays."), (15.0, 30.0, f"A boy pets the {animal}."))
        for video, animal in list(animals.items())[:-1]
    }
    second["v_onlysecond1"] = paragraph(30.0, (0.0, 30.0, "A dog runs."))
    (misaligned, animal), *_ = animals.items()
    segment = {"tokens": ["Not", "its", animal], "timestamps": [0.0, 14.0], "frame_ind": []}
    segment |= {"process_clss": [[animal]], "process_idx": [[2]]}
    entities = {"vocab": [animal], "annotations": {misaligned: {"duration": 30.0, "segments": {"0": segment}}}}
    splits = {"training": list(train), "validation": [], "testing": list(first)}
    return write_activitynet(
        folder,
        train=train,
        anet_entities_test_1=first,
        anet_entities_test_2=second,
        split_ids_anet_entities=splits,
        anet_entities_cleaned_class_thresh50_test_skeleton=entities,
    )


@pytest.fixture(scope="session")
def paragraph_foils(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with made-up paragraphs in `files` and a build of them in `out`; tests must not change it."""

    def make(folder: Path) -> None:
        build("activitynet-foil", folder / "out", f"annotations={write_paragraphs(folder / 'files')}")

    return make_once(tmp_path_factory, "paragraph-foils", make)


def test_a_foil_of_activitynet_names_what_neither_paragraph_has_and_changes_one_span(
    paragraph_foils: Path, tmp_path: Path
) -> None:
    folder = paragraph_foils / "files"
    rows = load_foils(paragraph_foils / "out", tmp_path)
    assert len(rows) > 15
    first = json.loads((folder / "anet_entities_test_1.json").read_text())
    second = json.loads((folder / "anet_entities_test_2.json").read_text())
    for row in rows.itertuples():
        texts = [*first[row.video_id]["sentences"], *second[row.video_id]["sentences"]]
        present = {mention.noun for text in texts for mention in find_mentions(text, LEXICON)}
        assert row.foil_concept not in present
        assert row.caption in texts
        assert row.foil == row.caption[: row.start] + row.replacement + row.caption[row.end :]
        assert row.supercategory == LEXICON.nouns[row.concept].supercategory
        assert row.supercategory == LEXICON.nouns[row.foil_concept].supercategory


def paragraphs_of(folder: Path) -> dict[str, Any]:
    """Annotator -> the official file of that paragraph."""
    return {side: json.loads((folder / f"anet_entities_test_{side}.json").read_text()) for side in ("1", "2")}


def test_either_annotators_paragraph_may_be_changed_when_balanced_and_the_first_as_in_the_paper(
    paragraph_foils: Path, tmp_path: Path
) -> None:
    folder = paragraph_foils / "files"
    official = paragraphs_of(folder)
    build("activitynet-foil", tmp_path / "paper", f"annotations={folder}", "foils.selection=paper")
    changed: list[set[str]] = []
    for out in (paragraph_foils / "out", tmp_path / "paper"):
        rows = datasets.load_dataset(str(out / "dataset"), "paragraphs", cache_dir=str(tmp_path / "c"))["test"]
        assert len(set(rows["video_id"])) == len(rows)
        for row in rows:
            other = {"1": "2", "2": "1"}[row["annotator"]]
            assert row["captions"] == official[row["annotator"]][row["video_id"]]["sentences"]
            assert row["references"] == official[other][row["video_id"]]["sentences"]
        changed.append(set(rows["annotator"]))
    assert changed == [{"1", "2"}, {"1"}]


def test_references_are_those_that_overlap_by_two_fifths_or_else_the_best_one(
    paragraph_foils: Path, tmp_path: Path
) -> None:
    rows = load_foils(paragraph_foils / "out", tmp_path)
    official = paragraphs_of(paragraph_foils / "files")
    assert len(rows) > 15
    for row in rows.itertuples():  # 0-14 and 14-30 s against 0-15 and 15-30 s: each overlaps its own by more than 0.9
        video, annotator, index = row.caption_id.rsplit("_", 2)
        other = official[{"1": "2", "2": "1"}[annotator]][video]
        assert list(row.references) == [other["sentences"][int(index)]]


def test_emscore_reads_the_same_paragraphs_as_the_tables_hold(paragraph_foils: Path, tmp_path: Path) -> None:
    dataset = paragraph_foils / "out" / "dataset"
    pairs = datasets.load_dataset(str(dataset), "paragraphs", cache_dir=str(tmp_path))["test"]
    given = dataset / "emscore"
    right, foil, own, other = (json.loads((given / name).read_text()) for name in EMSCORE_FILES)
    right, foil = right["results"], foil["results"]
    assert set(right) == set(foil) == set(own) == set(other) == set(pairs["video_id"])
    official = paragraphs_of(paragraph_foils / "files")
    for row in pairs:
        video, annotator = row["video_id"], row["annotator"]
        assert own[video] == official[annotator][video]
        assert other[video] == official[{"1": "2", "2": "1"}[annotator]][video]
        assert [sentence["sentence"] for sentence in right[video]] == row["captions"] == own[video]["sentences"]
        assert [sentence["sentence"] for sentence in foil[video]] == row["foils"]
        assert [sentence["timestamp"] for sentence in right[video]] == own[video]["timestamps"]
        assert [sentence["timestamp"] for sentence in foil[video]] == own[video]["timestamps"]
        changed = [n for n, both in enumerate(zip(row["captions"], row["foils"], strict=True)) if both[0] != both[1]]
        assert changed == row["changed"]
        assert changed


def test_what_gives_no_foil_is_counted_with_its_reason(paragraph_foils: Path) -> None:
    reasons = rejected(paragraph_foils / "out")
    assert reasons["no_reference"] == 2
    assert reasons["misaligned"] == 1


def test_validation_videos_get_foils_where_there_are_no_test_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_paragraphs(tmp_path / "files")
    (folder / "split_ids_anet_entities.json").unlink()
    (folder / "anet_entities_cleaned_class_thresh50_test_skeleton.json").unlink()
    for side in ("1", "2"):
        (folder / f"anet_entities_test_{side}.json").rename(folder / f"val_{side}.json")
    rows = build("activitynet-foil", tmp_path / "out", f"annotations={folder}")
    assert len(rows) > 15
    assert set(rows["split"]) == {"validation"}
    paragraphs = datasets.load_dataset(str(tmp_path / "out" / "dataset"), "paragraphs", cache_dir=str(tmp_path / "c"))
    assert set(paragraphs) == {"validation"}
    assert set(rows["video_id"]) == set(paragraphs["validation"]["video_id"])
    command = ["build", "activitynet-foil", "--quiet", "--workers", "1", "--out", str(tmp_path / "judged")]
    assert main([*command, "--set", f"annotations={folder}"]) == 2
    assert "the verdicts are on foils of other captions" in capsys.readouterr().err.splitlines()[-1]


def test_paragraph_files_without_a_common_video_are_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_paragraphs(tmp_path / "files", 20)
    second = folder / "anet_entities_test_2.json"
    second.write_text(second.read_text().replace("v_tests", "v_other"))
    command = ["build", "activitynet-foil", "--quiet", "--workers", "1", "--out", str(tmp_path / "out")]
    assert main([*command, "--set", f"annotations={folder}"]) == 2
    assert "No test video has a paragraph in both files" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_foils(tmp_path: Path) -> None:
    folder = write_paragraphs(tmp_path / "files")
    one, same, other = (
        build("activitynet-foil", tmp_path / name, f"annotations={folder}", f"seed={seed}")
        for name, seed in (("one", 1), ("same", 1), ("other", 2))
    )
    manifests = [(tmp_path / name / "dataset" / "manifest.json").read_bytes() for name in ("one", "same")]
    assert manifests[0] == manifests[1]
    assert one["foil"].tolist() == same["foil"].tolist() != other["foil"].tolist()


def write_captions(folder: Path, videos: int = 300) -> Path:
    """MSR-VTT in its official shape: three captions a video, each about the one animal of its video."""
    draw = random.Random(6)
    videos_of: dict[str, list[dict[str, Any]]] = {"train": [], "test": []}
    sentences: dict[str, list[dict[str, Any]]] = {"train": [], "test": []}
    for number in range(videos):
        split = "train" if number < 2 * videos // 3 else "test"
        address = f"https://www.youtube.com/watch?v=own-{number:07d}"
        own = {"category": 0, "url": address, "video_id": f"video{number}", "split": split, "id": number}
        videos_of[split].append(own | {"start time": 1.0, "end time": 12.0})
        animal = draw.choice(ANIMALS)
        for index, text in enumerate(draw.sample(SENTENCES, 3)):
            caption = text.format(animal).lower().rstrip(".")
            sentences[split].append({"caption": caption, "video_id": f"video{number}", "sen_id": 3 * number + index})
    info = {"contributor": "nobody", "year": "2016"}
    files = [{"info": info, "videos": videos_of[split], "sentences": sentences[split]} for split in ("train", "test")]
    return write_unpacked(folder, *files)


def test_foils_of_msrvtt_share_no_pair_of_concepts_between_train_and_test(tmp_path: Path) -> None:
    # Made-up captions look less sound than real ones.
    settings = (f"annotations={write_captions(tmp_path / 'files')}", "foils.max_unsound_probability=0.7")
    rows = build("msrvtt-foil", tmp_path / "out", *settings)
    pairs = {
        split: {frozenset(both) for both in zip(own["concept"], own["foil_concept"], strict=True)}
        for split, own in rows.groupby("split")
    }
    assert pairs["train"]
    assert pairs["test"]
    assert not pairs["train"] & pairs["test"]
    assert set(rows["split"]) == {"train", "test"}
    assert len(rows) > 50


def test_verdicts_of_ones_own_take_the_place_of_packaged_ones(paragraph_foils: Path, tmp_path: Path) -> None:
    folder, out, table = paragraph_foils / "files", tmp_path / "out", tmp_path / "said.csv"
    unsound = set(load_foils(paragraph_foils / "out", tmp_path)["foil_id"][::2])
    table.write_text("\n".join(["foil_id,verdict", *(f"{foil_id},odd but no" for foil_id in sorted(unsound))]))
    rows = build("activitynet-foil", out, f"annotations={folder}", f"verdicts={table}")
    assert not unsound & set(rows["foil_id"])
    made = json.loads((out / "dataset" / "provenance.json").read_text())
    assert ("verdicts", "said.csv") in {(file["key"], file["name"]) for file in made["inputs"]}


def test_packaged_verdicts_are_on_words_of_the_official_captions(shared: Path) -> None:
    captions = {own.video_id: own.caption.strip() for own in read_activitynet(shared / "data" / "activitynet").captions}
    names = {name.replace(" ", "-") for name in LEXICON.nouns}
    verdicts = read_verdicts(packaged.verdicts("activitynet-foil"))
    assert len(verdicts) > 9000
    for foil_id in verdicts:
        caption_id, start, foil = foil_id.rsplit("_", 2)
        before, after = captions[caption_id][: int(start)], captions[caption_id][int(start) :]
        assert after[:1].isalpha()
        assert not before[-1:].isalpha()
        assert foil in names
