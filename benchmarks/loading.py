"""Measure publishing and loading of real datasets through a local Hub, and compare with MSR-VTT's official JSON.

``python benchmarks/loading.py hub BUILD...`` publishes builds on the tests' Hub and loads each with plain `datasets` in
a separate process: cold from an empty cache, warm from a full one, and the first row of a stream. ``official FOLDER
BUILD`` reads the official JSON with the standard library and compares with a build of it. ``stream`` writes a dataset
of a million rows and reads the first row of its stream. ``MiB`` is the peak memory of the process, ``import`` the
seconds of imports.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

MEASURED = """
import json, resource, sys, time
start = time.perf_counter()
{imports}
imported = time.perf_counter() - start
start = time.perf_counter()
rows = 0
{work}
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([rows, imported, seconds, peak]))
"""
EVERY_ROW = """
for config in {configs!r}:
    for split in datasets.load_dataset({dataset!r}, config).values():
        for batch in split.with_format("arrow").iter(10_000):
            rows += batch.num_rows
"""
FIRST_ROW = """
for config in {configs!r}:
    for split in datasets.load_dataset({dataset!r}, config, streaming=True).values():
        next(iter(split))
        rows += 1
"""
EQUAL_ROWS = """
for config in {configs!r}:
    loaded, built = (datasets.load_dataset(path, config) for path in ({dataset!r}, {folder!r}))
    assert loaded.keys() == built.keys()
    for split in built:
        assert loaded[split].with_format("arrow")[:].equals(built[split].with_format("arrow")[:])
        rows += built[split].num_rows
"""
PREPARED = "for config in {configs!r}:\n    rows += sum(datasets.load_dataset({dataset!r}, config).num_rows.values())"
OFFICIAL = """
import io, zipfile
for archive in {archives!r}:
    with zipfile.ZipFile(archive) as file:
        for name in file.namelist():
            if name.endswith(".json"):
                rows += len(json.load(io.BytesIO(file.read(name)))["sentences"])
