from __future__ import annotations

import json
import shutil
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


BIBTEX = """@article{b, title={Second}, author = {B and {C}}, journal = {arXiv preprint arXiv:2401.00001}, year = 2024}
@misc{a, year={2023}, title = "First"}"""


def test_metadata_pass_the_tests_of_mteb(official: Path, tmp_path: Path) -> None:
    """MTEB's tests/test_tasks/test_metadata.py and tests/test_validate_metadata, but for descriptive statistics."""
    reader = DatasetReader(official)
    clips = [row["video_id"] for row in reader.rows("clips", "test", ["video_id"])]
    write_dataset(
        tmp_path / "dataset",
        clips=[Clip(clip, clip, 0, 9, None, None, None, split="test") for clip in clips],
        captions=[Caption(clip, number, f"caption {number}", language="de") for number, clip in enumerate(clips)],
        sources=[Source(clip, "", "nowhere", "", 0) for clip in clips],
        metadata=Metadata("me/cited", version="1.0.0", licence="cc-by-sa-3.0", citation=BIBTEX),
        media=None,
    )
    export(tmp_path / "dataset", "mteb", tmp_path / "x")
    shown = CLIENT.run("mteb_metadata.py", tmp_path / "x")
    names = ["VttdataCitedT2VRetrieval", "VttdataCitedV2TRetrieval"]
    assert [(each["class"], each["name"]) for each in shown] == [(name, name) for name in names]
    for each in shown:
        checks = ("is_filled", "is_formatted", "is_beta", "loads_as_mteb")
        assert [each[name] for name in checks] == [True] * len(checks)
        assert not each["is_known"]
        assert (each["license"], each["eval_langs"], each["eval_splits"]) == ("cc-by-sa-3.0", ["deu-Latn"], ["test"])
        assert each["dataset"]["path"] == f"me/{each['name']}"
        assert each["reference"] == "https://arxiv.org/abs/2401.00001"
        assert f"{len(clips)} captions and {len(clips)} clips of test" in each["description"]
    assert shown[0]["description"] != shown[1]["description"]
    assert [each["prompt"]["query"] for each in shown] == [
        "Find the video clip that matches the given caption.",
        "Find the caption that best describes the following video.",
    ]


@pytest.mark.parametrize("is_questions", [False, True])
def test_tasks_score_the_same_from_what_is_published(demo: Path, tmp_path: Path, is_questions: bool) -> None:
    """The steps of publish.md give tables that MTEB's own loader reads, with the videos in them."""
    dataset = questions_about(demo, tmp_path) if is_questions else demo
    videos = tmp_path / "videos"
    shutil.copytree(demo / "videos" / ("train" if is_questions else "test"), videos)
    export(dataset, "mteb", tmp_path / "x", config="questions" if is_questions else None)
    local = list(map(json.loads, run_task(tmp_path / "x", videos, tmp_path / "out")[-1 if is_questions else -2 :]))
    published = CLIENT.run(
        "mteb_published.py", tmp_path / "x", videos, tmp_path / "hub", HF_HOME=str(tmp_path / "cache")
    )
    measure = "accuracy" if is_questions else "ndcg_at_10"
    assert published == {row["task"]: {"test": row[measure]} for row in local}


def questions_about(demo: Path, folder: Path) -> Path:
    """Build a dataset of four questions about each training clip of the demo, and return its folder."""
    names = sorted(path.stem for path in (demo / "videos" / "train").glob("*.mp4"))
    rows = [
        {"question_id": f"q{number}", "video": f"{name}.mp4", "question": f"what is in {number}?"}
        | {
            "options": [f"thing {number} {place}" for place in range(3 + number % 2)],
            "answer_letter": "ABC"[number % 3],
        }
        for number, name in enumerate(4 * names)
    ]
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", str(folder / "build")]
    assert main([*build, "--set", f"annotations={folder / 'q.jsonl'}"]) == 0
    return folder / "build" / "dataset"


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
    dataset = questions_about(demo, tmp_path)
    export(dataset, "mteb", tmp_path / "x", config="questions")
    printed = json.loads(run_task(tmp_path / "x", demo / "videos" / "train", tmp_path / "out")[-1])
    ours = evaluated(dataset, tmp_path / "out" / "answers.jsonl", split="test")
    count = len((tmp_path / "out" / "answers.jsonl").read_text().splitlines())
    assert 0 < ours["accuracy"] < 1
    # MTEB rounds to five places.
    assert printed["accuracy"] == pytest.approx(ours["accuracy"], abs=6e-6)
    CLIENT.showed(
        "vttdata export DATASET --format mteb --config questions --out FOLDER; "
        "python FOLDER/task.py mteb/baseline-random-encoder --videos VIDEOS",
        f"`VideoCentricQA`: accuracy of {count} questions as `evaluate`, {ours['accuracy']:.4f}",
        "its own score",
    )
