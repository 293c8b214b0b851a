"""Load every benchmark whose official files are in a mirror on a machine that has nothing, and again.

Each is loaded in a process of its own with an empty home: fetched from the mirror, checked, built, loaded. Then it is
loaded again offline, in a new process and once more in that process. Sockets are counted by the interpreter's audit
events.

    python benchmarks/origins.py --mirror FOLDER [--recipe NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from vttdata.files.downloads import MIRROR_VARIABLE
from vttdata.files.strict_yaml import read_yaml
from vttdata.load.official_files import ACCEPT_VARIABLE
from vttdata.recipe import packaged
from vttdata.recipe.origins import all_origins, read_origins

_LOAD = """
import json, resource, sys, time
sockets = []
sys.addaudithook(lambda event, _: event.startswith("socket.") and sockets.append(event))
start = time.perf_counter()
import vttdata
from datasets import load_dataset as _
imported, cpu = time.perf_counter() - start, time.process_time()
rows = vttdata.load_dataset(sys.argv[1])
called, cpu = time.perf_counter() - start - imported, time.process_time() - cpu
again = time.perf_counter()
vttdata.load_dataset(sys.argv[1])
again = time.perf_counter() - again
split = next(iter(rows.values())) if hasattr(rows, "values") else rows
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps({
    "rows": sum(own.num_rows for own in rows.values()), "first": split[0]["video_id"],
    "import": imported, "call": called, "call_cpu": cpu, "again": again, "sockets": len(sockets),
    "cpu": sum(own.ru_utime + own.ru_stime for own in used), "peak": max(own.ru_maxrss for own in used) // 1024,
}))
"""


def load(name: str, home: Path, **environment: str) -> dict[str, float]:
    """Load a dataset in a new process and return its figures; the error as the last line of what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, name],
        env=os.environ | {"VTTDATA_HOME": str(home), "HF_DATASETS_CACHE": str(home / "hf")} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return {"error": done.stderr.strip().rpartition("\n")[2]}  # type: ignore[dict-item]
    figures: dict[str, float] = json.loads(done.stdout.strip().rpartition("\n")[2])
    return figures


def main() -> None:
    """Print a row for each recipe with known origins."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of official files")
    parser.add_argument("--recipe", action="append", help="only this recipe; may be repeated")
    options = parser.parse_args()
    recipes = [recipe for path in all_origins().values() for recipe in read_origins(path).recipes]
    first_call, second_call = "first call, s | CPU s | peak, MB", "again, s | its CPU s | its sockets"
    print(f"| dataset | stored, MB | rows | {first_call} | {second_call} | once more, s |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    for recipe in options.recipe or recipes:
        name = str(read_yaml(packaged.recipes()[recipe])["name"])
        with tempfile.TemporaryDirectory(prefix="vttdata-") as folder:
            home = Path(folder)
            mirror = {MIRROR_VARIABLE: str(options.mirror), "VTTDATA_OFFLINE": "1", ACCEPT_VARIABLE: "all"}
            first = load(name, home, **mirror)
            if "error" in first:
                print(f"| {name} | {first['error'][:300]} |", flush=True)
                continue
            stored = sum(path.stat().st_size for path in (home / "downloads").glob("*") if path.is_file()) / 1e6
            second = load(name, home, VTTDATA_OFFLINE="1", HF_HUB_OFFLINE="1")
            print(
                f"| {name} | {stored:.1f} | {first['rows']:,} | {first['call']:.1f} | {first['cpu']:.1f} | "
                f"{first['peak']} | {second['call']:.2f} | {second['call_cpu']:.2f} | "
                f"{second['sockets']} | {second['again']:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
