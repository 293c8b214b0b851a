"""Report of metrics compared with people: as text, JSON, Markdown and a picture, all from the same tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vttdata.evaluate.meta.agreement import LEVELS, PeopleAgreement
from vttdata.evaluate.meta.judgments import Headline
from vttdata.evaluate.meta.metric_svg import Panel, metric_svg
from vttdata.evaluate.meta.stress import StressResult
from vttdata.evaluate.report import Estimate, plain_values, replace_report, report_folder
from vttdata.files.results import Result, ResultTable, Section, format_cell, format_p
from vttdata.json_types import JsonObject

REPORT, MARKDOWN, PICTURE = "metrics.json", "metrics.md", "metrics.svg"
COMPARISON = report_folder("a comparison of metrics", REPORT, MARKDOWN, PICTURE)

_LABELS = {"pearson": "r", "spearman": "rho", "kendall_b": "tau-b", "kendall_c": "tau-c"}
# Columns of the table of a set: heading, level and coefficient.
_COLUMNS = (
    ("rating tau-b", "rating", "kendall_b"),
    ("rating tau-c", "rating", "kendall_c"),
    ("caption r", "caption", "pearson"),
    ("rho", "caption", "spearman"),
    ("tau-b", "caption", "kendall_b"),
    ("tau-c", "caption", "kendall_c"),
    ("within video tau-b", "within-video", "kendall_b"),
    ("accuracy", "within-video", "accuracy"),
    ("calibrated", "within-video", "accuracy_calibrated"),
    ("within system r", "within-system", "pearson"),
    ("system r", "system", "pearson"),
    ("system tau-b", "system", "kendall_b"),
    ("system accuracy", "system", "accuracy"),
)
# Parts of a stress test with fewer pairs are in the JSON only.
_LEAST_PAIRS = 20


class Rank(NamedTuple):
    """Place of a metric over all sets: its points, and the median of its ranks, from 1."""

    metric: str
    points: float
    median_rank: float


@dataclass(slots=True)
class SetReport:
    """Agreement of metrics with people on one set of judgments.

    Fields:
        name: of the set.
        captions: number of judged captions that count.
        items: number of their videos.
        systems: number of their authors; 0 where they have none.
        assessments: number of scores by people.
        headline: what the set is summed up by.
        metrics: name -> agreement.
        alpha: scale -> Krippendorff's alpha of annotators; empty where only means are known.
        williams: level -> metric -> other metric -> p-value of the first one agreeing better with people, see
            `compare_correlations`.
        offsets: metric -> distance of captions from those that ids lead to -> Pearson's r within systems.
        references: metric -> number of references -> headline figure.
        drift: metric -> set of drifting quality, from 1 -> tau-b with raw scores over its captions.
        notes: sentences on what a reader should know.
    """

    name: str
    captions: int
    items: int
    systems: int
    assessments: int
    headline: Headline
    metrics: dict[str, PeopleAgreement] = field(default_factory=dict)
    alpha: dict[str, float] = field(default_factory=dict)
    williams: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    offsets: dict[str, dict[int, float]] = field(default_factory=dict)
    references: dict[str, dict[int, float]] = field(default_factory=dict)
    drift: dict[str, dict[int, Estimate]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def headline_of(self, metric: str) -> Estimate | None:
        """Return the headline figure of a metric; None where it was not measured."""
        human, level, coefficient = self.headline
        agreement = self.metrics.get(metric)
        return agreement.human.get(human, {}).get(level, {}).get(coefficient) if agreement is not None else None

    @property
    def headline_name(self) -> str:
        """Headline in words, such as ``r with z over all captions``."""
        human, level, coefficient = self.headline
        return f"{_LABELS[coefficient]} with {human}, {LEVELS[level]}"


@dataclass(frozen=True, slots=True)
class StressReport:
    """How often metrics score true captions above altered ones.

    Fields:
        name: of the set.
        metrics: name -> test and its part, None for the whole test -> result.
        notes: sentences on what was left out.
    """

    name: str
    metrics: Mapping[str, Mapping[tuple[str, str | None], StressResult]]
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> JsonObject:
        """Return plain values: metric -> test -> ``all`` and ``parts``."""
        tests: dict[str, dict[str, JsonObject]] = {}
        for metric, results in self.metrics.items():
            for (test, part), result in results.items():
                entry = tests.setdefault(metric, {}).setdefault(test, {})
                plain = plain_values(result)
                if part is None:
                    entry["all"] = plain
                else:
                    entry.setdefault("parts", {})[part] = plain
        return {"name": self.name, "metrics": tests, "notes": self.notes}


@dataclass(slots=True)
class MetricReport(Result):
    """Result of `evaluate_metrics`: agreement with people on each set, and true captions against altered ones.

    `ranking` has the metrics over all sets, the best first; it is empty for a single set. `signatures` state what
    scores depend on, and `unavailable` why a metric was not computed. `seed` is that of the `draws` of videos.
    """

    seed: int
    draws: int
    sets: list[SetReport] = field(default_factory=list)
    stress: list[StressReport] = field(default_factory=list)
    ranking: list[Rank] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """Return plain values under the names of fields; NaN is None, and empty fields are left out."""
        ranking = [rank._asdict() for rank in self.ranking]
        sets = [plain_values(report) | {"headline": report.headline._asdict()} for report in self.sets]
        stress = [report.as_json() for report in self.stress]
        values = {"seed": self.seed, "draws": self.draws, "sets": sets, "stress": stress, "ranking": ranking}
        return values | {"signatures": self.signatures, "unavailable": self.unavailable}

    def as_svg(self) -> str:
        """Return the picture: a panel for each set and test, a row for each metric, with intervals."""
        names = list(
            dict.fromkeys(
                itertools.chain.from_iterable([*(r.metrics for r in self.sets), *(s.metrics for s in self.stress)])
            )
        )
        panels = [
            Panel(report.name, report.headline_name, {name: report.headline_of(name) for name in names})
            for report in self.sets
        ]
        for stress in self.stress:
            for test in dict.fromkeys(test for results in stress.metrics.values() for test, _ in results):
                shares = {name: stress.metrics[name][test, None].above for name in names if name in stress.metrics}
                panels.append(Panel(stress.name, f"true above {_form(test)}", shares))
        return metric_svg(names, panels)

    def write(self, folder: Path) -> None:
        """Write `REPORT`, `MARKDOWN` and `PICTURE` into a folder; replace earlier ones.

        Raises:
            VttdataError: if the folder holds anything else, or cannot be written.
        """
        with replace_report(folder, COMPARISON, self.as_json()) as partial:
            picture = f"![Agreement of metrics with people]({PICTURE})"
            text = f"# Metrics against people\n\n{picture}\n\n{self.as_markdown()}"
            (partial / MARKDOWN).write_text(text, encoding="utf-8", newline="\n")
            (partial / PICTURE).write_text(self.as_svg(), encoding="utf-8", newline="\n")

    def sections(self) -> Iterator[Section]:
        """Yield the parts of the report in order."""
        if len(self.sets) > 1:
            yield self._overview()
        for report in self.sets:
            yield from set_sections(report)
        for stress in self.stress:
            yield from stress_sections(stress)
        notes = [f"{name} is unavailable: {reason}" for name, reason in self.unavailable.items()]
        if notes:
            yield Section("Notes", notes)
        yield self.for_paper()

    def for_paper(self) -> Section:
        """Return what a paper says: the headline figure of each metric on each set, and how it was made."""
        drawn = (
            f"95 % intervals are of {self.draws:,} draws of whole videos (seed {self.seed}). Systems and people's "
            "scores are those of the sets and not drawn, so that nothing follows for other systems"
        )
        tested = any("system" in report.williams for report in self.sets)
        williams = ", but for Williams' test by system, which takes them for a sample"
        lines = []
        for report in self.sets:
            found = {name: value for name in report.metrics if (value := report.headline_of(name)) is not None}
            best = sorted(found, key=lambda name: -found[name].score)
            tests = report.williams.get("caption", {}) if report.headline[1:] == ("caption", "pearson") else {}
            p = tests.get(best[0], {}).get(best[1], math.nan) if len(best) > 1 else math.nan
            test = "" if math.isnan(p) else f"; {best[0]} above {best[1]}: {format_p(p)}, one-sided"
            number = f" (n = {found[best[0]].items:,})" if best else ""
            lines.append(f"{report.name}, {report.headline_name}{number}: {_list_scores(found, best)}{test}")
        for stress in self.stress:
            for test in dict.fromkeys(test for results in stress.metrics.values() for test, _ in results):
                shares = {name: results[test, None].above for name, results in stress.metrics.items()}
                lines.append(f"{stress.name}, true captions above {_form(test)}: {_list_scores(shares, [*shares])}")
        signatures = [f"Signature: {signature}" for signature in self.signatures.values()]
        return Section("For the paper", [f"{drawn}{williams * tested}."], [*lines, *signatures], key="paper")

    def _overview(self) -> Section:
        points = {rank.metric: rank for rank in self.ranking}
        names = [*points, *(name for report in self.sets for name in report.metrics if name not in points)]
        rows: list[list[object]] = []
        for name in dict.fromkeys(names):
            ranks = points[name][1:] if name in points else (None, None)
            rows.append([name, *(report.headline_of(name) for report in self.sets), *(ranks if points else ())])
        columns = ["metric", *(report.name for report in self.sets), *(["Borda", "median rank"] if points else [])]
        sentences = [f"{report.name}: {report.headline_name}." for report in self.sets]
        if points:
            sentences.append("Borda: the best of N metrics on a set gets N points, the next N - 1; sums over sets.")
        return Section("All sets", sentences, table=ResultTable(columns, rows))


def set_sections(report: SetReport) -> Iterator[Section]:
    """Yield the sections of a set of judgments."""
    numbers = {
        "Judged captions": report.captions,
        "systems": report.systems,
        "videos": report.items,
        "assessments": report.assessments,
    }
    facts = ", ".join(f"{name} {number:,}" for name, number in numbers.items() if number) + "."
    sentences = [facts]
    if report.alpha:
        alphas = ", ".join(f"{value:.3f} ({scale})" for scale, value in report.alpha.items())
        sentences.append(f"Krippendorff's alpha of the annotators: {alphas}.")
    yield Section(report.name, [*sentences, *report.notes])
    for human in dict.fromkeys(human for agreement in report.metrics.values() for human in agreement.human):
        yield agreement_section(report, human)
    for level, tests in report.williams.items():
        table = ResultTable(["", *tests], [[name, *map(row.get, tests)] for name, row in tests.items()])
        human = report.headline.human
        sentence = f"p-values of the row's metric agreeing better with people than the column's (r with {human})."
        title = "Williams' test, by system" if level == "system" else "Test over draws of videos, by caption"
        yield Section(title, [sentence], table=table, depth=1)
    if report.offsets:
        offsets = next(iter(report.offsets.values()))
        columns = ["metric", *(f"{offset:+d}" if offset else "0" for offset in offsets)]
        table = ResultTable(columns, [[name, *values.values()] for name, values in report.offsets.items()])
        sentence = (
            "Pearson's r within systems of people's scores and the metric's scores of the caption so many videos "
            "further on; at 0 are the captions that were judged."
        )
        yield Section("Alignment", [sentence], table=table, depth=1)
    if report.references:
        counts = sorted({number for values in report.references.values() for number in values})
        rows = [[name, *map(values.get, counts)] for name, values in report.references.items()]
        table = ResultTable(["metric", *map(str, counts)], rows)
        sentence = f"{report.headline_name}, mean over choices of references."
        yield Section("Number of references", [sentence], table=table, depth=1)
    if report.drift:
        yield drift_section(report)


def agreement_section(report: SetReport, human: str) -> Section:
    """Return the section on a metric's agreement with one score by people."""
    is_calibrated = any(agreement.epsilon[human] > 0 for agreement in report.metrics.values())
    present = [
        (heading, level, name)
        for heading, level, name in _COLUMNS
        if any(name in agreement.human.get(human, {}).get(level, {}) for agreement in report.metrics.values())
        and (is_calibrated or name != "accuracy_calibrated")
    ]
    headline = report.headline[1:]
    rows: list[list[object]] = []
    for name, agreement in report.metrics.items():
        levels = agreement.human[human]
        cells: list[object] = []
        for column in present:
            estimate = levels.get(column[1], {}).get(column[2])
            has_interval = column[1:] in (headline, ("system", "pearson"))
            cells.append(estimate if has_interval or estimate is None else estimate.score)
        pairs, human_ties, metric_ties = agreement.ties[human]
        rows.append([name, *cells, *([metric_ties / pairs] if pairs else [])])
    table = ResultTable(["metric", *(heading for heading, _, _ in present), *(["ties"] if pairs else [])], rows)
    sentences = []
    if pairs:
        calibrated = " (calibrated: scores tie up to the difference that is best here)" if is_calibrated else ""
        sentences.append(
            f"Pairs of captions of the same video: {pairs:,}, of which people tie {human_ties:,}, and each metric the "
            "share in the last column. Accuracy is the share that both order in the same way or both tie, so that a "
            f"pair that only one of them ties counts as wrong{calibrated}."
        )
    return Section(f"Agreement with {human} scores", sentences, table=table, depth=1)


