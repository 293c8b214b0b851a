"""Scripts for Slurm that build a recipe in shards: a job array, merges that wait for it, and their submission."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vttdata.compose.shards import ShardPlan
from vttdata.errors import HaltError, VttdataError
from vttdata.files.output_file import make_output_folder, write_whole
from vttdata.pipeline.shards import ranges

_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class SlurmOptions:
    """Options of the jobs.

    Fields:
        jobs: number of shards.
        workers: CPUs of each job, and so its worker processes.
        at_once: number of shards that run at the same time; None for as many as the cluster allows.
        sbatch: further options of sbatch, such as ``--time=12:00:00``.
        retry_failed: shards process items again that failed for a reason that may have gone.
    """

    jobs: int
    workers: int = 1
    at_once: int | None = None
    sbatch: Sequence[str] = ()
    retry_failed: bool = False


def write_scripts(plan: ShardPlan, options: SlurmOptions) -> Path:
    """Write ``shards.sh``, ``merge.sh`` and ``submit.sh`` into the folder ``slurm`` of a build, and return the last.

    Raises:
        VttdataError: when an option or the folder's name cannot be written into a script.
    """
    folder = (plan.folder / "slurm").absolute()
    for text in (str(folder), *options.sbatch):
        if _CONTROL_CHARACTERS.search(text):
            raise VttdataError(f"{text[:80]!a}: has control characters, which Slurm's scripts cannot contain.")
    for text in options.sbatch:
        if not text.startswith("-"):
            raise VttdataError(f"--sbatch: '{text[:80]}' is not an option of sbatch; write it as --sbatch=--time=2:00.")
    make_output_folder(folder)
    program, build = shlex.join([sys.executable, "-m", "vttdata"]), shlex.quote(str(plan.folder.absolute()))
    more = " --retry-failed" if options.retry_failed else ""
    shard = f'--shard "$SLURM_ARRAY_TASK_ID/{options.jobs}" --workers {options.workers}{more} --quiet'
    merge = f'{program} merge {build} --workers {options.workers} --quiet "$@"'
    write_whole(
        folder / "shards.sh",
        f'{_header(plan, options, folder, "shards", "%A_%a")}exec {program} build {build} {shard} "$@"\n',
    )
    write_whole(
        folder / "merge.sh",
        f"{_header(plan, options, folder, 'merge', '%j')}"
        f"last=$1; shift\n{merge} && exit 0\ncode=$?\n"
        "# Before the last merge, exit code 1 says that shards have to go on.\n"
        '[ "$last" = no ] && [ $code -eq 1 ] && exit 0\nexit $code\n',
    )
    submit = folder / "submit.sh"
    write_whole(submit, _submission(plan, options, folder))
    return submit


def _header(plan: ShardPlan, options: SlurmOptions, folder: Path, kind: str, job: str) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]", "-", plan.loaded.recipe.name)
    output = f"{str(folder).replace('%', '%%')}/{kind}-{job}.out"
    settings = [f"--job-name={name}-{kind}", f"--cpus-per-task={options.workers}", f"--output={output}"]
    return "\n".join(["#!/bin/bash", *(f"#SBATCH {shlex.quote(text)}" for text in (*settings, *options.sbatch)), ""])


def _submission(plan: ShardPlan, options: SlurmOptions, folder: Path) -> str:
    """Return the script that submits all jobs, each after the one before, whether that succeeded or not."""
    lines = ["#!/bin/bash", "# Arguments are added to those of every job: secrets, as --set KEY=VALUE.", "set -e"]
    wait = ""

    def submit(script: str, sbatch: str, arguments: str) -> None:
        nonlocal wait
        path = shlex.quote(str(folder / script))
        lines.append(f'job=$(sbatch --parsable {sbatch}{wait}{path} {arguments}"$@"); job=${{job%%;*}}')
        lines.append(f'echo "job $job: {script}{" " + sbatch.strip() if sbatch else ""}"')
        wait = '--dependency="afterany:$job" '

    limit = f"%{options.at_once}" if options.at_once is not None else ""
    if not plan.missing:
        submit("merge.sh", "", "no " if plan.rounds else "yes ")
    for number in range(plan.rounds):
        # What shards have to do after a merge is known after it.
        shards = ranges(plan.missing) if number == 0 and plan.missing else f"1-{options.jobs}"
        submit("shards.sh", f"--array={shards}{limit} ", "")
        submit("merge.sh", "", "yes " if number == plan.rounds - 1 else "no ")
    return "\n".join([*lines, ""])


def submit(script: Path, secrets: Sequence[str] = ()) -> str | None:
    """Run the script that submits all jobs; return what it prints, or None where there is no sbatch.

    Args:
        script: that of `write_scripts`.
        secrets: settings that are never stored, as texts ``KEY=VALUE``.

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
