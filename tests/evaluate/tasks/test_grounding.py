"""Temporal grounding through the command line; the overlaps are worked out by hand."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.cli.main import main
from vttdata.evaluate.items import ClipItems
from vttdata.evaluate.tasks.grounding import Span, describe_order, meets_threshold, score_marked, temporal_iou

LINES = [
    *("AAAAA 0.0 10.0##a man sits", "AAAAA 10.0 20.0##a man stands", "BBBBB 5.0 15.0##a dog runs"),
    *("BBBBB 30.0 40.0##a dog runs", "CCCCC 7.0 7.0##a cup falls"),
]
# tIoU 1, .5 (10-20 and 10-40 would be 1/3), 0 (but 1 with the other segment of the same sentence), .6, 0.
FIRST = {"AAAAA_0": (0, 10), "AAAAA_1": (10, 15), "BBBBB_0": (30, 40), "BBBBB_1": (34, 40), "CCCCC_0": (7, 8)}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("charades")
    (folder / "charades_sta_train.txt").write_text("DDDDD 0.0 1.0##a man sits\n")
    (folder / "charades_sta_test.txt").write_text("\n".join(LINES))
    out = folder / "out"
    command = ["build", "charades-sta", "--quiet", "--set", f"annotations={folder}", "--out", str(out)]
    assert main([*command, "--workers", "1"]) == 0
    return out


def evaluate(dataset: Path, predictions: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    command = ["evaluate", str(dataset), str(predictions), "--task", "grounding", "--json", *options]
    assert main(command) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def write(path: Path, rows: list[tuple[Any, ...]], head: str = "video_id,start,end") -> Path:
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.mark.not_on("win32")
def test_recall_and_mean_overlap_are_those_worked_out_by_hand(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = evaluate(dataset, write(tmp_path / "spans.csv", [(name, *span) for name, span in FIRST.items()]), capsys)
    scores = {name: values["all"]["score"] for name, values in report["scores"].items()}
    assert scores == pytest.approx(
        {
            "grounding/r1@0.3": 3 / 5,
            "grounding/r1@0.5": 3 / 5,
            "grounding/r1@0.7": 1 / 5,
            "grounding/miou": (1 + 0.5 + 0.6) / 5,
            "grounding-verbatim/r1@0.3": 4 / 5,
            "grounding-verbatim/r1@0.5": 4 / 5,
            "grounding-verbatim/r1@0.7": 2 / 5,
            "grounding-verbatim/miou": (1 + 0.5 + 1 + 0.6) / 5,
        }
    )
    estimate = report["scores"]["grounding/miou"]["all"]
    assert estimate["low"] < estimate["score"] < estimate["high"]
    assert any(finding.endswith("which nothing can overlap: 1.") for finding in report["findings"])
    assert any("occurs in another segment of the same video too: 2;" in finding for finding in report["findings"])
    assert "task:grounding" in report["signature"]


@pytest.mark.not_on("win32")
def test_several_spans_are_ranked_by_score_and_five_count(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(name, *span, 0.5) for name, span in FIRST.items()]
    rows += [("BBBBB_0", 5, 15, 0.4), ("AAAAA_0", 20, 30, 0.9)]
    report = evaluate(dataset, write(tmp_path / "spans.csv", rows, "video_id,start,end,score"), capsys)
    assert report["scores"]["grounding/r1@0.5"]["all"]["score"] == pytest.approx(2 / 5)
    assert report["scores"]["grounding/r5@0.5"]["all"]["score"] == pytest.approx(4 / 5)


@pytest.mark.not_on("win32")
def test_missing_spans_are_refused_or_score_worst(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "spans.csv", [("AAAAA_0", 0, 10)])
    assert main(["evaluate", str(dataset), str(path), "--task", "grounding"]) == 2
    assert "4 of 5 items have no predicted span" in capsys.readouterr().err
    report = evaluate(dataset, path, capsys, "--missing", "worst", "--metric", "grounding/miou")
    assert report["scores"]["grounding/miou"]["all"]["score"] == pytest.approx(1 / 5)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("AAAAA_0", 3, 2)], "spans.csv:2: the span ends at 2 s, before its start at 3 s"),
        ([("AAAAA_0", -1, 2)], "spans.csv:2: the span starts at -1 s, before its video; set it to 0"),
        ([("AAAAA_0", "x", 2)], "spans.csv:2: 'start' and 'end' should be seconds"),
        ([("AAAAA_0", 0, "inf")], "spans.csv:2: 'start' and 'end' should be seconds"),
        ([("", 0, 2)], "spans.csv:2: the column 'video_id' is empty"),
        ([], "contains no predicted spans"),
    ],
)
@pytest.mark.not_on("win32")
def test_bad_span_is_one_sentence(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[tuple[Any, ...]], words: str
) -> None:
    assert main(["evaluate", str(dataset), str(write(tmp_path / "spans.csv", rows)), "--task", "grounding"]) == 2
    assert words in capsys.readouterr().err


TIMES = st.integers(0, 50).map(lambda tenths: tenths / 10)
SPANS = st.tuples(TIMES, TIMES).map(lambda times: (min(times), max(times)))


def test_overlap_at_a_threshold_reaches_it() -> None:
    spans = [(start, end) for start in range(11) for end in range(start + 1, 11)]
    at = 0
    for first, second in itertools.product(spans, spans):
        # Whole tenths, so that nothing is rounded.
        common = min(first[1], second[1]) - max(first[0], second[0])
        union = max(first[1], second[1]) - min(first[0], second[0])
        for threshold in (3, 5, 7):
            at += 10 * common == threshold * union
            expected = 10 * common >= threshold * union
            (a, b), (c, d) = ([tenths / 10 for tenths in span] for span in (first, second))
            assert meets_threshold((a, b), (c, d), Fraction(threshold, 10)) == expected
            # Times that are sums of floats in the files of others: 0.1 s past the hour.
            (a, b), (c, d) = ([3600 + tenths / 10 for tenths in span] for span in (first, second))
            assert meets_threshold((a, b), (c, d), Fraction(threshold, 10)) == expected
    assert at > 100


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1.0, None), (1 / 40, "lie within 0 and 1, but annotated ones end at up to 40 s"), (30.0, "not in frames")],
)
@pytest.mark.not_on("win32")
def test_spans_that_are_hardly_seconds_are_a_finding(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], factor: float, words: str | None
) -> None:
    rows = [(name, *(time * factor for time in span)) for name, span in FIRST.items()]
    findings = evaluate(dataset, write(tmp_path / "spans.csv", rows), capsys)["findings"]
    units = [finding for finding in findings if "in seconds" in finding]
    assert [words in finding for finding in units if words] == [True] * (words is not None)
    assert len(units) == (words is not None)


@given(SPANS, SPANS)
def test_overlap_is_that_of_tenths_of_a_second(first: tuple[float, float], second: tuple[float, float]) -> None:
    tenths = [set(range(round(10 * start), round(10 * end))) for start, end in (first, second)]
    union = tenths[0] | tenths[1]
    # The union of spans apart is no span; their overlap is 0 in any case.
    expected = len(tenths[0] & tenths[1]) / len(union) if tenths[0] & tenths[1] else 0.0
    assert temporal_iou(first, second) == pytest.approx(expected)


# Pieces of five seconds, as DiDeMo has them.
PIECES = [(5.0 * first, 5.0 * last + 5) for first in range(6) for last in range(first, 6)]


def test_best_three_of_four_annotators_count() -> None:
    marked = [
        [(0.0, 5.0), (0.0, 5.0), (0.0, 5.0), (25.0, 30.0)],
        [(0.0, 10.0), (5.0, 10.0), (10.0, 15.0), (25.0, 30.0)],
    ]
    ranked = [(0.0, 5.0), (0.0, 10.0), (5.0, 10.0), *(span for span in PIECES if span[1] > 10)]
    columns = score_marked([ranked, ranked], marked)
    # Three of the first sentence's annotators marked what is predicted first. The best ranks of the second are 2, 3, 6.
    assert ranked.index((10.0, 15.0)) > 4
    assert columns["grounding-annotators/r1"].scores.items.tolist() == [1.0, 0.0]
    assert columns["grounding-annotators/miou"].scores.items.tolist() == pytest.approx([1.0, 1 / 2 / 3])


@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=4, max_size=7), min_size=1, max_size=8), st.randoms())
def test_annotators_measure_is_that_of_official_pieces(marked: list[list[Span]], draw: random.Random) -> None:
    ranked = [draw.sample(PIECES, len(PIECES)) for _ in marked]
    columns = score_marked(ranked, marked)
    for index, (spans, predicted) in enumerate(zip(marked, ranked, strict=True)):
        # Sets of pieces instead of times, and all ways to choose three annotators instead of a sorted list.
        chosen = list(itertools.combinations(range(len(spans)), 3))
        ranks = [1 + predicted.index(span) for span in spans]
        best = min(sum(ranks[each] for each in three) for three in chosen) / 3
        first = set(range(int(predicted[0][0]), int(predicted[0][1]), 5))
        sets = [set(range(int(start), int(end), 5)) for start, end in spans]
        ious = [len(first & pieces) / len(first | pieces) for pieces in sets]
        overlap = max(sum(ious[each] for each in three) for three in chosen) / 3
        assert columns["grounding-annotators/r1"].scores.items[index] == (best <= 1)
        assert columns["grounding-annotators/r5"].scores.items[index] == (best <= 5)
        assert columns["grounding-annotators/miou"].scores.items[index] == pytest.approx(overlap)


def test_span_that_is_not_predicted_has_no_rank() -> None:
    columns = score_marked([[(0.0, 5.0)], None], [[(0.0, 5.0), (0.0, 5.0), (5.0, 10.0)], [(0.0, 5.0)]])
    assert columns["grounding-annotators/r1"].scores.items.tolist() == [0.0, 0.0]
    assert columns["grounding-annotators/miou"].scores.items.tolist() == pytest.approx([2 / 3, 0.0])


@pytest.mark.not_on("win32")
def test_didemo_is_scored_by_its_annotators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("train", "val", "test"):
        asked = [
            {
                "annotation_id": number,
                "description": f"thing {number}",
                "video": f"{name}{number}.mp4",
                "times": [[0, 0], [0, 0], [1, 1], [1, 1]],
            }
            for number in range(2)
        ]
        (tmp_path / f"{name}_data.json").write_text(json.dumps(asked))
    build = ["build", "didemo", "--quiet", "--workers", "1", "--out", str(tmp_path / "out")]
    assert main([*build, "--set", f"annotations={tmp_path}"]) == 0
    spans = tmp_path / "spans.csv"
    spans.write_text("video_id,start,end\ntest0_0,0,5\ntest0_0,5,10\ntest1_1,0,10\ntest1_1,0,5\n")
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "out"), str(spans), "--task", "grounding", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    # Of the first sentence the ranks of three are 1, 1, 2; of the second, one of three has no rank.
    assert scores["grounding-annotators/r1"]["all"]["score"] == 0
    assert scores["grounding-annotators/r5"]["all"]["score"] == 0.5
    assert scores["grounding-annotators/miou"]["all"]["score"] == pytest.approx((2 / 3 + 1 / 2) / 2)


def ranked(seed: int, *, by_rank: bool | None) -> list[str]:
    """Return what is said of 40 queries with four spans each: best first, best last, or in any order."""
    draw = random.Random(seed)
    truths = [(10.0, 20.0)] * 40
    predictions = []
    for _ in truths:
        spans: list[Span] = [(10.0, 20.0), (12.0, 20.0), (18.0, 30.0), (40.0, 50.0)]
        if by_rank is None:
            draw.shuffle(spans)
        predictions.append(spans[::-1] if by_rank else spans)
    items = ClipItems(
        dataset="d",
        version="1",
        config="clips",
        split="test",
        ids=[f"v{number}" for number in range(40)],
        sources=np.arange(40),
        source_ids=[],
        references=(),
        spans=truths,
    )
    return describe_order(predictions, items)


def test_rank_in_place_of_a_score_is_said() -> None:
    assert ranked(0, by_rank=False) == []
    assert "worse than guessing" in ranked(0, by_rank=True)[0]
    assert sum(bool(ranked(seed, by_rank=None)) for seed in range(200)) <= 1
