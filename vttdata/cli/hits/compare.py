"""Compare two evaluations, or metrics with human scores (``vttdata hits compare``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option
from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.evaluate.meta.compare import Metric
    from vttdata.records import CaptionScore


class CompareCommand(Command):
    """Command whose option ``--metric`` takes one file or several."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat ``--metric`` before each of its files, then parse as any command."""
        repeated: list[str] = []
        files = -1
        for arg in args:
            files = 0 if arg == "--metric" else -1 if arg.startswith("-") else files + 1 if files >= 0 else files
            repeated += ["--metric", arg] if files > 1 else [arg]
        return super().parse_args(ctx, repeated)


@click.command(
    "compare",
    cls=CompareCommand,
    examples=[
        "vttdata hits compare first/captions.csv second/captions.csv",
        "vttdata hits compare scores/captions.csv --metric bleu.csv cider.csv",
    ],
)
@argument("scores", "CAPTIONS", "captions.csv of 'hits score': video_id, system, raw, z, assessments.", type=FILE)
@argument("other", "[OTHER]", "The same of a second evaluation.", type=FILE, required=False)
@option(
    "--metric FILE",
    "Scores of a metric, a table with video_id, system and score; named as the file. Takes several files.",
    name="metrics",
    type=FILE,
    multiple=True,
)
@option(
    "--leave-out SYSTEM",
    "A system that does not count, such as human captions; may be repeated.",
    multiple=True,
    default=("human",),
    group="Systems",
)
def command(scores: Path, other: Path | None, metrics: tuple[Path, ...], leave_out: tuple[str, ...]) -> int:
    """Compare two evaluations of the same systems, or automatic metrics with people.

    Correlates (Pearson, Spearman, Kendall) the systems of two evaluations, or automatic metrics with what people said,
    by system and by caption; of several metrics, tests which agrees better with people (Williams' test, as Graham and
    Baldwin, EMNLP 2014).
    """
    from vttdata.assess.tables import as_plain
    from vttdata.evaluate.meta.compare import read_caption_scores, read_metric, replication_table

    if other is None and not metrics:
        raise VttdataError("There is nothing to compare with: give a second table of captions, or --metric.")
    counted = [score for score in read_caption_scores(scores) if score.system not in leave_out]
    if other is not None:
        table = replication_table(counted, read_caption_scores(other))
        print(f"Agreement of the two evaluations, by system\n\n{as_plain(table)}")
    by_name = {file.stem: read_metric(file) for file in metrics}
    if len(by_name) < len(metrics):
        raise VttdataError("--metric: two files have the same name, which names their metrics.")
    if by_name:
        _print_metrics(by_name, counted)
    return DONE


def _print_metrics(metrics: Mapping[str, Metric], scores: Sequence[CaptionScore]) -> None:
    from vttdata.assess.tables import as_plain
    from vttdata.evaluate.meta.compare import agreement_table, williams_table

    for name, metric in metrics.items():
        missing = sum((score.system, score.video_id) not in metric for score in scores)
        if missing:
            print(f"{name} has no score of {missing:,} of {len(scores):,} captions; they do not count for it")
    print(f"Agreement of metrics with people\n\n{as_plain(agreement_table(metrics, scores))}")
    if len(metrics) == 1:
        return
    print("p-values of the row's metric agreeing better with people than the column's (Williams' test)\n")
    for level in ("system", "caption"):
        try:
            print(as_plain(williams_table(metrics, scores, level)))
        except VttdataError as error:
            print(error)
