"""Draws a contact sheet of a video's shots, so that a person can check a shot detector in one look.

Decodes the video once more and writes the picture row by row, so that long videos need no more memory than short ones.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vttdata.errors import MediaError
from vttdata.media.decode import Frame, open_video
from vttdata.media.shots.detect import Detection
from vttdata.records import Shot, Transition

LETTER_WIDTH, LETTER_HEIGHT = 8, 10
"""Pixels of one letter with the space after it, and of a line without the space below it."""

_SCALE = 2

_ROWS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71122",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "74447", "D": "65556", "E": "74647", "F": "74644",
    "G": "74557", "H": "55755", "I": "72227", "J": "11157", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "75557", "P": "75744", "Q": "75573", "R": "75765", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", ".": "00002", ":": "02020", "-": "00700", "#": "57575",
}  # fmt: skip
"""Five rows a letter, each an octal digit whose three bits are the dots."""


def write(picture: NDArray[np.uint8], text: str, left: int, top: int, colour: tuple[int, int, int]) -> None:
    """Write one line of text into an RGB picture (height x width x 3), in place; what does not fit is left out.

    Lower case is written as capitals, and characters without a letter here as spaces.
    """
    for place, character in enumerate(text.upper()):
        digits = [int(digit) for digit in _ROWS.get(character, "00000")]
        dots = np.array([[digit >> bit & 1 for bit in (2, 1, 0)] for digit in digits], bool)
        letter = dots.repeat(_SCALE, 0).repeat(_SCALE, 1)
        x = left + place * LETTER_WIDTH
        area = picture[top : top + letter.shape[0], x : x + letter.shape[1]]
        area[letter[: area.shape[0], : area.shape[1]]] = colour


Picture = NDArray[np.uint8]

_WIDE, _HIGH = 160, 90  # a thumbnail's cell
_GAP = 4
_LINE = LETTER_HEIGHT + 2 * _GAP
_PANEL_WIDTH, _PANEL_HEIGHT = 3 * (_WIDE + _GAP) + 2 * _GAP, 2 * _LINE + _HIGH + _GAP
_PAPER, _INK = 24, (230, 230, 230)
_COLOURS: dict[Transition, tuple[int, int, int]] = {
    "start": (90, 90, 90),
    "cut": (170, 50, 40),
    "fade": (40, 90, 170),
    "dissolve": (50, 130, 60),
    "gradual": (130, 90, 30),
}


def draw_sheet(path: Path, detection: Detection, target: Path, *, columns: int = 3, threads: int = 1) -> None:
    """Write a PNG with the first, middle and last frame of every shot.

    Each shot has a coloured line with its number, how it begins and its frames; below each picture stands when it is
    shown. Shots follow each other from left to right, then downwards.

    Args:
        path: the video.
        detection: its shots.
        target: the picture's file, replaced if it exists; its folder must.
        columns: shots side by side, 1 or more; each takes 500 pixels.
        threads: decoder threads, 0 lets the decoder choose.

    Raises:
        MediaError: when the video cannot be read, or ends before its last shot does.
        ValueError: when `columns` is less than 1.
        OSError: when the target cannot be written.
    """
    if columns < 1:
        raise ValueError("a sheet needs at least one column")
    rows = -(-len(detection.shots) // columns)
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("wb") as out, open_video(path, threads=threads) as video:
            aspect = float(video.stream.sample_aspect_ratio or 1)
            panels = _panels(detection.shots, video.frames(), aspect)
            _write_png(out, columns * _PANEL_WIDTH, rows * _PANEL_HEIGHT, _strips(panels, columns))
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _panels(shots: Iterable[Shot], frames: Iterator[Frame], aspect: float) -> Iterator[Picture]:
    """The picture of each shot, in order, from one pass over the frames."""
    frame = next(frames, None)
    for shot in shots:
        panel = _empty_panel(shot)
        for place, wanted in enumerate((shot.first_frame, (shot.first_frame + shot.last_frame) // 2, shot.last_frame)):
            while frame is not None and frame.index < wanted:
                frame = next(frames, None)
            if frame is None:
                raise MediaError("truncated", f"the video ends before frame {wanted}, which shot {shot.index} holds.")
            left = _GAP + place * (_WIDE + _GAP)
            _paste(panel, _thumbnail(frame.picture, aspect), left, _LINE + _GAP)
            write(panel, _clock(frame.time), left, _LINE + _HIGH + 2 * _GAP, _INK)
        yield panel


def _empty_panel(shot: Shot) -> Picture:
    panel = np.full((_PANEL_HEIGHT, _PANEL_WIDTH, 3), _PAPER, np.uint8)
    panel[:_LINE, _GAP : -2 * _GAP] = _COLOURS[shot.transition]
    text = f"#{shot.index} {shot.transition}  {shot.first_frame}-{shot.last_frame}"
    write(panel, text, 2 * _GAP, _GAP, (255, 255, 255))
    return panel


def _thumbnail(picture: Any, aspect: float) -> Picture:
    """The picture as a player shows it, turned and with its pixel aspect, as large as fits a cell."""
    turned = int(picture.rotation) // 90 % 4
    width, height = picture.width * aspect, float(picture.height)
    cell = (_HIGH, _WIDE) if turned % 2 else (_WIDE, _HIGH)
    scale = min(cell[0] / width, cell[1] / height)
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    small: Picture = picture.reformat(*size, "rgb24", interpolation="AREA").to_ndarray()
    return np.rot90(small, turned)


def _paste(panel: Picture, thumbnail: Picture, left: int, top: int) -> None:
    height, width = thumbnail.shape[:2]
    y, x = top + (_HIGH - height) // 2, left + (_WIDE - width) // 2
    panel[y : y + height, x : x + width] = thumbnail


def _clock(seconds: float) -> str:
    millis = max(round(seconds * 1000), 0)
    return f"{millis // 3600000}:{millis // 60000 % 60:02d}:{millis // 1000 % 60:02d}.{millis % 1000:03d}"


def _strips(panels: Iterator[Picture], columns: int) -> Iterator[Picture]:
    strip = None
    for number, panel in enumerate(panels):
        if strip is None:
            strip = np.full((_PANEL_HEIGHT, columns * _PANEL_WIDTH, 3), _PAPER, np.uint8)
        place = number % columns
        strip[:, place * _PANEL_WIDTH : (place + 1) * _PANEL_WIDTH] = panel
        if place == columns - 1:
            yield strip
            strip = None
    if strip is not None:
        yield strip


def _write_png(out: BinaryIO, width: int, height: int, strips: Iterable[Picture]) -> None:
    """An 8-bit RGB picture (PNG specification, third edition, sections 5 and 11.2), strip after strip."""
    out.write(b"\x89PNG\r\n\x1a\n")
    _write_chunk(out, b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    compressor = zlib.compressobj(6)
    for strip in strips:
        unfiltered = np.zeros((len(strip), 1 + width * 3), np.uint8)  # each line begins with its filter: none
        unfiltered[:, 1:] = strip.reshape(len(strip), -1)
        _write_chunk(out, b"IDAT", compressor.compress(unfiltered.tobytes()))
    _write_chunk(out, b"IDAT", compressor.flush())
    _write_chunk(out, b"IEND", b"")


def _write_chunk(out: BinaryIO, kind: bytes, data: bytes) -> None:
    out.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
