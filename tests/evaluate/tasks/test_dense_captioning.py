"""Dense captioning through the command line.

`GOLDEN` was computed by the official programs on these files: the challenge's (Python 3 port of PDVC, versions of 2021
and 2018), its paragraph scores, and SODA, with pycocoevalcap 1.2 and the paraphrases of `FEW_PARAPHRASES` alone.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluate.test_java_metrics import hide_pycocoevalcap, write_meteor
from tests.helpers.official_files import paragraph, write_activitynet
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.items import Items
from vttdata.evaluate.segments import Paragraph, Segment, best_alignment, overlaps, score_alignments, score_extents
from vttdata.evaluate.tasks.dense_captioning import TASK, read_segments

A, B, C = "v_aaaaaaaaaa1", "v_bbbbbbbbbb2", "v_cccccccccc3"
FIRST = {
    A: paragraph(
        60, (0, 20, "A man opens a door."), (15, 45, " He walks across the room."), (45, 60, "He sits down on a chair.")
    ),
    B: paragraph(30, (0, 30, "A dog runs on the grass.")),
    C: paragraph(
        100,
        (10, 40, "A woman cuts an onion."),
        (5, 20, "The kitchen is shown."),
        (60, 90, "She fries the onion in a pan."),
    ),
}
SECOND = {
    A: paragraph(60, (0, 40, "A person enters a room and walks."), (40, 60, "The person sits down.")),
    C: paragraph(100, (0, 50, "A woman cuts vegetables."), (50, 100, "She cooks them in a pan.")),
}
TRAIN = {
    "v_ddddddddddd": paragraph(40, (0, 20, "A man talks."), (20, 40, "He waves.")),
    "v_eeeeeeeeeee": paragraph(9, (0, 9, "A man talks.")),
}
# Overlapping, beyond ASCII, without a word, past the end, without a length, in another order than their starts.
PREDICTED: dict[str, list[tuple[float, float, str]]] = {
    A: [
        (0, 18, "a man opens the door"),
        (16, 44, "a man walks across a room"),
        (10, 30, "A man is talking \u2014 caf\u00e9!"),
    ],
    B: [(40, 50, ""), (2, 2, "a dog runs")],
    C: [(60, 92, "she fries the onion"), (5, 5, "the kitchen is shown"), (8, 42, "a woman cuts an onion")],
}
GOLDEN = {
    "meteor": 0.18424147543097857,
    "meteor@0.5": 0.20041488020164921,
    "cider-d": 1.6191318441293698,
    "bleu4": 0.1576954502606426,
    "bleu4@0.3": 0.13576378625012428,
    "precision": 0.41666666666666663,
    "recall": 0.4444444444444444,
    "meteor-2018": 0.14517569123296387,
    "soda-c": 0.16956208404183026,
    "soda-c-best": 0.22416706991065874,
    "soda-c-mean": 0.1511709368610985,
    "soda-d": 0.3460988560892673,
    "paragraph/meteor": 0.36081560595555645,
    "paragraph/cider-d": 3.01582631886149,
    "paragraph/bleu4": 0.4467203926546647,
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("activitynet")
    omitted = dict.fromkeys(
        (
            "anet_entities_test_1",
            "anet_entities_test_2",
            "split_ids_anet_entities",
            "anet_entities_cleaned_class_thresh50_test_skeleton",
        )
    )
    write_activitynet(folder, train=TRAIN, val_1=FIRST, val_2=SECOND, **omitted)
    command = ["build", "activitynet-captions", "--quiet", "--set", f"annotations={folder}", "--out"]
    assert main([*command, str(folder / "out"), "--workers", "1"]) == 0
    return folder / "out" / "dataset"


def write(path: Path, predicted: dict[str, list[tuple[float, float, str]]] = PREDICTED) -> Path:
    results = {
        name: [{"sentence": text, "timestamp": [start, end]} for start, end, text in rows]
        for name, rows in predicted.items()
    }
    path.write_text(json.dumps({"version": "VERSION 1.0", "results": results, "external_data": {}}))
    return path


def evaluate(dataset: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["evaluate", str(dataset), "--split", "validation", "--json", *options]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


@pytest.fixture
def without_meteor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site" / "pycocoevalcap").mkdir(parents=True)
    hide_pycocoevalcap(tmp_path / "site", monkeypatch)


def scores_of(report: dict[str, Any]) -> dict[str, float]:
    return {name: values["all"]["score"] for name, values in report["scores"].items()}


@pytest.mark.not_on("win32")
def test_scores_are_those_of_the_official_programs(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_meteor(tmp_path)
    hide_pycocoevalcap(tmp_path, monkeypatch)
    report = evaluate(dataset, capsys, str(write(tmp_path / "results.json")))
    scores = scores_of(report)
    assert {name: scores[name] for name in GOLDEN} == pytest.approx(GOLDEN, abs=1e-9)
    assert "task:dense-captioning" in report["signature"]
    assert "refs:1-2|tok:ptb-3.4.1|tiou:0.3,0.5,0.7,0.9|meteor:1.5|v:1" in report["signature"]
    numbers = [
        finding.rsplit(": ", 1)[1] for finding in report["findings"] if finding.startswith(("Predicted", "Videos"))
    ]
    # Without a word, past the end, in another order.
    assert numbers == ["1.", "1.", "3."]


@pytest.mark.not_on("win32")
@pytest.mark.usefixtures("without_meteor")
def test_tables_are_read_like_the_file_of_the_challenge_and_the_rest_is_scored_without_meteor(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = evaluate(dataset, capsys, str(write(tmp_path / "results.json")))
    assert {"meteor", "soda-c"}.isdisjoint(report["scores"])
    assert "pycocoevalcap has no file" in report["unavailable"]["meteor"]
    rows = [(name, *row) for name, of_video in PREDICTED.items() for row in of_video]
    spans = [{"video_id": name, "timestamp": [start, end], "caption": text} for name, start, end, text in rows]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, spans)))
    lines = [f'{name}.mp4,{start},{end},"{text}"' for name, start, end, text in rows]
    (tmp_path / "c.csv").write_text("\n".join(["video_id,start,end,sentence", *lines]), encoding="utf-8")
    for name, options in (("b.jsonl", ()), ("c.csv", ("--task", "dense-captioning"))):
        assert scores_of(evaluate(dataset, capsys, str(tmp_path / name), *options)) == scores_of(report)


@pytest.mark.not_on("win32")
@pytest.mark.usefixtures("without_meteor")
def test_people_are_scored_against_each_other_and_a_system_against_as_many(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = {
        name: [(*span, text) for span, text in zip(of["timestamps"], of["sentences"], strict=True)]
        for name, of in FIRST.items()
    }
    file, page = write(tmp_path / "copied.json", copied), tmp_path / "page.html"
    report = evaluate(dataset, capsys, str(file), "--human", "--train-split", "train", "--page", str(page))
    people = {name: (by["human"]["score"], by["system"]["score"]) for name, by in report["human"].items()}
    assert report["scores"]["recall"]["all"]["score"] == 1
    assert report["leaks"] == {"source": 0, "overlap": 0, "caption": 0, "leaked": 0, "clean": 3}
    # Of A and C: the second annotator's are all met, and of the first all but the kitchen, by 15 of 50 s.
    assert people["precision@0.3"] == pytest.approx((11 / 12, 11 / 12))
    # The system is the first annotator, who is met by nobody else.
    assert people["recall@0.9"] == (0, 0.5)
    assert {by["human"]["items"] for by in report["human"].values()} == {2}
    html = page.read_text(encoding="utf-8")
    assert "\u2588" * 11 + "\u2591" * 21 + " 0 to 20 s: A man opens a door." in html


@pytest.mark.not_on("win32")
@pytest.mark.usefixtures("without_meteor")
def test_baselines_are_segments_without_words_and_a_sentence_for_the_whole_video(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Two halves: tIoU .67, .33 and .5 with the segments of A by annotator 1; .5 with the one of B; 1 with those of C by
    # annotator 2. A tIoU of .5 is not above .5.
    scores = scores_of(evaluate(dataset, capsys, "--baseline", "equal-segments"))
    names = ("recall@0.3", "recall@0.5", "recall@0.9", "cider-d")
    assert [scores[name] for name in names] == pytest.approx([1, (1 + 0 + 1) / 3, 1 / 3, 0])
    scores = scores_of(evaluate(dataset, capsys, "--baseline", "whole-video"))
    # The whole of B, and .67 of A by [0, 40].
    assert [scores[name] for name in ("precision@0.5", "recall@0.9")] == pytest.approx([(1 + 1 + 0) / 3, 1 / 3])


@pytest.mark.not_on("win32")
@pytest.mark.usefixtures("without_meteor")
def test_missing_videos_and_videos_without_segments_score_nothing(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "few.json", {A: [(0, 20, "A man opens a door.")], B: []})
    assert main(["evaluate", str(dataset), str(file), "--split", "validation", "--task", "dense-captioning"]) == 2
    report = evaluate(dataset, capsys, str(file), "--missing", "worst")
    assert "Videos with a prediction without segments: 1." in report["findings"]
    scores = scores_of(report)
    assert (scores["precision"], scores["recall@0.9"]) == pytest.approx((1 / 3, 1 / 9))
    assert (report["items"]["missing"], report["scores"]["soda-d"]["all"]["items"]) == (1, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {A: [{"sentence": "x", "timestamp": [5, 3]}]},
            "segment 0: the segment 5 to 3 s starts below 0 or after its end",
        ),
        ({A: [{"sentence": "x", "timestamp": [-1, 3]}]}, "the segment -1 to 3 s starts below 0"),
        ({A: [{"sentence": "x"}]}, "no start and end in seconds"),
        ({A: [{"sentence": 3, "timestamp": [0, 1]}]}, "'sentence' is no text"),
        ({A: ["a man"]}, "a man is no object with 'sentence' and 'timestamp'"),
    ],
)
def test_segments_that_cannot_be_read_are_named(content: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps({"results": content}))
    with pytest.raises(VttdataError, match=message):
        list(read_segments(tmp_path / "results.json"))
    assert TASK.fits(tmp_path, tmp_path / "results.json") == (
        "timestamp" in str(content) and "'sentence'" in str(content)
    )


@given(st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1, max_size=4))
def test_alignment_is_the_best_of_all_that_keep_both_orders(weights: list[list[float]]) -> None:
    rows, columns = len(weights), 4
    best = max(
        sum(weights[i][j] for i, j in zip(first, second, strict=True))
        for number in range(min(rows, columns) + 1)
        for first in itertools.combinations(range(rows), number)
        for second in itertools.combinations(range(columns), number)
    )
    precision, recall = best / rows, best / columns
    expected = 2 * precision * recall / (precision + recall) if best else 0.0
    assert best_alignment(np.array(weights)) == pytest.approx(expected)


def draw_videos(draw: np.random.Generator, number: int) -> tuple[list[Paragraph], list[list[Paragraph]]]:
    """Draw the segments of a system and of one or two annotators, who know nothing of each other."""

    def segments() -> list[Segment]:
        times = np.sort(draw.uniform(0, 100, (draw.integers(1, 5), 2)))
        return [Segment(start, end, "") for start, end in times.tolist()]

    return [segments() for _ in range(number)], [
        [segments() for _ in range(draw.integers(1, 3))] for _ in range(number)
    ]


def test_systems_that_draw_segments_are_rarely_told_apart() -> None:
    draw, number, times = np.random.default_rng(3), 24, 120
    items = Items(
        dataset="d",
        version="1",
        config="clips",
        split="test",
        ids=[str(n) for n in range(number)],
        sources=np.arange(number),
        source_ids=[str(n) for n in range(number)],
    )
    rejected = []
    for _ in range(times):
        predicted, truths = draw_videos(draw, number)
        systems = []
        for each in (predicted, draw_videos(draw, number)[0]):
            matrices = [overlaps(given, [*itertools.chain(*of)]) for given, of in zip(each, truths, strict=True)]
            similarity = draw.uniform(0, 1, sum(int((matrix > 0).sum()) for matrix in matrices))
            mean = score_alignments(matrices, each, truths, similarity)[2]
            scores = {"f1": score_extents(matrices, truths)["f1"], "soda-c-mean": mean}
            systems.append({name: ScoreColumn(values, np.arange(number)) for name, values in scores.items()})
        compared = Estimator(items, draws=200).compare(*systems)
        rejected += [not each.low <= 0 <= each.high for each in compared.values()]
    assert 0.01 <= np.mean(rejected) <= 0.1
