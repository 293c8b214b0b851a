"""The command ``vttdata hits compare``: parses, calls, prints."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.assess.compared import Metric
    from vttdata.judgments import CaptionScore


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
    from vttdata.assess.compared import read_caption_scores, read_metric, replication_table
    from vttdata.assess.tables import as_markdown

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
    from vttdata.assess.compared import agreement_table, williams_table
    from vttdata.assess.tables import as_markdown

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
