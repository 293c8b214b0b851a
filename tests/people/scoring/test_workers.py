"""Test workers' p-values against published ones, and their verdicts."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.judgments import hit
from vttdata.people import ReliabilitySettings, WorkerReport, judge_workers, read_results, reliable_only
from vttdata.people.answers.manifest import ManifestItem
from vttdata.records import Judgment

BATCH = Path("data/direct-assessment/mturk-batch/Batch_1959533_batch_results.csv")

# kind, mean of originals, mean of controls, paired t, Wilcoxon, Mann-Whitney: as published, for first and second row
PUBLISHED = [
    [
        ("degraded", 30.4, 21.2, "0.28141", "0.27832", "0.18199"),
        ("reference", 61.8, 99.8, "0.007597", "0.0019531", "0.00018983"),
        ("repeat", 42.6, 45.7, "0.55106", "0.60352", "0.8204"),
    ],
    [
        ("degraded", 50.8, 24.1, "0.030246", "0.041992", "0.086647"),
        ("reference", 40.5, 100.0, "0.00010243", "0.00097656", "3.1701e-05"),
        ("repeat", 45.4, 39.4, "0.53342", "1", "0.87978"),
    ],
]


def in_order(judgments: tuple[Judgment, ...], test: str = "paired_t") -> list[WorkerReport]:
    """Return reports in the order in which workers appear."""
    reports = judge_workers(judgments, ReliabilitySettings(test=test))  # type: ignore[arg-type]
    order = list(dict.fromkeys(judgment.worker for judgment in judgments))
    return sorted(reports, key=lambda report: order.index(report.worker))


def test_p_values_of_a_real_batch_equal_the_published_ones(shared: Path) -> None:
    results = read_results([shared / BATCH])
    assert not results.findings
    first, second = in_order(results.judgments)
    for report, comparisons in zip((first, second), PUBLISHED, strict=True):
        for kind, original, control, *printed in comparisons:
            comparison = getattr(report, kind)
            assert (comparison.pairs, comparison.original, comparison.control) == (10, original, control)
            assert [f"{p:.5g}" for p in (comparison.paired_t, comparison.wilcoxon, comparison.mann_whitney)] == printed
    assert (f"{first.repeat.distance:.2f}", f"{second.repeat.distance:.2f}") == ("11.30", "18.00")
    assert (f"{first.mean:.2f}", f"{first.sd:.2f}") == ("50.60", "39.98")
    assert (f"{second.mean:.2f}", f"{second.sd:.2f}") == ("49.56", "36.02")
    assert (first.verdict, second.verdict) == ("unreliable", "reliable")
    assert (first.seconds_per_item, second.seconds_per_item) == pytest.approx((13.76, 23.41))
    assert first.consistent
    assert second.consistent


def test_chosen_test_decides_the_verdict(shared: Path) -> None:
    judgments = read_results([shared / BATCH]).judgments
    for test, verdict in (("paired_t", "reliable"), ("wilcoxon", "reliable"), ("mann_whitney", "unreliable")):
        assert [report.verdict for report in in_order(judgments, test)] == ["unreliable", verdict]


def pairs(worker: str, *scores: tuple[float, float]) -> list[Judgment]:
    """Return judgments of human captions and of their degraded forms."""
    return hit(worker, [("human", a) for a, _ in scores] + [("degraded", b) for _, b in scores])


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ([(80 + i, 20 - i) for i in range(10)], "reliable"),
        ([(90, 10)] * 10, "reliable"),
        ([(50 + i, 50 + 3 * i) for i in range(10)], "unreliable"),
        ([(50, 50)] * 10, "constant"),
        ([(50, 50)] * 3, "constant"),
        ([(80 + i, 20 - i) for i in range(9)], "too_few_pairs"),
        ([(50 + i, 50 + i) for i in range(10)], "undefined"),
        ([(80, 20)] * 9 + [(80, math.nan)], "not_a_number"),
    ],
)
def test_every_worker_gets_a_verdict(scores: list[tuple[float, float]], verdict: str) -> None:
    judgments = pairs("w", *scores)
    (report,) = judge_workers(judgments)
    assert report.verdict == verdict
    assert bool(reliable_only(judgments, [report])) == (verdict == "reliable")


def test_worker_without_control_items_has_too_few_pairs() -> None:
    (report,) = judge_workers(hit("w", [("system", 3), ("system", 60)]))
    assert (report.verdict, report.degraded.pairs, report.consistent) == ("too_few_pairs", 0, None)
    assert math.isnan(report.p)


def test_pairs_are_pooled_over_hits_but_never_cross_them() -> None:
    scores = [(80.0 + i, 20.0 - i) for i in range(5)]
    twice = [*pairs("w", *scores), *hit("w", [("human", a) for a, _ in scores], name="other")]
    assert judge_workers(twice)[0].degraded.pairs == 5
    twice += hit("w", [("degraded", b) for _, b in scores], name="other")
    assert judge_workers(twice)[0].degraded.pairs == 10
    assert repr(judge_workers(reversed(twice))) == repr(judge_workers(twice))


def test_flags_name_haste_and_long_runs_and_decide_nothing() -> None:
    scores = [(80.0 + i, 20.0 - i) for i in range(10)]
    hasty = hit("w", [("system", 7.0)] * 9, name="fast", seconds=1.5)
    report = judge_workers(pairs("w", *scores) + hasty)[0]
    assert (report.verdict, report.flags, report.longest_run) == ("reliable", ("fast", "constant_run"), 9)
    assert report.seconds_per_item == 1.5
    upside_down = judge_workers(pairs("w", *((b, a) for a, b in scores)))[0]
    assert upside_down.flags == ("degraded_not_lower",)


def rated(shown: float | None, number: int = 20) -> list[Judgment]:
    """Return the scores of a worker who finds every degraded caption."""
    return [
        Judgment("h", "w", f"{kind}{n}", f"v{n}", "human", kind, score + n, shown=shown)
        for n in range(number)
        for kind, score in (("human", 70.0), ("degraded", 20.0 - n / 9))
    ]


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ([None], "reliable"),
        ([0.0], "not_shown"),
        ([0.49], "not_shown"),
        ([0.5, 0.0], "reliable"),
        ([0.0, 0.0, 0.9], "not_shown"),
    ],
)
def test_worker_who_did_not_watch_is_left_out_however_well_the_controls_are_found(
    shares: list[float | None], verdict: str
) -> None:
    judgments = [
        replace(judgment, shown=shares[place % len(shares)]) for place, judgment in enumerate(rated(None, number=30))
    ]
    (report,) = judge_workers(judgments)
    assert (report.verdict, report.degraded.paired_t < 1e-6) == (verdict, True)
    assert bool(reliable_only(judgments, [report])) == (verdict == "reliable")
    assert judge_workers(judgments, ReliabilitySettings(min_shown=0.0))[0].verdict == "reliable"


def test_what_was_shown_is_read_from_files_of_pages_and_of_mechanical_turk(tmp_path: Path) -> None:
    manifest = {"h": {f"i{n}": ManifestItem(f"v{n}", "s", "system") for n in range(2)}}
    page = tmp_path / "page.csv"
    page.write_text("hit,worker,item,position,score,seconds,shown,note\nh,ann,i0,0,40,3,0.25,\nh,ann,i1,1,60,3,,\n")
    details = {"hit": "h", "worker": "bob", "answers": [{"item": "i0", "score": 5, "shown": 0.75}]}
    crowd = tmp_path / "crowd.csv"
    with crowd.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["HITId", "WorkerId", "Input.hit", "WorkTimeInSeconds", "Answer.answers", "Answer.details"])
        rows.writerow(["x", "bob", "h", "60", "0_i0_5|1_i1_7", json.dumps(details)])
        rows.writerow(["y", "cem", "h", "60", "0_i0_5|1_i1_7", "[not JSON"])
    found = {(j.worker, j.item): j.shown for j in read_results([page, crowd], manifest=manifest).judgments}
    assert found == {
        ("ann", "i0"): 0.25,
        ("ann", "i1"): None,
        ("bob", "i0"): 0.75,
        ("bob", "i1"): None,
        ("cem", "i0"): None,
        ("cem", "i1"): None,
    }
