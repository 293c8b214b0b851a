from __future__ import annotations

import csv
import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.eval import COCOEvalCap
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from pycocotools.coco import COCO

from tests.export.conftest import SPLITS, Write, clips, texts_of
from vttdata.errors import VttdataError
from vttdata.export import export
from vttdata.records import Caption

ANSWERS = {"video11": "a person does thing in the park", "video12": "a man,\nsinging in the park"}
ALL_ANSWERS = ANSWERS | {
    video_id: f"a person does thing {number}" for number, video_id in enumerate(SPLITS) if number < 3
}


def table(path: Path, rows: list[tuple[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("video_id", "caption"), *rows])
    return path


def scores(truth: COCO, results: Any, tokenize: Any) -> dict[str, Any]:
    """As COCOEvalCap.evaluate does, without METEOR and SPICE."""
    task = COCOEvalCap(truth, results)
    ids = task.params["image_id"]
    references = tokenize({image: task.coco.imgToAnns[image] for image in ids})
    answers = tokenize({image: task.cocoRes.imgToAnns[image] for image in ids})
    scorers = {"bleu": Bleu(4), "rouge": Rouge(), "cider": Cider()}
    return {name: scorer.compute_score(references, answers)[0] for name, scorer in scorers.items()}


def words(captions: dict[str, list[dict[str, str]]]) -> dict[str, list[str]]:
    return {image: [" ".join(own["caption"].lower().split()) for own in all_] for image, all_ in captions.items()}


def by_hand() -> tuple[COCO, COCO]:
    """All clips that have captions, written without the code under test."""
    truth = COCO()
    pairs = [(video_id, text) for video_id in SPLITS for text in texts_of(video_id)]
    truth.dataset = {
        "images": [{"id": video_id} for video_id in SPLITS],
        "annotations": [
            {"id": number, "image_id": video_id, "caption": " ".join(text.split())}
            for number, (video_id, text) in enumerate(pairs)
        ],
    }
    truth.createIndex()
    spoken = {video_id: text.replace("\n", " ") for video_id, text in ALL_ANSWERS.items()}
    return truth, truth.loadRes([{"image_id": video_id, "caption": text} for video_id, text in spoken.items()])


@pytest.fixture
def exported(write: Write, tmp_path: Path) -> tuple[COCO, COCO]:
    dataset = write(clips=[dataclasses.replace(clip, split="test") for clip in clips()])
    answers = table(tmp_path / "system.csv", [*reversed(ALL_ANSWERS.items())])
    export(dataset, "coco", tmp_path / "truth")
    export(dataset, "coco-results", tmp_path / "results", captions=answers)
    truth = COCO(str(tmp_path / "truth/captions_test.json"))
    return truth, truth.loadRes(str(tmp_path / "results/captions_test_results.json"))


def test_scores_are_those_of_input_written_by_hand(exported: tuple[COCO, COCO]) -> None:
    found = scores(*exported, words)
    assert found == scores(*by_hand(), words)
    assert found["cider"] > 0
    assert 0 < found["bleu"][3] < 1


@pytest.mark.skipif(shutil.which("java") is None, reason="coco-caption's tokenizer needs Java")
def test_scores_after_its_own_tokenizer_are_those_of_input_written_by_hand(exported: tuple[COCO, COCO]) -> None:
    found = scores(*exported, PTBTokenizer().tokenize)
    assert found == scores(*by_hand(), PTBTokenizer().tokenize)


@pytest.mark.skipif(shutil.which("java") is None, reason="coco-caption's tokenizer needs Java")
def test_no_control_character_shifts_the_captions_that_follow(write: Write, tmp_path: Path) -> None:
    odd = [chr(code) for code in [*range(0x20), *range(0x7F, 0xA1), 0x200B, 0x2028, 0x2029, 0xFEFF]]
    hostile = [Caption("video11", number, f"one {character} two") for number, character in enumerate(odd)]
    export(write(captions=[*hostile, Caption("video12", 0, "three")]), "coco", tmp_path / "x", split="test")
    truth = COCO(str(tmp_path / "x/captions_test.json"))
    tokens = PTBTokenizer().tokenize(truth.imgToAnns)
    assert tokens["video12"] == ["three"]
    assert len(tokens["video11"]) == len(odd)


def test_ground_truth_has_the_keys_of_coco(dataset: Path, tmp_path: Path) -> None:
    written = export(dataset, "coco", tmp_path / "x")
    truth = json.loads((tmp_path / "x/captions_test.json").read_text())
    assert list(truth) == ["info", "licenses", "type", "images", "annotations"]
    assert truth["type"] == "captions"
    assert truth["licenses"] == [{"id": 1, "name": "cc-by-4.0", "url": ""}]
    assert truth["images"] == [{"id": "video11"}, {"id": "video12"}]
    assert [own["id"] for own in truth["annotations"]] == list(range(1, len(truth["annotations"]) + 1))
    assert "robot" not in json.dumps(truth)
    notes = " ".join(written.notes)
    assert "Clips without a caption by a person, which are left out: 1." in notes
    assert "references are what people wrote: 1." in notes
    assert {f"captions_{split}.json" for split in SPLITS.values()} <= set(written.files)


def test_a_protocol_has_its_own_clips_in_its_own_order(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "coco", tmp_path / "x", config="one-k", split="test")
    truth = COCO(str(tmp_path / "x/captions_one-k.test.json"))
    assert truth.getImgIds() == ["video12", "video7"]
    found = [own["caption"] for own in truth.imgToAnns["video7"]]
    assert found == [" ".join(text.splitlines()) for text in texts_of("video7")]
    assert sorted(path.name for path in (tmp_path / "x").iterdir()) == [
        "README.md",
        "captions_one-k.test.json",
        "vttdata-export.sha256",
    ]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("video11", "x")], r"1 of the 2 clips .* have no caption \(first video12\)"),
        ([*ANSWERS.items(), ("video11", "y")], "system.csv:5: a second caption of 'video11'"),
        ([*ANSWERS.items(), ("video7", "y")], r"1 captions are about none .* \(first 'video7'\)"),
        ([*ANSWERS.items(), ("../../etc", "y")], "about none"),
        ([("video11", "x"), ("video12", "")], "system.csv:3: .* says something"),
        ([], "2 of the 2 clips"),
    ],
)
def test_results_are_one_caption_a_clip(dataset: Path, tmp_path: Path, rows: list[tuple[str, str]], told: str) -> None:
    answers = table(tmp_path / "system.csv", rows)
    with pytest.raises(VttdataError, match=told):
        export(dataset, "coco-results", tmp_path / "x", captions=answers)
    assert not (tmp_path / "x").exists()


def test_results_need_both_columns(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"video_id": "video11", "text": "x"}\n')
    with pytest.raises(VttdataError, match="no column 'caption'"):
        export(dataset, "coco-results", tmp_path / "x", captions=tmp_path / "s.jsonl")
