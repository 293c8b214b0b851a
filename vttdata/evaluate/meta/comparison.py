"""Compare metrics with people on sets of judgments, and with altered captions: ``vttdata metric test``.

Reads the sets, scores their captions, measures agreement, tests metrics against each other, and ranks them over sets.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import os
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, get_args

import numpy as np

from vttdata.errors import VttdataError, list_choices
from vttdata.evaluate.evaluation import load_metrics, name_local_videos
from vttdata.evaluate.java_scores import JavaError
from vttdata.evaluate.meta.agreement import METRIC_DRAWS, Draws, measure_agreement, system_means
from vttdata.evaluate.meta.alignment import check_alignment, correlate_at_offsets
from vttdata.evaluate.meta.drift import measure_quality_drift
from vttdata.evaluate.meta.inputs import read_inputs
from vttdata.evaluate.meta.judgments import COLUMNS, JudgmentTable
from vttdata.evaluate.meta.metric_report import MetricReport, Rank, SetReport, StressReport
from vttdata.evaluate.meta.scoring import ScoreFile, ScoreKey, look_up_scores, read_scores, score_table
from vttdata.evaluate.meta.stress import StressResult, StressSet, stress
from vttdata.evaluate.metric import CaptioningMetric, MetricInputs
from vttdata.evaluate.metrics import DEFAULT_METRICS
from vttdata.files.results import format_cell
from vttdata.load.local_builds import builds_folder
from vttdata.statistics.agreement import Level as RatingLevel
from vttdata.statistics.agreement import krippendorff_alpha
from vttdata.statistics.bootstrap import effective_number
from vttdata.statistics.correlation import correlation_difference_p, pearson_in_draws
from vttdata.statistics.hypothesis_tests import williams
from vttdata.statistics.scores import ColumnScores

Columns = dict[str, ColumnScores]
"""Name of a metric's column -> scores of the rows of a table."""


class Steps(Protocol):
    """What counts steps."""

    def advance(self) -> None:
        """Count one more."""


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """How judgments and captions are read, and metrics compared.

    Fields:
        offset: of ids, see `read_judgment_table`.
        leave_out: systems that do not count.
        human: whether judged captions by people count as those of systems.
        curve: whether agreement is also measured with fewer references.
        drift: lowest and highest score of people's scale, for agreement on sets of drifting quality; None for none.
        split: of datasets without judgments, by default ``test`` or the only one.
        tokenizer: of metrics that are named.
        inputs: models, videos and features of the metrics that use them.
        seed: of the draws of videos.
        draws: number of draws.
        columns: name of a column -> what it is called in tables of judgments, scores, candidates and references.
        cache: folder for scores and results by content; by default ``.metrics`` in ``VTTDATA_HOME``.
        progress: makes what counts as many steps as it is told; None to count nothing.
    """

    offset: int = 0
    leave_out: Sequence[str] = ()
    human: bool = False
    curve: bool = False
    drift: tuple[float, float] | None = None
    split: str | None = None
    tokenizer: str = "ptb-3.4.1"
    inputs: MetricInputs = field(default_factory=MetricInputs)
    seed: int = 0
    draws: int = METRIC_DRAWS
    columns: Mapping[str, str] = field(default_factory=dict)
    cache: Path | None = None
    progress: Callable[[int], AbstractContextManager[Steps]] | None = None


def _count_nothing() -> None:
    pass


