"""Correct a judge's scores of captions by people's ratings of some of them: ``vttdata metric judge``."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.meta.alignment import check_alignment
from vttdata.evaluate.meta.comparison import ComparisonSettings, load_compared, score_metrics
from vttdata.evaluate.meta.controls import ControlKey, count_control_wins, is_controls, read_key
from vttdata.evaluate.meta.inputs import read_inputs
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.evaluate.meta.next_round import NextRound
from vttdata.evaluate.meta.rounds import standardise_rounds
from vttdata.evaluate.meta.stress import StressResult
from vttdata.evaluate.meta.verdicts import Judge, Retest, Shift, read_judges
from vttdata.evaluate.report import plain_values, replace_report, report_folder
from vttdata.files.results import Interval, Result, ResultTable, Section
from vttdata.json_types import JsonObject
from vttdata.statistics.agreement import cohen_kappa
from vttdata.statistics.arrays import Flags, Floats, Integers
from vttdata.statistics.assignment import assign_ratings, level_of_round
from vttdata.statistics.corrected_means import (
    LEAST_RATINGS,
    CorrectedMean,
    CorrectedMeans,
    MeanEstimate,
    Target,
    correct_means,
    pool_rounds,
    selection_shift,
)
from vttdata.statistics.correlation import correlate
from vttdata.statistics.hypothesis_tests import holm
from vttdata.text.word_spans import find_words

REPORT, MARKDOWN = "judge.json", "judge.md"
JUDGED = report_folder("a comparison of a judge with people", REPORT, MARKDOWN)
_ALPHA = 0.05
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far a judge and people agree on the captions that both rated.

    Fields:
        captions: number of them.
        pearson, spearman, kendall: correlations of the scores.
        kappa: Cohen's kappa of being above each side's median.
        alpha: Krippendorff's alpha of scores that are standardised on each side, at the interval level.
    """

    captions: int
    pearson: float
    spearman: float
    kendall: float
    kappa: float
    alpha: float

    @classmethod
    def of(cls, judge: Floats, people: Floats) -> JudgeAgreement:
        """Compare finite scores, ``(n,)`` each."""
        n = len(judge)
        if n < 2 or np.ptp(judge) == 0 or np.ptp(people) == 0:
            return cls(n, math.nan, math.nan, math.nan, math.nan, math.nan)
        both = correlate(judge.tolist(), people.tolist())
        kappa = cohen_kappa((judge > np.median(judge)).tolist(), (people > np.median(people)).tolist())
        # Two raters of n standardised items: observed disagreement over that of all 2n values (mean 0, variance 1).
        expected = 2 * 2 * n / (2 * n - 1)
        alpha = 1 - 2 * (1 - both.pearson) / expected
        return cls(n, both.pearson, both.spearman, both.kendall, kappa, alpha)


@dataclass(frozen=True, slots=True)
class SystemResult:
    """Figures of a system: its mean corrected by people, its place, and how far judge and people agree on it.

    Fields:
        mean: see `CorrectedMean`.
        places: best and worst place that differences with a corrected p below .05 leave, from 1.
        agreement: of judge and people on the system's captions.
        shift: by how much the judge scores captions that people rated higher than the others, see `selection_shift`.
    """

    mean: CorrectedMean
    places: tuple[int, int]
    agreement: JudgeAgreement
    shift: MeanEstimate


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """SystemDifference of two systems, the better one first: corrected, and by people alone; p-values by Holm, 1979."""

    first: str
    second: str
    corrected: MeanEstimate
    people: MeanEstimate
    corrected_p: float


@dataclass(slots=True)
class CorrectedSet:
    """A judge on one set of judgments.

    Fields:
        name: of the set.
        judge: model and revision, or metric.
        human: which scores of people count, ``raw`` or ``z``.
        agreement: over all captions that both rated; of several metrics with their sum by the powers of each system.
        length: Pearson's r of words with the judge's standardised score less people's; 0 where the judge favours
            neither long nor short captions, NaN where texts are not known.
        systems: name -> figures, the best one first.
        differences: of all pairs of systems.
        notes: sentences on what was left out.
    """

    name: str
    judge: str
    human: str
    agreement: JudgeAgreement
    length: float
    systems: dict[str, SystemResult]
    differences: list[SystemDifference]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JudgeChecks:
    """What is known of a judge without people.

    Fields:
        prompt: digest.
        dates: first and last day.
        verdicts: number.
        retest: of the same captions again; None without repeats.
        shift: by the place at which captions were shown; None where it is not known.
        controls: test -> how often the true caption scores above the other one.
    """

    prompt: str
    dates: tuple[str, str]
    verdicts: int
    retest: Retest | None
    shift: Shift | None
    controls: Mapping[str, StressResult]


