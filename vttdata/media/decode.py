"""Decodes a video file frame by frame, in presentation order, with true times. Holds one frame at a time.

Time zero is the container's start time; times are exact rationals of the stream's time base, rounded once to float64.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import av

from vttdata.errors import MediaError
from vttdata.media.ffmpeg import SAFE_INPUT, file_url

_ATTACHED_PICTURE = av.stream.Disposition.attached_pic
_MICRO = 1_000_000
_ENOUGH = 250  # packets by which a stream shows how it is coded


@dataclass(slots=True)
class Tally:
    """What a decoding pass met: video packets to be shown, packets that could not be decoded, and the first error."""

    packets: int = 0
    undecodable: int = 0
    first_error: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """A decoded frame: 0-based index in presentation order, start and duration in seconds, and the picture.

    `seconds` is the duration the container gives, 0.0 where it gives none. The index counts from where decoding began.
    """

    index: int
    time: float
    seconds: float
    picture: av.VideoFrame


@dataclass(slots=True)
class Video:
    """An open video file; get one from `open_video`."""

    container: Any
    stream: Any
    tally: Tally = field(default_factory=Tally)
    _base: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self._base = self.stream.time_base.as_integer_ratio()  # kept: each reading of it makes a fraction

    @property
    def start_time(self) -> float:
        """The container's own time of time zero, in seconds."""
        return self._zero_micros() / _MICRO

    def _zero_micros(self) -> int:
        return self.container.start_time or 0

    def seconds_of(self, pts: int) -> float:
        """The time of a timestamp of the video stream, in seconds since time zero."""
        ticks, a_second = self._base
        zero = self._zero_micros() * a_second
        exact = pts * ticks * _MICRO - zero
        own_start = self.stream.start_time
        if own_start is not None:
            own = own_start * ticks * _MICRO - zero
            if abs(own) < a_second:  # the container's start is this stream's, rounded to microseconds
                exact -= own
        return float(exact / (a_second * _MICRO))

    def seek(self, time: float) -> None:
        """Continue from the last keyframe at or before `time` (seconds since time zero), as far as the index knows."""
        self.container.seek(max(round(time * _MICRO), 0) + self._zero_micros())

    def frames(self) -> Iterator[Frame]:
        """Every frame from here to the end, each once, in presentation order.

        Packets that cannot be decoded are counted in `tally` and skipped.

        Raises:
            MediaError: ``timestamps`` when a frame has no time or does not come after the one before.
        """
        last: int | None = None
        for index, picture in enumerate(self._pictures()):
            if picture.pts is None or (last is not None and picture.pts <= last):
                raise MediaError("timestamps", f"frame {index} has no time after that of the frame before it.")
            last = picture.pts
            length = (picture.duration or 0) * self._base[0] / self._base[1]
            yield Frame(index, self.seconds_of(picture.pts), length, picture)

    def _pictures(self) -> Iterator[av.VideoFrame]:
        for packet in self.packets():
            if packet.size and not packet.is_discard:
                self.tally.packets += 1
            try:
                yield from packet.decode()
            except av.error.FFmpegError as error:
                self.tally.undecodable += 1
                self.tally.first_error = self.tally.first_error or _sentence(error)

    def packets(self) -> Iterator[Any]:
        """Every packet of the video stream from here to the end, in decoding order.

        Raises:
            MediaError: ``damaged`` when reading stops in the middle.
        """
        packets = self.container.demux(self.stream)
        while True:
            try:
                yield next(packets)
            except (StopIteration, IndexError):  # after our last packet, PyAV may ask for streams it never listed
                return
            except av.error.FFmpegError as error:
                raise MediaError("damaged", f"reading stops in the middle: {_sentence(error)}") from error


@contextlib.contextmanager
def open_video(path: Path, *, threads: int = 1) -> Iterator[Video]:
    """Open a video file for decoding its best video stream.

    Args:
        path: a local file; its name is never taken for a protocol, and playlists are refused.
        threads: decoder threads; 1 costs least CPU in all, 0 lets the decoder choose.

    Raises:
        MediaError: ``empty``, ``unreadable`` or ``no_video``.
    """
    with open_container(path) as container:
        stream = best_video(container)
        stream.thread_count = threads
        stream.thread_type = "SLICE" if threads == 1 else "AUTO"
        yield Video(container, stream)


def all_keyframes(path: Path) -> bool:
    """Whether no picture of a video is predicted from another one, as far as its first packets show.

    Raises:
        MediaError: what `open_video` and `Video.packets` raise.
    """
    with open_video(path) as video:
        return all(packet.is_keyframe for packet in islice(video.packets(), _ENOUGH) if packet.size)


@contextlib.contextmanager
def open_container(path: Path) -> Iterator[Any]:
    """Open a media file of any kind behind the safe options.

    Raises:
        MediaError: ``empty`` or ``unreadable``.
    """
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise MediaError("unreadable", "this is no regular file; a pipe or a device may never end.")
        if facts.st_size == 0:
            raise MediaError("empty", "the file is empty (0 bytes).")
        container = av.open(file_url(path), options=dict(SAFE_INPUT), metadata_errors="replace")
    except av.error.FFmpegError as error:
        raise MediaError("unreadable", f"not a readable video container: {_sentence(error)}") from error
    except OSError as error:
        raise MediaError("unreadable", f"the file cannot be opened: {error.strerror or error}.") from error
    with container:
        yield container


def best_video(container: Any) -> Any:
    """The video stream that ffmpeg too would choose, cover pictures left aside.

    Raises:
        MediaError: ``no_video`` when there is none that can be decoded.
    """
    stream = container.streams.best("video")
    if stream is None or stream.disposition & _ATTACHED_PICTURE:
        raise MediaError("no_video", "the file holds no video stream.")
    if stream.codec_context is None:
        raise MediaError("unsupported", "no decoder knows the video stream's codec.")
    return stream


def _sentence(error: BaseException) -> str:
    text = str(error).split("'file:")[0].strip(" :;")
    return f"{text.removeprefix('[Errno 1094995529] ')}."