def evaluate_metrics(
    judgments: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    metrics: Sequence[str | CaptioningMetric] = (),
    scores: Sequence[str | os.PathLike[str]] = (),
    *,
    candidates: str | os.PathLike[str] | None = None,
    references: str | os.PathLike[str] | None = None,
    settings: ComparisonSettings = ComparisonSettings(),
) -> MetricReport:
    """Compare metrics with people, and with captions that were made worse.

    Args:
        judgments: one or several of: a dataset with judgments; a folder of `vttdata people score`; the folder or a file
            of Flickr8k's judgments; a table, see `read_judgment_table`; a set of foils or a dataset with captions,
            whose true captions a metric should prefer to altered ones.
        metrics: captioning metrics or their columns, by name or made already; by default BLEU, ROUGE-L, CIDEr-D and
            chrF where there are no `scores`.
        scores: tables of anybody's scores, see `read_scores`; each is named by its file.
        candidates: table of the captions of systems, for judgments without texts.
        references: dataset or table of human captions, for judgments without them.
        settings: how judgments and captions are read, and metrics compared.

    Raises:
        VttdataError: if something cannot be read, ids do not lead to the right captions, a set has nothing to compare,
            or no metric can be computed; the message says what to do.
    """
    if settings.seed < 0 or settings.draws < 1:
        raise VttdataError(
            f"The seed must not be negative, and there must be a draw, not {settings.seed} and {settings.draws}."
        )
    for name in settings.columns:
        if name not in COLUMNS:
            raise VttdataError(
                f"--columns {name}=...: there is no such column; choose from {list_choices(name, COLUMNS)}."
            )
    sources = [judgments] if isinstance(judgments, (str, os.PathLike)) else list(judgments)
    report = MetricReport(seed=settings.seed, draws=settings.draws)
    files = {Path(file).stem: read_scores(Path(file), settings.columns) for file in scores}
    if len(files) < len(scores):
        raise VttdataError("Two files of scores have the same name, which names their metrics.")
    read = read_inputs(
        [os.fspath(source) for source in sources],
        candidates=Path(candidates) if candidates is not None else None,
        references=os.fspath(references) if references is not None else None,
        offset=settings.offset,
        split=settings.split,
        columns=settings.columns,
    )
    compared = load_compared(metrics, files, read.datasets, settings, report.unavailable)
    report.signatures.update({metric.name: metric.signature() for metric in compared.families})
    systems = {system for table in read.judgments for system in table.systems}
    unused = {name: set(file) for name, file in files.items()}
    # The agreement of all metrics with people is measured at once.
    total = len(read.judgments) * (len(compared.families) + 1) + len(read.pairs) * len(compared.families)
    with contextlib.ExitStack() as stack:
        advance = stack.enter_context(settings.progress(total)).advance if settings.progress else _count_nothing
        for table in read.judgments:
            report.sets.append(
                _compare_judgments(table, systems, compared, settings, report.unavailable, unused, advance)
            )
        _check_files(unused, report, read.judgments)
        for pairs in read.pairs:
            report.stress.append(stress_metrics(pairs, compared, settings.seed, settings.draws, advance))
    report.ranking.extend(rank_metrics(report.sets))
    return report


class Compared(NamedTuple):
    """What is compared: metrics that are computed, of which some columns are wanted, and files of scores by name."""

    families: Sequence[CaptioningMetric]
    wanted: Set[str]
    files: Mapping[str, ScoreFile]
    cache: Path

    def is_wanted(self, column: str, metric: str | None) -> bool:
        """Return whether a column was asked for, by its own name or by that of its metric."""
        return column in self.wanted or metric in self.wanted


def load_compared(
    metrics: Sequence[str | CaptioningMetric],
    files: Mapping[str, ScoreFile],
    datasets: Sequence[Path],
    settings: ComparisonSettings,
    unavailable: dict[str, str],
) -> Compared:
    """Load the metrics that are named, by default those of `evaluate` where there are no files of scores.

    `datasets` are folders of datasets whose videos metrics may watch. Metrics that cannot be computed are put into
    `unavailable`, with the reason.
    """
    made = [metric for metric in metrics if not isinstance(metric, str)]
    names = [metric for metric in metrics if isinstance(metric, str)]
    if not (metrics or files):
        names = [*DEFAULT_METRICS]
    cache = settings.cache or builds_folder() / ".metrics"
    inputs = name_local_videos(settings.inputs, datasets)
    families = [*made, *(load_metrics(names, settings.tokenizer, cache, inputs, unavailable) if names else ())]
    duplicate_name = next((name for name in files if any(name in metric.columns for metric in families)), None)
    if duplicate_name is not None:
        raise VttdataError(
            f"A file of scores has the name of the metric '{duplicate_name}', which is computed too; rename it."
        )
    return Compared(families, {*names, *(metric.name for metric in made)}, files, cache)


