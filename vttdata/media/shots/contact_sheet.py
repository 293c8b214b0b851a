"""Contact sheet of a video's shots, so that a person can check a shot detector in one look.

Decodes the video once more. Memory holds the finished sheet, 0.2 MB for each shot, and one frame at a time.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import MediaError
from vttdata.media.decode import Frame, open_video
from vttdata.media.pictures import save_png
from vttdata.media.shots.detect import Detection
from vttdata.records import Transition

if TYPE_CHECKING:
    from PIL import Image

# Pixels: a thumbnail's cell, the space between cells, a line of text, and the three cells of a shot with two lines.
_CELL_WIDTH, _CELL_HEIGHT = 160, 90
_GAP = 4
_LINE = 18
_PANEL_WIDTH, _PANEL_HEIGHT = 3 * (_CELL_WIDTH + _GAP) + 2 * _GAP, 2 * _LINE + _CELL_HEIGHT + _GAP
# With the font's default size, descenders stay inside the line.
_TEXT_OFFSET = 3
_BACKGROUND, _TEXT = (24, 24, 24), (230, 230, 230)
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
    # Worker processes import this module and draw no sheet.
    from PIL import Image, ImageDraw

    if columns < 1:
        raise ValueError("a sheet needs at least one column")
    rows = -(-len(detection.shots) // columns)
    sheet = Image.new("RGB", (columns * _PANEL_WIDTH, rows * _PANEL_HEIGHT), _BACKGROUND)
    draw = ImageDraw.Draw(sheet)
    with open_video(path, threads=threads) as video:
        aspect = float(video.stream.sample_aspect_ratio or 1)
        frames = video.frames()
        frame: Frame | None = None
        for number, shot in enumerate(detection.shots):
            left, top = number % columns * _PANEL_WIDTH, number // columns * _PANEL_HEIGHT
            right = left + _PANEL_WIDTH - 2 * _GAP - 1
            draw.rectangle((left + _GAP, top, right, top + _LINE - 1), fill=_COLOURS[shot.transition])
            heading = f"#{shot.index} {shot.transition}  {shot.first_frame}-{shot.last_frame}"
            draw.text((left + 2 * _GAP, top + _TEXT_OFFSET), heading, fill="white")
            middle = (shot.first_frame + shot.last_frame) // 2
            for cell, index in enumerate((shot.first_frame, middle, shot.last_frame)):
                while frame is None or frame.index < index:
                    frame = next(frames, None)
                    if frame is None:
                        raise MediaError("truncated", f"the video ends before frame {index} of shot {shot.index}.")
                x, y = left + _GAP + cell * (_CELL_WIDTH + _GAP), top + _LINE + _GAP
                thumbnail = make_thumbnail(frame.picture, aspect)
                centred = (x + (_CELL_WIDTH - thumbnail.width) // 2, y + (_CELL_HEIGHT - thumbnail.height) // 2)
                sheet.paste(thumbnail, centred)
                draw.text((x, y + _CELL_HEIGHT + _TEXT_OFFSET), format_timecode(frame.time), fill=_TEXT)
    save_png(sheet, target)


def make_thumbnail(picture: Any, aspect: float, size: tuple[int, int] = (_CELL_WIDTH, _CELL_HEIGHT)) -> Image.Image:
    """Return the picture as a player shows it, rotated and with its pixel aspect, as large as fits a size in pixels."""
    from PIL import Image

    quarter_turns = int(picture.rotation) // 90 % 4
    width, height = picture.width * aspect, float(picture.height)
    cell = size[::-1] if quarter_turns % 2 else size
    scale = min(cell[0] / width, cell[1] / height)
    pixels = (max(round(width * scale), 1), max(round(height * scale), 1))
    small = Image.fromarray(picture.reformat(*pixels, "rgb24", interpolation="AREA").to_ndarray())
    return small.rotate(90 * quarter_turns, expand=True)


def format_timecode(seconds: float) -> str:
    """Format seconds as H:MM:SS.mmm."""
    millis = max(round(seconds * 1000), 0)
    return f"{millis // 3600000}:{millis // 60000 % 60:02d}:{millis // 1000 % 60:02d}.{millis % 1000:03d}"
