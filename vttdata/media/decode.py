"""Decoding of a video file frame by frame, in presentation order, with exact times; holds one frame at a time.

Time zero is the container's start time; times are exact rationals of the stream's time base, rounded once to float64.
Streams that do not store presentation times (AVI, and raw ones) get those that the ffmpeg program gives them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import statistics
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from vttdata.errors import MediaError, UnavailableError
from vttdata.media.container_structure import check_index
from vttdata.media.ffmpeg_program import SAFE_INPUT, file_url
from vttdata.media.file_signatures import is_animated_webp
from vttdata.media.pyav import decode_packet, open_input
from vttdata.settings import environment_number
from vttdata.subprocesses import OUT_OF_MEMORY

# Codecs of single pictures; those of films too, as MJPEG.
_PICTURE_CODECS = ("mjpeg", "png", "bmp", "webp", "tiff", "jpeg2000", "jpegxl", "ljpeg")
# Frames that other video shows before a track beside it that has shown one is a cover picture.
_FRAMES_BESIDE_COVER = 100
_ATTACHED_PICTURE = av.stream.Disposition.attached_pic
MICROSECONDS = 1_000_000
_DEFAULT_FRAME_RATE = 25.0
# Matroska and FLV files often state 1 ms for their last frame, and so do their copies in other containers. A duration
# of one tick is made up by libavformat where the container gives none.
_UNBELIEVED_SECONDS = 0.001_001
# Intervals between frames that show how long a frame lasts: about a second's.
RECENT_INTERVALS = 31
_READ_BYTES = 2**20
# Sixteen reference pictures and four that wait, and four for each thread that decodes a picture of its own.
_DECODER_PICTURES, _THREAD_PICTURES = 20, 4
# Of 4:2:0 video with two bytes for each sample.
_BYTES_PER_PIXEL = 3
# Codecs whose missing presentation times libavformat infers from decoding times. PyAV lets it do so for all codecs, and
# it is wrong where B-frames are stored in another order or with another delay, and for the last frame of containers
# that store none at all.
_ONE_FRAME_DELAY, _WITHOUT_TIMES = ("mpeg1video", "mpeg2video"), ("avi", "asf")


@dataclass(slots=True)
class PacketCounts:
    """Count of video packets to be shown and of packets that could not be decoded, with the first error."""

    packets: int = 0
    undecodable: int = 0
    first_error: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """Decoded frame: 0-based index in presentation order, start and duration in seconds, and the picture.

    `pts` is its start in the stream's time base; `picture.pts` is None where the container does not store it.
    `seconds` is the duration by `Video.frame_ticks`. The index counts from where decoding began.
    """

    index: int
    pts: int
    time: float
    seconds: float
    picture: av.VideoFrame


@dataclass(slots=True)
class Video:
    """Open video file; made by `open_video`."""

    container: Any
    stream: Any
    tally: PacketCounts = field(default_factory=PacketCounts)
    _time_base: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        # Read once, since PyAV makes a ratio at each reading.
        ratio = self.stream.time_base
        self._time_base = ratio.numerator, ratio.denominator

    @property
    def time_base(self) -> Fraction:
        """Return the unit of the video stream's timestamps, in seconds."""
        return Fraction(*self._time_base)

    @property
    def is_timed(self) -> bool:
        """Return whether the container stores times: a raw stream does not."""
        return not self.container.format.flags & av.format.Flags.no_timestamps.value

    @property
    def frame_rate(self) -> float:
        """Return the mean frames a second that the container states or its first packets show; 25 without both."""
        return float(self.stream.average_rate or self.stream.guessed_rate or _DEFAULT_FRAME_RATE)

    @property
    def start_time(self) -> float:
        """Return the container's timestamp of time zero, in seconds."""
        return self._start_microseconds() / MICROSECONDS

    def _start_microseconds(self) -> int:
        return self.container.start_time or 0

    def seconds_of(self, pts: int) -> float:
        """Return the time of a timestamp of the video stream, in seconds since time zero."""
        # Integers in units of 1 / (denominator * 1,000,000) seconds keep the time exact until the last division.
        numerator, denominator = self._time_base
        return float((pts * numerator * MICROSECONDS - self._zero()) / (denominator * MICROSECONDS))

    def pts_of(self, seconds: float, parts: int = 1) -> int:
        """Return the timestamp that is nearest to a time since time zero, in a part of the stream's time base."""
        numerator, denominator = self._time_base
        exact = Fraction(seconds) * denominator * MICROSECONDS + self._zero()
        return round(exact * parts / (numerator * MICROSECONDS))

    def _zero(self) -> int:
        """Return the timestamp of time zero, in units of 1 / (denominator of the time base * 1,000,000) seconds."""
        numerator, denominator = self._time_base
        zero = self._start_microseconds() * denominator
        if self.stream.start_time is not None:
            stream_start: int = self.stream.start_time * numerator * MICROSECONDS
            # Less than a microsecond: the container's start is this stream's, rounded.
            if abs(stream_start - zero) < denominator:
                return stream_start
        return zero

    def seconds_in(self, ticks: int) -> float:
        """Return a duration in the time base of the video stream in seconds."""
        return ticks * self._time_base[0] / self._time_base[1]

    def seek(self, time: float) -> None:
        """Continue from the last keyframe at or before `time` (seconds since time zero), as far as the index knows."""
        self.container.seek(max(round(time * MICROSECONDS), 0) + self._start_microseconds())

    def frames(self) -> Iterator[Frame]:
        """Yield every frame from here to the end, each once, in presentation order.

        Packets that cannot be decoded are counted in `tally` and skipped. A frame without a presentation time is shown
        when its decoder gives it out (at the decoding time of the packet that it was given out for), as in the ffmpeg
        program; without that either, at the end of the frame before it.

        Raises:
            MediaError: ``timestamps`` when the time of a frame is not after that of the frame before.
        """
        intervals: deque[int] = deque(maxlen=RECENT_INTERVALS)
        is_timed, last, end = self.is_timed, None, 0
        for index, picture in enumerate(self._decode_pictures()):
            pts = (picture.pts if picture.pts is not None else picture.dts) if is_timed else None
            pts = end if pts is None else pts
            if last is not None:
                if pts <= last:
                    times = f"{self.seconds_of(pts):.3f} s, and the frame before it {self.seconds_of(last):.3f} s"
                    remedy = "`ffmpeg -i FILE NEW.mp4`, or a build with collect.new_times=true, writes new times"
                    back = f"the file's times go back: frame {index} has {times}; {remedy}."
                    raise MediaError("timestamps", back)
                intervals.append(pts - last)
            ticks = self.frame_ticks(picture.duration, intervals)
            # A stored duration may be one tick, or a field's, where times are inferred from decoding times.
            last, end = pts, pts + (statistics.median_low(intervals) if is_timed and intervals else ticks)
            yield Frame(index, pts, self.seconds_of(pts), self.seconds_in(ticks), picture)

    def frame_ticks(self, stated: int | None, intervals: Sequence[int]) -> int:
        """Return how long a frame is shown, in the stream's time base.

        The duration that the container states is not believed when it is a tick or a millisecond in slower video. The
        median of the intervals between the frames before it, at most `RECENT_INTERVALS`, is the estimate; without any,
        the frame rate gives it.
        """
        numerator, denominator = self._time_base
        if stated and stated > 1 and stated * numerator > _UNBELIEVED_SECONDS * denominator:
            return stated
        if intervals:
            estimate = statistics.median_low(intervals)
        else:
            estimate = max(round(denominator / numerator / self.frame_rate), 1)
        return stated if stated and estimate <= 2 * stated else estimate

    def _decode_pictures(self) -> Iterator[av.VideoFrame]:
        for packet in self.packets():
            if packet.size and not packet.is_discard:
                self.tally.packets += 1
            try:
                yield from decode_packet(packet)
            except av.error.FFmpegError as error:
                check_memory(error)
                # The last failure may come after the last packet, when the decoder gives out what it holds.
                self.tally.undecodable = min(self.tally.undecodable + 1, self.tally.packets)
                self.tally.first_error = self.tally.first_error or _sentence(error)

    def packets(self) -> Iterator[Any]:
        """Yield every packet of the video stream from here to the end, in decoding order.

        Raises:
            MediaError: ``damaged`` when the file cannot be read to its end.
        """
        packets = self.container.demux(self.stream)
        while True:
            try:
                yield next(packets)
            except (StopIteration, IndexError):
                # PyAV raises IndexError when a packet belongs to a stream that appeared after opening.
                return
            except av.error.FFmpegError as error:
                check_memory(error)
                raise MediaError("damaged", f"the file cannot be read to its end: {_sentence(error)}") from error