def _compare_judgments(
    table: JudgmentTable,
    systems: Set[str],
    compared: Compared,
    settings: ComparisonSettings,
    unavailable: dict[str, str],
    unused: Mapping[str, set[ScoreKey]],
    advance: Callable[[], None],
) -> SetReport:
    """Compare everything with the judgments of one set; `systems` are those of all sets.

    Scores that are compared are taken out of `unused`, by file.
    """
    note = check_alignment(table)
    # A system may be in one set only.
    absent = systems - set(table.systems)
    left_out = [system for system in settings.leave_out if system not in absent]
    chosen = table.without(left_out, people=not settings.human)
    family_of = {column: metric.name for metric in compared.families for column in metric.columns}
    columns = {
        name: values
        for name, values in score_metrics(chosen, compared.families, unavailable, advance).items()
        if compared.is_wanted(name, family_of.get(name))
    }
    by_file = {}
    for name, file in compared.files.items():
        by_file[name], used = look_up_scores(name, file, chosen)
        unused[name] -= used
    columns |= {name: values for name, values in by_file.items() if np.isfinite(values.items[chosen.judged]).any()}
    chosen = _keep_common(chosen, columns)
    report = compare_set(chosen, columns, seed=settings.seed, draws=settings.draws, cache=compared.cache)
    advance()
    if note is not None:
        report.notes.append(note)
    if settings.drift is not None:
        drawn = Draws.of(chosen, seed=settings.seed, draws=settings.draws)
        report.drift.update(measure_quality_drift(chosen, columns, settings.drift, drawn, settings.seed))
    if settings.curve:
        report.references.update(reference_curve(chosen, compared.families, list(report.metrics)))
    return report


def _keep_common(table: JudgmentTable, columns: Columns) -> JudgmentTable:
    """Return the table in which only captions count that all metrics have scored; a note says so.

    Raises:
        VttdataError: if there are none.
    """
    scored = {name: table.judged & np.isfinite(scores.items) for name, scores in columns.items()}
    lacking = {name: number for name, rows in scored.items() if (number := int((table.judged & ~rows).sum()))}
    if not lacking:
        return table
    rows = np.logical_and.reduce([*scored.values()])
    judged, common = int(table.judged.sum()), int(rows.sum())
    if not common:
        raise VttdataError(
            f"{table.name}: no judged caption has scores of all of {', '.join(scored)}, so that they cannot be "
            "compared; compare metrics of other captions in runs of their own."
        )
    what = ", ".join(f"{name} has no score of {number:,}" for name, number in lacking.items())
    compared = "all metrics are compared on" if len(columns) > 1 else "it is tested on"
    note = f"{what} of {judged:,} judged captions: {compared} the other {common:,}."
    return dataclasses.replace(table.judged_in(rows), notes=(*table.notes, note))


def _check_files(unused: Mapping[str, Set[ScoreKey]], report: MetricReport, tables: Sequence[JudgmentTable]) -> None:
    """Note scores that are about no judged caption of any set; raise VttdataError where a file has no other ones."""
    if unused and not tables:
        raise VttdataError("Files of scores are compared with judgments, and there are none; name a metric instead.")
    for name, left in unused.items():
        with_file = [set_report for set_report in report.sets if name in set_report.metrics]
        if not with_file:
            table = tables[0]
            row = int(table.judged.argmax())
            raise VttdataError(
                f"No score of '{name}' is about a judged caption; the first one is about {table.video_ids[row][:80]!a}"
                + (f" by {table.systems[row][:80]!a}." if table.systems[row] else ".")
            )
        if left:
            system, item, _ = min(left)
            what = f"{item[:60]!a}" + (f" by {system[:60]!a}" if system else "")
            with_file[0].notes.append(
                f"{name}: scores about no judged caption, left out: {len(left):,} (first {what})."
            )


