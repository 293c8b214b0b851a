"""Divides a video into shots by its colours, from all its frames or from those that others are predicted from.

A colour-histogram detector as MSR-VTT used one (section 3.2), with a window that adapts to how much the material
moves, and with gradual transitions. Knows nothing of clips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Le
from av.video.frame import PictureType

from vttdata.errors import MediaError
from vttdata.media.decode import Video, all_keyframes, open_video
from vttdata.media.shots.boundaries import Boundary, find_boundaries
from vttdata.media.shots.fast.gop_decode import describe_planned
from vttdata.media.shots.fast.gop_plan import plan_decoding
from vttdata.media.shots.fast.packets import (
    WITH_SOUND_REFERENCES,
    WITHOUT_DEBLOCKING,
    EvidenceError,
    Indices,
    Packets,
    read_packets,
)
from vttdata.media.shots.fast.reference_frames import Order, describe_referenced, read_order
from vttdata.media.shots.fast.refine import Gap, look_closer
from vttdata.media.shots.histogram import describe
from vttdata.media.shots.signals import Flags, Floats, Signals, measure_signals, reach_of
from vttdata.records import Shot, Transition
from vttdata.settings import STRICT, Seconds

_BLANK_SECONDS = 1.0  # between a fade-out and its fade-in
_USUAL_RATE = 25.0


@dataclass(frozen=True, slots=True)
class ShotSettings:
    """How shots are found.

    Attributes:
        method: ``exact`` decodes and compares every frame; ``fast`` decodes those that can tell a boundary, at less
            than half the cost, and every frame of files whose streams do not lend themselves to it (all but H.264,
            HEVC, MPEG-1 and MPEG-2).
        min_seconds: shots are at least this long; of boundaries closer together the clearest stays. In AutoShot's
            truth 2.6 % of the shots have fewer than 8 frames.
        cut_ratio: a hard cut changes the colours at least this many times as much as the frames around it do; lower
            finds more cuts between similar pictures, higher fewer false ones in fast motion. On trailers, home
            videos and single takes real cuts began at 2.35 (a jump cut) and fast motion ended at 2.14.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    method: Literal["fast", "exact"] = "fast"
    min_seconds: Seconds = 0.3
    cut_ratio: Annotated[float, Gt(1), Le(100)] = 2.25


@dataclass(frozen=True, slots=True)
class Detection:
    """The shots of one video: all its decoded frames, mean frames a second, and where the last frame ends (seconds)."""

    frames: int
    fps: float
    seconds: float
    method: str
    shots: tuple[Shot, ...]


