"""Make thumbnails cheaply: frames at the beginning, the middle and the end of a span, side by side in a small picture.

Decoding begins at the keyframe before each time and ends near it, so that the cost does not grow with the length.
Pictures are files named by the content that they show, and are made once.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import av
from PIL import Image

from vttdata.errors import MediaError
from vttdata.ids import digest
from vttdata.media.decode import Video, open_video
from vttdata.media.pictures import turn_upright

WIDTH, HEIGHT = 160, 90
_QUALITY = 55
# Raised when the same video gives another picture than before.
_VERSION = 1
# Keyframes further apart than this, in seconds, are too far from the time that is asked for.
_MAX_MISS_SECONDS = 2.5
_MAX_DECODED_FRAMES = 400


class Still(NamedTuple):
    """Picture that is wanted: `key` names what it shows, ``path`` the video, times are seconds since time zero."""

    key: str
    path: Path
    times: tuple[float, ...]

    @property
    def name(self) -> str:
        """Name of the picture's file, in a folder of its first two letters."""
        name = digest([_VERSION, self.key, list(self.times)])[:20]
        return f"{name[:2]}/{name}.webp"


def make_stills(stills: Iterable[Still], folder: Path, *, workers: int = 1) -> set[str]:
    """Make those pictures that are not there yet, and return the names of all that are.

    Args:
        stills: wanted pictures.
        folder: of the pictures.
        workers: threads.
    """
    wanted = {still.name: still for still in stills}
    missing = [still for name, still in wanted.items() if not (folder / name).is_file()]
    failed: set[str] = set()
    if missing:
        with ThreadPoolExecutor(max(workers, 1)) as pool:
            made = pool.map(lambda still: _write_still(still, folder), missing)
            failed = {still.name for still, is_made in zip(missing, made, strict=True) if not is_made}
    return wanted.keys() - failed


def remove_others(folder: Path, names: Iterable[str]) -> None:
    """Remove pictures that have none of these names."""
    kept = set(names)
    for path in folder.glob("??/*.webp"):
        if path.relative_to(folder).as_posix() not in kept:
            path.unlink()


def as_data_address(path: Path) -> str:
    """Return a picture as an address that a page can hold."""
    return f"data:image/webp;base64,{base64.b64encode(path.read_bytes()).decode()}"


def _write_still(still: Still, folder: Path) -> bool:
    try:
        with open_video(still.path) as video:
            pictures = [_picture_at(video, time) for time in still.times]
    except (MediaError, OSError, av.error.FFmpegError):
        return False
    target = folder / still.name
    target.parent.mkdir(parents=True, exist_ok=True)
    strip = Image.new("RGB", (WIDTH * len(pictures), HEIGHT))
    for number, picture in enumerate(pictures):
        x = number * WIDTH + (WIDTH - picture.width) // 2
        strip.paste(picture, (x, (HEIGHT - picture.height) // 2))
    data = BytesIO()
    strip.save(data, "WEBP", quality=_QUALITY, method=2)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    partial.write_bytes(data.getvalue())
    os.replace(partial, target)
    return True


def _picture_at(video: Video, time: float) -> Image.Image:
    """Return the frame at a time, or the keyframe before it where that is near."""
    video.seek(time)
    chosen = None
    for number, frame in enumerate(video.container.decode(video.stream)):
        chosen = frame
        seconds = video.seconds_of(frame.pts) if frame.pts is not None else time
        if seconds >= time - _MAX_MISS_SECONDS or number >= _MAX_DECODED_FRAMES:
            break
    if chosen is None:
        raise MediaError("frames_missing", f"no frame can be decoded at {time:g} s.")
    aspect = float(video.stream.sample_aspect_ratio or 1)
    width, height = max(chosen.width * aspect, 1), chosen.height
    is_turned = chosen.rotation % 180 != 0
    box = (HEIGHT, WIDTH) if is_turned else (WIDTH, HEIGHT)
    scale = min(box[0] / width, box[1] / height)
    size = max(round(width * scale), 2), max(round(height * scale), 2)
    pixels = chosen.to_ndarray(width=size[0], height=size[1], format="rgb24", interpolation="AREA")
    return Image.fromarray(turn_upright(pixels, chosen).copy())


def sample_times(start: float, end: float) -> tuple[float, ...]:
    """Return the times of the first, the middle and the last picture of a span, in seconds."""
    return (round(start, 3), round((start + end) / 2, 3), round(max(end - 0.2, start), 3))