@dataclass(slots=True)
class JudgeReport(Result):
    """Result of `judge_systems`; `signatures` are those of metrics that were the judge, and of verdicts their file."""

    target: Target
    judges: dict[str, JudgeChecks] = field(default_factory=dict)
    sets: list[CorrectedSet] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """Return plain values under the names of fields; NaN is None."""
        values: JsonObject = plain_values(self)
        return values

    def write(self, folder: Path) -> None:
        """Write `REPORT` and `MARKDOWN` into a folder; replace earlier ones.

        Raises:
            VttdataError: if the folder holds anything else, or cannot be written.
        """
        with replace_report(folder, JUDGED, self.as_json()) as partial:
            text = f"# A judge corrected by people\n\n{self.as_markdown()}"
            (partial / MARKDOWN).write_text(text, encoding="utf-8", newline="\n")

    def sections(self) -> Iterator[Section]:
        """Yield what is known of each judge, then a section for each set of judgments."""
        for name, checks in self.judges.items():
            yield _describe_judge(name, checks)
        for judged in self.sets:
            yield from _describe_set(judged, self.target)
        yield Section("Conditions", [f"Signature: {text}" for text in self.signatures.values()])


def judge_systems(
    inputs: Sequence[str | os.PathLike[str]],
    verdicts: str | os.PathLike[str] | None = None,
    metrics: Sequence[str] = (),
    *,
    target: Target = "population",
    candidates: Path | None = None,
    references: str | None = None,
    settings: ComparisonSettings | None = None,
    next_round: NextRound | None = None,
) -> JudgeReport:
    """Estimate what people would say of systems from a judge's scores of all captions and people's of some.

    Args:
        inputs: sets of judgments, see `evaluate_metrics`, and folders of controls, see `make_controls`.
        verdicts: table of a judge, see `read_judges`.
        metrics: metrics that are the judges instead, by name.
        target: what means are of, see `correct_means`.
        candidates: table of the captions of systems, for judgments without texts; a judge may score those that people
            did not rate.
        references: dataset or table of human captions, for metrics and judgments without them.
        settings: how judgments and captions are read.
        next_round: takes the sets as rounds of one campaign, and says which captions people should rate next.

    Raises:
        VttdataError: if something cannot be read, a verdict is about another caption than people rated, or nothing can
            be compared.
    """
    if (verdicts is None) == (not metrics):
        raise VttdataError("Name the table of a judge (--verdicts) or a metric that is the judge (--metric).")
    settings = settings or ComparisonSettings()
    names = [os.fspath(name) for name in inputs]
    controls = [name for name in names if is_controls(Path(name))]
    if controls and verdicts is None:
        raise VttdataError("Controls are for the verdicts of a judge; 'vttdata metric test' has those of metrics.")
    read = read_inputs(
        [name for name in names if name not in controls],
        candidates=candidates,
        references=references,
        offset=settings.offset,
        split=settings.split,
    )
    if read.pairs:
        raise VttdataError(
            f"{read.pairs[0].name}: has no judgments by people; 'vttdata metric test' compares metrics on it."
        )
    report = JudgeReport(target)
    tables = [_choose(table, settings) for table in read.judgments]
    if next_round and len(tables) > 1:
        tables = standardise_rounds(tables)
    if verdicts is not None:
        _add_judges(report, Path(verdicts), tables, [read_key(Path(name)) for name in controls], settings, next_round)
    else:
        _add_metrics(report, metrics, tables, read.datasets, settings, next_round)
    return report


