"""Contact sheet of clips: one frame each, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from vttdata.errors import MediaError
from vttdata.media.decode import open_video, stated_seconds
from vttdata.media.shots.contact_sheet import make_thumbnail

_CELL = (240, 135)
_GAP = 4
_COLUMNS = 4


def draw_clips(videos: Sequence[Path], target: Path) -> None:
    """Write a JPEG with the frame in the middle of each video, four in a row; the same videos give the same bytes.

    Videos without a frame that can be decoded are left out. Memory holds the sheet and one frame at a time.

    Raises:
        MediaError: when no video can be read.
        OSError: when the target cannot be written.
    """
    thumbnails = []
    for path in videos:
        try:
            thumbnails.append(middle_thumbnail(path))
        except MediaError as error:
            last_error = error
    if not thumbnails:
        raise last_error
    columns, rows = min(len(thumbnails), _COLUMNS), -(-len(thumbnails) // _COLUMNS)
    width, height = _CELL[0] + _GAP, _CELL[1] + _GAP
    sheet = Image.new("RGB", (columns * width + _GAP, rows * height + _GAP), (24, 24, 24))
    for number, thumbnail in enumerate(thumbnails):
        left, top = number % _COLUMNS * width + _GAP, number // _COLUMNS * height + _GAP
        sheet.paste(thumbnail, (left + (_CELL[0] - thumbnail.width) // 2, top + (_CELL[1] - thumbnail.height) // 2))
    sheet.save(target, format="JPEG", quality=82)


def middle_thumbnail(path: Path) -> Image.Image:
    """Return the frame in the middle of a video, as a player shows it and as large as fits into a cell.

    Raises:
        MediaError: what `open_video` and `Video.frames` raise, or ``frames_missing`` without a frame.
    """
    with open_video(path) as video:
        middle = stated_seconds(video.container, video.stream) / 2
        video.seek(middle)
        frame = None
        for frame in video.frames():
            if frame.time >= middle:
                break
        if frame is None:
            raise MediaError("frames_missing", f"{path.name}: no frame can be decoded.")
        return make_thumbnail(frame.picture, float(video.stream.sample_aspect_ratio or 1), _CELL)
