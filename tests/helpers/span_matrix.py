"""Sources in every container and codec, spans of them, and the judgment of the clips that are cut from these.

Each frame shows its number as a barcode, and the sound is a chirp, whose frequency tells the time. What a clip must
hold follows from how its source was made, not from reading it with the package.
"""

from __future__ import annotations

import itertools
import subprocess
import wave
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from tests.helpers.barcode import RATE, picture, read_sound, read_video
from tests.helpers.cuts import read_shown, times_of
from vttdata.errors import MediaError
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.probe import probe

FRAMES = 200
SIZE = (160, 120)
SHORT_GOP, LONG_GOP = 12, 100
# Hz at the start of the chirp, and Hz by which it rises in a second.
_LOWEST, _RISE = 300, 400
# Before a frame's time, so that the milliseconds of Matroska and FLV make no difference.
_EARLIER_SECONDS = 0.002
_EDIT_LIST_FRAMES = 15
_WRAP_SECONDS = 2**33 / 90000 - 3
TELECINE = "MPEG-2, telecine"
_FIELD = Fraction(1001, 60000)

_X264 = ("-c:v", "libx264", "-preset", "veryfast")
CODECS: dict[str, Callable[[int], tuple[str, ...]]] = {
    "H.264": lambda gop: (*_X264, "-bf", "0", "-g", str(gop)),
    "H.264, B-frames": lambda gop: (*_X264, "-bf", "3", "-x264-params", f"keyint={gop}:b-pyramid=normal:b-adapt=0"),
    "H.264, open GOP": lambda gop: (*_X264, "-bf", "3", "-x264-params", f"keyint={gop}:open-gop=1:b-adapt=0"),
    "H.264, intra refresh": lambda gop: (*_X264, "-x264-params", f"keyint={gop}:intra-refresh=1"),
    "HEVC": lambda gop: ("-c:v", "libx265", "-preset", "veryfast", "-x265-params", f"log-level=error:keyint={gop}"),
    "MPEG-2": lambda gop: ("-c:v", "mpeg2video", "-q:v", "3", "-bf", "2", "-g", str(gop)),
    TELECINE: lambda gop: ("-c:v", "mpeg2video", "-q:v", "3", "-bf", "2", "-g", str(gop)),
    "MPEG-4 ASP": lambda gop: ("-c:v", "mpeg4", "-q:v", "3", "-bf", "2", "-g", str(gop)),
    "VP9": lambda gop: ("-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", "5", "-g", str(gop)),
    "AV1": lambda gop: ("-c:v", "libsvtav1", "-preset", "10", "-crf", "30", "-g", str(gop)),
}
_ISO = ("H.264", "HEVC", "MPEG-2", "MPEG-4", "VP9", "AV1")
_STREAM = ("H.264", "HEVC", "MPEG-2", "MPEG-4")


@dataclass(frozen=True)
class Container:
    """How files of a container are written: name's ending, kinds of codecs, offsets of times, options of the muxer."""

    ending: str
    kinds: tuple[str, ...]
    offsets: tuple[str, ...] = ("0", "1.4 s")
    sound: str = "aac"
    options: tuple[str, ...] = ()


CONTAINERS = {
    "MP4": Container("mp4", _ISO, ("0", "1.4 s", "edit list")),
    "fragmented MP4": Container("mp4", _ISO, options=("-movflags", "frag_keyframe+delay_moov")),
    "MOV": Container("mov", ("H.264", "HEVC", "MPEG-2", "MPEG-4"), ("0", "1.4 s", "edit list")),
    "MKV": Container("mkv", _ISO),
    "WebM": Container("webm", ("VP9", "AV1"), sound="libopus"),
    "TS": Container("ts", _STREAM, ("0", "1.4 s", "wrap")),
    "M2TS": Container("m2ts", ("H.264", "HEVC", "MPEG-2"), ("0", "1.4 s", "wrap")),
    "MPG": Container("mpg", ("H.264", "MPEG-2"), ("0", "1.4 s", "wrap"), "mp2"),
    "VOB": Container("vob", ("MPEG-2",), ("0", "1.4 s", "wrap"), "mp2"),
    "AVI": Container("avi", ("H.264", "MPEG-2", "MPEG-4"), ("0",), "mp2"),
    "FLV": Container("flv", ("H.264", "HEVC", "VP9", "AV1")),
    "NUT": Container("nut", _ISO),
}


