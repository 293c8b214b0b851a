from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.clients.client import client
from tests.clients.conftest import evaluated
from vttdata.evaluate.items import read_clips
from vttdata.export import export

CLIENT = client("mteb", "torch")
MEASURES = {"hit_rate_at_1": "r@1", "hit_rate_at_5": "r@5", "hit_rate_at_10": "r@10", "mrr_at_10": "mrr@10"}


def score(export_folder: Path, videos: Path, out: Path) -> dict[str, dict[str, float]]:
    """Run the command that the export prints, with MTEB's own random model, and return its scores by direction."""
    command = [
        str(export_folder / "task.py"),
        "mteb/baseline-random-encoder",
        "--videos",
        str(videos),
        "--split",
        "train",
    ]
    lines = CLIENT.call(*command, "--out", str(out), HF_HOME=str(out / "cache")).splitlines()[-2:]
    return {row.pop("task")[-3:].lower(): row for row in map(json.loads, lines)}


def matrix_of(predictions: Path, dataset: Path, *, every_caption: bool, out: Path) -> Path:
    """Write the similarities of a video-to-text run of MTEB as a matrix, and return its path."""
    scores = json.loads(predictions.read_text())["default"]["train"]
    items = read_clips(dataset, config="clips", split="train")
    numbers = [sens if every_caption else sens[:1] for sens in items.sen_ids]
    queries = [f"{clip}#{sen}" for clip, sens in zip(items.ids, numbers, strict=True) for sen in sens]
    similarity = np.array([[scores[clip][query] for clip in items.ids] for query in queries])
    np.savez(out, similarity=similarity, query_ids=np.array(queries), video_ids=np.array(items.ids))
    return out


@pytest.mark.parametrize("every_caption", [False, True])
def test_both_directions_score_as_evaluate(demo: Path, tmp_path: Path, every_caption: bool) -> None:
    export(demo, "mteb", tmp_path / "x", every_caption=every_caption)
    scores = score(tmp_path / "x", demo, tmp_path / "out")
    (predictions,) = (tmp_path / "out").glob("*V2T_predictions.json")
    matrix = matrix_of(predictions, demo, every_caption=every_caption, out=tmp_path / "matrix.npz")
    ours = {
        "t2v": evaluated(demo, tmp_path / "out" / "t2v.run", split="train"),
        "v2t": evaluated(demo, matrix, split="train"),
    }
    queries = len({line.split()[0] for line in (tmp_path / "out" / "t2v.run").read_text().splitlines()})
    # MTEB rounds to five places.
    for direction in ("t2v", "v2t"):
        for theirs, measure in MEASURES.items():
            assert scores[direction][theirs] == pytest.approx(ours[direction][f"{direction}/{measure}"], abs=6e-6)
        # Equal captions score the same; MTEB takes them in some order, and `evaluate` the mean over all orders.
        tolerance = 2e-3 if every_caption else 6e-6
        expected = ours[direction][f"{direction}/ndcg@10"]
        assert scores[direction]["ndcg_at_10"] == pytest.approx(expected, abs=tolerance)
    CLIENT.showed(
        f"vttdata export DATASET --format mteb{' --every-caption' * every_caption} --out FOLDER; "
        "python FOLDER/task.py mteb/baseline-random-encoder --videos VIDEOS",
        f"R@1, R@5, R@10, MRR@10 and nDCG@10 of both directions as `evaluate`, {queries} queries; "
        f"MRR@10 {scores['t2v']['mrr_at_10']:.4f} and {scores['v2t']['mrr_at_10']:.4f}",
    )
