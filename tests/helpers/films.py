"""Write small films of moving patchworks, different for each seed, and edited copies of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from vttdata.media.ffmpeg_program import ffmpeg_path

WIDTH, HEIGHT, RATE = 160, 90, 10
X264 = ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "23", "-pix_fmt", "yuv420p")


def write_film(path: Path, seed: int, seconds: int = 8) -> Path:
    """Write a film with a cut every two seconds, whose shots pan slowly over a patchwork."""
    rng = np.random.default_rng(seed)
    frames = []
    for _ in range(0, seconds, 2):
        canvas = np.full((HEIGHT, 2 * WIDTH, 3), 110.0)
        for size, contrast in ((5, 12), (15, 30), (45, 35)):
            patches = rng.normal(0, contrast, (HEIGHT // size, 2 * WIDTH // size + 1, 3))
            canvas += np.kron(patches, np.ones((size, size, 1)))[:, : 2 * WIDTH]
        frames += [canvas[:, left : left + WIDTH] for left in range(2 * RATE)]
    return encode(path, np.stack(frames[: seconds * RATE]))


def encode(path: Path, frames: np.ndarray) -> Path:
    """Encode RGB frames, time x height x width x 3."""
    size = f"{frames.shape[2]}x{frames.shape[1]}"
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", str(RATE), "-i", "-"]
    command = [ffmpeg_path(), "-v", "error", "-y", *raw, *X264, str(path)]
    subprocess.run(command, input=np.clip(frames, 0, 255).astype(np.uint8).tobytes(), check=True, timeout=60)
    return path


def edit(film: Path, target: Path, graph: str, *options: str) -> Path:
    """Write a copy behind a filter graph, encoded with `options` or as films are."""
    command = [ffmpeg_path(), "-v", "error", "-y", "-i", str(film), "-vf", graph, *(options or X264), str(target)]
    subprocess.run(command, check=True, timeout=60)
    return target
