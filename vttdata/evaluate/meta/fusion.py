"""Linear fusion of metrics: least squares on people's scores, tried on years that it was not fitted on.

The regression is that of BERTHA's authors (Lebron et al., LREC 2022). Each set of judgments is predicted by the fit on
every set of another year, and by the fit on all of them (leave one year out); the gain is that over the single metric
that agrees best on the tested set, which is chosen with hindsight and so the hardest one to beat. Its interval and test
are those of a difference to all metrics, see `Estimate.of_minimum`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError
from vttdata.evaluate.meta.agreement import Draws, estimate_draws
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.evaluate.meta.scoring import look_up_scores, read_scores, score_table
from vttdata.evaluate.metric import MetricInputs, load_metric
from vttdata.evaluate.report import Estimate
from vttdata.files.results import Result, ResultTable, Section
from vttdata.json_types import JsonObject
from vttdata.load.local_builds import builds_folder
from vttdata.statistics.arrays import Floats
from vttdata.statistics.bootstrap import Resampled, effective_number
from vttdata.statistics.correlation import correlation_difference_p, pearson_in_draws
from vttdata.statistics.scores import ColumnScores

PUBLISHED = {"bertha": 0.0525, "bleu4": -0.1373, "cider-d": 0.0315, "meteor": 0.2810, "rouge-l": -0.0779}
"""Coefficients of the published fusion, BERTHA's own score among them."""

METRICS = tuple(name for name in PUBLISHED if name != "bertha")
"""Metrics of the published fusion that anybody can compute."""

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def year_of(name: str) -> str:
    """Return the year in the name of a set of judgments, or the name where there is none."""
    year = _YEAR.search(name)
    return year[0] if year else name


@dataclass(frozen=True, eq=False)
class ScoredSet:
    """Judged captions of one set with scores by metrics, (n, metrics), and by people, (n,).

    `sources` is the number of each caption's original video, (n,), and `draws` how often each video counts, (1 + draws,
    videos); the first row counts each once.
    """

    name: str
    scores: Floats
    human: Floats
    sources: npt.NDArray[np.int64]
    draws: Floats

    @property
    def year(self) -> str:
        """Sets of one year never predict each other."""
        return year_of(self.name)


@dataclass(frozen=True)
class Transfer:
    """Fusion that was fitted on some sets and tried on another one.

    Fields:
        trained, tested: names of the sets; several are joined by ``+``.
        captions: tested.
        r: Pearson's r of the fusion with people.
        best: the single metric that agrees best on the tested set.
        best_r: its r.
        gain: how much higher the fusion's r is.
        p: of the fusion agreeing better than each of the metrics, the greatest one; see `correlation_difference_p`.
    """

    trained: str
    tested: str
    captions: int
    r: float
    best: str
    best_r: float
    gain: Estimate
    p: float


@dataclass(frozen=True)
class Fusion(Result):
    """Result of `fuse_metrics`.

    Fields:
        metrics: in the order of the coefficients.
        coefficients: set or sets -> coefficient of each metric, in units of people's score for each of the metric's.
        settings: single sets of one year tried on those of another.
        left_out: all sets of the other years tried on each set.
    """

    metrics: Sequence[str]
    coefficients: Mapping[str, Sequence[Estimate]]
    settings: Sequence[Transfer]
    left_out: Sequence[Transfer]

    def as_json(self) -> JsonObject:
        """Return what JSON can hold."""
        return {
            "coefficients": {
                name: {
                    metric: dataclasses.asdict(estimate) | {"published": PUBLISHED.get(metric)}
                    for metric, estimate in zip(self.metrics, estimates, strict=True)
                }
                for name, estimates in self.coefficients.items()
            },
            "year_to_year": [dataclasses.asdict(setting) for setting in self.settings],
            "leave_one_year_out": [dataclasses.asdict(setting) for setting in self.left_out],
        }

    def sections(self) -> Iterator[Section]:
        """Yield the coefficients, then how each fusion does on sets of other years."""
        rows: list[list[object]] = [[name, *estimates] for name, estimates in self.coefficients.items()]
        rows.append(["published", *(PUBLISHED.get(metric) for metric in self.metrics)])
        title = "Coefficients, with 95 % intervals over videos"
        yield Section(title, table=ResultTable(("fitted on", *self.metrics), rows))
        columns = ("fitted on", "tried on", "captions", "r", "best metric", "its r", "gain", "p")
        for title, settings in (("From year to year", self.settings), ("Leaving one year out", self.left_out)):
            rows = [
                [one.trained, one.tested, one.captions, one.r, one.best, one.best_r, one.gain, one.p]
                for one in settings
            ]
            wins = sum(setting.gain.score > 0 for setting in settings)
            sentence = f"{title}: the fusion beats the best single metric in {wins} of {len(settings)}"
            yield Section(sentence, table=ResultTable(columns, rows))


