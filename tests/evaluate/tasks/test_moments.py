"""Moments and highlights: the figures of QVHighlights' own script for published predictions, and a brute force."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.qvhighlights import read
from vttdata.cli.main import main
from vttdata.evaluate.tasks.grounding import describe_units
from vttdata.evaluate.tasks.moments import (
    LENGTHS,
    THRESHOLDS,
    MomentQuery,
    cross_overlaps,
    detection_precisions,
    ranking_precision,
    read_windows,
    score_highlights,
    score_windows,
)

LEVELS = {"fair": "Fair", "good": "Good", "very-good": "VeryGood"}


def test_figures_of_published_predictions_are_those_of_the_official_script(shared: Path) -> None:
    folder = shared / "data" / "qvhighlights"
    official = read(folder)
    seconds = {clip.video_id: clip.end - clip.start for clip in official.clips}
    names = [f"{each.video_id}#{each.sen_id}" for each in official.moments]
    queries = [
        MomentQuery(
            list(zip(each.starts, each.ends, strict=True)), each.salient, each.saliency, int(seconds[each.video_id] / 2)
        )
        for each in official.moments
    ]
    predicted = dict(read_windows(folder / "sample_val_preds.jsonl", names))
    windows = [predicted[name] for name in names]
    columns = score_windows(windows, queries) | score_highlights(windows, queries)
    printed = {name: round(100 * column.scores.items.mean(), 2) for name, column in columns.items()}
    figures = json.loads((folder / "sample_val_preds_metrics_raw.json").read_text())
    expected = {}
    for length in ("full", *LENGTHS):
        family = "moments" if length == "full" else f"moments-{length}"
        expected[f"{family}/map"] = figures[length]["MR-mAP"]["average"]
        for threshold in THRESHOLDS:
            expected[f"{family}/map@{threshold:g}"] = figures[length]["MR-mAP"][f"{threshold:g}"]
            expected[f"{family}/r1@{threshold:g}"] = figures[length]["MR-R1"][f"{threshold:g}"]
    for level, name in LEVELS.items():
        expected[f"highlights-{level}/map"] = figures[f"HL-min-{name}"]["HL-mAP"]
        expected[f"highlights-{level}/hit1"] = figures[f"HL-min-{name}"]["HL-Hit1"]
    assert printed == pytest.approx(expected, abs=1e-9)
    truths = [span for query in queries for span in query.spans]
    assert describe_units([each.spans for each in windows], truths) == []
    frames = [[(30 * start, 30 * end) for start, end in each.spans] for each in windows]
    assert "not in frames or milliseconds" in describe_units(frames, truths)[0]
    assert len(printed) == 90


SPANS = st.tuples(st.integers(0, 20), st.integers(1, 10)).map(lambda span: (float(span[0]), float(span[0] + span[1])))


@given(st.lists(SPANS, max_size=6), st.lists(SPANS, min_size=1, max_size=4), st.sampled_from(THRESHOLDS))
def test_average_precision_is_the_area_under_the_interpolated_curve(
    spans: list[tuple[float, float]], truths: list[tuple[float, float]], threshold: float
) -> None:
    free, hits = list(range(len(truths))), []
    for start, end in spans:
        overlaps = {}
        for number in free:
            shared = max(0.0, min(end, truths[number][1]) - max(start, truths[number][0]))
            overlaps[number] = shared / (end - start + truths[number][1] - truths[number][0] - shared)
        best = max(overlaps, key=lambda number: (overlaps[number], number), default=None)
        hits.append(best is not None and overlaps[best] >= threshold)
        if best is not None and hits[-1]:
            free.remove(best)
    points = [(sum(hits[:rank]) / len(truths), sum(hits[:rank]) / rank) for rank in range(1, len(hits) + 1)]
    # Each of the recalls k / m is reached at the highest precision of a recall that is as high.
    steps = [number / len(truths) for number in range(1, len(truths) + 1)]
    area = sum(max((p for r, p in points if r >= step - 1e-9), default=0.0) for step in steps) / len(truths)
    overlaps = cross_overlaps(spans, truths).tolist()
    assert detection_precisions(overlaps, len(truths), [threshold]) == pytest.approx([area])


@pytest.mark.parametrize(
    ("values", "counts", "precision"),
    [
        ([3, 2, 1], [1, 0, 0], 1.0),
        ([3, 2, 1], [0, 0, 1], 1 / 3),
        ([3, 2, 1], [1, 0, 1], (1 + 2 / 3) / 2),
        ([1, 1, 1], [1, 0, 0], 1 / 3),
        ([3, 2, 1], [0, 0, 0], 0.0),
        ([3, 2, 1], [1, 1, 1], 1.0),
    ],
)
def test_precision_of_a_ranking(values: list[float], counts: list[int], precision: float) -> None:
    found = ranking_precision(np.array(values, dtype=float), np.array(counts, dtype=bool)[:, None])
    assert found.tolist() == pytest.approx([precision])


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("moments")
    rows = [
        {"qid": number, "query": f"thing {number}", "duration": 20, "vid": f"AAAAAAAAAA{number}_0.0_20.0"}
        | {"relevant_windows": windows, "relevant_clip_ids": [0], "saliency_scores": [[2, 3, 4]]}
        for number, windows in enumerate([[[0, 4], [10, 20]], [[0, 12]]])
    ]
    (folder / "highlight_val_release.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = folder / "out"
    build = ["build", "qvhighlights", "--quiet", "--workers", "1", "--set", f"annotations={folder}", "--out", str(out)]
    assert main(build) == 0
    return out


@pytest.mark.not_on("win32")
def test_queries_about_trained_videos_are_scored_apart(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["video_id,start,end", "AAAAAAAAAA0_0.0_20.0#0,0,4", "AAAAAAAAAA1_0.0_20.0#1,13,20"]
    (tmp_path / "spans.csv").write_text("\n".join(rows))
    (tmp_path / "seen.txt").write_text("AAAAAAAAAA1_0.0_20.0\n")
    command = ["evaluate", str(dataset), str(tmp_path / "spans.csv"), "--train-split", str(tmp_path / "seen.txt")]
    capsys.readouterr()
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["scores"]["moments/r1@0.5"]
    assert (found["clean"]["score"], found["leaked"]["score"], found["clean"]["items"]) == (1.0, 0.0, 1)


@pytest.mark.not_on("win32")
def test_windows_in_both_forms_are_scored(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    windows: list[list[tuple[float, float, float]]] = [[(10, 20, 0.9), (0, 4, 0.5)], [(0, 6, 0.9)]]
    native = [
        {"qid": number, "pred_relevant_windows": each, "pred_saliency_scores": [1 - number, number]}
        for number, each in enumerate(windows)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in native))
    rows = [
        f"AAAAAAAAAA{number}_0.0_20.0#{number},{start},{end},{score}"
        for number, each in enumerate(windows)
        for start, end, score in each
    ]
    (tmp_path / "b.csv").write_text("\n".join(["video_id,start,end,score", *rows]))
    reports: list[dict[str, Any]] = []
    for name in ("a.jsonl", "b.csv"):
        capsys.readouterr()
        assert main(["evaluate", str(dataset), str(tmp_path / name), "--json"]) == 0
        reports.append(json.loads(capsys.readouterr().out))
    first, second = ({key: values["all"]["score"] for key, values in report["scores"].items()} for report in reports)
    # The window of query 1 has a tIoU of .5 with the true one.
    assert (first["moments/r1@0.5"], first["moments/r1@0.55"], first["moments/map"]) == pytest.approx((1, 0.5, 0.55))
    # Both windows of query 0 are short, 10 s included, and that of query 1 is found at the first of ten thresholds.
    assert (first["moments-short/map"], first["moments-middle/map"]) == pytest.approx((1.0, 0.1))
    assert (first["highlights-good/hit1"], first["highlights-very-good/hit1"]) == (0.5, 0.5)
    assert second == {name: value for name, value in first.items() if name.startswith("moments")}


@pytest.mark.not_on("win32")
@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"qid": 0, "pred_relevant_windows": [[4, 2, 1]]}, "a.jsonl:1: the window 4 to 2 s ends before its start"),
        ({"qid": 0, "pred_relevant_windows": [[4]]}, "a.jsonl:1: [4] is no window"),
        ({"qid": 0, "pred_relevant_windows": 3}, "a.jsonl:1: 'pred_relevant_windows' is no list"),
        ({"qid": 0, "pred_relevant_windows": [[0, "x", 1]]}, "a.jsonl:1: 'x' is no finite number"),
        (
            {"qid": 9, "pred_relevant_windows": []},
            "none of the 1 predictions is about one of the 2 items: an id in the file is '9', and",
        ),
    ],
)
def test_bad_window_is_one_sentence(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], row: dict[str, Any], words: str
) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["evaluate", str(dataset), str(tmp_path / "a.jsonl")]) == 2
    assert words in capsys.readouterr().err
