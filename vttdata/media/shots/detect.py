"""Detect the shots of a video by colour, from all its frames.

A colour-histogram detector as MSR-VTT used one (section 3.2), with a window that adapts to how much the material
moves, with gradual transitions, and with the structure of pictures as further evidence. Knows nothing of clips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Le

from vttdata.errors import MediaError
from vttdata.media.decode import Video, open_video
from vttdata.media.shots.boundaries import Boundary, find_boundaries
from vttdata.media.shots.features import ShotFeatures
from vttdata.media.shots.histogram import describe
from vttdata.media.shots.signals import Floats, Signals, measure_signals, radius_in_frames
from vttdata.records import Shot, Transition
from vttdata.settings import Seconds, Strict

# Longest blank between a fade-out and its fade-in.
_MAX_BLANK_SECONDS = 1.0
# The deblocking filter takes a quarter of the decoding time, and colour histograms hardly change without it. Frames
# that others are predicted from keep it, so that errors do not add up.
_DEBLOCK_REFERENCES_ONLY = {"skip_loop_filter": "noref"}


@dataclass(frozen=True, slots=True)
class ShotSettings(Strict):
    """Settings of shot detection (recipe section `shots`).

    Attributes:
        min_seconds: shots are at least this long; of boundaries closer together the clearest stays. In AutoShot's
            annotations 2.6 % of the shots have fewer than 8 frames.
        cut_ratio: a hard cut changes the colours at least this many times as much as the frames around it do; lower
            finds more cuts between similar pictures, higher fewer false ones in fast motion. On trailers, home
            videos and single takes real cuts began at 2.35 (a jump cut) and fast motion ended at 2.14.
    """

    min_seconds: Seconds = 0.3
    cut_ratio: Annotated[float, Gt(1), Le(100)] = 2.25


@dataclass(frozen=True, slots=True)
class Detection:
    """Shots of one video, with its number of frames, mean frames a second, and the end of its last frame in seconds."""

    frames: int
    fps: float
    seconds: float
    shots: tuple[Shot, ...]


def detect_shots(
    path: str | Path, settings: ShotSettings = ShotSettings(), *, source_id: str = "", threads: int = 1
) -> Detection:
    """Find the shots of a video file.

    Args:
        path: a local file.
        settings: see `ShotSettings`.
        source_id: the shots' source.
        threads: decoder threads; 1 costs least CPU in all, 0 lets the decoder choose.

    Returns:
        A `Detection` whose shots cover the video without gaps: each ends where the next starts. A gradual transition
        is divided at its middle.

    Raises:
        MediaError: when the file cannot be read, holds no frame or no usable times, or a packet cannot be decoded.
    """
    return find_shots(read_features(Path(path), threads=threads), settings, source_id=source_id)


def find_shots(features: ShotFeatures, settings: ShotSettings, *, source_id: str = "") -> Detection:
    """Find the shots of a video whose features were read; see `detect_shots`."""
    signals, times = features.signals, features.times
    fps = float((len(times) - 1) / (times[-1] - times[0]))
    boundaries = find_boundaries(
        signals,
        cut_ratio=settings.cut_ratio,
        radius=radius_in_frames(features.stated_rate),
        min_length=max(round(settings.min_seconds * fps), 1),
        max_blank=round(_MAX_BLANK_SECONDS * fps),
    )
    shots = tuple(shots_between(boundaries, signals, times, source_id))
    return Detection(len(signals), fps, float(times[-1]), shots)


def read_features(path: Path, *, threads: int = 1) -> ShotFeatures:
    """Decode every frame of a video for its shots alone; see `detect_shots`."""
    times: list[float] = []
    with open_video(path, threads=threads) as video:
        context = video.stream.codec_context
        context.options = {**context.options, **_DEBLOCK_REFERENCES_ONLY}
        stated_rate = video.frame_rate
        signals = measure_signals(describe(_decode_pictures(video, times)), stated_rate)
    return ShotFeatures(signals, np.array(times), stated_rate)


def _decode_pictures(video: Video, times: list[float]) -> Iterator[Any]:
    """Yield all pictures; note when each starts and, last, when the last one ends.

    Raises:
        MediaError: when a packet cannot be decoded, or none gives a frame.
    """
    end: float | None = None
    for frame in video.frames():
        times.append(frame.time)
        end = frame.time + frame.seconds
        yield frame.picture
    tally = video.tally
    if tally.undecodable:
        facts = f"{tally.undecodable} of {tally.packets} packets cannot be decoded: {tally.first_error}"
        raise MediaError("damaged", facts)
    if end is None:
        raise MediaError("no_video", f"no frame comes out of the {tally.packets} packets of the video stream.")
    times.append(end)


def shots_between(boundaries: list[Boundary], signals: Signals, times: Floats, source_id: str) -> Iterator[Shot]:
    """Yield the shots into which boundaries divide a video.

    Args:
        boundaries: in order.
        signals: of the video's n frames.
        times: n + 1 seconds: when each frame starts, and when the last one ends.
        source_id: the shots' source.
    """
    within_shot = np.ones(len(signals), bool)
    within_shot[0] = False
    for boundary in boundaries:
        within_shot[boundary.first : boundary.last + 1] = False
    starts = [0, *(boundary.frame for boundary in boundaries)]
    transitions: list[Transition] = ["start", *(boundary.transition for boundary in boundaries)]
    ends = [*starts[1:], len(signals)]
    for index, (first, end, transition) in enumerate(zip(starts, ends, transitions, strict=True)):
        frames = slice(first, end)
        change = signals.change[frames][within_shot[frames]]
        colours = signals.colours[frames].sum(0, dtype=np.int64)
        yield Shot(
            source_id=source_id,
            index=index,
            start=float(times[first]),
            end=float(times[end]),
            first_frame=first,
            last_frame=end - 1,
            transition=transition,
            dark=round(float(signals.dark[frames].mean()), 4),
            chroma=round(float(signals.chroma[frames].mean()), 2),
            motion=round(float(change.sum() / max(len(change), 1)), 4),
            colours=tuple(round(float(share), 4) for share in (colours / colours.sum(-1, keepdims=True)).ravel()),
        )
