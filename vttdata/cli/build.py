"""Build a dataset from a recipe (``vttdata build``)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE, INCOMPLETE
from vttdata.cli.options import POSITIVE, RECIPE, Command, Names, argument, option, out_option, quiet_option, set_option
from vttdata.errors import VttdataError


def _executors() -> Iterable[str]:
    from vttdata.pipeline.executors import executors

    return executors()


@click.command(
    "build",
    cls=Command,
    examples=[
        "vttdata build demo",
        "vttdata build own-folder --set collect.folder=VIDEOS --set name=me/street --out street",
    ],
)
@argument("recipe", "RECIPE", "A YAML file, or the name of a packaged recipe.", type=RECIPE)
@out_option("Build folder; without it $VTTDATA_HOME/<name of the recipe>.", required=False)
@set_option("Override a key of the recipe, such as clips.max_seconds=20; may be repeated.")
@option(
    "--workers",
    metavar="N",
    type=POSITIVE,
    default=lambda: os.cpu_count() or 1,
    show_default="one per core",
    help="Worker processes.",
)
@option("--retry-failed", is_flag=True, help="Try again what failed and may succeed now.")
@option(
    "--engine",
    metavar="NAME",
    type=Names("executor", _executors),
    default="local",
    group="Execution",
    help="Where stages run; a file of vttdata/pipeline/executors or of your plugins.",
)
@quiet_option
def command(
    recipe: str,
    out: Path | None,
    settings: tuple[str, ...],
    workers: int,
    retry_failed: bool,
    engine: str,
    quiet: bool,
) -> int:
    """Turn a recipe into a dataset.

    The build folder holds the dataset and what every stage kept and rejected. Stopped at any moment, the same command
    goes on where it was; after a change in the recipe, only what the change touches is done again.
    """
    from vttdata.load.lookup import builds_folder
    from vttdata.pipeline.attrition import HEADER, stage_text
    from vttdata.pipeline.build_folder import open_build
    from vttdata.pipeline.executors import create_executor
    from vttdata.publish.unchanged_version import warn_if_rows_changed
    from vttdata.recipe.load import load_recipe

    loaded = load_recipe(recipe, settings)
    folder = out or builds_folder() / loaded.recipe.name
    executor = create_executor(engine, workers)
    flags = {"retry_failed": retry_failed, "quiet": quiet}
    with open_build(folder, loaded, executor, lambda stage: print(stage_text(stage), flush=True), **flags) as build:
        print(HEADER, flush=True)
        try:
            with warn_if_rows_changed(build.dataset, lambda sentence: print(f"vttdata: {sentence}", file=sys.stderr)):
                loaded.builder.build(loaded.recipe, build)
        except VttdataError:
            if build.dataset.exists():
                print(f"{build.dataset} is still that of an earlier build", file=sys.stderr)
            raise
        build.describe("complete")
        failures, retryable = build.too_many_failures(), build.retryable()
    print(f"\n{loaded.recipe.name} {loaded.recipe.version} is in {folder / 'dataset'}")
    if retryable:
        print(f"{retryable} of the failures may succeed now: --retry-failed tries them again", file=sys.stderr)
    if failures:
        print(f"vttdata: {failures}", file=sys.stderr)
    return INCOMPLETE if failures else DONE