def score_metrics(
    table: JudgmentTable,
    families: Sequence[CaptioningMetric],
    unavailable: dict[str, str],
    advance: Callable[[], None] = _count_nothing,
) -> Columns:
    """Score a table by all metrics; one whose program ends early is put into `unavailable`."""
    columns: Columns = {}
    for metric in families:
        if metric.name not in unavailable:
            try:
                columns |= score_table(metric, table)
            except JavaError as error:
                unavailable[metric.name] = str(error)
        advance()
    return columns


def compare_set(table: JudgmentTable, columns: Columns, *, seed: int, draws: int, cache: Path) -> SetReport:
    """Measure the agreement of all metrics on one set."""
    if all(np.nanmin(people) == np.nanmax(people) for people in table.human_scores.values()):
        raise VttdataError(
            f"{table.name}: people's scores do not vary (judged captions: {int(table.judged.sum()):,}), so nothing can "
            "be compared."
        )
    drawn = Draws.of(table, seed=seed, draws=draws)
    human = table.headline.human if table.headline.human in table.human_scores else "raw"
    people = table.human_scores[human]
    authors = {system for system, judged in zip(table.systems, table.judged, strict=True) if judged}
    report = SetReport(
        name=table.name,
        captions=int(table.judged.sum()),
        items=len({video for video, judged in zip(table.video_ids, table.judged, strict=True) if judged}),
        systems=len(authors - {""}),
        assessments=int(table.assessments.sum()),
        headline=table.headline._replace(human=human),
        notes=list(table.notes),
    )
    if table.ratings is not None:
        ratings = {
            str(row): {str(annotator): value for annotator, value in enumerate(values) if not math.isnan(value)}
            for row, values in enumerate(table.ratings.tolist())
        }
        report.alpha.update({level: krippendorff_alpha(ratings, level) for level in get_args(RatingLevel)})
    if report.systems < 2:
        what = "are not grouped by system" if not report.systems else "are all by one system"
        report.notes.append(f"Captions {what}, so there are no figures by system.")
    elif report.systems < 4 and len(columns) > 1:
        report.notes.append("Williams' test by system needs at least 4 systems.")
    for name, agreement in measure_agreement(table, columns, drawn, cache).items():
        report.metrics[name] = agreement
        if agreement.constant:
            report.notes.append(f"{name} gives every caption the same score, so that nothing is correlated with it.")
        headline = report.headline_of(name)
        if headline is not None and headline.high < 0:
            report.notes.append(
                f"{name} is the higher the worse people find a caption ({report.headline_name}: "
                f"{format_cell(headline)}); where lower is better, as of a distance or an error, negate its scores."
            )
    report.offsets.update(correlate_at_offsets(table, {name: scores.items for name, scores in columns.items()}, people))
    report.williams.update(compare_correlations(table, columns, people, drawn.weights))
    return report


def compare_correlations(
    table: JudgmentTable, columns: Columns, people: np.ndarray, weights: np.ndarray
) -> dict[str, dict[str, dict[str, float]]]:
    """Return level -> metric -> other metric -> p-value of the first agreeing better with people (Pearson's r).

    By system it is that of Williams' test. By caption, where captions of one video are not independent, it comes from
    draws of videos, `weights`, see `correlation_difference_p`.
    """
    if len(columns) < 2:
        return {}
    rows = table.judged & ~np.isnan(people)
    for scores in columns.values():
        rows &= np.isfinite(scores.items)
    by_level = {"caption": (people[rows], {name: scores.items[rows] for name, scores in columns.items()})}
    means = {name: system_means(table, scores, np.where(rows, people, math.nan)) for name, scores in columns.items()}
    systems = next(iter(means.values()))
    if "" not in systems:
        by_level["system"] = (
            np.array([of_people for _, of_people in systems.values()]),
            {name: np.array([of_metric for of_metric, _ in values.values()]) for name, values in means.items()},
        )
    tests: dict[str, dict[str, dict[str, float]]] = {}
    for level, (human, values) in by_level.items():
        usable = {name: column for name, column in values.items() if len(column) > 1 and np.ptp(column) > 0}
        if len(human) < 4 or np.ptp(human) == 0 or len(usable) < 2:
            continue
        r = np.corrcoef([human, *usable.values()])
        tests[level] = {name: {} for name in usable}
        if level == "caption":
            sources = effective_number(np.bincount(table.sources[rows]))
            drawn = {
                name: pearson_in_draws(column, human, table.sources[rows], weights) for name, column in usable.items()
            }
            for first, second in itertools.permutations(usable, 2):
                tests[level][first][second] = correlation_difference_p(drawn[first], drawn[second], sources)
            continue
        for (i, first), (j, second) in itertools.permutations(enumerate(usable, 1), 2):
            tests[level][first][second] = williams(r[0, i], r[0, j], r[i, j], len(human)).p
    return tests