def detect_shots(
    path: Path,
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
    alone = all_keyframes(path)
    fast = settings.method == "fast" and not alone
    seen = _see_fast(path, threads) or _see_referenced(path, threads) if fast else None
    method = "fast" if seen else "exact"
    seen = seen or _see_all(path, threads, alone)
    fps = float((len(seen.times) - 1) / (seen.times[-1] - seen.times[0]))
    found = find_boundaries(
        seen.signals,
        cut_ratio=settings.cut_ratio,
        reach=reach_of(seen.stated_rate),
        shortest=max(round(settings.min_seconds * fps), 1),
        longest_blank=round(_BLANK_SECONDS * fps),
        known=seen.known,
        sudden=seen.sudden,
    )
    if seen.packets is not None and seen.known is not None:
        found = _placed(path, threads, found, seen.packets, np.flatnonzero(seen.known))
    shots = tuple(shots_between(found, seen.signals, seen.times, source_id))
    return Detection(len(seen.signals), fps, float(seen.times[-1]), method, shots)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A video's signals, when its frames start and the last one ends; what is known where not all were decoded."""

    signals: Signals
    times: Floats
    stated_rate: float
    packets: Packets | Order | None = None
    known: Flags | None = None
    sudden: Flags | None = None


def _see_all(path: Path, threads: int, alone: bool) -> _Seen:
    """What all pictures show, block edges left unsmoothed where each seems to stand alone and none shows otherwise."""
    with open_video(path, threads=threads) as video:
        video.stream.codec_context.options = WITHOUT_DEBLOCKING if alone else WITH_SOUND_REFERENCES
        clock = _Clock()
        stated = _stated_rate(video)
        pictures = clock.watch(video)
        try:
            signals = measure_signals(describe(_standing_alone(pictures) if alone else pictures), stated)
        except EvidenceError:
            return _see_all(path, threads, False)
    return _Seen(signals, np.array([*clock.times, clock.end]), stated)


def _standing_alone(pictures: Iterator[Any]) -> Iterator[Any]:
    for picture in pictures:
        if picture.pict_type not in (PictureType.NONE, PictureType.I):
            raise EvidenceError
        yield picture


def _see_fast(path: Path, threads: int) -> _Seen | None:
    """What the packets and a part of the pictures show; None where a stream's packets are no sure evidence."""
    try:
        with open_video(path, threads=threads) as video:
            stated = _stated_rate(video)
            packets = read_packets(video, 1 / _USUAL_RATE)
        plan = plan_decoding(packets)
        known = np.zeros(len(packets), bool)
        with open_video(path, threads=threads) as video:
            signals = measure_signals(describe_planned(video, packets, plan, known), stated)
    except EvidenceError:
        return None
    return _Seen(signals, packets.times, stated, packets, known, plan.sudden)


def _see_referenced(path: Path, threads: int) -> _Seen | None:
    """What the pictures show that others are predicted from; None where the others cannot be left out."""
    try:
        with open_video(path, threads=threads) as video:
            stated = _stated_rate(video)
            order = read_order(video, 1 / _USUAL_RATE)
        with open_video(path, threads=threads) as video:
            signals = measure_signals(describe_referenced(video, order), stated)
    except EvidenceError:
        return None
    return _Seen(signals, order.times, stated, order, order.referenced)


def _placed(
    path: Path, threads: int, found: list[Boundary], packets: Packets | Order, known: Indices
) -> list[Boundary]:
    """The boundaries, cuts across frames left out set to their true frame."""
    before = known[np.searchsorted(known, [one.frame for one in found]) - 1].tolist()
    gaps = {
        one: Gap(last + 1, one.frame)
        for one, last in zip(found, before, strict=True)
        if one.transition == "cut" and last < one.frame - 1
    }
    if not gaps:
        return found
    with open_video(path, threads=threads) as video:
        frames = dict(zip(gaps, look_closer(video, packets, list(gaps.values())), strict=True))
    places = [frames.get(one) for one in found]
    return [
        one if place is None else Boundary(place, "cut", place, place) for one, place in zip(found, places, strict=True)
    ]


def _stated_rate(video: Video) -> float:
    return float(video.stream.average_rate or video.stream.guessed_rate or _USUAL_RATE)


@dataclass(slots=True)
class _Clock:
    """Notes when each frame starts and where the last one ends; refuses a video that ends without any."""

    times: list[float] = field(default_factory=list)
    end: float = 0.0

    def watch(self, video: Video) -> Iterator[Any]:
        length = 0.0
        for frame in video.frames():
            self.times.append(frame.time)
            length = frame.seconds
            yield frame.picture
        _check(video, len(self.times))
        interval = self.times[-1] - self.times[-2] if len(self.times) > 1 else 1 / _USUAL_RATE
        self.end = self.times[-1] + (length or interval)


def _check(video: Video, frames: int) -> None:
    if video.tally.undecodable:
        raise MediaError(
            "damaged",
            f"{video.tally.undecodable} of {video.tally.packets} packets cannot be decoded: {video.tally.first_error}",
        )
    if frames == 0:
        raise MediaError("no_video", f"no frame comes out of the {video.tally.packets} packets of the video stream.")


def shots_between(found: list[Boundary], signals: Signals, times: Floats, source_id: str) -> Iterator[Shot]:
    """The shots that boundaries divide a video into.

    Args:
        found: the boundaries, in order.
        signals: of the video's n frames.
        times: n + 1 seconds: when each frame starts, and when the last one ends.
        source_id: the shots' source.
    """
    moving = np.ones(len(signals), bool)
    moving[0] = False
    for boundary in found:
        moving[boundary.first : boundary.last + 1] = False
    starts = [0, *(boundary.frame for boundary in found)]
    kinds: list[Transition] = ["start", *(boundary.transition for boundary in found)]
    for index, (first, after, kind) in enumerate(zip(starts, [*starts[1:], len(signals)], kinds, strict=True)):
        own = slice(first, after)
        change = signals.change[own][moving[own]]
        yield Shot(
            source_id=source_id,
            index=index,
            start=float(times[first]),
            end=float(times[after]),
            first_frame=first,
            last_frame=after - 1,
            transition=kind,
            dark=round(float(signals.dark[own].mean()), 4),
            motion=round(float(change.sum() / max(len(change), 1)), 4),
            colours=_mean_colours(signals, own),
        )


def _mean_colours(signals: Signals, own: slice) -> tuple[float, ...]:
    counts = signals.colours[own].sum(0, dtype=np.int64)
    shares = counts / counts.sum(-1, keepdims=True)
    return tuple(round(float(share), 4) for share in shares.ravel())
