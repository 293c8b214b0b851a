"""Detailed captions through the command line; scores are worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.leaking_dataset import TEST
from vttdata.cli.main import main
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.estimates import Estimator
from vttdata.evaluate.items import Items
from vttdata.evaluate.tasks.detailed_captions import harmonic_mean
from vttdata.statistics.scores import ColumnScores

JUDGE = {"judge": "some-model", "revision": "2026-01-31", "prompt_digest": "0123abcd", "date": "2026-02-01"}
WORDS = {"e": "entailment", "n": "neutral", "c": "contradiction"}
# Verdicts on events of the reference and of the caption; the last two clips have none of one of them.
GIVEN = dict(
    zip(TEST, [("een", "e"), ("ec", "ecn"), ("n", "cc"), ("eeee", "eeec"), ("en", ""), ("", "e")], strict=True)
)
RECALLS, PRECISIONS = [2 / 3, 1 / 2, 0, 1, 1 / 2, 1], [1, 1 / 3, 0, 3 / 4, 1, 1]


def rows_of(given: dict[str, tuple[str, str]], **judge: Any) -> list[dict[str, Any]]:
    return [
        {"video_id": video, "events_of": side, "event": f"event {number}", "verdict": WORDS[letter], **JUDGE, **judge}
        for video, sides in given.items()
        for side, letters in zip(("reference", "caption"), sides, strict=True)
        for number, letter in enumerate(letters)
    ]


def evaluate(
    dataset: Path, rows: list[dict[str, Any]], capsys: pytest.CaptureFixture[str], *options: str
) -> dict[str, Any]:
    (file := dataset.parent / "verdicts.json").write_text(json.dumps(rows))
    capsys.readouterr()
    status = main(["evaluate", str(dataset), str(file), "--json", *options])
    output = capsys.readouterr()
    assert status == 0, output.err
    report: dict[str, Any] = json.loads(output.out)
    return report


def scores_of(report: dict[str, Any]) -> dict[str, float]:
    return {name: values["all"]["score"] for name, values in report["scores"].items()}


def test_scores_are_those_of_dream_1k(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = evaluate(dataset, rows_of(GIVEN), capsys)
    recall, precision = np.mean(RECALLS), np.mean(PRECISIONS)
    by_clip = [2 * r * p / (r + p) if r + p else 0 for r, p in zip(RECALLS, PRECISIONS, strict=True)]
    expected = {
        "recall": recall,
        "precision": precision,
        "f1": 2 * recall * precision / (recall + precision),
        "not-contradicted": np.mean([1, 2 / 3, 0, 3 / 4, 1, 1]),
        "f1-by-clip": np.mean(by_clip),
    }
    assert scores_of(report) == pytest.approx(expected)
    assert report["scores"]["f1"]["all"]["low"] < expected["f1"] < report["scores"]["f1"]["all"]["high"]
    assert "task:detailed-captions" in report["signature"]
    assert {
        "The judge is some-model 2026-01-31, prompt 0123abcd, 2026-02-01.",
        "Clips whose references have no event, which count as right: 1.",
        "Clips whose captions have no event, which count as right: 1.",
    } <= set(report["findings"])


def test_judges_stand_side_by_side_and_runs_of_one_count_together(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = {video: tuple(side.replace("n", "e") for side in sides) for video, sides in GIVEN.items()}
    other = {"judge": "other-model", "revision": "v1.2.0"}
    rows = [*rows_of(GIVEN, repeat=1), *rows_of(kind, repeat=2), *rows_of(kind, **other)]  # type: ignore[arg-type]
    scores = scores_of(evaluate(dataset, rows, capsys))
    kinder = [1, 1 / 2, 1, 1, 1, 1]
    assert scores["recall@other-model v1.2.0"] == pytest.approx(np.mean(kinder))
    both = (np.mean(RECALLS) + np.mean(kinder)) / 2
    assert scores["recall@some-model 2026-01-31"] == pytest.approx(both)
    assert scores["recall"] == pytest.approx((both + np.mean(kinder)) / 2)


def test_missing_caption_is_the_worst_and_verdicts_that_are_not_complete_are_refused(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    last, *rest = list(GIVEN)[::-1]
    rows = rows_of({video: GIVEN[video] for video in rest})
    scores = scores_of(evaluate(dataset, rows, capsys, "--missing", "worst"))
    assert scores["recall"] == pytest.approx(sum(RECALLS[:-1]) / 6)
    assert scores["precision"] == pytest.approx(sum(PRECISIONS[:-1]) / 6)
    assert scores["not-contradicted"] == pytest.approx((1 + 2 / 3 + 0 + 3 / 4 + 1) / 6)
    whole = rows_of(GIVEN)
    for wrong, sentence in (
        ([*whole, whole[0]], "has a verdict of the same run on line"),
        ([*whole, whole[0] | {"verdict": "yes"}], "'verdict' is 'yes', not one of entailment, neutral, contradiction"),
        ([*whole, whole[0] | {"revision": "latest"}], "does not fix a model"),
        ([*whole, whole[0] | {"judge": "other"}], f"other 2026-01-31 has no verdict on {len(TEST) - 1} of the clips"),
        (rows, f"1 of 6 items have no judged caption (first '{last}')"),
    ):
        (file := dataset.parent / "wrong.json").write_text(json.dumps(wrong))
        assert main(["evaluate", str(dataset), str(file)]) == 2
        assert sentence in capsys.readouterr().err


def test_interval_of_f1_holds_its_true_value_and_systems_that_are_alike_do_not_differ() -> None:
    generator, held, rejected, number = np.random.default_rng(5), [], [], 60
    names = [str(index) for index in range(number)]
    items = Items(
        dataset="d",
        version="1",
        config="clips",
        split="test",
        ids=names,
        sources=np.arange(number) // 2,
        source_ids=names[: number // 2],
    )
    estimator = Estimator(items, draws=200)
    for _ in range(200):
        systems = []
        for _ in range(2):
            # Of each clip five events a side; clips differ, and both sides depend on the clip.
            rate = np.repeat(generator.beta(2, 3, number // 2), 2)
            shares = np.stack([generator.binomial(5, rate) / 5, generator.binomial(5, (1 + rate) / 2) / 5], axis=1)
            columns = ColumnScores(harmonic_mean(shares, np.ones(number)), shares, harmonic_mean)
            systems.append({"f1": ScoreColumn(columns, np.arange(number))})
        interval = estimator.estimate(systems[0])["f1"]
        held.append(interval.low <= 2 * 0.4 * 0.7 / 1.1 <= interval.high)
        compared = estimator.compare(*systems)["f1"]
        rejected.append(not compared.low <= 0 <= compared.high)
    assert np.mean(held) >= 0.91
    assert np.mean(rejected) <= 0.09