@dataclass(frozen=True)
class Cell:
    """Source of the matrix: first frame that it shows, and the time of each frame on the clock of its sound."""

    container: str
    codec: str
    gop: int
    offset: str

    @property
    def first(self) -> int:
        return _EDIT_LIST_FRAMES if self.offset == "edit list" else 0

    @property
    def name(self) -> str:
        return f"{self.container}, {self.codec}, GOP {self.gop}, {self.offset}"

    def spans(self) -> dict[str, tuple[int, int]]:
        """Return spans as the first frame and the one after the last."""
        is_short = self.gop == SHORT_GOP
        return {
            "start of file": (self.first, self.first + 30),
            "inside the first GOP": (self.first + 3, self.first + 8) if is_short else (30, 75),
            "on a keyframe": (96, 140) if is_short else (100, 150),
            "one frame": (57, 58),
            "end of file": (160, FRAMES),
        }


def cells() -> Iterator[Cell]:
    """Yield every source that can be written."""
    for name, container in CONTAINERS.items():
        for codec, gop, offset in itertools.product(CODECS, (SHORT_GOP, LONG_GOP), container.offsets):
            if codec.startswith(container.kinds):
                yield Cell(name, codec, gop, offset)


def clock(codec: str) -> list[float]:
    """Return the second at which each frame is shown, and at which the last one ends: 25 a second, or 2:3 pulldown."""
    if codec != TELECINE:
        return [number / 25 for number in range(FRAMES + 1)]
    fields = itertools.accumulate((3 - number % 2 for number in range(FRAMES)), initial=0)
    return [float(count * _FIELD) for count in fields]


def write_source(cell: Cell, folder: Path) -> Path:
    """Write a source; its pictures are encoded once for all containers.

    Raises:
        subprocess.CalledProcessError: when ffmpeg cannot write it.
    """
    container = CONTAINERS[cell.container]
    pictures, sound = _pictures(cell.codec, cell.gop, folder), folder / "chirp.wav"
    if not sound.exists():
        _write_chirp(sound)
    # Files with pulldown begin with the first decoding time, which is three fields before the first picture.
    lead = 3 * _FIELD - Fraction(1, 1000) if cell.codec == TELECINE else 0
    begin = ("-ss", f"{clock(cell.codec)[cell.first] + lead:.6f}") if cell.first else ()
    shift = {"1.4 s": 1.4, "wrap": _WRAP_SECONDS}.get(cell.offset, 0)
    moved = ("-output_ts_offset", str(shift)) if shift else ()
    coding = ("-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", container.sound, "-b:a", "128k", "-shortest")
    # The muxers of both expect headers in the stream, and add none.
    if (cell.container, cell.codec[:5]) == ("MPG", "H.264"):
        coding += ("-bsf:v", "h264_mp4toannexb")
    if (cell.container, cell.codec) == ("TS", "MPEG-4 ASP"):
        coding += ("-bsf:v", "dump_extra")
    path = folder / f"source.{container.ending}"
    _ffmpeg(*begin, "-i", pictures, *begin, "-i", sound, *coding, *container.options, *moved, path)
    return path


def judge_clip(cell: Cell, span: tuple[int, int], clip: Path, *, sound_lead: float = 0.0) -> str | None:
    """Return what is wrong with a clip of the frames of a span, as a phrase; None for an exact one.

    `sound_lead` is the seconds by which the source plays its sound before the pictures that belong to it.
    """
    first, stop = span
    times = clock(cell.codec)
    shown = read_video(clip)
    if [number for number, _ in shown] != list(range(first, stop)):
        return f"frames {shown[0][0]} to {shown[-1][0]} ({len(shown)}) instead of {first} to {stop - 1}"
    for number, time in shown:
        if abs(time - (times[number] - times[first])) > 0.0025:
            return f"frame {number} at {time:.4f} s instead of {times[number] - times[first]:.4f} s"
    sound, seconds = read_sound(clip), times[stop] - times[first]
    if abs(len(sound) / RATE - seconds) > 1024 / RATE + seconds / (stop - first):
        return f"{len(sound) / RATE:.3f} s of sound for {seconds:.3f} s of pictures"
    if seconds > 0.15:
        heard = _time_of_chirp(sound) - len(sound) / RATE / 2 - sound_lead
        if abs(heard - times[first]) > 0.03:
            return f"sound of {heard:.3f} s at {times[first]:.3f} s"
    return None


@dataclass(frozen=True)
class Trial:
    """Cut of one span: ``exact``, ``refused`` or ``wrong``, the reason, and whether decoding the ends was enough."""

    cell: Cell
    span: str
    outcome: str
    reason: str = ""
    ends_only: bool = False


