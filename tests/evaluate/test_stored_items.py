"""A stored evaluation beside a new one of a later version: both scores, and the interval of their difference."""

from __future__ import annotations

import csv
import dataclasses
import math
import statistics
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.evaluate.conftest import Write
from vttdata.compose.correct import correct_dataset
from vttdata.compose.withdraw import WithdrawalRequest, withdraw
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate

SETTINGS = EvaluationSettings(draws=200, unknown="ignore")
METRICS = ["bleu", "rouge-l", "cider-d"]


def correct_first_reference(dataset: Path, table: Path) -> None:
    (path,) = read_layout(dataset).files["captions"]["test"]
    row = next(read_parquet_rows([path], ("video_id", "sen_id", "caption")))
    with table.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "field", "old", "new", "reason", "who", "date"])
        name = f"{row['video_id']}#{row['sen_id']}"
        writer.writerow(
            [name, "captions.caption", row["caption"], "something else entirely", "wrong", "ann", "2026-11-27"]
        )
    correct_dataset(dataset, table)


def test_rescoring_on_a_corrected_version_shows_both_scores(dataset: Path, predictions: Write, tmp_path: Path) -> None:
    old = evaluate(dataset, predictions(), metrics=METRICS, settings=SETTINGS)
    old.write(tmp_path / "old")
    correct_first_reference(dataset, tmp_path / "errata.csv")
    fresh = evaluate(dataset, predictions(), metrics=METRICS, settings=SETTINGS)
    report = evaluate(
        dataset, predictions(), metrics=METRICS, settings=SETTINGS, against=tmp_path / "old/evaluation.json"
    )
    assert set(report.against) == set(old.scores)
    for name, difference in report.against.items():
        assert report.scores[name].all.score == pytest.approx(fresh.scores[name].all.score, abs=1e-12)
        assert difference.other == pytest.approx(old.scores[name].all.score, abs=1e-12)
        assert difference.difference == pytest.approx(report.scores[name].all.score - difference.other, abs=1e-12)
        assert difference.low <= difference.difference <= difference.high
    assert report.against["rouge-l"].difference != 0
    assert any("what the new version of the dataset changes" in note for note in report.comparison)
    assert not any("NOT COMPARABLE" in note for note in report.comparison)


def test_interval_of_a_mean_is_that_of_drawn_sources(dataset: Path, predictions: Write, tmp_path: Path) -> None:
    """By brute force: sources are drawn, and both means are of the items of the drawn ones."""
    old = evaluate(dataset, predictions(), metrics=["rouge-l"], settings=SETTINGS)
    old.write(tmp_path / "old")
    withdraw(dataset, WithdrawalRequest("takedown", ids=[old.item_set.ids[0]]))
    settings = dataclasses.replace(SETTINGS, draws=4_000)
    new = evaluate(
        dataset,
        predictions(),
        metrics=["rouge-l"],
        settings=settings,
        against=tmp_path / "old/evaluation.json",
    )
    values = []
    for report in (new, old):
        of_items = [report.item_set.source_ids[source] for source in report.item_set.sources]
        values.append((of_items, report.columns["rouge-l"].scores.items))
    sources = sorted({source for of_items, _ in values for source in of_items})
    generator = np.random.default_rng(7)
    differences = []
    for _ in range(4_000):
        drawn = generator.choice(sources, len(sources))
        means = []
        for of_items, scores in values:
            weights = np.array([(drawn == source).sum() for source in of_items])
            means.append((weights * scores).sum() / weights.sum() if weights.sum() else np.nan)
        differences.append(means[0] - means[1])
    found = new.against["rouge-l"]
    assert found.difference == pytest.approx(values[0][1].mean() - values[1][1].mean())
    # Student's quantile over the normal one, and the bias of draws, for the sources that count.
    sizes = [np.unique(of_items, return_counts=True)[1] for of_items, _ in values]
    number = statistics.harmonic_mean([size.sum() ** 2 / (size**2).sum() for size in sizes])
    wider = math.sqrt(number / (number - 1)) * stats.t.ppf(0.975, number - 1) / stats.norm.ppf(0.975)
    low, high = found.difference + wider * (np.nanquantile(differences, [0.025, 0.975]) - found.difference)
    assert (found.low, found.high) == pytest.approx((max(low, -1), min(high, 1)), abs=0.05)


def test_the_same_version_differs_by_nothing(dataset: Path, predictions: Write, tmp_path: Path) -> None:
    evaluate(dataset, predictions(), metrics=METRICS, settings=SETTINGS).write(tmp_path / "own")
    again = evaluate(
        dataset, predictions(), metrics=METRICS, settings=SETTINGS, against=tmp_path / "own/evaluation.json"
    )
    for difference in again.against.values():
        assert difference.difference == pytest.approx(0, abs=1e-12)
        # Of so few sources, others may differ either way.
        assert difference.low == pytest.approx(-difference.high, abs=1e-12)
