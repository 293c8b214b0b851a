"""Merge the shards of a build, plan what is left for them, and write scripts for Slurm: a job array and its merges.

This is what ``vttdata merge`` and ``vttdata slurm`` do.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vttdata.compose.build import finish_build, load_for_build, register, run_until_merge
from vttdata.errors import HaltError, VttdataError
from vttdata.files.output_file import make_output_folder, write_whole
from vttdata.load.local_builds import find_build, read_account
from vttdata.pipeline.build_folder import (
    SHARDS,
    Build,
    check_same_build,
    load_stored_recipe,
    make_build_folder,
    open_build,
)
from vttdata.pipeline.executors import create_executor
from vttdata.pipeline.journal import Journal, locked
from vttdata.pipeline.shard_folder import ShardBuild, check_shards_agree, claim_folder, shard_accounts
from vttdata.pipeline.shards import BuildShard, MergeEngine, MissingItemsError, PlanEngine, ranges
from vttdata.recipe.load import Loaded

_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f]")


def merge_shards(
    build: str | os.PathLike[str],
    *,
    settings: Sequence[str] = (),
    workers: int | None = None,
    engine: str = "local",
    quiet: bool = False,
    on_stage_done: Callable[[dict[str, Any]], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> Build:
    """Take the stages of a build that need all results, and finish it, the same as one without shards.

    `build` is the build folder or its name, and `settings` are secrets that the build needs, as texts ``KEY=VALUE``.
    The other arguments are those of `vttdata.compose.build.build`.

    Raises:
        VttdataError: If there is no such build, or shards had other settings.
        HaltError: If shards have not done their share of a stage; what is merged stays.
    """
    folder = find_build(os.fspath(build))
    if folder is None:
        raise VttdataError(f"There is no build '{os.fspath(build)[:80]}': name the folder that its shards share.")
    count = check_shards_agree(folder)
    loaded = load_stored_recipe(folder, settings)
    executor = create_executor(engine, workers)
    engine_type = partial(MergeEngine, shards=count)
    try:
        with open_build(folder, loaded, executor, on_stage_done, quiet=quiet, engine_type=engine_type) as run:
            finish_build(run, note)
            # Later shards may have other settings.
            for path, *_ in shard_accounts(folder):
                path.unlink(missing_ok=True)
            return run
    except MissingItemsError as error:
        raise HaltError(
            f"{error}: run 'vttdata build {folder} --shard I/N' for {'these' if count else 'each shard I of N'}, then "
            f"merge again, or 'vttdata build {folder}' to process them here; what is merged is kept."
        ) from error


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """Work that is left in a build: the number of items that are known to be missing by the number of their shard.

    `rounds` is the number of times that shards, and then a merge, have to be at work until the build is finished.
    Without items that are missing, another merge comes first.
    """

    loaded: Loaded
    folder: Path
    missing: Counter[int]
    rounds: int
    is_finished: bool


def plan_shards(
    recipe: str | os.PathLike[str],
    jobs: int,
    *,
    out: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    retry_failed: bool = False,
    replace: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> ShardPlan:
    """Count what each shard of a build has to process, and give the folder to the recipe and these settings.

    There are so many `jobs` as shards. The other arguments are those of `vttdata.compose.build.build`; with
    `retry_failed`, items that failed for a reason that may have gone are counted too.

    Raises:
        VttdataError: As `vttdata.compose.build.build`.
    """
    loaded, folder = load_for_build(recipe, out, settings, columns, note)
    make_build_folder(folder)
    (folder / SHARDS).mkdir(exist_ok=True)
    with locked(folder, shared=True):
        if not replace:
            check_same_build(folder, loaded)
        # The state before the folder is claimed, which is that of a build of these settings or of none.
        status = (read_account(folder) or {}).get("status")
        claim_folder(folder, loaded, replace=True)
        is_finished = status == (read_account(folder) or {}).get("status") == "complete"
        executor = create_executor("local", 1)
        journal = Journal(Path(os.devnull))
        engine = PlanEngine(
            folder / "stages", executor, journal, BuildShard(1, jobs), retry_failed=retry_failed, quiet=True
        )
        run = PlanBuild(folder, loaded, engine, journal, lambda _: None, shard=BuildShard(1, jobs))
        register(run, note)
        step = run_until_merge(run)
    is_finished = is_finished and step == "package" and not engine.missing
    rounds = max(loaded.recipe.shard_rounds - engine.rounds, 1 if engine.missing else 0)
    return ShardPlan(loaded, folder, engine.missing, rounds, is_finished)


class PlanBuild(ShardBuild):
    """Build folder as a builder sees it while its work is only counted."""

    def describe(self, status: str) -> dict[str, Any]:
        """Write nothing."""
        return self.account(status)


def write_scripts(
    plan: ShardPlan,
    jobs: int,
    *,
    workers: int = 1,
    at_once: int | None = None,
    sbatch: Sequence[str] = (),
    retry_failed: bool = False,
) -> Path:
    """Write ``shards.sh``, ``merge.sh`` and ``submit.sh`` into the folder ``slurm`` of a build, and return the last.

    Args:
        plan: Work that is left.
        jobs: Number of shards.
        workers: CPUs of each job, and so its worker processes.
        at_once: Number of shards that run at the same time; None for as many as the cluster allows.
        sbatch: Further options of sbatch, such as ``--time=12:00:00``.
        retry_failed: Shards process items again that failed for a reason that may have gone.

    Raises:
        VttdataError: If an option or the folder's name cannot be written into a script.
    """
    folder = (plan.folder / "slurm").absolute()
    for text in (str(folder), *sbatch):
        if _CONTROL_CHARACTERS.search(text):
            raise VttdataError(f"{text[:80]!a}: has control characters, which Slurm's scripts cannot contain.")
    for text in sbatch:
        if not text.startswith("-"):
            raise VttdataError(f"--sbatch: '{text[:80]}' is not an option of sbatch; write it as --sbatch=--time=2:00.")
    make_output_folder(folder)

    def header(kind: str, job: str) -> str:
        name = re.sub(r"[^A-Za-z0-9._-]", "-", plan.loaded.recipe.name)
        output = f"{str(folder).replace('%', '%%')}/{kind}-{job}.out"
        settings = [f"--job-name={name}-{kind}", f"--cpus-per-task={workers}", f"--output={output}"]
        return "\n".join(["#!/bin/bash", *(f"#SBATCH {shlex.quote(text)}" for text in (*settings, *sbatch)), ""])

    program, build = shlex.join([sys.executable, "-m", "vttdata"]), shlex.quote(str(plan.folder.absolute()))
    more = " --retry-failed" if retry_failed else ""
    shard = f'--shard "$SLURM_ARRAY_TASK_ID/{jobs}" --workers {workers}{more} --quiet'
    write_whole(folder / "shards.sh", f'{header("shards", "%A_%a")}exec {program} build {build} {shard} "$@"\n')
    write_whole(
        folder / "merge.sh",
        f"{header('merge', '%j')}last=$1; shift\n"
        f'{program} merge {build} --workers {workers} --quiet "$@" && exit 0\ncode=$?\n'
        "# Before the last merge, exit code 1 says that shards have to go on.\n"
        '[ "$last" = no ] && [ $code -eq 1 ] && exit 0\nexit $code\n',
    )
    limit = f"%{at_once}" if at_once is not None else ""
    write_whole(folder / "submit.sh", _submission(plan, f"1-{jobs}", limit, folder))
    return folder / "submit.sh"


def _submission(plan: ShardPlan, all_shards: str, limit: str, folder: Path) -> str:
    """Return the script that submits all jobs, each after the one before, whether that succeeded or not."""
    lines = ["#!/bin/bash", "# Arguments are added to those of every job: secrets, as --set KEY=VALUE.", "set -e"]
    wait = ""

    def submit(script: str, sbatch: str, arguments: str) -> None:
        nonlocal wait
        path = shlex.quote(str(folder / script))
        lines.append(f'job=$(sbatch --parsable {sbatch}{wait}{path} {arguments}"$@"); job=${{job%%;*}}')
        lines.append(f'echo "job $job: {script}{" " + sbatch.strip() if sbatch else ""}"')
        wait = '--dependency="afterany:$job" '

    if not plan.missing:
        submit("merge.sh", "", "no " if plan.rounds else "yes ")
    for number in range(plan.rounds):
        # What shards have to do after a merge is known after it.
        shards = ranges(plan.missing) if number == 0 and plan.missing else all_shards
        submit("shards.sh", f"--array={shards}{limit} ", "")
        submit("merge.sh", "", "yes " if number == plan.rounds - 1 else "no ")
    return "\n".join([*lines, ""])


def submit(script: Path, secrets: Sequence[str] = ()) -> str | None:
    """Run the script that submits all jobs; return what it prints, or None where there is no sbatch.

    `secrets` are settings that are never stored, as texts ``KEY=VALUE``.

    Raises:
        HaltError: when Slurm refuses a job.
    """
    if shutil.which("sbatch") is None:
        return None
    arguments = [text for secret in secrets for text in ("--set", secret)]
    done = subprocess.run(["bash", str(script), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise HaltError(f"sbatch refused a job ({reason[-1] if reason else done.returncode}); {script} submits again.")
    return done.stdout
