"""Builds on a Ray cluster whose processes are killed at random moments, against one undisturbed local build.

``python benchmarks/ray_kills.py [--trials 20] [--seed 1]``. A trial builds a small demo on a cluster of two nodes with
one CPU each, kills a worker, a worker's child, the build itself, or the raylet of either node at a random moment, runs
the same command until it ends with exit code 0, and compares every byte of the dataset.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.helpers.ray_cluster import children, kill, ray_cluster, raylet_pid, worker_pids
from tests.integration.test_interruption import after_events, command, hash_files

VICTIMS = ("worker", "worker's child", "build", "raylet of the second node", "raylet of the build's node")


def victim_pid(victim: str, cluster: Any, build: subprocess.Popen[bytes], chance: random.Random) -> int | None:
    """Return the process to kill; None when there is none of its sort at this moment."""
    nodes = [cluster.head_node, *cluster.worker_nodes]
    workers = [pid for node in nodes for pid in worker_pids(node)]
    match victim:
        case "worker":
            choices = workers
        case "worker's child":
            choices = [child for pid in workers for child in children(pid)]
        case "build":
            choices = [build.pid]
        case "raylet of the second node":
            choices = [raylet_pid(nodes[1])]
        case _:
            choices = [raylet_pid(nodes[0])]
    return chance.choice(choices) if choices else None


def run_trial(folder: Path, cluster: Any, victim: str, chance: random.Random) -> tuple[bool, list[int]]:
    """Return whether something was killed while the build was at work, and the exit codes of the runs that ended."""
    line = [*command(folder, 2), "--engine", "ray", "--ray-address", cluster.address]
    build = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after_events(folder, build, chance.randint(2, 30))
    time.sleep(chance.uniform(0, 0.5))
    pid = victim_pid(victim, cluster, build, chance)
    killed = pid is not None and build.poll() is None and kill(pid)
    _, errors = build.communicate()
    codes = [build.returncode]
    if codes[-1] > 0:
        print("   ", errors.decode().strip()[-400:], flush=True)
    return killed, codes


def main() -> None:
    """Print a line for each trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    same = hits = 0
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as clusters:
        subprocess.run(command(Path(scratch, "local"), 2), check=True, capture_output=True)
        expected = hash_files(Path(scratch, "local", "dataset"))
        node = {"num_cpus": 1}
        cluster = clusters.enter_context(ray_cluster(node, node))
        for number in range(options.trials):
            chance = random.Random(f"{options.seed}-{number}")
            victim = VICTIMS[number % len(VICTIMS)]
            folder = Path(scratch, str(number))
            killed, codes = run_trial(folder, cluster, victim, chance)
            if killed and victim.startswith("raylet"):
                clusters.close()
                cluster = clusters.enter_context(ray_cluster(node, node))
            while codes[-1] != 0 and len(codes) < 5:
                line = [*command(folder, 2), "--engine", "ray", "--ray-address", cluster.address]
                done = subprocess.run(line, capture_output=True, check=False, text=True)
                codes.append(done.returncode)
            is_same = codes[-1] == 0 and hash_files(folder / "dataset") == expected
            hits, same = hits + killed, same + is_same
            print(
                f"{number + 1:>3} {victim:<28} killed {killed!s:<5} exit codes {codes} same bytes {is_same}", flush=True
            )
    print(f"{hits} kills in {options.trials} builds, {same} of {options.trials} with the same bytes")
    sys.exit(same != options.trials)


if __name__ == "__main__":
    main()
