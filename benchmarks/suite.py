"""Compare the time of the tests with that of an older commit, for the same tests.

``python benchmarks/suite.py OLD`` takes a checkout of the older commit with its dependencies in ``OLD/.venv``. It runs
all tests of that checkout, and those files of this one that git recognises as theirs (moved or changed) or that
``REWRITTEN`` names, in turn and each as ``make test`` does. ``--all`` runs all tests of this checkout instead. The
older tests need the same data: put ``shared`` beside both checkouts. Run nothing else meanwhile.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]

#: Files of 8bfe8c0 whose tests were written anew elsewhere, and where.
REWRITTEN = {
    "tests/assess/test_needs.py": ["tests/generate/foils/test_optional_libraries.py"],
    "tests/assess/test_shortcuts.py": ["tests/generate/foils/test_shortcuts.py"],
    "tests/generate/test_mining.py": ["tests/generate/foils/test_mine.py"],
    "tests/generate/test_selection.py": ["tests/generate/foils/test_selection.py"],
    "tests/generate/test_swaps.py": ["tests/generate/foils/test_swaps.py"],
    "tests/generate/test_usage.py": ["tests/generate/foils/test_noun_usage.py"],
    "tests/media/test_quality.py": ["tests/media/filters", "tests/media/test_measure.py"],
    "tests/report/test_audit.py": ["tests/split/audit/test_audit_text.py"],
    "tests/split/test_audit.py": ["tests/split/audit"],
    "tests/split/test_duplicates.py": ["tests/split/near_duplicates"],
    "tests/test_build_near_duplicates.py": ["tests/integration/test_build_near_duplicates.py"],
    "tests/test_interruption.py": ["tests/integration/test_interruption.py"],
    "tests/text/test_matching.py": ["tests/text/test_clip_matching.py"],
    "tests/text/test_packing.py": ["tests/text/lm"],
}


def successors(commit: str) -> list[str]:
    """Return the test files of this checkout that hold the tests of a commit."""
    command = ["git", "diff", "--name-status", "-M40%", commit, "HEAD", "--", "tests"]
    changes = subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True).stdout.splitlines()
    names = {line.split("\t")[-1] for line in changes if line[0] in "MR"}
    found = {name for name in names if re.search(r"/test_\w+\.py$", name)}
    for line in changes:
        if line[0] == "D":
            found.update(REWRITTEN.get(line.split("\t")[-1], []))
    return sorted(name for name in found if (HERE / name).exists())


def run(checkout: Path, python: Path, names: list[str]) -> tuple[float, float, str]:
    """Return wall-clock seconds, CPU seconds and pytest's last line of a run of tests."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    command = [str(python), "-m", "pytest", *names]
    done = subprocess.run(command, check=False, cwd=checkout, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    counts = re.findall(r"^=*\s*(\d.* in [\d.]+s.*?)\s*=*$", done.stdout, re.MULTILINE)
    return seconds, cpu, counts[-1] if counts else done.stdout[-300:] + done.stderr[-300:]


def main() -> None:
    """Print the times of both suites."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("--all", action="store_true", help="run all tests of this checkout")
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    old = given.old.resolve()
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=old, check=True, capture_output=True, text=True).stdout
    names = [] if given.all else successors(commit.strip())
    for _ in range(given.rounds):
        times = []
        for checkout, python, files in (
            (old, old / ".venv/bin/python", []),
            (HERE, Path(sys.executable), names),
        ):
            seconds, cpu, counts = run(checkout, python, files)
            times.append(seconds)
            print(f"{checkout.name}: {seconds:.0f} s, {cpu:.0f} CPU s: {counts}", flush=True)
        print(f"ratio {times[1] / times[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
