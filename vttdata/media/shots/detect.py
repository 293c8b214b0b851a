"""Detect the shots of a video by colour, from all its frames or from a part of them.

A colour-histogram detector as MSR-VTT used one (section 3.2), with a window that adapts to how much the material
moves, with gradual transitions, and with the structure of pictures as further evidence. Knows nothing of clips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt, Le
from av.video.frame import PictureType

from vttdata.errors import MediaError
from vttdata.media.decode import Video, all_keyframes, open_video
from vttdata.media.shots.boundaries import Boundary, find_boundaries
from vttdata.media.shots.fast.gop_decode import describe_planned_gops
from vttdata.media.shots.fast.gop_plan import plan_decoding
from vttdata.media.shots.fast.packets import (
    DEBLOCK_REFERENCES_ONLY,
    NO_DEBLOCKING,
    Packets,
    UnsupportedStreamError,
    read_packets,
)
from vttdata.media.shots.fast.reference_frames import FrameOrder, describe_reference_frames, read_frame_order
from vttdata.media.shots.fast.refine import Gap, locate_cuts
from vttdata.media.shots.histogram import describe
from vttdata.media.shots.signals import Flags, Floats, Signals, measure_signals, radius_in_frames
from vttdata.records import Shot, Transition
from vttdata.settings import Seconds, Strict

# Longest blank between a fade-out and its fade-in.
_MAX_BLANK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ShotSettings(Strict):
    """Settings of shot detection (recipe section `shots`).

    Attributes:
        method: ``exact`` decodes and compares every frame; ``fast`` decodes the frames that can show a boundary, at
            less than half the cost, and every frame of streams that say too little (all codecs but H.264, HEVC, MPEG-1
            and MPEG-2).
        min_seconds: shots are at least this long; of boundaries closer together the clearest stays. In AutoShot's
            annotations 2.6 % of the shots have fewer than 8 frames.
        cut_ratio: a hard cut changes the colours at least this many times as much as the frames around it do; lower
            finds more cuts between similar pictures, higher fewer false ones in fast motion. On trailers, home
            videos and single takes real cuts began at 2.35 (a jump cut) and fast motion ended at 2.14.
    """

    method: Literal["fast", "exact"] = "fast"
    min_seconds: Seconds = 0.3
    cut_ratio: Annotated[float, Gt(1), Le(100)] = 2.25


@dataclass(frozen=True, slots=True)
class Detection:
    """Shots of one video, with its number of frames, mean frames a second, and the end of its last frame in seconds."""

    frames: int
    fps: float
    seconds: float
    method: str
    shots: tuple[Shot, ...]


def detect_shots(
    path: str | Path,
    settings: ShotSettings = ShotSettings(),
    *,
    source_id: str = "",
    threads: int = 1,
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
    path = Path(path)
    intra_only = all_keyframes(path)
    analysis = None
    if settings.method == "fast" and not intra_only:
        analysis = _analyse_h264_packets(path, threads) or _analyse_reference_frames(path, threads)
    method = "fast" if analysis else "exact"
    analysis = analysis or _analyse_all_frames(path, threads, intra_only)
    fps = float((len(analysis.times) - 1) / (analysis.times[-1] - analysis.times[0]))
    boundaries = find_boundaries(
        analysis.signals,
        cut_ratio=settings.cut_ratio,
        radius=radius_in_frames(analysis.stated_rate),
        min_length=max(round(settings.min_seconds * fps), 1),
        max_blank=round(_MAX_BLANK_SECONDS * fps),
        is_decoded=analysis.is_decoded,
        cut_expected=analysis.cut_expected,
    )
    boundaries = refine_cuts(path, threads, boundaries, analysis)
    shots = tuple(shots_between(boundaries, analysis.signals, analysis.times, source_id))
    return Detection(len(analysis.signals), fps, float(analysis.times[-1]), method, shots)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Signals of a video's n frames and their n + 1 times; the stream and the flags only where frames were skipped."""

    signals: Signals
    times: Floats
    stated_rate: float
    stream: Packets | FrameOrder | None = None
    is_decoded: Flags | None = None
    cut_expected: Flags | None = None


