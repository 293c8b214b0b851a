"""Read one frame each of clips of a dataset as ``data:`` addresses, for pages that show a few of them."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import MediaError, VttdataError
from vttdata.files.contained import is_inside, links_out
from vttdata.media.contact_sheet import middle_thumbnail
from vttdata.subprocesses import call

_SIZE = (320, 180)
_SECONDS = 120.0


def read_stills(folder: Path, video_ids: Iterable[str]) -> dict[str, str]:
    """Return video id -> address of its middle frame, for clips whose file is in the dataset and can be decoded.

    Args:
        folder: dataset; one without clips has no stills.
        video_ids: at most some dozens.
    """
    layout = read_layout(folder, needs=None)
    paths = [*chain(*layout.files.get("clips", {}).values())]
    wanted = set(video_ids)
    files = {}
    for row in read_parquet_rows(paths, ("video_id", "video")):
        name = row["video"]
        if row["video_id"] in wanted and name and is_inside(name) and not links_out(folder, folder / name):
            files[row["video_id"]] = folder / name
    return draw_stills(files)


def draw_stills(files: dict[str, Path]) -> dict[str, str]:
    """Return name -> address of the middle frame of its video, for videos that can be decoded."""
    try:
        stills: dict[str, str] = call(_draw_stills, files, seconds=_SECONDS) if files else {}
    except (VttdataError, TimeoutError, ChildProcessError):
        # A page without pictures is complete.
        return {}
    return stills


def _draw_stills(files: dict[str, Path]) -> dict[str, str]:
    """Return the middle frames of videos, in a process that ends when its time is over."""
    stills = {}
    for name, path in files.items():
        picture = io.BytesIO()
        try:
            middle_thumbnail(path, _SIZE).save(picture, format="JPEG", quality=80)
        except MediaError:
            continue
        stills[name] = f"data:image/jpeg;base64,{base64.b64encode(picture.getvalue()).decode()}"
    return stills