def _add_judges(
    report: JudgeReport,
    file: Path,
    tables: Sequence[JudgmentTable],
    keys: Sequence[ControlKey],
    settings: ComparisonSettings,
    next_round: NextRound | None,
) -> None:
    judges = read_judges(file)
    if next_round and len(judges) > 1:
        raise VttdataError(f"{file}: has {len(judges):,} judges, and --assign takes one; give the table of one judge.")
    for judge in judges:
        scores = {item: score for (system, item), score in judge.scores().items() if not system}
        controls: dict[str, StressResult] = {}
        for key in keys:
            controls |= count_control_wins(key, scores, seed=settings.seed, draws=settings.draws)
        report.judges[judge.name] = JudgeChecks(
            judge.prompt, judge.dates, len(judge.verdicts), judge.retest(), judge.position_shift(), controls
        )
        report.signatures[judge.name] = (
            f"judge:{judge.name}|prompt:{judge.prompt}|file:{file.name}|verdicts:{judge.digest()}"
        )
        judged = [join_verdicts(table, judge, file) for table in tables]
        report.sets += [_judge_set(part, judge.name, report.target, next_round) for part in _parts(judged, next_round)]


def _add_metrics(
    report: JudgeReport,
    metrics: Sequence[str],
    tables: Sequence[JudgmentTable],
    datasets: Sequence[Path],
    settings: ComparisonSettings,
    next_round: NextRound | None,
) -> None:
    unavailable: dict[str, str] = {}
    compared = load_compared(metrics, {}, datasets, settings, unavailable)
    family_of = {column: metric for metric in compared.families for column in metric.columns}
    scored = [
        {
            name: column.items[:, np.newaxis]
            for name, column in score_metrics(table, compared.families, unavailable).items()
            if compared.is_wanted(name, family_of[name].name)
        }
        for table in tables
    ]
    for part in _parts(list(zip(tables, scored, strict=True)), next_round):
        scores_of = part[0][1]
        judges = [[name] for name in scores_of] + ([list(scores_of)] if len(scores_of) > 1 else [])
        # People get captions for all judges together, if there are several.
        for names in judges:
            rounds = [
                _Judged(table, np.concatenate([scores[name] for name in names], axis=1)) for table, scores in part
            ]
            chosen = next_round if names is judges[-1] else None
            report.sets.append(_judge_set(rounds, " and ".join(names), report.target, chosen))
        report.signatures |= {family_of[name].name: family_of[name].signature() for name in scores_of}
    for name, reason in unavailable.items():
        raise VttdataError(f"{name} is unavailable: {reason}")


def _parts(inputs: Sequence[T], next_round: NextRound | None) -> list[Sequence[T]]:
    """Return sets of judgments one by one, or all as rounds of one."""
    return [inputs] if next_round else [[one] for one in inputs]


def _choose(table: JudgmentTable, settings: ComparisonSettings) -> JudgmentTable:
    """Return the rows that count, after a check that ids lead to the captions that people rated."""
    check_alignment(table)
    chosen = table.without(
        [system for system in settings.leave_out if system in table.systems], people=not settings.human
    )
    if "" in {system for system, judged in zip(chosen.systems, chosen.judged, strict=True) if judged}:
        raise VttdataError(f"{table.name}: captions have no systems, whose means a judge could estimate.")
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """Rows of a table, with those that only the judge scored, and the scores of k judges, ``(n, k)``, NaN for none."""

    table: JudgmentTable
    scores: Floats
    notes: tuple[str, ...] = ()


