"""Reads what systems say of videos: tables, and the JSON in which results of captioning are exchanged (COCO)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.files.tables import read_rows
from vttdata.text.captions import clean_text


def read_systems(files: Iterable[Path]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Read captions of systems: name -> `video_id` -> caption, and the rows that say again what another says.

    CSV, TSV and JSON lines have `video_id` and `caption`; ``.json`` is a list of objects with `image_id` or `video_id`
    and `caption`, as COCO's results. A column `system` names the system; without one it is the file's name.

    Raises:
        VttdataError: naming the file and the row, when it cannot be read, something is missing or no text, or a system
            has two different captions for a video.
    """
    systems: dict[str, dict[str, str]] = {}
    doubled: list[str] = []
    for file in files:
        empty = True
        for line, row in read_rows(file, "a list of objects with 'image_id' and 'caption'"):
            empty = False
            place = f"{file}:{line}"
            system = _name(place, "system", row.get("system", file.stem))
            video = _name(place, "video_id", row.get("video_id", row.get("image_id")))
            caption = _caption(place, row)
            own = systems.setdefault(system, {})
            if video not in own:
                own[video] = caption
            elif own[video] == caption:
                doubled.append(f"{system}/{video}")
            else:
                raise VttdataError(f"{place}: the system {system!a} has another caption for {video!a} already.")
        if empty:
            raise VttdataError(f"{file}: holds no captions.")
    return systems, doubled


def _name(place: str, what: str, value: Any) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise VttdataError(f"{place}: there is no '{what}'." if value is None else f"{place}: '{what}' is no name.")
    return str(value).strip()


def _caption(place: str, row: dict[str, Any]) -> str:
    if "caption" not in row:
        raise VttdataError(f"{place}: there is no 'caption'.")
    value = row["caption"] or ""
    if not isinstance(value, str):
        raise VttdataError(f"{place}: the caption is {type(value).__name__}, not text.")
    return clean_text(value)