@contextlib.contextmanager
def open_video(path: Path, *, threads: int = 1) -> Iterator[Video]:
    """Open a local video file for decoding its best video stream.

    Its name is never taken for a protocol, and playlists are refused. One decoder thread costs least CPU in all; with 0
    the decoder chooses their number.

    Raises:
        MediaError: ``empty``, ``unreadable`` or ``no_video``.
    """
    with open_container(path) as container:
        stream = best_video(container)
        # The size may change in the stream.
        stream.codec_context.options = {"max_pixels": str(max_pixels())}
        stream.thread_count = threads
        stream.thread_type = "SLICE" if threads == 1 else "AUTO"
        if stream.codec_context.codec.canonical_name not in _ONE_FRAME_DELAY or container.format.name in _WITHOUT_TIMES:
            container.flags &= ~av.container.Flags.gen_pts.value
        yield Video(container, stream)


@contextlib.contextmanager
def open_container(path: Path) -> Iterator[Any]:
    """Open a media file of any kind with `SAFE_INPUT`.

    A `MediaError` in the block is a verdict on the file, so that it is let through only if this machine has the memory
    for its pictures and can read it to its end.

    Raises:
        MediaError: ``empty``, ``unreadable``, ``unsupported``, or ``truncated`` where a file of ISO media ends before
            its index.
        UnavailableError: when the file cannot be opened or read, or memory is short.
    """
    try:
        _check_file(path)
        try:
            container = open_input(file_url(path), SAFE_INPUT)
        except av.error.FFmpegError as error:
            check_memory(error)
            try:
                check_index(path)
            except OSError as problem:
                raise _unavailable(problem) from problem
            if is_animated_webp(path):
                raise MediaError("unsupported", "FFmpeg's libraries read no WebP animation.") from error
            raise MediaError("unreadable", f"not a readable video container: {_sentence(error)}") from error
        with container:
            try:
                yield container
            except MediaError:
                reserve_pictures(container)
                raise
    except MediaError as error:
        check_readable(path)
        check_momentary(path, error.__cause__)
        raise
    except MemoryError as error:
        raise UnavailableError("out_of_memory", f"{OUT_OF_MEMORY}.") from error