def join_verdicts(table: JudgmentTable, judge: Judge, file: Path) -> _Judged:
    """Return a table with a judge's scores; captions of its systems that only the judge scored are added.

    Texts that the table does not have are those of the verdicts.

    Raises:
        VttdataError: if no verdict is about a caption that people rated, or one is about another text.
    """
    row_of = {key: row for row, key in enumerate(zip(table.systems, table.video_ids, strict=True))}
    if len(row_of) < len(table.systems):
        twice = next(key for key, n in Counter(zip(table.systems, table.video_ids, strict=True)).items() if n > 1)
        raise VttdataError(
            f"{table.name}: {twice[0][:60]!a} has several captions of {twice[1][:60]!a}; verdicts are about one."
        )
    for verdict in judge.verdicts:
        row = row_of.get((verdict.system, verdict.item))
        known = None if row is None else table.candidates[row]
        if verdict.caption is not None and known is not None and verdict.caption.split() != known.split():
            raise VttdataError(
                f"{file}:{verdict.line}: the caption of {verdict.item[:60]!a} by {verdict.system[:60]!a} is "
                f"{verdict.caption[:60]!a}, and people rated {known[:60]!a}."
            )
    scores = judge.scores()
    systems = set(table.systems)
    added = [key for key in scores if key not in row_of and key[0] in systems]
    if not any(key in row_of and table.judged[row_of[key]] for key in scores):
        row = int(table.judged.argmax())
        raise VttdataError(
            f"{file}: no verdict of {judge.name[:80]} is about a caption that people rated in {table.name}; the first "
            f"is about {judge.verdicts[0].item[:60]!a} by {judge.verdicts[0].system[:60]!a}, and the first rated one "
            f"about {table.video_ids[row][:60]!a} by {table.systems[row][:60]!a}."
        )
    texts = {(verdict.system, verdict.item): verdict.caption for verdict in judge.verdicts if verdict.caption}
    source_of = dict(zip(table.video_ids, table.sources.tolist(), strict=True))
    for _, item in added:
        source_of.setdefault(item, len(source_of) + len(table.sources))
    empty = np.full(len(added), math.nan)
    joined = dataclasses.replace(
        table,
        video_ids=[*table.video_ids, *(item for _, item in added)],
        systems=[*table.systems, *(system for system, _ in added)],
        candidates=[
            *(texts.get(key) if text is None else text for key, text in zip(row_of, table.candidates, strict=True)),
            *map(texts.get, added),
        ],
        references=[*table.references, *(() for _ in added)],
        raw=np.append(table.raw, empty),
        z=np.append(table.z, empty),
        assessments=np.append(table.assessments, np.zeros(len(added), np.int64)),
        human=np.append(table.human, np.zeros(len(added), np.bool_)),
        sources=np.append(table.sources, np.array([source_of[item] for _, item in added], np.int64)),
        ratings=None,
    )
    keys = zip(joined.systems, joined.video_ids, strict=True)
    unrated_systems = sorted({system for system, _ in scores if system and system not in systems})
    notes = (
        (f"Systems that people did not rate, left out: {len(unrated_systems):,} (first {unrated_systems[0][:60]!a}).",)
        if unrated_systems
        else ()
    )
    return _Judged(joined, np.array([[scores.get(key, math.nan)] for key in keys]), notes)


def _judge_set(rounds: Sequence[_Judged], judge: str, target: Target, next_round: NextRound | None) -> CorrectedSet:
    """Correct a judge by the ratings of a set, or of several rounds, whose tables have all captions each."""
    tables = [one.table for one in rounds]
    human = tables[0].headline.human if tables[0].headline.human in tables[0].human_scores else "raw"
    people = np.concatenate([table.human_scores[human] for table in tables])
    scores = np.concatenate([one.scores for one in rounds])
    every = np.array([system for table in tables for system in table.systems], dtype=object)
    videos = [video for table in tables for video in table.video_ids]
    round_of = np.repeat(np.arange(len(rounds)), [len(table.systems) for table in tables])
    scored = np.isfinite(scores).all(axis=1)
    both = scored & ~np.isnan(people)
    notes = list(dict.fromkeys(note for one in rounds for note in (*one.table.notes, *one.notes)))
    unscored = int((~np.isnan(people) & ~scored).sum())
    if unscored:
        notes.append(f"Rated captions without a score by the judge, left out: {unscored:,}.")
    rated = Counter(every[both].tolist())
    names = sorted(rated)
    if not names:
        raise VttdataError(f"{tables[0].name}: {judge[:80]} has no score of a caption that people rated.")
    if next_round and (unjudged := set(every[~np.isnan(people)].tolist()) - set(names)):
        raise VttdataError(
            f"{tables[0].name}: {judge[:80]} has no score of a rated caption of {min(unjudged)[:60]!a}; judge some, or "
            "leave the system out with --leave-out."
        )
    for number, table in enumerate(tables):
        if unrated := set(names) - set(every[both & (round_of == number)].tolist()):
            raise VttdataError(f"{table.name}: no caption of {min(unrated)[:60]!a} was rated in this round.")
    few = [name for name in names if rated[name] < LEAST_RATINGS]
    if few:
        notes.append(
            f"No interval is given for {len(few):,} of {len(names):,} systems with fewer than {LEAST_RATINGS} rated "
            f"captions (first {few[0][:60]!a} with {rated[few[0]]})."
        )
    rows = scored & np.isin(every, names)
    number_of = {name: number for number, name in enumerate(names)}
    groups = np.array([number_of.get(name, -1) for name in every], dtype=np.int64)
    sources = _number_sources(tables)
    means = _correct_rounds(scores[rows], people[rows], groups[rows], sources[rows], round_of[rows], target)
    combined = scores[:, 0].copy()
    if scores.shape[1] > 1:
        powers = np.array([mean.power for mean in means.means])
        combined[rows] = (scores[rows] * powers[groups[rows]]).sum(axis=1)
    by_people = {(every[row], videos[row]) for row in np.flatnonzero(both).tolist()}
    is_rated = np.array([key in by_people for key in zip(every, videos, strict=True)])
    # Tables of all rounds have the same captions.
    chosen = {name: rows & (every == name) & (round_of == len(rounds) - 1) for name in names}
    shifts = {name: selection_shift(combined[one], is_rated[one], sources[one]) for name, one in chosen.items()}
    notes[:0] = _find_shifts(shifts)
    level = level_of_round(len(rounds)) if next_round else _ALPHA
    differences = _differences(names, means)
    systems = {
        name: SystemResult(
            means.means[number_of[name]],
            _places(name, len(names), differences, level),
            JudgeAgreement.of(combined[both & (every == name)], people[both & (every == name)]),
            shifts[name],
        )
        for name in sorted(names, key=lambda name: -means.means[number_of[name]].corrected.value)
    }
    texts = [text for table in tables for text in table.candidates]
    if next_round is not None:
        undecided = [
            (number_of[one.first], number_of[one.second], one.corrected)
            for one in differences
            if not one.corrected_p < level
        ]
        counts = assign_ratings(undecided, len(names), next_round.ratings) if undecided else None
        last = rows & (round_of == len(rounds) - 1)
        captions = [(every[row], videos[row], texts[row] or "") for row in np.flatnonzero(last).tolist()]
        notes.append(next_round.write(captions, names, counts, len(rounds), len(undecided)))
    name = tables[0].name if len(tables) == 1 else f"{tables[0].name} and {len(tables) - 1} more rounds"
    return CorrectedSet(
        name,
        judge,
        human,
        JudgeAgreement.of(combined[both], people[both]),
        _length_bias(texts, combined, people, both),
        systems,
        differences,
        notes,
    )