def score_columns(
    table: JudgmentTable,
    names: Sequence[str],
    files: Sequence[Path] = (),
    inputs: MetricInputs | None = None,
) -> dict[str, ColumnScores]:
    """Score a table by columns of metrics, and look up scores in files, which are named by them.

    `names` are columns, or families, which stand for all of their columns; `files` are tables of anybody's scores, see
    `read_scores`.

    Raises:
        VttdataError: if a metric is unknown or unavailable, or a file cannot be read.
    """
    columns: dict[str, ColumnScores] = {}
    by_family: dict[str, dict[str, ColumnScores]] = {}
    for name in names:
        metric = load_metric(name, cache=builds_folder() / ".metrics", inputs=inputs)
        problem = metric.unavailable()
        if problem:
            raise VttdataError(f"{name} cannot be computed. {problem}")
        if metric.name not in by_family:
            by_family[metric.name] = score_table(metric, table)
        columns |= {
            column: by_family[metric.name][column] for column in metric.columns if name in (column, metric.name)
        }
    return columns | {file.stem: look_up_scores(file.stem, read_scores(file), table)[0] for file in files}


def select_scored(
    table: JudgmentTable, columns: Mapping[str, ColumnScores], metrics: Sequence[str], *, seed: int = 0
) -> ScoredSet:
    """Return the judged captions that all metrics score, with the score by people that the set is summed up by.

    Raises:
        VttdataError: if fewer than four captions are left, or people or a metric gave all of them the same score.
    """
    human = table.z if "z" in table.human_scores else table.raw
    scores = np.column_stack([columns[name].items for name in metrics])
    rows = ~np.isnan(human) & np.isfinite(scores).all(axis=1)
    if rows.sum() < 4:
        raise VttdataError(f"{table.name}: only {int(rows.sum())} judged captions are scored by all metrics.")
    for name, values in (("people", human[rows]), *zip(metrics, scores[rows].T, strict=True)):
        if np.ptp(values) == 0:
            raise VttdataError(f"{table.name}: all captions have the same score by {name}, so nothing can be fitted.")
    weights = Draws.of(table, seed=seed).weights
    return ScoredSet(table.name, scores[rows], human[rows], table.sources[rows], weights)


def fuse_metrics(sets: Sequence[ScoredSet], metrics: Sequence[str]) -> Fusion:
    """Fit fusions of metrics and try them on sets of other years.

    Raises:
        VttdataError: if there are not two sets of different years.
    """
    years = dict.fromkeys(scored.year for scored in sets)
    if len(years) < 2:
        raise VttdataError(
            "A fusion is tried on another year than it is fitted on, and the judgments are not of two years, but of "
            f"{next(iter(years), 'none')}."
        )
    fits = {scored.name: fit_draws([scored]) for scored in sets}
    captions = {scored.name: len(scored.human) for scored in sets}
    sources = {scored.name: effective_number(np.bincount(scored.sources)) for scored in sets}
    left_out = []
    for year in years:
        others = [scored for scored in sets if scored.year != year]
        name = " + ".join(scored.name for scored in others)
        fits[name] = fit_draws(others)
        captions[name] = sum(len(scored.human) for scored in others)
        sources[name] = effective_number(np.concatenate([np.bincount(scored.sources) for scored in others]))
        left_out += [_try_fit(name, fits[name][0], scored, metrics) for scored in sets if scored.year == year]
    return Fusion(
        metrics,
        {
            name: [estimate_draws(column, captions[name], sources[name], (-math.inf, math.inf)) for column in fit.T]
            for name, fit in fits.items()
        },
        [
            _try_fit(trained.name, fits[trained.name][0], tested, metrics)
            for trained in sets
            for tested in sets
            if trained.year != tested.year
        ],
        left_out,
    )


def fit_draws(sets: Sequence[ScoredSet]) -> Floats:
    """Return the coefficients of least squares with an intercept, for each draw of videos, (1 + draws, metrics)."""
    width = sets[0].scores.shape[1] + 1
    grams, moments = np.zeros(1), np.zeros(1)
    for scored in sets:
        rows = np.column_stack([scored.scores, np.ones(len(scored.human))])
        products = np.einsum("ni,nj->nij", rows, np.column_stack([rows, scored.human])).reshape(len(rows), -1)
        by_source = np.zeros((scored.draws.shape[1], products.shape[1]))
        np.add.at(by_source, scored.sources, products)
        sums = (scored.draws @ by_source).reshape(-1, width, width + 1)
        grams, moments = grams + sums[:, :, :-1], moments + sums[:, :, -1:]
    fitted: Floats = (np.linalg.pinv(grams, hermitian=True) @ moments)[:, :-1, 0]
    return fitted


def _try_fit(name: str, coefficients: Floats, tested: ScoredSet, metrics: Sequence[str]) -> Transfer:
    fused = tested.scores @ coefficients
    r = np.corrcoef([tested.human, *tested.scores.T, fused])
    best = int(np.argmax(r[0, 1:-1]))
    fused_draws, sources = correlation_draws(fused, tested), effective_number(np.bincount(tested.sources))
    of_metrics = [correlation_draws(column, tested) for column in tested.scores.T]
    differences = [fused_draws - values for values in of_metrics]
    gain = Estimate.of_minimum([Resampled(float(one[0]), one[1:], len(fused), sources) for one in differences])
    p = [correlation_difference_p(fused_draws, values, sources) for values in of_metrics]
    return Transfer(
        name,
        tested.name,
        len(fused),
        float(r[0, -1]),
        metrics[best],
        float(r[0, best + 1]),
        gain,
        max(p),
    )


def correlation_draws(values: Floats, scored: ScoredSet) -> Floats:
    """Return Pearson's r of values with people's scores for each draw of videos, (1 + draws,)."""
    return pearson_in_draws(values, scored.human, scored.sources, scored.draws)
