"""Stand-in for Slurm's sbatch and scancel: every task of a job starts at once, as a process group of this machine.

It reads the options that the scripts of docs/scale.md have, on its command line and in lines ``#SBATCH``, and gives
tasks the variables that Slurm does. The process of a task that is at its end, or cancelled, takes all processes of the
task with it. It knows nothing of queues, nodes and limits. Its state is in the folder ``$SLURM_STAND_IN``: for each
task a file ``NAME.JOB.TASK``, which holds the process id and, at the end, the exit code; outputs are beside the folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

_KNOWN = {"array", "cpus-per-task", "job-name", "mem", "requeue", "time"}


def install(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Put the programs sbatch and scancel on the path, and return the folder of their state."""
    for name in ("sbatch", "scancel"):
        program = folder / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" {name} "$@"\n')
        program.chmod(0o755)
    (folder / "tasks").mkdir()
    patch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    patch.setenv("SLURM_STAND_IN", str(folder / "tasks"))
    return folder / "tasks"


def sbatch(arguments: list[str]) -> None:
    """Start the tasks of a job, and print its number."""
    *texts, script = arguments
    lines = Path(script).read_text().splitlines()
    assert lines[0] == "#!/bin/bash"
    in_script = [text for line in lines if line.startswith("#SBATCH ") for text in shlex.split(line)[1:]]
    options = dict(text.removeprefix("--").partition("=")[::2] for text in [*in_script, *texts])
    assert options.keys() <= _KNOWN, options
    state = Path(os.environ["SLURM_STAND_IN"])
    job = 1 + len({path.name.split(".")[1] for path in state.iterdir()})
    for task in task_numbers(options.get("array", "0")):
        variables = {
            "SLURM_JOB_ID": str(job),
            "SLURM_ARRAY_TASK_ID": str(task),
            "SLURM_CPUS_PER_TASK": options["cpus-per-task"],
            "SLURM_MEM_PER_NODE": str(1024 * int(options["mem"].removesuffix("G"))),
        }
        file = state / f"{options['job-name']}.{job}.{task}"
        with output_of(file).open("wb") as output:
            command = [sys.executable, __file__, "task", str(file), script]
            subprocess.Popen(command, env=os.environ | variables, stdout=output, stderr=output, start_new_session=True)
        while not file.exists():
            time.sleep(0.01)
    print(f"Submitted batch job {job}")


def run_task(file: Path, script: str) -> None:
    """Run the script of a task, note its exit code, and end all that it has started."""
    process = subprocess.Popen(["bash", script], start_new_session=True)
    write_whole(file, str(process.pid))
    code = process.wait()
    end_session(process.pid)
    write_whole(file, f"{process.pid} {code}")


def write_whole(file: Path, text: str) -> None:
    """Write the file of a task in one step."""
    temporary = file.parent.with_name(f"{file.name}.tmp")
    temporary.write_text(text)
    temporary.replace(file)


def output_of(file: Path) -> Path:
    """Return the file of what a task prints, by the task's file."""
    return file.parent.with_name(f"{file.name}.out")


def cancel(pattern: str) -> None:
    """Kill all processes of the tasks whose files match a pattern."""
    for file in Path(os.environ["SLURM_STAND_IN"]).glob(pattern):
        pid, *code = file.read_text().split()
        if not code:
            end_session(int(pid))


def end_session(session: int) -> None:
    """Kill all processes of a session, those that are started meanwhile too."""
    while members := [pid for pid in processes() if session_of(pid) == session]:
        for pid in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def processes() -> list[int]:
    """Return the ids of all processes that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if path.read_text().rpartition(") ")[2][0] != "Z":
                found.append(int(path.parent.name))
    return found


def session_of(pid: int) -> int | None:
    """Return the session of a process; None if it has ended."""
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(pid)
    return None


def task_numbers(array: str) -> list[int]:
    """Return the numbers that an option ``--array`` names, such as ``1-3``."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", array)
    assert match is not None
    return list(range(int(match[1]), int(match[2] or match[1]) + 1))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sbatch", *arguments]:
            sbatch(arguments)
        case ["scancel", option]:
            cancel(f"{option.removeprefix('--name=')}.*")
        case ["task", file, script]:
            run_task(Path(file), script)
