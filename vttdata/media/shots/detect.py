"""Detect the shots of a video by colour, from all its frames or from a part of them.

A colour-histogram detector as MSR-VTT used one (section 3.2), with a window that adapts to how much the material
moves, with gradual transitions, and with the structure of pictures as further evidence. Knows nothing of clips.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    UnsupportedStreamError,
    Watch,
    read_packets,
)
from vttdata.media.shots.fast.reference_frames import describe_reference_frames, read_frame_order
from vttdata.media.shots.fast.refine import Gap, locate_cuts
from vttdata.media.shots.features import ShotFeatures, SkippedFrames
from vttdata.media.shots.histogram import describe
from vttdata.media.shots.signals import Floats, Signals, measure_signals, radius_in_frames
from vttdata.records import Shot, Transition
from vttdata.settings import Seconds, Strict

# Longest blank between a fade-out and its fade-in.
_MAX_BLANK_SECONDS = 1.0

Method = Literal["fast", "exact"]


@dataclass(frozen=True, slots=True)
class ShotSettings(Strict):
    """Settings of shot detection (recipe section `shots`).

    Attributes:
        method: ``exact`` decodes and compares every frame; ``fast`` decodes the frames that can show a boundary, at
            less than half the cost (in a build, which takes quality and fingerprint from the same reading, those that
            others refer to as well), and every frame of streams that say too little (all codecs but H.264, HEVC, MPEG-1
            and MPEG-2).
        min_seconds: shots are at least this long; of boundaries closer together the clearest stays. In AutoShot's
            annotations 2.6 % of the shots have fewer than 8 frames.
        cut_ratio: a hard cut changes the colours at least this many times as much as the frames around it do; lower
            finds more cuts between similar pictures, higher fewer false ones in fast motion. On trailers, home
            videos and single takes real cuts began at 2.35 (a jump cut) and fast motion ended at 2.14.
    """

    method: Method = "fast"
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
    features = read_features(Path(path), settings.method, threads=threads)
    return find_shots(Path(path), features, settings, source_id=source_id, threads=threads)


def find_shots(
    path: Path, features: ShotFeatures, settings: ShotSettings, *, source_id: str = "", threads: int = 1
) -> Detection:
    """Find the shots of a video file whose features were read; decodes nothing but a little around skipped frames.

    Args:
        path: a local file.
        features: of the file.
        settings: see `ShotSettings`; `method` is that of the features.
        source_id: the shots' source.
        threads: decoder threads.
    """
    signals, times, skipped = features.signals, features.times, features.skipped
    fps = float((len(times) - 1) / (times[-1] - times[0]))
    boundaries = find_boundaries(
        signals,
        cut_ratio=settings.cut_ratio,
        radius=radius_in_frames(features.stated_rate),
        min_length=max(round(settings.min_seconds * fps), 1),
        max_blank=round(_MAX_BLANK_SECONDS * fps),
        is_decoded=skipped.is_decoded if skipped else None,
        cut_expected=skipped.cut_expected if skipped else None,
    )
    boundaries = refine_cuts(path, threads, boundaries, features)
    shots = tuple(shots_between(boundaries, signals, times, source_id))
    return Detection(len(signals), fps, float(times[-1]), "fast" if skipped else "exact", shots)


def read_features(path: Path, method: Method, *, threads: int = 1) -> ShotFeatures:
    """Decode a video for its shots alone; see `detect_shots`."""
    intra_only = all_keyframes(path)
    features = read_features_fast(path, threads=threads) if method == "fast" and not intra_only else None
    return features or _read_all_frames(path, threads, intra_only)


def _read_all_frames(path: Path, threads: int, intra_only: bool) -> ShotFeatures:
    """Decode every frame; a stream whose first packets are all keyframes is decoded without deblocking."""
    times: list[float] = []
    try:
        with open_video(path, threads=threads) as video:
            video.stream.codec_context.options = NO_DEBLOCKING if intra_only else DEBLOCK_REFERENCES_ONLY
            stated_rate = video.frame_rate
            signals = measure_signals(describe(_decode_pictures(video, times, intra_only)), stated_rate)
    except UnsupportedStreamError:
        return _read_all_frames(path, threads, False)
    return ShotFeatures(signals, np.array(times), stated_rate)


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


def read_features_fast(
    path: Path, *, threads: int = 1, new_watch: Callable[[], Watch] | None = None
) -> ShotFeatures | None:
    """Decode the frames that can show a boundary, as far as a stream's packets tell.

    Args:
        path: a local file.
        threads: decoder threads.
        new_watch: called when decoding begins, anew if it begins again; what it returns is called with each decoded
            frame's time in seconds and picture (`av.VideoFrame`), in order.

    Returns:
        None where the packets tell too little, so that every frame has to be decoded.

    Raises:
        MediaError: what `open_video` and `Video.packets` raise.
    """
    for read in (_read_planned_gops, _read_reference_frames):
        try:
            return read(path, threads, new_watch() if new_watch else None)
        except UnsupportedStreamError:
            continue
    return None


def _read_planned_gops(path: Path, threads: int, watch: Watch | None) -> ShotFeatures:
    """Decode the parts of an H.264 stream that its packets' sizes call for."""
    with open_video(path, threads=threads) as video:
        stated_rate = video.frame_rate
        packets = read_packets(video)
    plan = plan_decoding(packets)
    is_decoded = np.zeros(len(packets), bool)
    with open_video(path, threads=threads) as video:
        signals = measure_signals(describe_planned_gops(video, packets, plan, is_decoded, watch), stated_rate)
    # GOPs are closed, so that keyframes have one position in decoding and in presentation order.
    skipped = SkippedFrames(np.sort(packets.pts), packets.keyframes, is_decoded, plan.cut_expected)
    return ShotFeatures(signals, packets.times, stated_rate, skipped)


def _read_reference_frames(path: Path, threads: int, watch: Watch | None) -> ShotFeatures:
    """Decode the frames that others are predicted from."""
    with open_video(path, threads=threads) as video:
        stated_rate = video.frame_rate
        order = read_frame_order(video)
    with open_video(path, threads=threads) as video:
        signals = measure_signals(describe_reference_frames(video, order, watch), stated_rate)
    return ShotFeatures(
        signals, order.times, stated_rate, SkippedFrames(order.pts, order.keyframes, order.is_referenced)
    )


def refine_cuts(path: Path, threads: int, boundaries: list[Boundary], features: ShotFeatures) -> list[Boundary]:
    """Return the boundaries, cuts across skipped frames moved to their exact frame, or dropped where they are none."""
    skipped = features.skipped
    if skipped is None:
        return boundaries
    decoded = np.flatnonzero(skipped.is_decoded)
    decoded_before = decoded[np.searchsorted(decoded, [boundary.frame for boundary in boundaries]) - 1].tolist()
    gaps = {
        boundary: Gap(before + 1, boundary.frame)
        for boundary, before in zip(boundaries, decoded_before, strict=True)
        if boundary.transition == "cut" and before < boundary.frame - 1
    }
    if not gaps:
        return boundaries
    with open_video(path, threads=threads) as video:
        located = dict(zip(gaps, locate_cuts(video, skipped, features.times, list(gaps.values())), strict=True))
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
