"""Make thumbnails cheaply: frames of a video side by side in a small picture.

Decoding begins at the keyframe before each time and ends near it, so that the cost does not grow with the length. It
happens in a process of its own: videos may come from anybody, and a page without some of its pictures is complete.
Pictures are files named by the content that they show, and are made once. That process imports this module, which
therefore needs no tables.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import av
from PIL import Image

from vttdata.errors import MediaError, VttdataError
from vttdata.ids import digest
from vttdata.media.decode import Video, open_video, stated_seconds
from vttdata.media.pictures import turn_upright
from vttdata.partial_file import partial_file
from vttdata.subprocesses import CallProcess, call

# Raised when the same video gives another picture than before.
_VERSION = 2
# Keyframes further than this, in seconds or as a share of what is shown, are too far from the time that is asked for.
_MAX_MISS_SECONDS, _MAX_MISS = 2.5, 0.2
_MAX_DECODED_FRAMES = 400
_MAX_SECONDS_PER_PICTURE = 5.0
_START_SECONDS = 60.0


class Still(NamedTuple):
    """Picture that is wanted: frames of a video at times in seconds since time zero, as many pixels wide each.

    Without times it is the frame in the middle of what the container states. The height of a frame is nine sixteenths
    of its width. The key stands for what is shown, such as the checksum of the video.
    """

    key: str
    path: Path
    times: tuple[float, ...] = ()
    width: int = 160

    @property
    def name(self) -> str:
        """Name of the picture's file, in a folder of its first two letters."""
        name = digest([_VERSION, self.key, list(self.times), self.width])[:20]
        return f"{name[:2]}/{name}.webp"


def sample_times(start: float, end: float) -> tuple[float, ...]:
    """Return the times of the first, the middle and the last picture of a span, in seconds."""
    return (round(start, 3), round((start + end) / 2, 3), round(max(end - 0.2, start), 3))


def make_stills(
    stills: Iterable[Still], folder: Path, *, workers: int = 1, process: CallProcess | None = None
) -> set[str]:
    """Make those pictures that are not in a folder yet, and return the names of all that are.

    Threads of a process make them, by default of one that ends with them.
    """
    wanted = {still.name: still for still in stills}
    missing = [still for name, still in wanted.items() if not (folder / name).is_file()]
    if missing:
        seconds = _START_SECONDS + _MAX_SECONDS_PER_PICTURE * len(missing)
        with contextlib.suppress(VttdataError, TimeoutError, ChildProcessError):
            (process.call if process else call)(_write_stills, missing, folder, workers, seconds=seconds)
    return {name for name in wanted if (folder / name).is_file()}


def _write_stills(stills: Sequence[Still], folder: Path, workers: int) -> None:
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        list(pool.map(lambda still: _write_still(still, folder), stills))


def _write_still(still: Still, folder: Path) -> None:
    width, height = still.width, still.width * 9 // 16
    try:
        with open_video(still.path) as video:
            seconds = stated_seconds(video.container, video.stream)
            times = still.times or (seconds / 2,)
            shown = times[-1] - times[0] if len(times) > 1 else seconds
            tolerance = min(_MAX_MISS_SECONDS, _MAX_MISS * shown)
            pictures = [_picture_at(video, time, tolerance, (width, height)) for time in times]
    except (MediaError, OSError, av.error.FFmpegError):
        return
    target = folder / still.name
    target.parent.mkdir(parents=True, exist_ok=True)
    strip = Image.new("RGB", (width * len(pictures), height))
    for number, picture in enumerate(pictures):
        strip.paste(picture, (number * width + (width - picture.width) // 2, (height - picture.height) // 2))
    data = BytesIO()
    strip.save(data, "WEBP", quality=55, method=2)
    with partial_file(target) as partial:
        partial.write_bytes(data.getvalue())


def _picture_at(video: Video, time: float, tolerance: float, box: tuple[int, int]) -> Image.Image:
    """Return the frame at a time, or one up to a tolerance before it, as large as fits into a box of pixels."""
    video.seek(time)
    video.stream.codec_context.skip_frame = "NONREF"
    chosen = None
    for number, frame in enumerate(video.container.decode(video.stream)):
        chosen = frame
        seconds = video.seconds_of(frame.pts) if frame.pts is not None else time
        if seconds >= time - tolerance or number >= _MAX_DECODED_FRAMES:
            break
    if chosen is None:
        raise MediaError("frames_missing", f"no frame can be decoded at {time:g} s.")
    aspect = float(video.stream.sample_aspect_ratio or 1)
    shown_width, shown_height = max(chosen.width * aspect, 1), chosen.height
    width, height = box[::-1] if chosen.rotation % 180 else box
    scale = min(width / shown_width, height / shown_height)
    size = max(round(shown_width * scale), 2), max(round(shown_height * scale), 2)
    # With more threads, each frame would keep its own until cycles are collected.
    pixels = chosen.to_ndarray(width=size[0], height=size[1], format="rgb24", interpolation="AREA", threads=1)
    return Image.fromarray(turn_upright(pixels, chosen).copy())
