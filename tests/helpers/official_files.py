"""Write small files in the formats of official releases."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

CATEGORIES = "music\t0\r\npeople\t1\r\ngaming\t2\r\n"
READ_ME = "All video info and caption sentences are stored using the JSON file format.\r\n"


def video(number: int, split: str = "train", **changes: Any) -> dict[str, Any]:
    """Return a video as MSR-VTT lists it; two consecutive videos share a source."""
    address = f"https://www.youtube.com/watch?v=abc-_{number // 2:06d}"
    times = {"start time": 10.5 * number, "end time": 10.5 * number + 10.25}
    whole = {"category": number % 3, "url": address, "video_id": f"video{number}", "split": split, "id": number}
    return whole | times | changes


def sentence(number: int, sen_id: int, caption: str, **changes: Any) -> dict[str, Any]:
    return {"caption": caption, "video_id": f"video{number}", "sen_id": sen_id} | changes


def msrvtt(numbers: range, split_of: Any) -> dict[str, Any]:
    """Return the content of an official file: videos with two sentences each, the sentences in another order."""
    sentences = [
        sentence(number, 2 * number + index, f" A person does  thing {number}, take {index}")
        for number in reversed(numbers)
        for index in range(2)
    ]
    info = {"contributor": "nobody", "year": "2016"}
    return {"info": info, "videos": [video(number, split_of(number)) for number in numbers], "sentences": sentences}


def train_val() -> dict[str, Any]:
    return msrvtt(range(12), lambda number: "train" if number < 10 else "validate")


def held_out() -> dict[str, Any]:
    return msrvtt(range(12, 17), lambda _: "test")


def write_unpacked(
    folder: Path, first: dict[str, Any] | None = None, second: dict[str, Any] | None = None, **files: str
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train_val_videodatainfo.json").write_text(json.dumps(first or train_val()))
    (folder / "test_videodatainfo.json").write_text(json.dumps(second or held_out()))
    (folder / "category.txt").write_text(CATEGORIES)
    (folder / "readme.txt").write_text(READ_ME)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def write_zipped(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "train_val_annotation.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train_val_videodatainfo.json", json.dumps(train_val()))
        archive.writestr("category.txt", CATEGORIES)
        archive.writestr("readme.txt", READ_ME)
    with zipfile.ZipFile(folder / "test_videodatainfo.json.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("test_videodatainfo.json", json.dumps(held_out()))
    return folder


def write_msvd(folder: Path, sentences: dict[str, list[str]], **lists: list[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "captions.json").write_text(json.dumps(sentences))
    for name, ids in lists.items():
        (folder / f"{name}.txt").write_text("\n".join(ids) + "\n")
    return folder


def paragraph(duration: float, *segments: tuple[float, float, str]) -> dict[str, Any]:
    return {
        "duration": duration,
        "timestamps": [list(segment[:2]) for segment in segments],
        "sentences": [segment[2] for segment in segments],
    }


ACTIVITYNET: dict[str, Any] = {
    "train.json": {
        "v_zzzzzzzzzz1": paragraph(30.0, (0, 10.5, "A man runs."), (12.0, 12.0, " He stops.")),
        "v_aaaaaaaaaa2": paragraph(20.0, (0, 20.01, "A dog barks.")),
    },
    "anet_entities_test_1.json": {
        "v_bbbbbbbbb-3": paragraph(40.0, (0, 20.0, "A woman swims."), (20.0, 40.0, " She waves at a man.")),
        "v_ccccccccc_4": paragraph(9.0, (1.0, 9.0, "Snow falls.")),
    },
    "anet_entities_test_2.json": {"v_bbbbbbbbb-3": paragraph(40.0, (0, 40.0, "A swimmer in a pool."))},
    "split_ids_anet_entities.json": {
        "training": ["v_zzzzzzzzzz1", "v_aaaaaaaaaa2"],
        "validation": ["v_notherenot5"],
        "testing": ["v_bbbbbbbbb-3", "v_ccccccccc_4"],
    },
    "anet_entities_cleaned_class_thresh50_test_skeleton.json": {
        "vocab": ["man", "snow", "woman", "pool"],
        "annotations": {
            "v_bbbbbbbbb-3": {
                "duration": 40.0,
                "segments": {
                    "1": {
                        "tokens": ["She", "waves", "at", "a", "man"],
                        "timestamps": [20.0, 40.0],
                        "process_clss": [["woman"], ["man"], ["woman", "man"]],
                        "process_idx": [[0], [4], [0, 4]],
                        "frame_ind": [],
                    },
                    "0": {
                        "tokens": ["A", "woman", "swims"],
                        "timestamps": [0.0, 20.0],
                        "process_clss": [["woman"]],
                        "process_idx": [[1]],
                        "frame_ind": [],
                    },
                },
            },
        },
    },
}


def write_activitynet(folder: Path, **changes: Any) -> Path:
    """Write the files; `changes` maps file names without extension to other contents, or to None to omit the file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (ACTIVITYNET | {f"{key}.json": value for key, value in changes.items()}).items():
        if content is not None:
            (folder / name).write_text(json.dumps(content))
    return folder
