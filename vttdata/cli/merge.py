"""Merge the shards of a build (``vttdata merge``)."""

from __future__ import annotations

import time

import click

from vttdata.cli.build import print_note, print_summary, stage_printer
from vttdata.cli.options import DATASET, POSITIVE, Command, argument, option, quiet_option, set_option


@click.command(
    "merge",
    cls=Command,
    not_on_windows=True,
    examples=["vttdata merge street"],
    notes=[
        "Shards and merges take turns, since some steps need everything: videos that are the same are left out before "
        "any is measured, and near-duplicates and splits are found at the end. Where shards have to go on, the merge "
        "ends with exit code 1 and names them; run these, then merge again. Nothing is lost by merging too early."
    ],
)
@argument("build", "BUILD", "The build folder that the shards share, or its name.", type=DATASET)
@set_option("Give a secret that is never stored, such as collect.cookies; may be repeated.")
@option("--workers N", "Worker processes.", type=POSITIVE, show_default="one per core")
@quiet_option
def command(build: str, settings: tuple[str, ...], workers: int | None, quiet: bool) -> int:
    """Join the shards of a build: take the steps that need all of them, and write the dataset.

    The result is that of an undivided build, to the byte. Shards are what 'vttdata build RECIPE --shard I/N' runs.
    """
    from vttdata.compose.shards import merge_shards

    started = time.monotonic()
    run = merge_shards(
        build, settings=settings, workers=workers, quiet=quiet, on_stage_done=stage_printer(), note=print_note
    )
    return print_summary(run, started)