"""


def measure(label: str, imports: str, work: str, environment: dict[str, str]) -> None:
    """Run code in a separate process and print a row of the table."""
    code = MEASURED.format(imports=imports, work=work)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | environment
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    rows, imported, seconds, peak = json.loads(done.stdout)
    print(f"{label:<44} {rows:>9,} {imported:>7.2f} {seconds:>8.2f} {peak:>7,.0f}", flush=True)


def print_head() -> None:
    """Print the head of the table."""
    print(f"{'':<44} {'rows':>9} {'import':>7} {'seconds':>8} {'MiB':>7}")


@contextmanager
def local_hub(home: Path) -> Iterator[tuple[Any, dict[str, str]]]:
    """Run the tests' Hub; yield it with the environment of its clients."""
    from tests.helpers.hub.server import WRITER, Hub

    (home / "blobs").mkdir()
    hub = Hub(home / "blobs")
    quiet = {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    try:
        yield hub, quiet | {"HF_ENDPOINT": hub.url, "HF_TOKEN": WRITER, "HF_HOME": str(home / "cache")}
    finally:
        hub.close()


def publish(dataset: Path, name: str, environment: dict[str, str]) -> float:
    """Publish a dataset folder with the command line and return the seconds it took."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "vttdata.cli.main", "publish", str(dataset), name]
    paths = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment | paths)
    if done.returncode:
        raise SystemExit(done.stderr)
    return time.perf_counter() - start


def describe(dataset: Path) -> tuple[str, list[str], int]:
    """Return name, configurations and bytes of a dataset folder."""
    from vttdata.dataset.find_tables import read_tables
    from vttdata.dataset.manifest import read_dataset_manifest

    manifest = read_dataset_manifest(dataset)
    return manifest["name"], list(read_tables(dataset)), sum(file["bytes"] for file in manifest["files"].values())


def measure_hub(builds: Sequence[Path]) -> None:
    """Publish builds twice and load them."""
    for build in builds:
        dataset = build / "dataset" if (build / "dataset").is_dir() else build
        name, configs, size = describe(dataset)
        with tempfile.TemporaryDirectory() as folder, local_hub(Path(folder)) as (_, environment):
            first, again = (publish(dataset, name, environment) for _ in range(2))
            print(f"\n{name}: {size:,} bytes; published in {first:.1f} s, again (nothing to do) in {again:.1f} s")
            print_head()
            imports = "import datasets"
            from_folder = environment | {"HF_HOME": f"{folder}/other"}
            measure(
                "from the folder, cold", imports, PREPARED.format(dataset=str(dataset), configs=configs), from_folder
            )
            measure(
                "from the folder, warm", imports, PREPARED.format(dataset=str(dataset), configs=configs), from_folder
            )
            measure(
                "from the Hub, first rows of streams",
                imports,
                FIRST_ROW.format(dataset=name, configs=configs),
                environment,
            )
            measure("from the Hub, cold", imports, PREPARED.format(dataset=name, configs=configs), environment)
            measure("from the Hub, warm", imports, PREPARED.format(dataset=name, configs=configs), environment)
            work = EVERY_ROW.format(dataset=name, configs=configs)
            measure("from the Hub, warm, every row", imports, work, environment)
            work = EQUAL_ROWS.format(dataset=name, folder=str(dataset), configs=configs)
            measure("from the Hub, every row as it was built", imports, work, environment)


def compare_with_official(official: Path, build: Path) -> None:
    """Load captions of MSR-VTT from the official archives and from a build."""
    archives = sorted(map(str, official.glob("*.zip")))
    dataset = build / "dataset"
    _, _, size = describe(dataset)
    tables = {config: sum(p.stat().st_size for p in dataset.glob(f"{config}/*")) for config in ("clips", "captions")}
    unpacked = sum(info.file_size for archive in archives for info in zipfile.ZipFile(archive).infolist())
    packed = sum(Path(archive).stat().st_size for archive in archives)
    print(
        f"official JSON {unpacked:,} bytes, zipped {packed:,}; the dataset {size:,}, "
        f"{unpacked / size:.1f} times smaller than the JSON"
    )
    print(f"  clips with all captions {tables['clips']:,} bytes; captions with their annotators {tables['captions']:,}")
    print_head()
    with tempfile.TemporaryDirectory() as folder:
        environment = {"HF_HOME": folder, "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
        measure("official JSON, standard library", "", OFFICIAL.format(archives=archives), environment)
        work = PREPARED.format(dataset=str(dataset), configs=["captions"])
        for cache in ("cold", "warm"):
            measure(f"captions, {cache}", "import datasets", work, environment)
        work = EVERY_ROW.format(dataset=str(dataset), configs=["captions"])
        measure("captions, warm, every row", "import datasets", work, environment)


def stream(rows: int) -> None:
    """Read the first row of a stream of captions."""
    from vttdata.dataset import Metadata, write_dataset
    from vttdata.records import Caption, Clip

    clips = [Clip(f"v{n:07d}", f"s{n}", 0.0, 10.0, 0, 249, 1, split="train") for n in range(rows // 20)]
    captions = (Caption(f"v{n // 20:07d}", n % 20, f"sentence number {n} about a clip") for n in range(rows))
    with tempfile.TemporaryDirectory() as folder, local_hub(Path(folder)) as (hub, environment):
        dataset = Path(folder, "million")
        about = Metadata("vttdata/million", licence="cc0-1.0")
        write_dataset(dataset, clips=clips, captions=captions, sources=[], metadata=about, media=None)
        seconds = publish(dataset, "vttdata/million", environment)
        print(f"{rows:,} captions, {describe(dataset)[2]:,} bytes, published in {seconds:.1f} s")
        print_head()
        for configs in (["captions"], ["clips"]):
            before = len(hub.requests)
            work = FIRST_ROW.format(dataset="vttdata/million", configs=configs)
            measure(f"first row of the stream of {configs[0]}", "import datasets", work, environment)
            print(f"  in {len(hub.requests) - before} requests")


def main() -> None:
    """Run the benchmark of a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    hub = commands.add_parser("hub", help="publish builds and load them")
    hub.add_argument("builds", metavar="BUILD", nargs="+", type=Path)
    official = commands.add_parser("official", help="compare with the official JSON of MSR-VTT")
    official.add_argument("official", metavar="FOLDER", type=Path, help="folder of the two official archives")
    official.add_argument("build", metavar="BUILD", type=Path, help="a build of the recipe msrvtt")
    stream_parser = commands.add_parser("stream", help="read the first row of a large stream")
    stream_parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    if options.command == "hub":
        measure_hub(options.builds)
    elif options.command == "official":
        compare_with_official(options.official, options.build)
    else:
        stream(options.rows)


if __name__ == "__main__":
    main()