def _check_file(path: Path) -> None:
    """Raise MediaError unless a path is a regular file that holds something."""
    try:
        facts = path.stat()
    except OSError as error:
        raise _unavailable(error) from error
    if not stat.S_ISREG(facts.st_mode):
        raise MediaError("unreadable", "this is not a regular file; a pipe or a device may never end.")
    if facts.st_size == 0:
        raise MediaError("empty", "the file is empty (0 bytes).")


def check_memory(error: BaseException) -> None:
    """Raise an error of libavformat or libavcodec again if it is about this machine's memory and not about a file."""
    if isinstance(error, MemoryError):
        raise error
    # A decoder that gets no memory for its threads cannot be opened, and says this.
    if getattr(error, "errno", None) == errno.EAGAIN:
        raise MemoryError from error


def reserve_pictures(container: Any) -> None:
    """Reserve the memory that a decoder may need at once; raise MemoryError when there is none.

    Decoders of H.264 and others report pictures for which they get no memory as damaged. The memory is not touched, but
    counts as the decoder's does: limits on data leave out memory that is shared.
    """
    contexts = [stream.codec_context for stream in container.streams.video]
    needs = [
        (_DECODER_PICTURES + _THREAD_PICTURES * (context.thread_count or os.cpu_count() or 1))
        * (_BYTES_PER_PIXEL * context.width * context.height)
        for context in contexts
        if context is not None
    ]
    np.empty(max(needs, default=0), np.uint8)


def check_readable(path: Path) -> None:
    """Read a regular file to its end; raise UnavailableError when that fails."""
    try:
        if path.is_file():
            with path.open("rb", buffering=0) as stream:
                while stream.read(_READ_BYTES):
                    pass
        else:
            path.stat()
    except OSError as error:
        raise _unavailable(error) from error


def check_momentary(path: Path, error: BaseException | None) -> None:
    """Raise UnavailableError when libavformat could not read a file, as the error says, and now can.

    Of damaged files, too, some demuxers say that they cannot be read, but they say it each time.
    """
    if getattr(error, "errno", None) == errno.EIO:
        with contextlib.suppress(av.error.FFmpegError, IndexError):
            with open_input(file_url(path), SAFE_INPUT) as container:
                for _ in container.demux():
                    pass
            raise momentary_error()


