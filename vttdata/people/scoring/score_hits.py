"""Turn judgments into a ranking of systems, and the ranking into tables and a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.results import Result, ResultTable, Section
from vttdata.files.table_formats import as_csv, counted
from vttdata.people.answers.intake import Results
from vttdata.people.answers.manifest import Manifest, read_manifest
from vttdata.people.answers.read import read_results
from vttdata.people.answers.wmt import read_moments
from vttdata.people.scoring.scores import (
    Convention,
    Moments,
    SystemScore,
    caption_scores,
    standardise,
    system_intervals,
    system_scores,
)
from vttdata.people.scoring.significance import FEW_VIDEOS, Significance, significance
from vttdata.people.scoring.significance_svg import significance_svg
from vttdata.people.scoring.tables import caption_table, findings_table, significance_table, system_table, worker_table
from vttdata.people.scoring.workers import VERDICTS, ReliabilitySettings, WorkerReport, judge_workers, reliable_only
from vttdata.records import CaptionScore

# The report has no columns for the p-values of all comparisons; they are in the CSV table.
_REPORT_WORKER_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class Summary(Result):
    """Scores of a campaign.

    Fields:
        workers: report on every worker.
        left_out: workers that were kept but could not be standardised.
        captions: scores of captions by the workers that were kept.
        systems: scores of systems, best first.
        intervals: system -> ends of the 95 % bootstrap interval of its mean z-score.
        tested: pairwise tests of the systems.
        findings: problems in the results: kind -> cases.
    """

    workers: Sequence[WorkerReport]
    left_out: Sequence[str]
    captions: Sequence[CaptionScore]
    systems: Sequence[SystemScore]
    intervals: Mapping[str, tuple[float, float]]
    tested: Significance
    findings: Mapping[str, Sequence[str]]

    def files(self) -> dict[str, str]:
        """Return the tables, the report and the drawing: file name -> content."""
        return {
            "workers.csv": as_csv(worker_table(self.workers)),
            "systems.csv": as_csv(system_table(self.systems, self.intervals, self.tested)),
            "captions.csv": as_csv(caption_table(self.captions)),
            "significance.csv": as_csv(significance_table(self.tested)),
            "findings.csv": as_csv(findings_table(self.findings)),
            "report.md": self.as_markdown(),
            "significance.svg": significance_svg(self.tested),
        }

    def sections(self) -> Iterator[Section]:
        """Yield the verdicts on workers, the systems, their tests, and findings."""
        verdicts = Counter(report.verdict for report in self.workers)
        counts = [f"{verdict}: {verdicts[verdict]} ({VERDICTS[verdict]})" for verdict in VERDICTS if verdicts[verdict]]
        workers = [row[:_REPORT_WORKER_COLUMNS] for row in worker_table(self.workers)]
        sentences = []
        if self.left_out:
            sentences = [f"Not standardised, since all their scores are the same: {', '.join(self.left_out)}."]
        yield Section("Workers", sentences, counts, ResultTable.of_rows(workers))
        yield Section("Systems", table=ResultTable.of_rows(system_table(self.systems, self.intervals, self.tested)))
        sentence = (
            f"p-values of the row's system being better than the column's; below {self.tested.alpha:g} it is a win. "
            "Each is of a single comparison and not corrected for their number."
        )
        sentences, least = [sentence], min(score.captions for score in self.systems)
        if least < FEW_VIDEOS:
            sentences.append(f"{counted(least, 'caption')} of a system are few: others may rank the systems otherwise.")
        yield Section("Significance", sentences, table=ResultTable.of_rows(significance_table(self.tested)))
        if self.findings:
            yield Section("Findings in the results", table=ResultTable.of_rows(findings_table(self.findings)))


def summarise(
    results: Results,
    settings: ReliabilitySettings | None = None,
    *,
    convention: Convention = "all",
    moments: Mapping[str, Moments] | None = None,
    keep_all: bool = False,
    seed: int = 0,
) -> Summary:
    """Judge workers, keep the reliable ones, standardise and average their scores, and test the systems.

    See `score_hits` for the arguments; `moments` are published means and deviations to use instead of computed ones.

    Raises:
        VttdataError: if no worker is reliable, no reliable worker can be standardised, or SciPy is not installed.
    """
    settings = settings or ReliabilitySettings()
    reports = judge_workers(results.judgments, settings)
    kept = list(results.judgments) if keep_all else reliable_only(results.judgments, reports)
    if not kept:
        verdicts = Counter(report.verdict for report in reports)
        counts = ", ".join(f"{verdict} {verdicts[verdict]}" for verdict in VERDICTS if verdicts[verdict])
        pairs = max((report.degraded.pairs for report in reports if report.verdict == "too_few_pairs"), default=0)
        advice = f"; --min-pairs {pairs} judges workers by the {pairs} pairs that they have" if pairs >= 5 else ""
        raise VttdataError(f"No worker is reliable ({counts}), so there is nothing to score{advice}.")
    standardised = standardise(kept, convention, moments)
    captions = caption_scores(standardised)
    if not captions:
        raise VttdataError("No worker whose scores vary scored a caption of a system, so there is no ranking.")
    return Summary(
        workers=reports,
        left_out=standardised.left_out,
        captions=captions,
        systems=system_scores(captions),
        intervals=system_intervals(captions, seed=seed),
        tested=significance(captions, alpha=settings.alpha),
        findings=results.findings,
    )


def score_hits(
    results: Iterable[Path],
    manifest: Path | Manifest | None = None,
    settings: ReliabilitySettings | None = None,
    *,
    moments: Path | None = None,
    convention: Convention = "all",
    keep_all: bool = False,
    seed: int = 0,
) -> Summary:
    """Read files of results and summarise them, as ``vttdata people score`` does.

    Args:
        results: exports of a crowd platform or of assessment pages, or WMT's table; see `read_results`.
        manifest: what the items show: a file, or `HitPlan.manifest`; None if the results say it.
        settings: conditions of reliability.
        moments: file of the workers' means and deviations, for standardised results (WMT).
        convention: see `vttdata.people.scoring.scores.Convention`.
        keep_all: score with unreliable workers too.
        seed: seed of the bootstrap intervals.

    Raises:
        VttdataError: if a file cannot be read, no answer is left, or there is nothing to rank; see `summarise`.
    """
    items = read_manifest(manifest) if isinstance(manifest, Path) else manifest
    known = read_moments(moments) if moments is not None else None
    return summarise(
        read_results(results, manifest=items, moments=known),
        settings,
        convention=convention,
        moments=known,
        keep_all=keep_all,
        seed=seed,
    )