def _analyse_all_frames(path: Path, threads: int, intra_only: bool) -> Analysis:
    """Decode every frame; a stream whose first packets are all keyframes is decoded without deblocking."""
    times: list[float] = []
    try:
        with open_video(path, threads=threads) as video:
            video.stream.codec_context.options = NO_DEBLOCKING if intra_only else DEBLOCK_REFERENCES_ONLY
            stated_rate = video.frame_rate
            signals = measure_signals(describe(_decode_pictures(video, times, intra_only)), stated_rate)
    except UnsupportedStreamError:
        return _analyse_all_frames(path, threads, False)
    return Analysis(signals, np.array(times), stated_rate)


def _decode_pictures(video: Video, times: list[float], intra_only: bool) -> Iterator[Any]:
    """Yield all pictures; note when each starts and, last, when the last one ends.

    Raises:
        UnsupportedStreamError: when a picture of a stream that is taken for `intra_only` is predicted from others.
        MediaError: when a packet cannot be decoded, or none gives a frame.
    """
    end: float | None = None
    for frame in video.frames():
        if intra_only and frame.picture.pict_type not in (PictureType.NONE, PictureType.I):
            raise UnsupportedStreamError
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


def _analyse_h264_packets(path: Path, threads: int) -> Analysis | None:
    """Decode the parts of an H.264 stream that its packets' sizes call for; None where they say too little."""
    try:
        with open_video(path, threads=threads) as video:
            stated_rate = video.frame_rate
            packets = read_packets(video)
        plan = plan_decoding(packets)
        is_decoded = np.zeros(len(packets), bool)
        with open_video(path, threads=threads) as video:
            signals = measure_signals(describe_planned_gops(video, packets, plan, is_decoded), stated_rate)
    except UnsupportedStreamError:
        return None
    return Analysis(signals, packets.times, stated_rate, packets, is_decoded, plan.cut_expected)


def _analyse_reference_frames(path: Path, threads: int) -> Analysis | None:
    """Decode the frames that others are predicted from; None where the others cannot be skipped."""
    try:
        with open_video(path, threads=threads) as video:
            stated_rate = video.frame_rate
            order = read_frame_order(video)
        with open_video(path, threads=threads) as video:
            signals = measure_signals(describe_reference_frames(video, order), stated_rate)
    except UnsupportedStreamError:
        return None
    return Analysis(signals, order.times, stated_rate, order, order.is_referenced)


def refine_cuts(path: Path, threads: int, boundaries: list[Boundary], analysis: Analysis) -> list[Boundary]:
    """Return the boundaries, cuts across skipped frames moved to their exact frame, or dropped where they are none."""
    if analysis.stream is None or analysis.is_decoded is None:
        return boundaries
    decoded = np.flatnonzero(analysis.is_decoded)
    decoded_before = decoded[np.searchsorted(decoded, [boundary.frame for boundary in boundaries]) - 1].tolist()
    gaps = {
        boundary: Gap(before + 1, boundary.frame)
        for boundary, before in zip(boundaries, decoded_before, strict=True)
        if boundary.transition == "cut" and before < boundary.frame - 1
    }
    if not gaps:
        return boundaries
    with open_video(path, threads=threads) as video:
        located = dict(zip(gaps, locate_cuts(video, analysis.stream, list(gaps.values())), strict=True))
    refined = []
    for boundary in boundaries:
        cut = located.get(boundary)
        if cut is None:
            refined.append(boundary)
        elif not cut.is_explained:
            refined.append(Boundary(cut.frame, "cut", cut.frame, cut.frame))
    return refined


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
            motion=round(float(change.sum() / max(len(change), 1)), 4),
            colours=tuple(round(float(share), 4) for share in (colours / colours.sum(-1, keepdims=True)).ravel()),
        )
