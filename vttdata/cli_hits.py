"""The commands about HITs: parses, calls, prints."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.cli_hits_compare import add_compare
from vttdata.cli_hits_make import add_make
from vttdata.cli_hits_power import add_power
from vttdata.errors import VttdataError

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
