"""Cost of a whole build up to the choice of clips, relative to a bare decode of the same videos.

Run it alone: ``python benchmarks/builds.py [FOLDER...]``. Each folder of videos is one build with one worker and one
decode of every file by ``ffmpeg -threads 1 -f null``; without folders it draws a film of two minutes. The recipe asks
for clips that are longer than any video, so that the build ends after their choice and cuts nothing. CPU seconds are
user and system time of all processes. ``--against CHECKOUT`` runs the builds of another checkout of this package in
turn with those of this one, and tells whether both give the same tables and shot features. The first build, of a film
that takes next to no decoding, shows the cost of any build: processes, imports, stages.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from benchmarks.stages import write_film
from vttdata.media.ffmpeg_program import ffmpeg_path

HERE = Path(__file__).resolve().parents[1]
# The status of a build that ends because nothing is left.
NOTHING_LEFT = 2
SETTINGS = ("name=benchmark/builds", "clips.min_seconds=50000", "clips.max_seconds=60000")


def cpu_seconds(command: list[str], environment: dict[str, str], expected_status: int | None = None) -> float:
    """Return the CPU seconds of a program and of the processes that it started and waited for."""
    with open(os.devnull, "wb") as null:
        process = subprocess.Popen(command, stdout=null, stderr=null, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    if expected_status not in (None, os.waitstatus_to_exitcode(status)):
        raise SystemExit(f"{' '.join(command)} ended with status {os.waitstatus_to_exitcode(status)}.")
    return usage.ru_utime + usage.ru_stime


def decode(folder: Path) -> float:
    """Return the CPU seconds of bare decodes of all videos in a folder, of damaged ones as far as they go."""
    command = [ffmpeg_path(), "-v", "error", "-threads", "1"]
    files = sorted(path for path in folder.iterdir() if path.suffix != ".json")
    output = ["-map", "0:v:0", "-f", "null", "-"]
    return sum(cpu_seconds([*command, "-i", str(path), *output], dict(os.environ)) for path in files)


def build(checkout: Path, folder: Path, out: Path) -> float:
    """Build from a folder with the package of a checkout; return the CPU seconds."""
    shutil.rmtree(out, ignore_errors=True)
    settings = (*SETTINGS, f"collect.folder={folder}")
    command = [sys.executable, "-P", "-m", "vttdata", "build", "own-folder", "--workers", "1", "--quiet"]
    command += ["--out", str(out), *(part for setting in settings for part in ("--set", setting))]
    environment = os.environ | {"PYTHONPATH": str(checkout), "VTTDATA_HOME": str(out.parent / "home")}
    # An installed package is compiled.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return cpu_seconds(command, environment, NOTHING_LEFT)


def digest(out: Path) -> str:
    """Return a digest of the tables of all stages and of the shots' features; the files of parts hold run times."""
    names = (*out.glob("stages/*/*.parquet"), *out.glob("media/**/*"))
    content = hashlib.sha256()
    for path in sorted(path for path in names if path.is_file()):
        content.update(f"{path.relative_to(out)}\0".encode() + path.read_bytes())
    return content.hexdigest()


def compare(folder: Path, checkouts: dict[str, Path], rounds: int, work: Path) -> None:
    """Print the costs of builds from a folder, least and median over the rounds."""
    figures: dict[str, list[float]] = defaultdict(list)
    digests: set[str] = set()
    for _ in range(rounds):
        figures["bare decode"].append(decode(folder))
        for name, checkout in checkouts.items():
            figures[name].append(build(checkout, folder, work / "out"))
            digests.add(digest(work / "out"))
    bare = figures["bare decode"]
    print(f"{folder.name}: CPU seconds and share of a bare decode, least and median of {rounds} rounds")
    for label, seconds in figures.items():
        least, median = min(seconds), statistics.median(seconds)
        ratio = f"{least / min(bare):>7.2f} x{median / statistics.median(bare):>7.2f} x"
        print(f"  {label:<20}{least:>8.2f}{median:>8.2f}{ratio}", flush=True)
    print(f"  tables and features: {'the same' if len(digests) == 1 else 'DIFFER'}")


def main() -> None:
    """Compare on the folders named, or on a drawn film of two minutes, and on a film that takes little decoding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER", help="videos of one build each")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout of this package")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    checkouts = {"this": HERE} | ({"other": options.against.resolve()} if options.against else {})
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        folders = [folder.resolve() for folder in options.folders]
        if not folders:
            folders = [work / "drawn"]
            folders[0].mkdir()
            write_film(folders[0] / "film.mp4", 120)
        tiny = work / "tiny"
        tiny.mkdir()
        write_film(tiny / "film.mp4", 12, size="320x240", rate=5)
        for checkout in checkouts.values():
            build(checkout, tiny, work / "out")
        for folder in (tiny, *folders):
            compare(folder, checkouts, options.rounds, work)


if __name__ == "__main__":
    main()