def _find_shifts(shifts: Mapping[str, MeanEstimate]) -> list[str]:
    """Return a sentence on systems whose rated captions a judge scores otherwise than the rest, if there are any."""
    p = holm({name: shift.p for name, shift in shifts.items() if not math.isnan(shift.p)})
    found = sorted((name for name in p if p[name] < _ALPHA), key=lambda name: p[name])
    if not found:
        return []
    listed = ", ".join(f"{name[:60]} {shifts[name].value:+.3g} (p {p[name]:.2g})" for name in found)
    return [
        f"The judge scores the captions that people rated otherwise than the rest, by Holm's correction: {listed}. The "
        "rated ones are no random part, or the judge knew them, so that corrected means, places and differences of "
        "these systems do not hold. Take verdicts that were fixed before people rated."
    ]


def _correct_rounds(
    scores: Floats, people: Floats, groups: Integers, sources: Integers, round_of: Integers, target: Target
) -> CorrectedMeans:
    """Return the means of rows of all rounds; later rounds may have few ratings, and take the powers of the first."""
    by_round: list[CorrectedMeans] = []
    for number in range(int(round_of.max()) + 1):
        parts = (values[round_of == number] for values in (scores, people, groups, sources))
        power = np.array([mean.power for mean in by_round[0].means]) if by_round else None
        by_round.append(correct_means(*parts, target=target, power=power))
    return pool_rounds(by_round) if len(by_round) > 1 else by_round[0]


def _number_sources(tables: Sequence[JudgmentTable]) -> Integers:
    """Return the number of the source of each row of all tables; videos of one source have the same in every table."""
    first_of: dict[tuple[int, int], str] = {}
    for number, table in enumerate(tables):
        for video, source in zip(table.video_ids, table.sources.tolist(), strict=True):
            first_of[number, source] = min(video, first_of.get((number, source), video))
    keys = [first_of[number, source] for number, table in enumerate(tables) for source in table.sources.tolist()]
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _differences(names: Sequence[str], means: CorrectedMeans) -> list[SystemDifference]:
    order = sorted(range(len(names)), key=lambda number: -means.means[number].corrected.value)
    pairs = list(itertools.combinations(order, 2))
    corrected = {pair: means.difference(*pair) for pair in pairs}
    adjusted = holm({f"{a} {b}": value.p for (a, b), value in corrected.items() if not math.isnan(value.p)})
    return [
        SystemDifference(
            names[a], names[b], corrected[a, b], means.difference(a, b, judge=False), adjusted.get(f"{a} {b}", math.nan)
        )
        for a, b in pairs
    ]