def reference_curve(
    table: JudgmentTable, families: Sequence[CaptioningMetric], names: Sequence[str]
) -> dict[str, dict[int, float]]:
    """Return metric -> number of references -> headline figure, the mean over choices of that many references.

    Choices are the runs of neighbours on a circle of references, so that each reference is used equally often.
    """
    most = Counter(len(texts) for texts in table.references).most_common(1)[0][0]
    rows = np.array([len(texts) >= most for texts in table.references])
    table = table.select(rows) if not rows.all() else table
    once = Draws.of(table, draws=0)
    curve: dict[str, dict[int, float]] = {}
    for number in range(1, most + 1):
        values: dict[str, list[float]] = {}
        for start in range(most if number < most else 1):
            indices = [(start + step) % most for step in range(number)]
            fewer = dataclasses.replace(
                table, references=[[texts[index] for index in indices] for texts in table.references]
            )
            scored = score_metrics(fewer, families, {})
            columns = {name: scores for name, scores in scored.items() if name in names}
            for name, agreement in measure_agreement(fewer, columns, once, families[0].cache).items():
                estimate = agreement.human[table.headline.human][table.headline.level][table.headline.coefficient]
                values.setdefault(name, []).append(estimate.score)
        for name, scores_of_choices in values.items():
            curve.setdefault(name, {})[number] = sum(scores_of_choices) / len(scores_of_choices)
    return curve


def stress_metrics(
    pairs: StressSet, compared: Compared, seed: int, draws: int, advance: Callable[[], None] = _count_nothing
) -> StressReport:
    """Compare true captions with altered ones by all metrics that are wanted."""
    results: dict[str, Mapping[tuple[str, str | None], StressResult]] = {}
    for metric in compared.families:
        for name, parts in stress(pairs, metric, seed=seed, draws=draws).items():
            if compared.is_wanted(name, metric.name):
                results[name] = parts
        advance()
    return StressReport(pairs.name, results, list(pairs.notes))


def rank_metrics(sets: Sequence[SetReport]) -> list[Rank]:
    """Rank metrics over sets by Borda counts of their headline figures (Hodosh et al., JAIR 2013).

    On each set the best of N metrics gets N points, the next one N - 1; equal figures share the mean. Equal sums are
    ordered by the median of ranks. Metrics that a set has no figure of are left out, and so is a single set.
    """
    figures = {name: [report.headline_of(name) for report in sets] for report in sets for name in report.metrics}
    complete = {
        name: [value.score for value in values if value is not None]
        for name, values in figures.items()
        if all(value is not None and not math.isnan(value.score) for value in values)
    }
    if len(sets) < 2 or len(complete) < 2:
        return []
    ranks: dict[str, list[float]] = {name: [] for name in complete}
    for set_index in range(len(sets)):
        column = {name: values[set_index] for name, values in complete.items()}
        for name, value in column.items():
            above = sum(other > value for other in column.values())
            equal = sum(other == value for other in column.values())
            ranks[name].append(above + (equal - 1) / 2)
    number = len(complete)
    ranked = [Rank(name, sum(number - r for r in rs), statistics.median(rs) + 1) for name, rs in ranks.items()]
    return sorted(ranked, key=lambda rank: (-rank.points, rank.median_rank, rank.metric))
