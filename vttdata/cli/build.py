"""Build a dataset from a recipe (``vttdata build``)."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE, INCOMPLETE
from vttdata.cli.options import (
    POSITIVE,
    RECIPE,
    Command,
    Names,
    argument,
    columns_option,
    option,
    out_option,
    quiet_option,
    replace_option,
    set_option,
)


@click.command(
    "build",
    cls=Command,
    examples=[
        "vttdata build demo",
        "vttdata build own-folder --set collect.folder=VIDEOS --set name=me/street --out street",
        "vttdata build street --set captions.file=captions.csv",
    ],
    notes=[
        "Of an earlier build, RECIPE may be the build folder, or its name in $VTTDATA_HOME or 'vttdata datasets': its "
        "stored settings are used, and --set changes some of them. A packaged recipe's name comes first; write ./demo "
        "for a folder of that name."
    ],
)
@argument("recipe", "RECIPE", "A YAML file, the name of a packaged recipe, or an earlier build.", type=RECIPE)
@out_option(
    "Build folder.", required=False, show_default="that of the earlier build, or $VTTDATA_HOME/<name of the recipe>"
)
@replace_option("Give DIR to this build though it holds that of another recipe or name.")
@set_option("Override a key of the recipe, such as clips.max_seconds=20; may be repeated.")
@columns_option("the tables of captions and videos")
@option(
    "--workers N", "Worker processes.", type=POSITIVE, default=lambda: os.cpu_count() or 1, show_default="one per core"
)
@option("--retry-failed", "Try again what failed and may succeed now.", is_flag=True)
@option(
    "--engine NAME",
    "Where stages run; a file of vttdata/pipeline/executors or of your plugins.",
    type=Names("executor", "vttdata.pipeline.executors:executors"),
    default="local",
    group="Execution",
)
@quiet_option
def command(
    recipe: str,
    out: Path | None,
    replace: bool,
    settings: tuple[str, ...],
    columns: dict[str, str],
    workers: int,
    retry_failed: bool,
    engine: str,
    quiet: bool,
) -> int:
    """Turn a recipe into a dataset.

    The build folder holds the dataset and what every stage kept and rejected. Stopped at any moment, the same command
    goes on where it was; after a change in the recipe, only what the change touches is done again. The build is known
    by its name to 'vttdata datasets' and load_dataset, wherever its folder is.
    """
    from vttdata.compose.build import build
    from vttdata.load.local_builds import builds_named, dataset_in
    from vttdata.pipeline.attrition import HEADER, main_losses, stage_text

    started = time.monotonic()
    header = iter([HEADER])
    run = build(
        recipe,
        out=out,
        settings=settings,
        columns=columns,
        workers=workers,
        engine=engine,
        retry_failed=retry_failed,
        replace=replace,
        quiet=quiet,
        on_stage_done=lambda stage: print(*header, stage_text(stage), sep="\n", flush=True),
        note=lambda sentence: print(f"vttdata: {sentence}", file=sys.stderr),
    )
    failures, retryable = run.too_many_failures(), run.retryable()
    name = run.loaded.recipe.name
    print(
        f"\n{name} {run.loaded.recipe.version} is in {run.dataset}, after {duration_text(time.monotonic() - started)}"
    )
    first = next(iter(builds_named(name)), None)
    reference = name if first is not None and first.folder.resolve() == run.folder.resolve() else run.folder
    if dataset_in(run.folder) is not None:
        print(f"""Load it in Python: vttdata.load_dataset("{reference}")""")
    losses = main_losses([table.tally.as_json() for table in run.tables])
    if losses:
        print(f"Left out: {losses}; 'vttdata rejects {reference}' says which and why")
    for warning in (run.audit or {}).get("warnings", ()):
        print(f"vttdata: WARNING: {warning}", file=sys.stderr)
    if retryable:
        print(f"{retryable} of the failures may succeed now: --retry-failed tries them again", file=sys.stderr)
    if failures:
        print(f"vttdata: {failures}", file=sys.stderr)
    return INCOMPLETE if failures else DONE


def duration_text(seconds: float) -> str:
    """Return a duration in words, such as ``4.2 s`` or ``1 h 2 min``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return (
        f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"
    )
