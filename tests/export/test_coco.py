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
from tests.helpers.needs import PROGRAM
from vttdata.errors import VttdataError
from vttdata.export import export
from vttdata.records import Caption

SYSTEM_CAPTIONS = {"video11": "a person does thing in the park", "video12": "a man,\nsinging in the park"}
ALL_SYSTEM_CAPTIONS = SYSTEM_CAPTIONS | {
    video_id: f"a person does thing {number}" for number, video_id in enumerate(SPLITS) if number < 3
}


def table(path: Path, rows: list[tuple[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("video_id", "caption"), *rows])
    return path


def scores(truth: COCO, results: Any, tokenize: Any) -> dict[str, Any]:
    """Score as COCOEvalCap.evaluate does, without METEOR and SPICE."""
    task = COCOEvalCap(truth, results)
    ids = task.params["image_id"]
    references = tokenize({image: task.coco.imgToAnns[image] for image in ids})
    candidates = tokenize({image: task.cocoRes.imgToAnns[image] for image in ids})
    scorers = {"bleu": Bleu(4), "rouge": Rouge(), "cider": Cider()}
    return {name: scorer.compute_score(references, candidates)[0] for name, scorer in scorers.items()}


def words(captions: dict[str, list[dict[str, str]]]) -> dict[str, list[str]]:
    return {
        image: [" ".join(annotation["caption"].lower().split()) for annotation in annotations]
        for image, annotations in captions.items()
    }


def files_by_hand() -> tuple[COCO, COCO]:
    """Return references and results of all clips with captions, built without the code under test."""
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
    captions = {video_id: text.replace("\n", " ") for video_id, text in ALL_SYSTEM_CAPTIONS.items()}
    return truth, truth.loadRes([{"image_id": video_id, "caption": text} for video_id, text in captions.items()])


@pytest.fixture
def exported(write: Write, tmp_path: Path) -> tuple[COCO, COCO]:
    dataset = write(clips=[dataclasses.replace(clip, split="test") for clip in clips()])
    captions = table(tmp_path / "system.csv", [*reversed(ALL_SYSTEM_CAPTIONS.items())])
    export(dataset, "coco", tmp_path / "truth")
    export(dataset, "coco-results", tmp_path / "results", captions=captions)
    truth = COCO(str(tmp_path / "truth/captions_test.json"))
    return truth, truth.loadRes(str(tmp_path / "results/captions_test_results.json"))


def test_scores_equal_those_of_files_written_by_hand(exported: tuple[COCO, COCO]) -> None:
    computed = scores(*exported, words)
    assert computed == scores(*files_by_hand(), words)
    assert computed["cider"] > 0
    assert 0 < computed["bleu"][3] < 1


@pytest.mark.skipif(shutil.which("java") is None, reason=PROGRAM.format("java"))
def test_scores_with_the_java_tokenizer_equal_those_of_files_written_by_hand(exported: tuple[COCO, COCO]) -> None:
    computed = scores(*exported, PTBTokenizer().tokenize)
    assert computed == scores(*files_by_hand(), PTBTokenizer().tokenize)


@pytest.mark.skipif(shutil.which("java") is None, reason=PROGRAM.format("java"))
def test_no_control_character_shifts_later_captions(write: Write, tmp_path: Path) -> None:
    characters = [chr(code) for code in [*range(0x20), *range(0x7F, 0xA1), 0x200B, 0x2028, 0x2029, 0xFEFF]]
    hostile = [Caption("video11", number, f"one {character} two") for number, character in enumerate(characters)]
    export(write(captions=[*hostile, Caption("video12", 0, "three")]), "coco", tmp_path / "x", split="test")
    truth = COCO(str(tmp_path / "x/captions_test.json"))
    tokens = PTBTokenizer().tokenize(truth.imgToAnns)
    assert tokens["video12"] == ["three"]
    assert len(tokens["video11"]) == len(characters)


def test_ground_truth_has_coco_keys(dataset: Path, tmp_path: Path) -> None:
    written = export(dataset, "coco", tmp_path / "x")
    truth = json.loads((tmp_path / "x/captions_test.json").read_text())
    assert list(truth) == ["info", "licenses", "type", "images", "annotations"]
    assert truth["type"] == "captions"
    assert truth["licenses"] == [{"id": 1, "name": "cc-by-4.0", "url": "https://creativecommons.org/licenses/by/4.0/"}]
    assert truth["images"] == [{"id": "video11"}, {"id": "video12"}]
    assert [annotation["id"] for annotation in truth["annotations"]] == list(range(1, len(truth["annotations"]) + 1))
    assert "robot" not in json.dumps(truth)
    notes = " ".join(written.notes)
    assert "Clips without a human caption, which are left out: 1." in notes
    assert "references come from people: 1." in notes
    assert {f"captions_{split}.json" for split in SPLITS.values()} <= set(written.files)


def test_protocol_keeps_its_clips_and_their_order(dataset: Path, tmp_path: Path) -> None:
    export(dataset, "coco", tmp_path / "x", config="one-k", split="test")
    truth = COCO(str(tmp_path / "x/captions_one-k.test.json"))
    assert truth.getImgIds() == ["video12", "video7"]
    captions = [annotation["caption"] for annotation in truth.imgToAnns["video7"]]
    assert captions == [" ".join(text.splitlines()) for text in texts_of("video7")]
    assert sorted(path.name for path in (tmp_path / "x").iterdir()) == [
        "README.md",
        "captions_one-k.test.json",
        "vttdata-export.sha256",
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("video11", "x")], r"1 of the 2 clips .* have no caption \(first video12\)"),
        ([*SYSTEM_CAPTIONS.items(), ("video11", "y")], "system.csv:5: 'video11' has a second caption"),
        ([*SYSTEM_CAPTIONS.items(), ("video7", "y")], r"1 captions are about none .* \(first 'video7'\)"),
        ([*SYSTEM_CAPTIONS.items(), ("../../etc", "y")], "about none"),
        ([("video11", "x"), ("video12", "")], "system.csv:3: the video_id or the caption is empty"),
        ([], "2 of the 2 clips"),
    ],
)
def test_results_need_exactly_one_caption_per_clip(
    dataset: Path, tmp_path: Path, rows: list[tuple[str, str]], message: str
) -> None:
    captions = table(tmp_path / "system.csv", rows)
    with pytest.raises(VttdataError, match=message):
        export(dataset, "coco-results", tmp_path / "x", captions=captions)
    assert not (tmp_path / "x").exists()


def test_results_need_columns_video_id_and_caption(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"video_id": "video11", "text": "x"}\n')
    with pytest.raises(VttdataError, match="there is no column 'caption'"):
        export(dataset, "coco-results", tmp_path / "x", captions=tmp_path / "s.jsonl")
