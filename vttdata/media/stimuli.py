"""Stimuli made of a clip: what a model is shown of it in each condition, such as one frame, or all in another order.

A clip is decoded once, whatever the number of conditions. Its frames are scaled as for clips, and wait in a file; every
video is then written by `vttdata.media.cut.cut`, which compares it with them. No model is run here.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from PIL import Image

from vttdata.conditions import VIDEOS, StimuliSettings, Stimulus, choose_frames
from vttdata.errors import MediaError
from vttdata.media.cut import SCALER, MediaSettings, add_sound, clip_size, cut
from vttdata.media.decode import open_video
from vttdata.media.measure import Measurement
from vttdata.media.pictures import turn_upright
from vttdata.media.probe import decoding_limit, probe
from vttdata.media.tone_mapping import is_hdr
from vttdata.partial_file import partial_file
from vttdata.records import INTERLACED, ClipMedia, Probe

_PLAIN = ("all", "muted", "other")
_JPEG_QUALITY = 95

Frames = npt.NDArray[np.uint8]
"""Frames of a clip in YUV 4:2:0, n x 3/2 height x width, mapped from a file."""


@dataclass(frozen=True, slots=True)
class DecodedClip:
    """Frames of a clip, and when each is shown.

    Fields:
        frames: n frames.
        ticks: (n + 1,) times in units of `time_base` seconds since the first frame; the last is when the clip ends.
        times: (n,) seconds since time zero.
        begin: timestamp of the first frame in the clip's file, in seconds.
    """

    frames: Frames
    ticks: Sequence[int]
    times: Sequence[float]
    time_base: Fraction
    begin: float


def decode_clip(path: Path, probed: Probe, height: int | None, scratch: Path) -> DecodedClip:
    """Decode a clip once, and keep its frames, upright and scaled, in a file in the folder `scratch`.

    Raises:
        MediaError: ``unsupported`` for pictures of high dynamic range or of two fields, and what `measure` raises.
    """
    if is_hdr(probed) or probed.field_order in INTERLACED:
        what = "pictures of high dynamic range" if is_hdr(probed) else "interlaced pictures"
        raise MediaError("unsupported", f"{what} are no stimuli; clips that 'vttdata build' cuts have neither.")
    width, lines = clip_size(probed.width, probed.height, height)
    stored = (width, lines) if probed.rotation % 180 == 0 else (lines, width)
    pts: list[int] = []
    times: list[float] = []
    file = scratch / "frames.yuv"
    with open_video(path) as video, file.open("wb") as stream:
        measurement, scaler = Measurement(path, video), _Scaler(*stored)
        for frame in measurement.frames():
            pts.append(frame.pts)
            times.append(frame.time)
            for plane in _planes(scaler.scale(frame.picture), frame.picture):
                stream.write(plane.tobytes())
        rest = measurement.result().seconds - times[-1]
        time_base = video.time_base
    ticks = [tick - pts[0] for tick in [*pts, pts[-1] + max(round(rest / time_base), 1)]]
    frames: Frames = np.memmap(file, np.uint8, "r", shape=(len(pts), lines * 3 // 2, width))
    return DecodedClip(frames, ticks, times, time_base, float(pts[0] * time_base))


class _Scaler:
    """Filters that scale pictures of any size and format to 8 bits of YUV 4:2:0 by the matrix of BT.601."""

    def __init__(self, width: int, height: int) -> None:
        self._options = f"{width}:{height}:flags={SCALER}:out_range=tv:out_color_matrix=smpte170m"
        self._graph: Any = None
        self._format: tuple[object, ...] = ()

    def scale(self, picture: av.VideoFrame) -> av.VideoFrame:
        form = picture.width, picture.height, picture.format.name
        if form != self._format:
            # Both may change in a stream.
            self._graph, self._format = av.filter.Graph(), form
            self._graph.threads = 1
            tick = picture.time_base or Fraction(1, 1000)
            source = self._graph.add_buffer(width=form[0], height=form[1], format=picture.format, time_base=tick)
            filters = [self._graph.add("scale", self._options), self._graph.add("format", "yuv420p")]
            self._graph.link_nodes(source, *filters, self._graph.add("buffersink")).configure()
        self._graph.push(picture)
        scaled: av.VideoFrame = self._graph.pull()
        return scaled


def _planes(scaled: av.VideoFrame, picture: av.VideoFrame) -> Iterator[Frames]:
    """Yield the three planes of a scaled picture, as players show it."""
    packed, lines, columns = scaled.to_ndarray(), scaled.height, scaled.width
    halves = packed[lines:].reshape(2, lines // 2, columns // 2)
    for plane in (packed[:lines], *halves):
        yield turn_upright(plane, picture)


class ClipStimuli:
    """Writer of the stimuli of one clip into the folder of a set; to be used as a context.

    Temporary files lie in the folder `scratch`.

    Raises:
        MediaError: what `probe`, `decode_clip` and `cut` raise.
        OSError: when a file cannot be written or the disk is full.
    """

    def __init__(self, path: Path, settings: StimuliSettings, folder: Path, scratch: Path) -> None:
        self._path, self._settings, self._folder = path, settings, folder
        self._temporary = tempfile.TemporaryDirectory(dir=scratch)
        self._scratch = Path(self._temporary.name)
        self._limit = decoding_limit(None, path.stat().st_size)
        self._plain: dict[bool, tuple[Path, ClipMedia]] = {}

    def __enter__(self) -> ClipStimuli:
        with contextlib.ExitStack() as stack:
            stack.callback(self._temporary.cleanup)
            self._probe = probe(self._path)
            self.clip = decode_clip(self._path, self._probe, self._settings.height, self._scratch)
            stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.cleanup()

    def write(self, video_id: str, condition: str, shows: str) -> Stimulus:
        """Write the stimulus of a clip, whose frames are those of the clip `shows`, which is the one at hand."""
        clip, settings = self.clip, self._settings
        indices = choose_frames(condition, len(clip.frames), settings, video_id)
        media = None
        if condition in VIDEOS:
            files = [self._folder / condition / f"{video_id}.mp4"]
            files[0].parent.mkdir(parents=True, exist_ok=True)
            media = self._write_video(indices, condition, files[0])
        else:
            parent = self._folder / condition / video_id
            files = [parent / f"{place:04d}.{settings.pictures}" for place in range(len(indices))]
            for file, index in zip(files, indices, strict=True):
                self._write_picture(index, file)
        is_drawn = condition in ("random", "shuffled", "shuffled-frames", "other")
        return Stimulus(
            video_id,
            condition,
            tuple(file.relative_to(self._folder).as_posix() for file in files),
            tuple(map(_sha256, files)),
            sum(file.stat().st_size for file in files),
            shows,
            len(clip.frames),
            tuple(indices),
            tuple(clip.times[index] for index in indices),
            media.seconds if media is not None else None,
            settings.seed_of(video_id, condition) if is_drawn else None,
        )

    def _ticks(self, indices: Sequence[int], condition: str) -> list[int]:
        """Return when frames are shown one after another, each as long as in the clip, and when the last one ends."""
        if condition == "frozen":
            return list(self.clip.ticks)
        lengths = np.diff(self.clip.ticks)
        ticks: list[int] = np.cumsum([0, *lengths[list(indices)]]).tolist()
        return ticks

    def _write_picture(self, index: int, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        picture = av.VideoFrame.from_ndarray(self.clip.frames[index], "yuv420p").to_ndarray(format="rgb24")
        options: dict[str, Any] = {"quality": _JPEG_QUALITY} if self._settings.pictures == "jpeg" else {}
        with partial_file(file) as partial:
            Image.fromarray(picture).save(partial, self._settings.pictures.upper(), **options)

    def _write_video(self, indices: Sequence[int], condition: str, file: Path) -> ClipMedia:
        if condition not in _PLAIN:
            return self._cut(indices, condition, file)
        with_sound = condition != "muted" and self._probe.audio_stream is not None
        if False not in self._plain:
            silent = self._scratch / "silent.mp4"
            self._plain[False] = silent, self._cut(indices, condition, silent)
        if with_sound and True not in self._plain:
            (silent, media), sounding = self._plain[False], self._scratch / "sounding.mp4"
            add_sound(silent, self._path, self._probe, self.clip.begin, media, sounding)
            self._plain[True] = sounding, media
        made, media = self._plain[with_sound]
        with partial_file(file) as partial:
            shutil.copyfile(made, partial)
        return media

    def _cut(self, indices: Sequence[int], condition: str, file: Path) -> ClipMedia:
        """Write frames in an order as a source without compression, and cut it whole."""
        clip, source = self.clip, self._scratch / "source.nut"
        ticks = self._ticks(indices, condition)
        _, lines, width = clip.frames.shape
        with av.open(str(source), mode="w") as container:
            stream: Any = container.add_stream("rawvideo", rate=25)
            stream.width, stream.height, stream.pix_fmt = width, lines * 2 // 3, "yuv420p"
            stream.time_base = stream.codec_context.time_base = clip.time_base
            for index, tick in zip(indices, ticks, strict=False):
                frame = av.VideoFrame.from_ndarray(clip.frames[index], "yuv420p")
                frame.pts, frame.time_base = tick, clip.time_base
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
        times = np.array([float(tick * clip.time_base) for tick in ticks])
        settings = MediaSettings(height=None, audio=False)
        media = cut(source, probe(source), times, 0.0, np.inf, file, settings, seconds_limit=self._limit)
        source.unlink()
        return media


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
