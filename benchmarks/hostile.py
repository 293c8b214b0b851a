"""Campaign against everything that comes from outside: mutations, kills and limits.

    python benchmarks/hostile.py --seeds 300 --kills 12

Counts what was tried, what survived and what failed, and the greatest memory of a trial. A trial survives if it ends in
time with a sentence or with the whole result; a build that was killed, or ran out of disk, files or memory, survives if
the same command then gives the same bytes as a build that was left alone. The short version is ``tests/hostile``.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers.builds import LOOSE, film
from tests.helpers.hostile_campaign import KINDS, Campaign

LIMITS = {
    "disk": (resource.RLIMIT_FSIZE, 20_000),
    "open files": (resource.RLIMIT_NOFILE, 24),
    "memory": (resource.RLIMIT_DATA, 120 * 2**20),
}
# Of file systems in memory, which only root mounts; a build of two films takes 116 files and 500 kB.
MOUNTS = {"few inodes": "size=200m,nr_inodes=30", "some inodes": "size=200m,nr_inodes=75", "small disk": "size=120k"}


def build_command(videos: Path, out: Path) -> list[str]:
    """Return the command that builds a dataset of some films."""
    settings = [part for setting in (f"collect.folder={videos}", *LOOSE) for part in ("--set", setting)]
    return [
        sys.executable,
        "-m",
        "vttdata",
        "build",
        "own-folder",
        "--quiet",
        "--workers",
        "2",
        "--out",
        str(out),
        *settings,
    ]


def digests(dataset: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a dataset."""
    files = (path for path in sorted(dataset.rglob("*")) if path.is_file())
    return {str(path.relative_to(dataset)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def start(command: list[str], **options: object) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, without output."""
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True, **options
    )


def kill(process: subprocess.Popen[bytes], victim: str) -> None:
    """Kill a build: its whole group, its parent only, one of its workers, or politely."""
    with contextlib.suppress(ProcessLookupError):
        if victim == "group":
            os.killpg(process.pid, signal.SIGKILL)
        elif victim == "parent":
            process.kill()
        elif victim == "terminate":
            process.terminate()
        else:
            listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            children = listed.read_text().split() if listed.exists() else []
            if children:
                os.kill(int(random.choice(children)), signal.SIGKILL)


def try_kills(folder: Path, number: int) -> list[str]:
    """Kill builds at random moments and build on; return what went wrong."""
    videos = folder / "videos"
    videos.mkdir()
    for name, picture in (("a", "testsrc2"), ("b", "mandelbrot"), ("c", "smptebars")):
        film(videos / f"{name}.mp4", picture=picture)
    began = time.monotonic()
    subprocess.run(build_command(videos, folder / "reference"), check=True)
    seconds = time.monotonic() - began
    expected = digests(folder / "reference" / "dataset")
    problems = []
    for seed in range(number):
        chance = random.Random(seed)
        victim = ("group", "parent", "worker", "terminate")[seed % 4]
        out = folder / f"kill-{seed}"
        process = start(build_command(videos, out))
        time.sleep(chance.random() * seconds)
        kill(process, victim)
        _, stderr = process.communicate()
        problems += finish(f"kill {victim} {seed}", build_command(videos, out), out, expected, stderr)
    for name, (limit, value) in LIMITS.items():
        out = folder / name.replace(" ", "-")
        process = start(build_command(videos, out), preexec_fn=lambda: resource.setrlimit(limit, (value, value)))  # noqa: B023
        _, stderr = process.communicate(timeout=600)
        problems += finish(f"limit of {name}", build_command(videos, out), out, expected, stderr)
    return problems + (try_small_disks(folder, videos, expected) if os.geteuid() == 0 else [])


def try_small_disks(folder: Path, videos: Path, expected: dict[str, str]) -> list[str]:
    """Build where files or bytes run out, then make room and build on; return what went wrong."""
    problems = []
    for name, options in MOUNTS.items():
        disk = folder / name.replace(" ", "-")
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], check=True)
        try:
            process = start(build_command(videos, disk / "out"))
            _, stderr = process.communicate(timeout=600)
            subprocess.run(["mount", "-o", "remount,size=200m,nr_inodes=100000", str(disk)], check=True)
            problems += finish(name, build_command(videos, disk / "out"), disk / "out", expected, stderr)
        finally:
            subprocess.run(["umount", str(disk)], check=True)
    return problems


def finish(label: str, command: list[str], out: Path, expected: dict[str, str], stderr: bytes) -> list[str]:
    """Run a command again without any trouble and compare what comes out; return what went wrong."""
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    problems = [f"{label}: traceback: {stderr.decode()[-600:]}"] if b"Traceback" in stderr else []
    if again.returncode or digests(out / "dataset") != expected:
        problems.append(
            f"{label}: the second run ended with {again.returncode}, or gave other bytes: {again.stderr[-600:]}"
        )
    return problems


def main() -> None:
    """Run the campaign and print its counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=300, help="trials of each kind of mutation")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--kills", type=int, default=12, help="builds to be killed")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS, help="what is mutated")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vttdata-hostile-") as scratch:
        (Path(scratch) / "mutations").mkdir()
        report = Campaign(Path(scratch) / "mutations").run(
            arguments.kinds, range(arguments.first, arguments.first + arguments.seeds)
        )
        print(f"{'':<12} {'tried':>6} {'refused':>8} {'whole':>6} {'failed':>7}")
        for kind in arguments.kinds:
            failed = sum(text.startswith(f"{kind} ") for text in report.failures)
            whole = report.tried[kind] - report.refused[kind] - failed
            print(f"{kind:<12} {report.tried[kind]:>6} {report.refused[kind]:>8} {whole:>6} {failed:>7}")
        print(f"greatest memory of a trial: {report.megabytes:.0f} MiB")
        problems = list(report.failures)
        if arguments.kills:
            (Path(scratch) / "builds").mkdir()
            broken = try_kills(Path(scratch) / "builds", arguments.kills)
            tried = arguments.kills + len(LIMITS) + (len(MOUNTS) if os.geteuid() == 0 else 0)
            print(f"builds killed or limited, then built on: {tried}, of which {len(broken)} failed")
            problems += broken
    print("\n".join(problems) or "nothing failed")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
