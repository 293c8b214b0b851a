"""The commands about HITs: parses, calls, prints."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.cli.hits_make import add_make
from vttdata.errors import VttdataError
from vttdata.evaluate.meta.compare import Metric
from vttdata.records import CaptionScore

if TYPE_CHECKING:
    from vttdata.assess.summary import Summary

_TESTS = ("paired_t", "wilcoxon", "mann_whitney")
_CONVENTIONS = ("all", "ranked")
_WRITTEN = "workers.csv, systems.csv, captions.csv, significance.csv, findings.csv, report.md and significance.svg"


def add_hits(commands: Any) -> None:
    """Add the command ``hits`` with its own commands."""
    parser = commands.add_parser(
        "hits", help="have captions assessed by people: make tasks, score answers, compare, plan"
    )
    inner = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_make(inner)
    _add_score(inner)
    add_compare(inner)
    add_power(inner)


def _add_score(commands: Any) -> None:
    parser = commands.add_parser(
        "score",
        help="turn results of HITs into reliable workers, scores and significance",
        description="Turn results of HITs into a table of workers, a ranking of systems and a matrix of significant "
        "wins (Direct Assessment, Graham et al., PLOS ONE 2018). Results are the CSV of a crowd platform, the CSV or "
        "JSON of an assessment page, or WMT's table; what cannot be used in them is told and counted.",
        epilog=f"Writes {_WRITTEN}. Example: vttdata hits score batch.csv --manifest hits.csv --out scores",
    )
    parser.add_argument("results", metavar="RESULTS", nargs="+", type=Path)
    manifest = "what the items show: a table with the columns hit, item, video_id, system, kind"
    parser.add_argument("--manifest", metavar="FILE", type=Path, help=manifest)
    moments = "means and standard deviations of workers, where results are standardised (WMT)"
    parser.add_argument("--moments", metavar="FILE", type=Path, help=moments)
    parser.add_argument(
        "--test", choices=_TESTS, default="paired_t", help="which test judges workers (default: paired_t)"
    )
    parser.add_argument("--alpha", metavar="P", type=_ratio, default=0.05, help="significance level (default: 0.05)")
    pairs = "judge no worker with fewer pairs of degraded and unharmed captions (default: 10)"
    parser.add_argument("--min-pairs", metavar="N", type=int, default=10, help=pairs)
    keep = "score with all workers, reliable or not"
    parser.add_argument("--keep-all", action="store_true", help=keep)
    convention = "z scores by all of a worker's items, controls included, or by ranked ones only (default: all)"
    parser.add_argument("--convention", choices=_CONVENTIONS, default="all", help=convention)
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the bootstrap intervals (default: 0)")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for the tables; made if need be")
    parser.set_defaults(run=_score)


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number between 0 and 1")
    return value


def _score(options: argparse.Namespace) -> int:
    from vttdata.assess import ReliabilitySettings, score_hits

    if options.min_pairs < 1:
        raise VttdataError("--min-pairs: at least one pair is needed to judge a worker.")
    summary = score_hits(
        options.results,
        options.manifest,
        ReliabilitySettings(test=options.test, alpha=options.alpha, min_pairs=options.min_pairs),
        moments=options.moments,
        convention=options.convention,
        keep_all=options.keep_all,
        seed=options.seed,
    )
    _write(summary, options.out)
    print(summary.as_markdown(), end="")
    print(f"{options.out} holds {_WRITTEN}", file=sys.stderr)
    return 0


def _write(summary: Summary, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in summary.files().items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise VttdataError(f"{folder}: cannot be written ({error.strerror or error}).") from error


def add_compare(commands: Any) -> None:
    """Add the command to the subparsers of ``hits``."""
    parser = commands.add_parser(
        "compare",
        help="compare two evaluations of the same systems, or automatic metrics with people",
        description="Correlate (Pearson, Spearman, Kendall) the systems of two evaluations, or automatic metrics with "
        "what people said, by system and by caption; of several metrics, test which agrees better with people "
        "(Williams' test, as Graham and Baldwin, EMNLP 2014).",
        epilog="Examples: vttdata hits compare first/captions.csv second/captions.csv; "
        "vttdata hits compare scores/captions.csv --metric bleu.csv cider.csv",
    )
    scores = "captions.csv of 'hits score': video_id, system, raw, z, assessments"
    parser.add_argument("scores", metavar="CAPTIONS", type=Path, help=scores)
    parser.add_argument("other", metavar="OTHER", type=Path, nargs="?", help="the same of a second evaluation")
    metric = "scores of metrics, a table each with video_id, system and score; named as the file"
    parser.add_argument("--metric", metavar="FILE", type=Path, nargs="+", default=[], help=metric)
    out = "a system that does not count, such as human captions; may be given again (default: human)"
    parser.add_argument("--leave-out", metavar="SYSTEM", action="append", help=out)
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    from vttdata.assess.tables import as_markdown
    from vttdata.evaluate.meta.compare import read_caption_scores, read_metric, replication_table

    if options.other is None and not options.metric:
        raise VttdataError("There is nothing to compare with: give a second table of captions, or --metric.")
    without = set(options.leave_out or ["human"])
    scores = [own for own in read_caption_scores(options.scores) if own.system not in without]
    if options.other is not None:
        table = replication_table(scores, read_caption_scores(options.other))
        print(f"## Agreement of the two evaluations, by system\n\n{as_markdown(table)}")
    metrics: dict[str, Metric] = {file.stem: read_metric(file) for file in options.metric}
    if len(metrics) < len(options.metric):
        raise VttdataError("--metric: two files have the same name, which names their metrics.")
    if metrics:
        _print_metrics(metrics, scores)
    return 0


def _print_metrics(metrics: dict[str, Metric], scores: list[CaptionScore]) -> None:
    from vttdata.assess.tables import as_markdown
    from vttdata.evaluate.meta.compare import agreement_table, williams_table

    for name, metric in metrics.items():
        missing = sum((own.system, own.video_id) not in metric for own in scores)
        if missing:
            print(f"{name} has no score of {missing:,} of {len(scores):,} captions; they do not count for it")
    print(f"## Agreement of metrics with people\n\n{as_markdown(agreement_table(metrics, scores))}")
    if len(metrics) == 1:
        return
    print("p-values of the row's metric agreeing better with people than the column's (Williams' test)\n")
    for level in ("system", "caption"):
        try:
            print(as_markdown(williams_table(metrics, scores, level)))
        except VttdataError as error:
            print(error)


def add_power(commands: Any) -> None:
    """Add the command to the subparsers of ``hits``."""
    parser = commands.add_parser(
        "power",
        help="plan: how many HITs it takes to find a difference between systems",
        description="Let made-up crowds of diligent, noisy, biased and bad workers answer the HITs of a campaign, "
        "judge the workers, rank the systems, and count how often a better system wins significantly over a worse one. "
        "Half of the systems are better than the other half by the gap. It is a plan and no promise.",
        epilog="Prints for each number of answered HITs and each gap: power, the share of better systems found better; "
        "false, of the other pairs, those with a win all the same; caught, of bad workers; lost, of good ones. "
        "Example: vttdata hits power --systems 5 --videos 200 --gap 3,5 --hits 15,30,60",
    )
    given = "of a campaign that 'hits make' wrote; without it, one of --systems and --videos is made up"
    parser.add_argument("--manifest", metavar="FILE", type=Path, help=given)
    parser.add_argument("--systems", metavar="N", type=_count, default=8, help="how many systems (default: 8)")
    parser.add_argument("--videos", metavar="N", type=_count, default=100, help="how many videos (default: 100)")
    gaps = "by how many points of 0..100 better systems are better (default: 3,5,10)"
    parser.add_argument("--gap", metavar="POINTS,...", type=_gaps, default=[3.0, 5.0, 10.0], help=gaps)
    answered = (
        "numbers of HITs to be answered, each by one worker (default: half the campaign's, all, two and four times)"
    )
    parser.add_argument("--hits", metavar="N,...", type=_counts, help=answered)
    parser.add_argument("--bad", metavar="SHARE", type=_share, default=0.2, help="of bad workers (default: 0.2)")
    parser.add_argument("--seeds", metavar="N", type=_count, default=20, help="how often all is drawn (default: 20)")
    parser.set_defaults(run=_power)


_MOST_CAPTIONS = 10**6


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text[:10]) <= 10**6 or len(text) > 9:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no whole number from 1 to 1,000,000")
    return int(text)


def _counts(text: str) -> list[int]:
    return [_count(part.strip()) for part in text.split(",")]


def _gaps(text: str) -> list[float]:
    try:
        gaps = [float(part) for part in text.split(",")]
    except ValueError:
        gaps = []
    if not gaps or not all(0 <= gap <= 50 for gap in gaps):
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is not like 3,5,10: points of 0 to 50")
    return gaps


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no share of 0 to 1, 1 left out")
    return share


def _power(options: argparse.Namespace) -> int:
    from vttdata.assess.manifest import read_manifest
    from vttdata.assess.power import placeholder_hits, power, power_table
    from vttdata.assess.tables import as_markdown

    if options.manifest is None:
        if options.systems * options.videos > _MOST_CAPTIONS:
            raise VttdataError(f"--systems and --videos: at most {_MOST_CAPTIONS:,} captions can be planned for.")
        manifest = placeholder_hits(options.systems, options.videos)
    else:
        manifest = read_manifest(options.manifest)
    number = len(manifest)
    wanted = options.hits or [max(number // 2, 1), number, 2 * number, 4 * number]
    print(f"{number:,} HITs; {options.bad:.0%} of workers are bad; {options.seeds} seeds\n")
    print(as_markdown(power_table([])), end="")
    for gap, hits in itertools.product(options.gap, wanted):
        found = power(manifest, hits, gap, bad=options.bad, seeds=options.seeds)
        print(
            as_markdown(power_table([found])).splitlines()[-1], flush=True
        )  # each as it is known: it may take minutes
    return 0
