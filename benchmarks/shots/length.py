"""Measure how the detector's time and memory grow with the length of a video: 1080p of 2 minutes, 20 minutes, 2 hours.

Run `python benchmarks/shots/length.py [--minutes 2 --minutes 20]`. One minute of footage is encoded
and repeated by stream copy; the videos are removed afterwards. CPU is that of the whole process, start-up of Python
taken off; memory is the process's peak.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from benchmarks.shots.detectors import OURS
from benchmarks.shots.generate import default_footage
from benchmarks.shots.run import measure
from vttdata.media.ffmpeg_program import ffmpeg_path

RATE = 24
_SCALE = "scale=1920:1080:force_original_aspect_ratio=increase,crop=1920:1080"
_ENCODING = ("-c:v", "libx264", "-preset", "ultrafast", "-tune", "fastdecode", "-crf", "30", "-pix_fmt", "yuv420p")


def encode_minute(path: Path, footage: Path) -> Path:
    """Encode one minute of 1080p: the footage, repeated from its start."""
    source = ["-stream_loop", "-1", "-i", str(footage), "-map", "0:v:0", "-t", "60", "-r", str(RATE), "-vf", _SCALE]
    subprocess.run([ffmpeg_path(), "-v", "error", "-y", *source, *_ENCODING, str(path)], check=True)
    return path


def repeat(path: Path, video: Path, times: int) -> Path:
    """Write a video several times over, copied packet by packet."""
    list_file = path.with_suffix(".txt")
    list_file.write_text(f"file '{video}'\n" * times, "utf-8")
    source = ["-f", "concat", "-safe", "0", "-i", str(list_file), "-c", "copy"]
    subprocess.run([ffmpeg_path(), "-v", "error", "-y", *source, str(path)], check=True)
    return path


def main() -> None:
    """Make each video, measure, print a line, remove it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, action="append", help="length of a video; default: 2, 20 and 120")
    trailer = default_footage() / "shots" / "sintel-trailer-30s.mp4"
    parser.add_argument("--footage", type=Path, default=trailer, help="a video with shots (%(default)s)")
    options = parser.parse_args()
    print("| minutes | frames | CPU, s | CPU, s a minute | peak MiB | shots |")
    print("|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        minute_video = encode_minute(Path(folder) / "minute.mp4", options.footage)
        for minutes in options.minutes or (2, 20, 120):
            video = repeat(Path(folder) / f"{minutes}.mp4", minute_video, minutes)
            run = measure(OURS, video)
            if run.error:
                raise SystemExit(f"{minutes} minutes: {run.error}")
            costs = f"{run.cpu:.1f} | {run.cpu / minutes:.2f} | {run.memory:.0f}"
            print(f"| {minutes} | {minutes * 60 * RATE} | {costs} | {len(run.frames) + 1} |", flush=True)
            video.unlink()


if __name__ == "__main__":
    main()
