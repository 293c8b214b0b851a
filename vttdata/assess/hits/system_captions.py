"""Read captions of systems from tables and from COCO results JSON."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.files.tables import read_rows
from vttdata.text.captions import clean_text


def read_systems(files: Iterable[Path]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Read captions of systems.

    CSV, TSV and JSON lines have `video_id` and `caption`; ``.json`` is a list of objects with `image_id` or `video_id`
    and `caption`, like COCO's results. A column `system` names the system; by default it is the file's name.

    Returns:
        System -> `video_id` -> caption, and `system/video_id` of rows that repeat another row.

    Raises:
        VttdataError: if a file cannot be read, a value is missing or not text, or a system has two different captions
            of a video; the message names the file and the row.
    """
    systems: dict[str, dict[str, str]] = {}
    repeated: list[str] = []
    for file in files:
        is_empty = True
        for line, row in read_rows(file, "a list of objects with 'image_id' and 'caption'"):
            is_empty = False
            location = f"{file}:{line}"
            system = _name(location, "system", row.get("system", file.stem))
            video = _name(location, "video_id", row.get("video_id", row.get("image_id")))
            if "caption" not in row:
                raise VttdataError(f"{location}: 'caption' is missing.")
            text = row["caption"] or ""
            if not isinstance(text, str):
                raise VttdataError(f"{location}: the caption is {type(text).__name__}, not text.")
            caption = clean_text(text)
            captions = systems.setdefault(system, {})
            if video not in captions:
                captions[video] = caption
            elif captions[video] == caption:
                repeated.append(f"{system}/{video}")
            else:
                raise VttdataError(f"{location}: the system {system!a} already has another caption of {video!a}.")
        if is_empty:
            raise VttdataError(f"{file}: contains no captions.")
    return systems, repeated


def _name(location: str, column: str, value: Any) -> str:
    if value is None:
        raise VttdataError(f"{location}: '{column}' is missing.")
    # Image ids of COCO results are integers.
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise VttdataError(f"{location}: '{column}' is not a name.")
    return str(value).strip()
