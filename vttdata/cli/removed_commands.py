"""Commands and options that no longer exist, and what does their work now."""

from __future__ import annotations

import click

from vttdata.errors import VttdataError

_RAY = "'vttdata build RECIPE --engine ray' builds on several machines, under Slurm too (docs/scale.md)"

# What was typed after ``vttdata`` -> the present way.
REMOVED = {
    "merge": _RAY,
    "slurm": _RAY,
    "build --shard": _RAY,
    "annotate": "'vttdata people serve CAMPAIGN' serves the pages of a campaign",
    "campaign": "'vttdata people make', 'vttdata people score' and so on have taken its place",
    "hits": "'vttdata people make rate-slider' makes HITs, 'vttdata people export' writes them for a crowd platform, "
    "'vttdata people score' scores answers and compares with --against, 'vttdata metric test' compares metrics with "
    "people, and 'vttdata people plan' plans",
    "stats": "'vttdata show DATASET' prints the figures of a dataset",
    "report": "'vttdata show DATASET --page FILE' writes the report",
    "recipes": "'vttdata list' lists the recipes, and 'vttdata list NAME' prints one",
    "datasets": "'vttdata list' lists the datasets, and 'vttdata list NAME' describes one",
    "availability": "'vttdata verify DATASET --online --out DIR' asks which videos still exist, and --videos looks for "
    "files",
    "new-benchmark": "'vttdata new NAME' writes a builder, a recipe and a test",
    "shots": "'vttdata video shots VIDEO' finds the shots",
    "match-frames": "'vttdata video match VIDEO CAPTION' matches frames with words",
    "evaluate-metric": "'vttdata metric test JUDGMENTS' compares metrics with people",
    "train-metric": "'vttdata metric train JUDGMENTS --out DIR' trains a metric",
    "fuse-metrics": "'vttdata metric fuse JUDGMENTS' fuses metrics",
}


def check_not_removed(ctx: click.Context, name: str) -> None:
    """Check that a command or option, typed in the context of the command before it, was not removed.

    Raises:
        VttdataError: If it was; says what to use instead.
    """
    typed = " ".join([*ctx.command_path.split()[1:], name])
    if typed in REMOVED:
        raise VttdataError(f"'vttdata {typed}' no longer exists: {REMOVED[typed]}.")
