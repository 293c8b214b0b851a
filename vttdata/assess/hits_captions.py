"""Reads what systems say of videos: tables, and the JSON in which results of captioning are exchanged (COCO)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.tables import read_table
from vttdata.text.captions import clean_text

_LARGEST_JSON = 2**28


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
        rows = _json_rows(file) if file.suffix.lower() == ".json" else read_table(file)
        empty = True
        for line, row in rows:
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


def _json_rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON list, numbered from 1."""
    try:
        if file.stat().st_size > _LARGEST_JSON:
            raise VttdataError(f"{file}: larger than {_LARGEST_JSON} bytes.")
        value = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise VttdataError(f"{file}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{file}: not JSON ({error}).") from error
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise VttdataError(f"{file}: a list of objects with 'image_id' and 'caption' is expected.")
    yield from enumerate(value, 1)