def momentary_error() -> UnavailableError:
    """Return the error for a file of which one reading found less than the next."""
    return UnavailableError("io_error", "the file could not be read for a moment.")


def _unavailable(error: OSError) -> UnavailableError:
    return UnavailableError("io_error", f"the file cannot be read now: {error.strerror or error}.")


def best_video(container: Any) -> Any:
    """Return the video stream that ffmpeg would choose too, cover pictures left aside.

    A cover picture is marked as one, or is a single picture beside other video or sound.

    Raises:
        MediaError: ``no_video`` without a video stream, ``unsupported`` without a decoder for it or with pictures that
            are too large.
    """
    stream = container.streams.best("video")
    if stream is None:
        what = "holds sound and no video stream" if container.streams.audio else "holds no video stream"
        raise MediaError("no_video", f"the file {what}.")
    if _is_cover(stream):
        others = [other for other in container.streams.video if other is not stream and not _is_cover(other)]
        if not others:
            what = "sound with a picture" if container.streams.audio else "a cover picture"
            raise MediaError("no_video", f"the file holds {what}, and no video.")
        stream = max(others, key=lambda other: (other.codec_context is not None, -other.index))
    if stream.codec_context is None:
        raise MediaError("unsupported", "the video stream's codec is not supported.")
    width, height, limit = stream.codec_context.width, stream.codec_context.height, max_pixels()
    if width * height > limit:
        size = f"pictures of {width} x {height} pixels are larger than the limit of {limit} pixels"
        raise MediaError("unsupported", f"{size} (VTTDATA_MAX_PIXELS).")
    return stream


def _is_cover(stream: Any) -> bool:
    """Return whether a video stream is a cover picture, by its mark or by its packets."""
    if stream.disposition & _ATTACHED_PICTURE:
        return True
    container, context = stream.container, stream.codec_context
    if context is None or context.codec.canonical_name not in _PICTURE_CODECS:
        return False
    if stream.frames > 1 or len([each for each in container.streams if each.type in ("video", "audio")]) == 1:
        return False
    pictures: Counter[int] = Counter()
    # Reading packets of the open container would move it.
    with contextlib.suppress(av.error.FFmpegError, IndexError), open_input(container.name, SAFE_INPUT) as copy:
        for packet in copy.demux([each for each in copy.streams if each.type == "video"]):
            pictures[packet.stream_index] += bool(packet.size)
            if pictures[stream.index] > 1:
                return False
            if max(pictures.values()) > _FRAMES_BESIDE_COVER:
                return True
    return True


def max_pixels() -> int:
    """Return the greatest number of pixels of a picture: ``VTTDATA_MAX_PIXELS``, or 8192 x 4352, which is 8K video.

    Raises:
        VttdataError: when the variable is set to something else than a positive integer.
    """
    return environment_number("VTTDATA_MAX_PIXELS", 8192 * 4352, "pixels")


def stated_seconds(container: Any, stream: Any) -> float:
    """Return the duration that a container states of a video stream, or of its longest stream; 0 for none."""
    if stream.duration:
        return float(stream.duration * stream.time_base)
    return (container.duration or 0) / MICROSECONDS


def count_packets(path: Path, video_stream: int) -> tuple[int, float]:
    """Read all packets of a file without decoding, as far as they can be read.

    Returns:
        Number of packets to be shown of a video stream, and the container's timestamp in seconds at which the packets
        of all other streams end, 0 without other packets.

    Raises:
        MediaError: what `open_container` raises.
    """
    shown, others_end = 0, 0.0
    with open_container(path) as container:
        try:
            for packet in container.demux():
                if packet.stream_index == video_stream:
                    shown += bool(packet.size and not packet.is_discard)
                elif packet.pts is not None:
                    others_end = max(others_end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
        except IndexError:
            pass
        except av.error.FFmpegError as error:
            check_momentary(path, error)
    return shown, others_end


def _sentence(error: BaseException) -> str:
    """Return an error's text without the file's name and the number of AVERROR_INVALIDDATA."""
    text = str(error).split("'file:")[0].strip(" :;")
    return f"{text.removeprefix('[Errno 1094995529] ')}."
