"""Stand-in for Slurm's sbatch: runs jobs at once, one after the other, in processes of this machine.

It reads the options that the scripts of `vttdata slurm` have, on its command line and in lines ``#SBATCH``, checks that
jobs are only waited for that exist, and gives jobs the variables that Slurm does. It knows nothing of queues, nodes and
limits. ``$SBATCH_KILL`` names a task of the first array that is killed once it has begun, before it finishes a stage.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

_KNOWN = {"parsable", "array", "dependency", "job-name", "cpus-per-task", "output", "time"}


def main() -> None:
    """Run a job, and print its number."""
    log = Path(os.environ["SBATCH_LOG"])
    jobs = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    arguments = sys.argv[1:]
    script = next(index for index, text in enumerate(arguments) if not text.startswith("--"))
    lines = Path(arguments[script]).read_text().splitlines()
    assert lines[0] == "#!/bin/bash"
    texts = [text for line in lines if line.startswith("#SBATCH ") for text in shlex.split(line)[1:]]
    options = dict((text.removeprefix("--").partition("=")[::2]) for text in [*texts, *arguments[:script]])
    assert options.keys() <= _KNOWN, options
    if "dependency" in options:
        condition, _, before = options["dependency"].partition(":")
        assert condition == "afterany"
        assert int(before) <= len(jobs)
    job = len(jobs) + 1
    codes = {}
    for task in task_numbers(options["array"]) if "array" in options else [None]:
        variables = {"SLURM_JOB_ID": str(job), "SLURM_CPUS_PER_TASK": options["cpus-per-task"]}
        variables |= {} if task is None else {"SLURM_ARRAY_TASK_ID": str(task)}
        name = options["output"].replace("%A", str(job)).replace("%a", str(task)).replace("%j", str(job))
        with Path(name.replace("%%", "%")).open("wb") as output:
            process = subprocess.Popen(
                ["bash", *arguments[script:]],
                env=os.environ | variables,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            if str(task) == os.environ.get("SBATCH_KILL") and not jobs:
                kill_after_begin(process, task)
            codes[str(task)] = process.wait()
    entry = {"script": Path(arguments[script]).name, "options": options, "codes": codes}
    with log.open("a") as stream:
        stream.write(json.dumps(entry) + "\n")
    print(f"{job};cluster")


def task_numbers(array: str) -> list[int]:
    """Return the numbers that an option ``--array`` lists."""
    numbers: list[int] = []
    for text in array.partition("%")[0].split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
        assert match is not None
        numbers += range(int(match[1]), int(match[2] or match[1]) + 1)
    return numbers


def kill_after_begin(process: subprocess.Popen[bytes], task: int | None) -> None:
    """Kill a job with all its processes when the account of its shard has appeared."""
    accounts = Path(os.environ["SBATCH_WATCH"]) / "shards"
    while process.poll() is None and not list(accounts.glob(f"{task}-of-*.json")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
