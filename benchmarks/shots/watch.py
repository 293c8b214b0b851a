"""Runs a command and prints one line of JSON: its exit code, what it printed, and what it cost.

Stays small on purpose, and is run by itself: a process counts the memory of whoever started it as its own peak.
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
