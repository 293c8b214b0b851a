"""Run a command and print one line of JSON: its exit code, output, CPU and wall-clock seconds, and peak memory.

Imports little and is run as a program of its own, since a process inherits the peak memory of the one that forks it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

if __name__ == "__main__":
    begun = time.monotonic()
    done = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=False)
    wall = time.monotonic() - begun
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        json.dumps(
            {
                "code": done.returncode,
                "printed": done.stdout,
                "errors": done.stderr,
                "cpu": usage.ru_utime + usage.ru_stime,
                "wall": wall,
                "memory": usage.ru_maxrss / 1024,
            }
        )
    )
