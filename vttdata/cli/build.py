"""Build a dataset from a recipe (``vttdata build``)."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from vttdata.cli.terminal import print_styled

if TYPE_CHECKING:
    from vttdata.pipeline.build_folder import Build


@click.command(
    "build",
    cls=Command,
    not_on_windows=True,
    examples=[
        "vttdata build demo",
        "vttdata build own-folder --set collect.folder=VIDEOS --set name=me/street --out street",
        "vttdata build street --set captions.file=captions.csv",
    ],
    notes=[
        "Of an earlier build, RECIPE may be the build folder, or its name in $VTTDATA_HOME or 'vttdata datasets': its "
        "stored settings are used, and --set changes some of them. A packaged recipe's name comes first; write ./demo "
        "for a folder of that name.",
    ],
)
@argument("recipe", "RECIPE", "A YAML file, the name of a packaged recipe, or an earlier build.", type=RECIPE)
@out_option(
    "Build folder.",
    required=False,
    show_default="that of the earlier build, or $VTTDATA_HOME/<name of the recipe>",
)
@replace_option("Give DIR to this build though it holds that of another recipe or name.")
@set_option("Override a key of the recipe, such as clips.max_seconds=20; may be repeated.")
@columns_option("the tables of captions and videos")
@option("--workers N", "Worker processes.", type=POSITIVE, show_default="one per core, or all that fit on the cluster")
@option("--retry-failed", "Try again what failed and may succeed now.", is_flag=True)
@option(
    "--engine NAME",
    "Where stages run; a file of vttdata/pipeline/executors or of your plugins.",
    type=Names("executor", "vttdata.pipeline.executors:executors"),
    default="local",
    group="Execution",
)
@option(
    "--ray-address ADDRESS",
    "With --engine ray: HOST:PORT of the cluster, or auto on one of its nodes.",
    show_default="$RAY_ADDRESS, or else a Ray of its own on this machine",
    group="Execution",
)
@quiet_option
def command(
    recipe: str,
    out: Path | None,
    replace: bool,
    settings: tuple[str, ...],
    columns: dict[str, str],
    workers: int | None,
    retry_failed: bool,
    engine: str,
    ray_address: str | None,
    quiet: bool,
) -> int:
    """Turn a recipe into a dataset.

    The build folder holds the dataset and what every stage kept and rejected. Stopped at any moment, the same command
    goes on where it was; after a change in the recipe, only what the change touches is done again. The build is known
    by its name to 'vttdata datasets' and load_dataset, wherever its folder is.
    """
    from vttdata.compose.build import build

    started = time.monotonic()
    run = build(
        recipe,
        out=out,
        settings=settings,
        columns=columns,
        workers=workers,
        engine=engine,
        ray_address=ray_address,
        retry_failed=retry_failed,
        replace=replace,
        quiet=quiet,
        on_stage_done=stage_printer(),
        note=print_note,
    )
    return print_summary(run, started)


def stage_printer() -> Callable[[dict[str, Any]], None]:
    """Return a function that prints a line about each finished stage, the first with a header."""
    from vttdata.pipeline.attrition import HEADER, stage_text

    header = iter([HEADER])

    def print_stage(stage: dict[str, Any]) -> None:
        for line in header:
            print_styled(line, bold=True)
        print_styled(stage_text(stage), fg="red" if stage["failed"] else "yellow" if stage["rejected"] else None)

    return print_stage


def print_note(sentence: str) -> None:
    """Print a sentence that a user should read to standard error."""
    print_styled(f"vttdata: {sentence}", sys.stderr)


def print_summary(run: Build, started: float) -> int:
    """Print what a finished build holds, its time, and what to do next; return the exit code."""
    from vttdata.load.local_builds import builds_named, dataset_in
    from vttdata.pipeline.attrition import main_losses

    failures, retryable = run.too_many_failures(), run.retryable()
    name = run.loaded.recipe.name
    first = next(iter(builds_named(name)), None)
    is_known = first is not None and first.folder.resolve() == run.folder.resolve()
    reference = name if is_known else str(run.folder)
    done = f"{name} {run.loaded.recipe.version} is in {run.dataset}, after {duration_text(time.monotonic() - started)}"
    print_styled(f"\n{done}", bold=True, fg="red" if failures else "green")
    if run.audit is not None:
        print_styled(contents_text(run.audit))
    if dataset_in(run.folder) is not None:
        print_styled(f"""Load it in Python: vttdata.load_dataset("{reference}")""")
    losses = main_losses([table.tally.as_json() for table in run.tables])
    quoted = shlex.quote(reference)
    if losses:
        print_styled(f"Left out: {losses}; 'vttdata rejects {quoted}' says which and why")
    if not failures:
        page = run.folder / "report.html"
        print_styled(f"Next: {f'look at {page}; ' if page.is_file() else ''}{next_step(run, quoted)}")
    for warning in (run.audit or {}).get("warnings", ()):
        print_styled(f"vttdata: WARNING: {warning}", sys.stderr, fg="yellow")
    if retryable:
        print_styled(f"{retryable} of the failures may succeed now: --retry-failed tries them again", sys.stderr)
    if failures:
        print_styled(f"vttdata: {failures}", sys.stderr, fg="red")
    return INCOMPLETE if failures else DONE


def contents_text(audit: Mapping[str, Any]) -> str:
    """Return the clips of each split, all captions and the verdict on leaks, by the ``audit`` of ``build.json``."""
    clips = ", ".join(f"{counts['clips']:,} {split}" for split, counts in audit["splits"].items())
    captions = sum(counts["captions"] for counts in audit["splits"].values())
    return f"Clips: {clips}; captions: {captions:,}. {audit['verdict']}"


def next_step(run: Build, reference: str) -> str:
    """Return what to do with a finished build, by its quoted name: give it captions, a licence, or to others."""
    recipe = run.loaded.recipe
    splits = (run.audit or {}).get("splits", {}).values()
    if "captions" in type(recipe).model_fields and not sum(counts["captions"] for counts in splits):
        return f"have the clips captioned, then 'vttdata build {reference} --set captions.file=FILE'"
    if recipe.licence == "unknown":
        return f"state a licence, which publishing requires: 'vttdata build {reference} --set licence=cc-by-4.0'"
    return (
        f"'vttdata stats {reference}' counts it; 'vttdata publish {reference} USER/NAME --dry-run' prepares a version"
    )


def duration_text(seconds: float) -> str:
    """Return a duration in words, such as ``4.2 s`` or ``1 h 2 min``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return (
        f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"
    )
