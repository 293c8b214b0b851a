"""Read captions of systems from tables and from COCO results JSON."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.tables import Columns, read_table
from vttdata.ids import find_video_id
from vttdata.text.captions import clean_text

COLUMNS = ("video_id", "image_id", "caption", "system")


def read_systems(
    files: Iterable[Path], columns: Mapping[str, str | Sequence[str]] | None = None, known: Container[str] = ()
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Read captions of systems.

    Tables have the columns `video_id`, or `image_id` as COCO's results, and `caption`. A column `system` names the
    system; by default it is the file's name.

    Args:
        files: CSV, TSV or JSON.
        columns: name of a column -> its name, or its names, in the files that have it.
        known: ids of videos, which the files may write as names of video files.

    Returns:
        System -> `video_id` -> caption, and `system/video_id` of rows that repeat another row.

    Raises:
        VttdataError: if a file cannot be read, a value is missing or not text, or a system has two different captions
            of a video; the message names the file and the row.
    """
    layout = Columns(COLUMNS, (("video_id", "image_id"), ("caption",)), mapping=columns or {}, any_table=True)
    systems: dict[str, dict[str, str]] = {}
    repeated: list[str] = []
    for file in files:
        is_empty = True
        for line, row in read_table(file, layout):
            is_empty = False
            location = f"{file}:{line}"
            system = _name(location, "system", row.get("system", file.stem))
            video = _name(location, "video_id", row.get("video_id", row.get("image_id")))
            video = find_video_id(video, known) or video
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


def _name(location: str, column: str, value: object) -> str:
    if value is None:
        raise VttdataError(f"{location}: '{column}' is missing.")
    # Image ids of COCO results are integers.
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise VttdataError(f"{location}: '{column}' is not a name.")
    return str(value).strip()