def drift_section(report: SetReport) -> Section:
    """Return the section on sets of drifting quality."""
    sizes = next(iter(report.drift.values()))
    rows: list[list[object]] = [["captions", *(estimate.items for estimate in sizes.values())]]
    rows += [[name, *values.values()] for name, values in report.drift.items()]
    table = ResultTable(["metric", *(f"set {number}" for number in sizes)], rows)
    sentence = (
        "tau-b with raw scores over captions that are drawn around a quality: one of quality k, of 1 to 5, is in set I "
        "with the probability 1 / (|I - k| + 1)."
    )
    return Section("Quality drift", [sentence], table=table, depth=1)


def stress_sections(stress: StressReport) -> Iterator[Section]:
    """Yield the sections of a set of altered captions."""
    tests = list(dict.fromkeys(test for results in stress.metrics.values() for test, _ in results))
    rows: list[list[object]] = []
    for name, results in stress.metrics.items():
        found = [results[test, None] for test in tests]
        rows.append([name, *(cell for each in found for cell in (each.above, each.ties, each.below))])
    table = ResultTable(["metric", *(heading for test in tests for heading in (_form(test), "ties", "below"))], rows)
    sizes = next(iter(stress.metrics.values()), {})
    counts = ", ".join(f"{sizes[test, None].above.items:,} {_form(test)}" for test in tests)
    sentence = f"Share of pairs in which the true caption scores above another text; pairs: {counts}."
    yield Section(f"{stress.name}: true captions above altered ones", [sentence, *stress.notes], table=table)
    parts = [key for key in sizes if key[1] is not None and sizes[key].above.items >= _LEAST_PAIRS]
    for test in dict.fromkeys(test for test, _ in parts):
        rows = [
            [part, sizes[test, part].above.items, *(each[test, part].above.score for each in stress.metrics.values())]
            for of_test, part in parts
            if of_test == test
        ]
        table = ResultTable([_form(test), "pairs", *stress.metrics], rows)
        yield Section(f"{stress.name}: {_form(test)} by part", table=table, depth=1)


def _list_scores(scores: Mapping[str, Estimate], names: Iterable[str]) -> str:
    return ", ".join(f"{name} {format_cell(scores[name])}" for name in names)


def _form(test: str) -> str:
    """Return what the other text of a test is."""
    forms = {"of another video": "caption of another video", "cut in half": "first half"}
    return forms.get(test, "foil" if test == "foil" else f"{test} form")
