"""Build a recipe on a Slurm cluster (``vttdata slurm``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.build import print_note
from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    FOLDER_OR_ADDRESS,
    POSITIVE,
    RECIPE,
    Command,
    argument,
    columns_option,
    option,
    out_option,
    replace_option,
    set_option,
)
from vttdata.cli.terminal import print_styled


@click.command(
    "slurm",
    cls=Command,
    not_on_windows=True,
    examples=[
        "vttdata slurm street.yaml --jobs 64 --out /shared/street --sbatch=--time=12:00:00",
        "vttdata slurm /shared/street --jobs 16 --workers 4",
    ],
    notes=[
        "Run it on a login node. It writes DIR/slurm/shards.sh (a job array), merge.sh and submit.sh, and submits the "
        "array, a merge after it, and both once more where the recipe needs that. Where there is no sbatch, nothing is "
        "submitted: run submit.sh on a node that has it.",
        "After jobs were killed or ran out of time, run the same command: only shards with something left to do are "
        "submitted, and at most the items that were at work are done again. N may be another number each time.",
        "DIR, the videos and this installation have to be on disks that all nodes share.",
    ],
)
@argument("recipe", "RECIPE", "A YAML file, the name of a packaged recipe, or an earlier build.", type=RECIPE)
@option("--jobs N", "Number of shards, each a job of the array.", type=POSITIVE, required=True)
@out_option(
    "Build folder.",
    type=FOLDER_OR_ADDRESS,
    required=False,
    show_default="that of the earlier build, or $VTTDATA_HOME/<name of the recipe>",
)
@replace_option("Give DIR to this build though it holds that of another recipe or name.")
@set_option("Override a key of the recipe, such as clips.max_seconds=20; may be repeated.")
@columns_option("the tables of captions and videos")
@option("--workers N", "CPUs, and worker processes, of each job.", type=POSITIVE, default=1)
@option("--at-once N", "Jobs of the array that run at the same time.", type=POSITIVE, show_default="all")
@option(
    "--sbatch OPTION", "A further option of sbatch, such as --sbatch=--time=12:00:00; may be repeated.", multiple=True
)
@option("--retry-failed", "Try again what failed and may succeed now.", is_flag=True)
@option("--dry-run", "Write the scripts and submit nothing.", is_flag=True)
def command(
    recipe: str,
    jobs: int,
    out: Path | str | None,
    replace: bool,
    settings: tuple[str, ...],
    columns: dict[str, str],
    workers: int,
    at_once: int | None,
    sbatch: tuple[str, ...],
    retry_failed: bool,
    dry_run: bool,
) -> int:
    """Build a recipe as a job array on a Slurm cluster, and submit only what is missing.

    The jobs are shards of one build, which 'vttdata build RECIPE --shard I/N' runs and 'vttdata merge' joins.
    """
    from vttdata.compose.shards import plan_shards, submit, write_scripts
    from vttdata.pipeline.shards import ranges

    plan = plan_shards(
        recipe,
        jobs,
        out=out,
        settings=settings,
        columns=columns,
        retry_failed=retry_failed,
        replace=replace,
        note=print_note,
    )
    if plan.is_finished:
        print_styled(f"Nothing is missing: the dataset is in {plan.folder / 'dataset'}.")
        return DONE
    script = write_scripts(plan, jobs, workers=workers, at_once=at_once, sbatch=sbatch, retry_failed=retry_failed)
    if plan.missing:
        shards = f"shards {ranges(plan.missing)} of {jobs}"
        print_styled(f"{plan.missing.total():,} items are known to be missing, of {shards}; then a merge.")
    else:
        print_styled("A merge comes next.")
    secrets = [text for text in settings if text.partition("=")[0].strip() in plan.loaded.recipe.secrets]
    jobs_text = None if dry_run else submit(script, secrets)
    if jobs_text is None:
        print_styled(f"Nothing was submitted{'' if dry_run else ', since there is no sbatch here'}: bash {script}")
    else:
        print_styled(jobs_text.rstrip())
        print_styled(f"Follow them with squeue --me; what they print is in {script.parent}.")
    return DONE
