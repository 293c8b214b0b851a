from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.clients.client import client, options_of
from tests.clients.conftest import evaluated
from vttdata.cli.main import main
from vttdata.dataset import Metadata, write_dataset
from vttdata.evaluate.items import read_clips
from vttdata.export import export
from vttdata.export.reader import DatasetReader
from vttdata.records import Caption, Clip, Source

CLIENT = client("mteb", "torch")
MEASURES = {
    "hit_rate_at_1": "r@1",
    "hit_rate_at_5": "r@5",
    "hit_rate_at_10": "r@10",
    "mrr_at_10": "mrr@10",
    "ndcg_at_10": "ndcg@10",
}


def score(export_folder: Path, videos: Path, out: Path) -> dict[str, dict[str, float]]:
    """Run the command that the export prints, with MTEB's own random model, and return its scores by direction."""
    lines = run_task(export_folder, videos, out, "--split", "train")[-2:]
    return {row.pop("task").removesuffix("Retrieval")[-3:].lower(): row for row in map(json.loads, lines)}


def run_task(export_folder: Path, videos: Path, out: Path, *options: str) -> list[str]:
    """Run the command that the export prints, with MTEB's own random model, and return the lines that it writes."""
    CLIENT.install(export_folder, out.parent)
    named = {"MODEL": "mteb/baseline-random-encoder", "VIDEOS": str(videos), "scores": str(out)}
    command = [str(export_folder / "task.py"), *options_of(export_folder, "task.py", **named), *options]
    return CLIENT.call(*command, HF_HOME=str(out / "cache")).splitlines()


def test_metadata_is_complete_and_its_name_is_new(official: Path, tmp_path: Path) -> None:
    export(official, "mteb", tmp_path / "x")
    shown = CLIENT.run("mteb_metadata.py", tmp_path / "x")
    names = ["VttdataSmallMsrvttT2VRetrieval", "VttdataSmallMsrvttV2TRetrieval"]
    assert [each["name"] for each in shown] == names
    assert all(each["is_filled"] and not each["is_known"] for each in shown)
    assert {each["license"] for each in shown} == {"cc-by-4.0"}


def matrix_of(predictions: Path, dataset: Path, *, every_caption: bool, out: Path) -> Path:
    """Write the similarities of a video-to-text run of MTEB as a matrix, and return its path."""
    scores = json.loads(predictions.read_text())["default"]["train"]
    items = read_clips(dataset, config="clips", split="train")
    numbers = [sens if every_caption else sens[:1] for sens in items.sen_ids]
    queries = [f"{clip}#{sen}" for clip, sens in zip(items.ids, numbers, strict=True) for sen in sens]
    similarity = np.array([[scores[clip][query] for clip in items.ids] for query in queries])
    np.savez(out, similarity=similarity, query_ids=np.array(queries), video_ids=np.array(items.ids))
    return out


def distinct_captions(demo: Path, folder: Path) -> Path:
    """Write a dataset of the training clips of the demo, of whose captions no two are equal, and return its folder."""
    clips = list(DatasetReader(demo).rows("clips", "train", ["video_id", "source_id"]))
    write_dataset(
        folder,
        clips=[Clip(clip["video_id"], clip["source_id"], 0.0, 9.0, None, None, None, split="train") for clip in clips],
        captions=[
            Caption(clip["video_id"], 10 * number + turn, f"caption {turn} of clip {number}")
            for number, clip in enumerate(clips)
            for turn in range(1 + number % 4)
        ],
        sources=[Source(source, "", "nowhere", "", 0) for source in dict.fromkeys(row["source_id"] for row in clips)],
        metadata=Metadata("me/distinct", version="1.0.0"),
        media=None,
    )
    return folder


@pytest.mark.parametrize("every_caption", [False, True])
def test_both_directions_score_as_evaluate(demo: Path, tmp_path: Path, every_caption: bool) -> None:
    # Equal captions score the same; MTEB takes them in some order, and `evaluate` the mean over all orders.
    dataset = distinct_captions(demo, tmp_path / "dataset") if every_caption else demo
    export(dataset, "mteb", tmp_path / "x", every_caption=every_caption)
    scores = score(tmp_path / "x", demo / "videos" / "train", tmp_path / "out")
    (predictions,) = (tmp_path / "out").glob("*V2TRetrieval_predictions.json")
    matrix = matrix_of(predictions, dataset, every_caption=every_caption, out=tmp_path / "matrix.npz")
    ours = {
        "t2v": evaluated(dataset, tmp_path / "out" / "t2v.run", split="train"),
        "v2t": evaluated(dataset, matrix, split="train"),
    }
    queries = len({line.split()[0] for line in (tmp_path / "out" / "t2v.run").read_text().splitlines()})
    # MTEB rounds to five places.
    for direction in ("t2v", "v2t"):
        for theirs, measure in MEASURES.items():
            assert scores[direction][theirs] == pytest.approx(ours[direction][f"{direction}/{measure}"], abs=6e-6)
    CLIENT.showed(
        f"vttdata export DATASET --format mteb{' --every-caption' * every_caption} --out FOLDER; "
        "python FOLDER/task.py mteb/baseline-random-encoder --videos VIDEOS",
        f"R@1, R@5, R@10, MRR@10 and nDCG@10 of both directions as `evaluate`, {queries} queries; "
        f"MRR@10 {scores['t2v']['mrr_at_10']:.4f} and {scores['v2t']['mrr_at_10']:.4f}",
        "its own scores",
    )


def test_questions_score_as_evaluate(demo: Path, tmp_path: Path) -> None:
    names = sorted(path.stem for path in (demo / "videos" / "train").glob("*.mp4"))
    rows = [
        {"question_id": f"q{number}", "video": f"{name}.mp4", "question": f"what is in {number}?"}
        | {
            "options": [f"thing {number} {place}" for place in range(3 + number % 2)],
            "answer_letter": "ABC"[number % 3],
        }
        for number, name in enumerate(4 * names)
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", str(tmp_path / "build")]
    assert main([*build, "--set", f"annotations={tmp_path / 'q.jsonl'}"]) == 0
    dataset = tmp_path / "build" / "dataset"
    export(dataset, "mteb", tmp_path / "x", config="questions")
    printed = json.loads(run_task(tmp_path / "x", demo / "videos" / "train", tmp_path / "out")[-1])
    ours = evaluated(dataset, tmp_path / "out" / "answers.jsonl", split="test")
    assert 0 < ours["accuracy"] < 1
    # MTEB rounds to five places.
    assert printed["accuracy"] == pytest.approx(ours["accuracy"], abs=6e-6)
    CLIENT.showed(
        "vttdata export DATASET --format mteb --config questions --out FOLDER; "
        "python FOLDER/task.py mteb/baseline-random-encoder --videos VIDEOS",
        f"`VideoCentricQA`: accuracy of {len(rows)} questions as `evaluate`, {ours['accuracy']:.4f}",
        "its own score",
    )
