"""Write small videos with a barcode in each frame and a beep on each whole second, and read both back.

Cuts can therefore be verified without any code of the package.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

from vttdata.media.ffmpeg_program import ffmpeg_path

KINDS = ("30 fps", "30000/1001 fps", "variable", "rotated", "offset")
RATE = 48000
BEEP_SECONDS = 0.25
_BITS = 11
_COLUMNS, _ROWS = 4, 3
# Left, top, width and height of the barcode as shares of the frame.
_AREA = (0.1, 0.1, 0.7, 0.6)

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Movie:
    """Barcode video and, for each frame number, its time since the container's start and on the sound's clock."""

    path: Path
    times: tuple[float, ...]
    clock: tuple[float, ...]

    def inside(self, start: float, end: float) -> list[int]:
        """Return the numbers of the frames whose time is in [start, end)."""
        return [number for number, time in enumerate(self.times) if start <= time < end]

    def shown(self, start: float, end: float) -> list[tuple[int, float]]:
        """Return the frames that are on screen in a span, with the second of the span at which each appears.

        The picture that is on screen at `start` counts if it stays for a tenth of a second.
        """
        inside = self.inside(start, end)
        before = inside[0] - 1
        if before >= 0 and self.times[before + 1] - start >= 0.1:
            return [(before, 0.0), *((number, self.times[number] - start) for number in inside)]
        return [(number, self.times[number] - self.times[inside[0]]) for number in inside]


def picture(number: int, width: int, height: int) -> npt.NDArray[np.uint8]:
    """Draw a frame, height x width x 3, with `number` (below 2048) and a parity bit as black and white blocks."""
    still = np.random.default_rng(7).integers(90, 166, (-(-height // 4), -(-width // 4)), dtype=np.uint8)
    grey = still.repeat(4, axis=0).repeat(4, axis=1)[:height, :width].copy()
    for bit, (top, bottom, left, right) in enumerate(_blocks(width, height)):
        value = number >> bit & 1 if bit < _BITS else number.bit_count() & 1
        grey[top:bottom, left:right] = 235 * value
    return grey[:, :, None].repeat(3, axis=2)


def read_number(grey: Array) -> int:
    """Read the number in a grey frame of any size.

    Raises:
        ValueError: if a block is neither black nor white, or the parity bit does not match.
    """
    number = parity = 0
    height, width = grey.shape
    for bit, (top, bottom, left, right) in enumerate(_blocks(width, height)):
        y, x = (bottom - top) // 4, (right - left) // 4
        level = float(grey[top + y : bottom - y, left + x : right - x].mean())
        if 100 < level < 140:
            raise ValueError(f"block {bit} is grey ({level:.0f})")
        if bit < _BITS:
            number |= int(level > 120) << bit
        else:
            parity = int(level > 120)
    if number.bit_count() & 1 != parity:
        raise ValueError(f"the parity of {number} is wrong")
    return number


def _blocks(width: int, height: int) -> Iterator[tuple[int, int, int, int]]:
    left, top, wide, high = _AREA
    for index in range(_BITS + 1):
        row, column = divmod(index, _COLUMNS)
        x, y = left + wide * column / _COLUMNS, top + high * row / _ROWS
        bottom, right = y + high / _ROWS, x + wide / _COLUMNS
        yield round(y * height), round(bottom * height), round(x * width), round(right * width)


def beeps(start: float, end: float) -> npt.NDArray[np.float32]:
    """Return the sound from `start` to `end` (seconds): on second s a beep of a quarter second at 400 + 100 * s Hz."""
    time = np.arange(round(start * RATE), round(end * RATE)) / RATE
    second = np.floor(time)
    tone = 0.5 * np.sin(2 * np.pi * (400 + 100 * second) * (time - second))
    return np.where(time - second < BEEP_SECONDS, tone, 0).astype(np.float32)


def write_barcode(
    path: Path,
    ticks: Sequence[int],
    tick: Fraction,
    *,
    size: tuple[int, int] = (160, 120),
    sound: tuple[float, float] | None = None,
    codec: str = "libx264",
    sound_codec: str = "aac",
    pixel_format: str = "yuv420p",
    aspect: str = "",
    turn: int = 0,
) -> Movie:
    """Encode a frame for each entry of `ticks` (its time in units of `tick` seconds) with the encoder's defaults.

    Args:
        size: width and height as stored; the number is upright after rotation.
        sound: first and last second of the sound, on the video's clock; no sound without it.
        aspect: display aspect, such as ``16:9``, for pixels that are not square.
        turn: counter-clockwise rotation by the player in degrees, a multiple of 90.
    """
    upright = size if turn % 180 == 0 else size[::-1]
    with av.open(str(path), "w") as container:
        video: Any = container.add_stream(codec, rate=round(1 / tick) if tick > Fraction(1, 1000) else 30)
        video.width, video.height, video.pix_fmt, video.time_base = *size, pixel_format, tick
        video.codec_context.time_base = tick
        video.options = {"threads": "1"}
        audio: Any = container.add_stream(sound_codec, rate=RATE, layout="mono") if sound else None
        if sound:
            container.mux(_sound_packets(audio, *sound))
        for number, ticks_at in enumerate(ticks):
            stored = np.ascontiguousarray(np.rot90(picture(number, *upright), -turn // 90))
            frame = av.VideoFrame.from_ndarray(stored, format="rgb24")
            frame.pts, frame.time_base = ticks_at, tick
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
    if turn or aspect:
        _mark(path, ["-display_rotation", str(turn)] if turn else [], ["-aspect", aspect] if aspect else [])
    return Movie(path, packet_times(path), tuple(float(ticks_at * tick) for ticks_at in ticks))


def write_movies(folder: Path, seconds: int, size: tuple[int, int] = (160, 120)) -> dict[str, Movie]:
    """Write one MP4 with sound per item of `KINDS`, by x264's defaults (B-frames, keyframes up to 250 frames apart)."""
    frames, sound = range(seconds * 30), (0.0, float(seconds))
    thirty, ntsc, fine = Fraction(1, 30), Fraction(1001, 30000), Fraction(1, 90000)
    later, later_sound = [number + 163 for number in frames], (5.6, 5.0 + seconds)
    return {
        "30 fps": write_barcode(folder / "thirty.mp4", frames, thirty, size=size, sound=sound),
        "30000/1001 fps": write_barcode(folder / "ntsc.mp4", frames, ntsc, size=size, sound=sound),
        "variable": write_barcode(folder / "varied.mp4", _varied_ticks(seconds), fine, size=size, sound=sound),
        "rotated": write_barcode(folder / "rotated.mp4", frames, thirty, size=size[::-1], turn=90, sound=sound),
        "offset": write_barcode(folder / "offset.mp4", later, thirty, size=size, sound=later_sound),
    }