def try_cell(cell: Cell, folder: Path) -> Iterator[Trial]:
    """Cut every span of a source."""
    path, clip = write_source(cell, folder), folder / "clip.mp4"
    try:
        probed, measured = probe(path), times_of(path)
    except MediaError as error:
        yield from (Trial(cell, name, "refused", f"source: {error.reason}: {error.detail}") for name in cell.spans())
        return
    times = clock(cell.codec)
    # An edit list begins at time zero, whether or not its first picture can be decoded.
    zero = 0.0 if cell.first else measured[0]
    for name, (first, stop) in cell.spans().items():
        start, end = (zero + times[number] - times[cell.first] - _EARLIER_SECONDS for number in (first, stop))
        try:
            cut(path, probed, measured, float(start), float(end), clip, MediaSettings(height=None))
        except MediaError as error:
            yield Trial(cell, name, "refused", f"{error.reason}: {error.detail}")
            continue
        # AVI stores no times: its first picture is shown when the decoder gives it out, after B-frames' delay.
        lead = float(measured[0]) if cell.container == "AVI" else float(3 * _FIELD) if cell.codec == TELECINE else 0.0
        wrong = judge_clip(cell, (first, stop), clip, sound_lead=lead)
        ends_only = read_shown(path, float(start), float(end)).way.ends_only
        yield Trial(cell, name, "wrong" if wrong else "exact", wrong or "", ends_only)


def _pictures(codec: str, gop: int, folder: Path) -> Path:
    path = folder / f"{codec}-{gop}.mp4"
    if path.exists():
        return path
    raw = folder / "numbers.gray"
    if not raw.exists():
        raw.write_bytes(b"".join(picture(number, *SIZE)[:, :, 0].tobytes() for number in range(FRAMES)))
    stored = ("-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{SIZE[0]}x{SIZE[1]}")
    is_telecine = codec == TELECINE
    rate = "30000/1001" if is_telecine else "25"
    _ffmpeg(*stored, "-r", rate, "-i", raw, *CODECS[codec](gop), "-pix_fmt", "yuv420p", path)
    if not is_telecine:
        return path
    return _pull_down(path, path.with_suffix(".nut"))


def _pull_down(source: Path, target: Path) -> Path:
    """Mark every other frame of MPEG-2 video to be shown for three fields (ISO/IEC 13818-2, 6.3.5 and 6.3.10)."""
    ticks = [round(seconds / _FIELD) for seconds in clock(TELECINE)]
    with av.open(str(source)) as reader, av.open(str(target), "w") as writer:
        stream: Any = writer.add_stream("mpeg2video", rate=Fraction(30000, 1001))
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        stream.time_base = _FIELD
        packets: list[Any] = [packet for packet in reader.demux(video=0) if packet.size]
        header = bytes(reader.streams.video[0].codec_context.extradata or b"")
        shown = sorted(packet.pts for packet in packets)
        for index, packet in enumerate(packets):
            number = shown.index(packet.pts)
            data = bytearray(bytes(packet) if index else header + bytes(packet).removeprefix(header))
            position = data.find(b"\0\0\1\xb5")
            while position >= 0:
                kind = data[position + 4] >> 4
                if kind == 1:
                    data[position + 5] &= ~8
                elif kind == 8:
                    top_first, repeated = number % 4 in (0, 3), number % 2 == 0
                    data[position + 7] = data[position + 7] & 0b01111101 | top_first << 7 | repeated << 1
                    data[position + 8] |= 0x80
                position = data.find(b"\0\0\1\xb5", position + 4)
            marked = av.Packet(bytes(data))
            marked.pts, marked.dts = ticks[number], ticks[index - 1] if index else -3
            marked.is_keyframe, marked.time_base, marked.stream = packet.is_keyframe, _FIELD, stream
            writer.mux(marked)
    source.unlink()
    return target.rename(source)


def _write_chirp(path: Path) -> None:
    time = np.arange(9 * RATE) / RATE
    samples = 0.5 * np.sin(2 * np.pi * (_LOWEST * time + _RISE * time**2 / 2))
    with wave.open(str(path), "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(RATE)
        stream.writeframes((samples * 32767).astype("<i2").tobytes())


def _time_of_chirp(sound: Any) -> float:
    """Return the time on the chirp's clock of the middle of a piece of sound."""
    middle = len(sound) // 2
    window = sound[max(middle - RATE // 20, 0) : middle + RATE // 20]
    spectrum = np.abs(np.fft.rfft(window * np.hanning(len(window)), RATE))
    strong = spectrum**2 * (spectrum > spectrum.max() / 2)
    return float(((strong * np.arange(len(strong))).sum() / strong.sum() - _LOWEST) / _RISE)


def _ffmpeg(*options: object) -> None:
    command = [ffmpeg_path(), "-v", "error", "-y", *map(str, options)]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