def _places(name: str, number: int, differences: Sequence[SystemDifference], level: float) -> tuple[int, int]:
    decided = [one for one in differences if one.corrected_p < level]
    return (
        1 + sum(one.second == name for one in decided),
        number - sum(one.first == name for one in decided),
    )


def _length_bias(texts: Sequence[str | None], judge: Floats, people: Floats, rows: Flags) -> float:
    chosen = [row for row in np.flatnonzero(rows).tolist() if texts[row] is not None]
    if len(chosen) < 3:
        return math.nan
    words = np.array([len(find_words(texts[row] or "")) for row in chosen], dtype=np.float64)
    sides = [scores[chosen] for scores in (judge, people)]
    if any(np.ptp(values) == 0 for values in (words, *sides)):
        return math.nan
    residual = np.subtract(*((values - values.mean()) / values.std() for values in sides))
    return float(np.corrcoef(words, residual)[0, 1]) if np.ptp(residual) > 0 else 0.0


def _describe_judge(name: str, checks: JudgeChecks) -> Section:
    sentences = [f"Prompt {checks.prompt}; verdicts: {checks.verdicts:,}, {' to '.join(sorted(set(checks.dates)))}."]
    if checks.retest is None:
        sentences.append("No caption was judged again, so that nobody knows how far verdicts repeat.")
    else:
        sentences.append(
            f"Of {checks.retest.captions:,} captions judged again, {checks.retest.equal:.1%} got the same score "
            f"(r of two runs {checks.retest.correlation:.3f})."
        )
    if checks.shift is not None:
        sentences.append(
            f"Of {checks.shift.captions:,} captions shown at two places, the later one scores "
            f"{checks.shift.value:+.3f} (standard error {checks.shift.error:.3f})."
        )
    if not checks.controls:
        sentences.append("No controls were judged; `vttdata metric judge DATASET --make-controls DIR` writes some.")
        return Section(name, sentences)
    rows = []
    for test, result in checks.controls.items():
        above = result.above
        rows.append([test, above.items, Interval(above.score, above.low, above.high), result.ties, result.below])
    return Section(name, sentences, table=ResultTable(("true caption above", "pairs", "share", "ties", "below"), rows))


def _describe_set(judged: CorrectedSet, target: Target) -> Iterator[Section]:
    agreement = judged.agreement
    what = "videos like these" if target == "population" else "exactly these captions"
    sentences = [
        f"Judge and people ({judged.human}) on {agreement.captions:,} captions: r {agreement.pearson:.3f}, rho "
        f"{agreement.spearman:.3f}, tau-b {agreement.kendall:.3f}, kappa of halves {agreement.kappa:.3f}, alpha "
        f"{agreement.alpha:.3f}. r of words with judge less people: {judged.length:.3f}.",
        f"95 % intervals are of means over {what}; share: ratings needed of those that people alone need.",
        *judged.notes,
    ]
    rows: list[list[object]] = []
    for name, result in judged.systems.items():
        mean, places = result.mean, "-".join(map(str, sorted(set(result.places))))
        of_system = result.agreement
        rows.append(
            [
                *(name, places, mean.items, mean.rated, mean.judge, _interval(mean.people), _interval(mean.corrected)),
                *(mean.share, of_system.pearson, of_system.kappa, of_system.alpha),
            ]
        )
    columns = ("system", "places", "captions", "rated", "judge", "people", "corrected", "share", "r", "kappa", "alpha")
    yield Section(f"{judged.name}: {judged.judge} corrected by people", sentences, table=ResultTable(columns, rows))
    if len(judged.systems) > 1:
        neighbours = list(itertools.pairwise(judged.systems))
        rows = [
            [one.first, one.second, _interval(one.corrected), one.corrected_p, one.people.value, one.people.p]
            for one in judged.differences
            if (one.first, one.second) in neighbours
        ]
        table = ResultTable(("better", "worse", "difference", "p (Holm)", "people alone", "p"), rows)
        yield Section(f"{judged.name}: neighbours in the ranking", table=table)


def _interval(estimate: MeanEstimate) -> Interval:
    return Interval(estimate.value, estimate.low, estimate.high)
