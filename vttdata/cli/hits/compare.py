"""Compare two evaluations, or metrics with human scores (``vttdata hits compare``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option
from vttdata.errors import VttdataError


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

    Correlates (Pearson, Spearman, Kendall) the systems of two evaluations, or automatic metrics with what people said
    as 'vttdata evaluate-metric' does.
    """
    from vttdata.assess.two_evaluations import read_caption_scores, replication_table
    from vttdata.evaluate.meta import evaluate_metrics
    from vttdata.files.table_formats import as_plain

    if other is None and not metrics:
        raise VttdataError("There is nothing to compare with: give a second table of captions, or --metric.")
    read = read_caption_scores(scores)
    counted = [score for score in read if score.system not in leave_out]
    if other is not None:
        table = replication_table(counted, read_caption_scores(other))
        print(f"Agreement of the two evaluations, by system\n\n{as_plain(table)}")
    if metrics:
        left_out = sorted({score.system for score in read} & set(leave_out))
        print(evaluate_metrics(scores, scores=metrics, leave_out=left_out, human=True).as_text())
    return DONE