def _varied_ticks(seconds: int) -> list[int]:
    """Return frame times in 1/90000 s, a 90th to a third of a second apart."""
    draw, ticks = random.Random(5), [0]
    while ticks[-1] < seconds * 90000:
        ticks.append(ticks[-1] + draw.choice([1001, 1500, 3003, 3003, 3003, 6006, draw.randrange(1000, 30000)]))
    return ticks


def _mark(path: Path, before: list[str], after: list[str]) -> None:
    stored = path.rename(path.with_stem(path.stem + "-stored"))
    command = [ffmpeg_path(), "-v", "error", *before, "-i", str(stored), "-c", "copy", *after, str(path)]
    subprocess.run(command, check=True, timeout=60)
    stored.unlink()


def packet_times(path: Path) -> tuple[float, ...]:
    """Return the time of every displayed frame from the container's packets alone."""
    with av.open(str(path)) as container:
        stream: Any = container.streams.best("video")
        base, start = stream.time_base, Fraction(container.start_time or 0, 10**6)
        shown: list[Any] = [packet.pts for packet in container.demux(stream) if packet.size and not packet.is_discard]
    return tuple(float(stamp * base - start) for stamp in sorted(shown))


def _sound_packets(stream: Any, start: float, end: float) -> list[Any]:
    samples = beeps(start, end)
    packets: list[Any] = []
    for position in range(0, len(samples), 1024):
        frame = av.AudioFrame.from_ndarray(samples[None, position : position + 1024], format="fltp", layout="mono")
        frame.rate, frame.time_base, frame.pts = RATE, Fraction(1, RATE), round(start * RATE) + position
        packets += stream.encode(frame)
    return [*packets, *stream.encode(None)]


def read_video(path: Path) -> list[tuple[int, float]]:
    """Decode a barcode video and return number and time of every frame."""
    with av.open(str(path)) as container:
        return [
            (read_number(frame.to_ndarray(format="gray")), float(frame.time)) for frame in container.decode(video=0)
        ]


def read_sound(path: Path) -> npt.NDArray[np.float32]:
    """Return all sound of a file as one channel at 48 kHz, preceded by silence if it starts after time 0."""
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=RATE)
    with av.open(str(path)) as container:
        frames = list(container.decode(audio=0))
    start = (frames[0].time or 0.0) if frames else 0.0
    pieces = [piece.to_ndarray()[0] for frame in [*frames, None] for piece in resampler.resample(frame)]
    return np.concatenate([np.zeros(max(round(start * RATE), 0), np.float32), *pieces])


def read_beeps(sound: npt.NDArray[np.float32]) -> list[tuple[float, int]]:
    """Return the start of each beep that follows silence, in seconds, and the whole second that its pitch encodes."""
    window = RATE // 200
    loud = np.convolve(np.abs(sound), np.ones(window) / window, "same") > 0.12
    begins = np.flatnonzero(loud[1:] & ~loud[:-1]) + 1
    beginnings = []
    for begin in begins:
        tone = sound[begin + RATE // 50 : begin + RATE // 5]
        if len(tone) < RATE // 10:
            continue
        peak = np.abs(np.fft.rfft(tone * np.hanning(len(tone)), RATE)).argmax()
        beginnings.append((float(begin / RATE), round((int(peak) - 400) / 100)))
    return beginnings
