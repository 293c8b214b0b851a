"""Ray clusters of several nodes on this machine, and their processes."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def ray_cluster(*nodes: dict[str, Any]) -> Iterator[Any]:
    """Start a cluster with a node for each of these keyword arguments of `Cluster.add_node`, and stop it afterwards."""
    from ray.cluster_utils import Cluster

    common = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
    # Ray's sockets lie there, and their paths must be short.
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.environ |= {"RAY_TMPDIR": folder, "RAY_USAGE_STATS_ENABLED": "0"}
        cluster = Cluster(initialize_head=True, head_node_args=common | nodes[0])
        try:
            for node in nodes[1:]:
                cluster.add_node(**common | node)
            yield cluster
        finally:
            cluster.shutdown()
            del os.environ["RAY_TMPDIR"]


def raylet_pid(node: Any) -> int:
    """Return the process id of a node's raylet."""
    return int(node.all_processes["raylet"][0].process.pid)


def worker_pids(node: Any) -> list[int]:
    """Return the actor processes of builds on a node."""
    found = []
    for child in children(raylet_pid(node)):
        with contextlib.suppress(OSError):
            if b"ray::RayWorker" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def children(pid: int) -> list[int]:
    """Return the child processes of a process; none of one that has ended."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return found


def kill(pid: int) -> bool:
    """Kill a process, and return whether it was still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
