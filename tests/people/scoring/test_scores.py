"""Test scores against WMT's published files, both conventions, and that intervals do not depend on order."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.judgments import hit
from vttdata.people import (
    caption_scores,
    judge_workers,
    read_moments,
    read_results,
    standardise,
    system_intervals,
    system_scores,
    worker_moments,
)
from vttdata.records import CaptionScore

WMT = Path("data/direct-assessment/wmt22-lv-en")


def published(file: Path, *, head: bool) -> Iterator[list[str]]:
    lines = file.read_text().splitlines()
    return (line.split() for line in lines[head:])


def test_scores_of_a_real_campaign_equal_the_published_ones(shared: Path) -> None:
    folder = shared / WMT
    moments = read_moments(folder / "ad-lven-trk-mean-sd.txt")
    results = read_results([folder / "ad-lven-good-stnd-redup.csv"], moments=moments)
    assert not results.findings
    assert len(results.judgments) == 5782
    assert all(judgment.score.is_integer() and 0 <= judgment.score <= 100 for judgment in results.judgments)

    captions = caption_scores(standardise(results.judgments, moments=moments))
    computed = {(score.system, score.video_id): score for score in captions}
    rows = {
        (system, segment): row for system, segment, *row in published(folder / "ad-seg-scores-lv-en.csv", head=True)
    }
    assert computed.keys() == rows.keys()
    for key, (raw, z, n) in rows.items():
        score = computed[key]
        assert (score.raw, score.z) == pytest.approx((float(raw), float(z)), abs=1e-9)
        assert score.assessments == int(n)

    systems = system_scores(captions)
    scores = {row[3]: row for row in published(folder / "ad-sys-scores-lv-en.csv", head=True)}
    assert {system.system for system in systems} == scores.keys()
    for system in systems:
        raw, z, n, _, assessments = scores[system.system]
        assert (system.raw, system.z) == pytest.approx((float(raw), float(z)), abs=1e-9)
        assert (system.captions, system.assessments) == (int(n), int(assessments))
    ranking = [
        [f"{s.raw:.1f}".removesuffix(".0"), f"{s.z:.3f}", str(s.captions), str(s.assessments), s.system]
        for s in systems
    ]
    assert ranking == list(published(folder / "ad-sys-ranking-lv-en-z.csv", head=False))


def test_published_moments_include_controls(shared: Path) -> None:
    folder = shared / WMT
    printed = read_moments(folder / "ad-lven-trk-mean-sd.txt")
    judgments = read_results([folder / "ad-lven-good-stnd-redup.csv"], moments=printed).judgments
    everything, ranked = worker_moments(judgments), worker_moments(judgments, "ranked")
    for worker, moments in everything.items():
        assert (f"{moments.mean:.7g}", f"{moments.sd:.7g}") == (
            f"{printed[worker].mean:.7g}",
            f"{printed[worker].sd:.7g}",
        )
    assert (
        sum(abs(ranked[worker].sd - moments.sd) > 0.01 for worker, moments in everything.items()) > len(everything) / 2
    )
    systems = [score.system for score in system_scores(caption_scores(standardise(judgments)))]
    assert systems == [row[4] for row in published(folder / "ad-sys-ranking-lv-en-z.csv", head=False)]


def test_workers_of_a_real_campaign_are_judged_on_all_pairs(shared: Path) -> None:
    file = shared / WMT / "ad-lven-good-stnd-redup.csv"
    rows = [(row[0], row[1], row[6], row[9], row[8]) for row in published(file, head=True)]
    known = set(rows)
    pairs = sum(row[4] == "BAD_REF" and (*row[:4], "SYSTEM") in known for row in rows)
    moments = read_moments(shared / WMT / "ad-lven-trk-mean-sd.txt")
    reports = judge_workers(read_results([file], moments=moments).judgments)
    assert [report.worker for report in reports] == sorted({row[1] for row in rows})
    assert sum(report.degraded.pairs for report in reports) == pairs > 500


def test_conventions_differ_in_counted_items_and_constant_workers() -> None:
    judgments = [
        *hit("w", [("system", 20), ("repeat", 40), ("human", 90), ("degraded", 10)]),
        *hit("same", [("system", 50), ("system", 50), ("degraded", 50)]),
        *hit("one", [("system", 7)]),
    ]
    everything, ranked = standardise(judgments), standardise(judgments, "ranked")
    assert everything.left_out == ("one", "same")
    assert everything.moments["w"] == pytest.approx((40.0, math.sqrt((400 + 0 + 2500 + 900) / 3)))
    assert ranked.left_out == ()
    assert ranked.moments["w"] == pytest.approx((30.0, math.sqrt(200)))
    assert ranked.moments["same"] == (50.0, 1.0)
    assert [z for judgment, z in zip(ranked.judgments, ranked.z, strict=True) if judgment.worker != "w"] == [0.0] * 4


def test_captions_are_averaged_by_worker_first_without_controls() -> None:
    judgments = [
        *hit("w", [("system", 10), ("repeat", 30), ("degraded", 0), ("human", 100), ("reference", 100)]),
        *hit("v", [("system", 80), ("degraded", 0)], name="h2"),
    ]
    moments = dict.fromkeys(("w", "v"), worker_moments(judgments)["w"])
    scores = caption_scores(standardise(judgments, moments=moments))
    assert [(score.system, score.video_id, score.raw, score.assessments) for score in scores] == [
        ("A", "v0", pytest.approx((10 + 30 + 100) / 3 / 2 + 40), 4)
    ]


def test_intervals_depend_only_on_scores_and_seed() -> None:
    random.seed(1)
    scores = [CaptionScore(f"v{n}", "A", 50, random.gauss(0.3, 1), 1) for n in range(200)]
    others = [CaptionScore(f"v{n}", "B", 50, 0.25, 1) for n in range(20)]
    lower, upper = system_intervals(scores)["A"]
    mean = sum(score.z for score in scores) / 200
    assert lower < mean < upper
    assert upper - lower == pytest.approx(2 * 1.96 / math.sqrt(200), rel=0.2)
    assert system_intervals(scores[::-1] + others) == {"A": (lower, upper), "B": (0.25, 0.25)}
    assert system_intervals(scores, seed=1)["A"] != (lower, upper)
    narrow = system_intervals(scores, level=0.5)["A"]
    assert lower < narrow[0] < narrow[1] < upper
