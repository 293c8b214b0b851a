"""Cost of each stage that reads pictures, relative to a bare decode of the same files, and its peak memory.

Run it alone: ``python benchmarks/stages.py [FILE...]``. Without files it draws films of its own. Every figure is a
ratio of CPU seconds (user and system) to ``ffmpeg -f null`` on the same file in the same run, one decoder thread each,
the median of three rounds; the last column is the peak memory of a process that does only this.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from vttdata.media.ffmpeg_program import ffmpeg_path

ROUNDS = 3
SNIPPETS = {
    "bare PyAV decode": "from vttdata.media.decode import open_video\n"
    "with open_video(path) as video:\n    for frame in video.frames(): pass",
    "measure": "from vttdata.media.measure import measure\nmeasure(path)",
    "one reading": "from vttdata.media.source_analysis import analyse_source\nanalyse_source(path)",
    "shots": "from vttdata.media.shots.detect import detect_shots\ndetect_shots(path)",
}


def write_film(path: Path, seconds: int, size: str = "640x360", rate: int = 25) -> None:
    """Write a film of moving test pictures that change every five seconds, as x264 encodes it by default."""
    graph = f"testsrc2=s={size}:r={rate}:d={seconds},hue='h=60*floor(t/5)'"
    command = [ffmpeg_path(), "-v", "error", "-y", "-f", "lavfi", "-i", graph, "-pix_fmt", "yuv420p", str(path)]
    subprocess.run(command, check=True)


def measure_cost(command: list[str]) -> tuple[float, float]:
    """Return the CPU seconds and the peak memory in MiB of a process."""
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{command[:3]} ended with status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def python_command(snippet: str, path: Path) -> list[str]:
    """Return the command line of a process that runs a snippet on a file."""
    return [sys.executable, "-c", f"import sys\nfrom pathlib import Path\npath = Path({str(path)!r})\n{snippet}"]


def compare(path: Path) -> None:
    """Print the table of a file."""
    bare = [ffmpeg_path(), "-v", "error", "-threads", "1", "-i", str(path), "-map", "0:v:0", "-f", "null", "-"]
    empty = statistics.median(measure_cost(python_command("import av, numpy", path))[0] for _ in range(ROUNDS))
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in ("ffmpeg -f null", *SNIPPETS)}
    for _ in range(ROUNDS):
        rounds["ffmpeg -f null"].append(measure_cost(bare))
        for name, snippet in SNIPPETS.items():
            seconds, memory = measure_cost(python_command(snippet, path))
            rounds[name].append((seconds - empty, memory))
    limit = statistics.median(seconds for seconds, _ in rounds["ffmpeg -f null"])
    print(f"{path.name}: bare decode {limit:.2f} CPU s (start-up of Python, {empty:.2f} s, is taken off below)")
    for name, figures in rounds.items():
        ratio = statistics.median(seconds for seconds, _ in figures) / limit
        print(f"  {name:<22}{ratio:>6.2f} x   {max(memory for _, memory in figures):>6.0f} MiB")


def main() -> None:
    """Compare on the files named, or on drawn films of half a minute and of two minutes."""
    files = [Path(name) for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        for seconds in () if files else (30, 120):
            files.append(Path(folder) / f"drawn-{seconds}s.mp4")
            write_film(files[-1], seconds)
        for path in files:
            compare(path)


if __name__ == "__main__":
    main()
