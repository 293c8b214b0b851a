"""Captions of a system for one split as COCO results, for pycocoevalcap; needs --captions.

Every clip of the split that has references gets one caption, in the order of the references of the format ``coco``.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.export.files import JsonList, one_line, text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.export.formats.coco import RULES, USAGE, file_name
from vttdata.files.tables import Columns, read_table
from vttdata.ids import find_video_id


def write_results(request: ExportRequest) -> Written:
    """Write a system's captions as a COCO result file.

    Raises:
        VttdataError: if a clip has no caption or several, or a caption is about another clip.
    """
    assert request.captions is not None
    config, split = request.clip_config, request.single_split()
    clips = request.dataset.references(config, split, request.folder, request.counts)
    expected = dict.fromkeys(clip["video_id"] for clip, references, _ in clips if references)
    captions = read_system_captions(request.captions, expected)
    missing = [video_id for video_id in expected if video_id not in captions]
    unknown = [video_id for video_id in captions if video_id not in expected]
    if missing or unknown:
        scored = f"the {len(expected):,} clips of '{split}' that have references"
        problems = [f"{len(missing):,} of {scored} have no caption (first {missing[0]})"] if missing else []
        problems += [f"{len(unknown):,} captions are about none of {scored} (first {unknown[0]!a})"] if unknown else []
        raise VttdataError(f"{request.captions}: {' and '.join(problems)}; give exactly one caption per clip.")
    # The order of the references makes the two files easy to compare.
    name = file_name(config, split).replace(".json", "_results.json")
    with text_file(request.folder / name) as stream:
        stream.write("[")
        results = JsonList(stream)
        for video_id in expected:
            results.append({"image_id": video_id, "caption": one_line(captions[video_id])})
        stream.write("\n]\n")
    return Written(USAGE.format(truth=file_name(config, split), results=name), [])


def read_system_captions(path: Path, known: Container[str] = ()) -> dict[str, str]:
    """Return the caption of each clip in a table with the columns ``video_id`` and ``caption``.

    The table may write `known` ids of clips as names of files.

    Raises:
        VttdataError: if the table cannot be read, a column or cell is missing, or a clip has two captions.
    """
    captions: dict[str, str] = {}
    for line, row in read_table(path, Columns(("video_id", "caption"), (("video_id",), ("caption",)))):
        video_id, caption = row["video_id"], row["caption"]
        if not isinstance(video_id, str) or not isinstance(caption, str) or not caption.strip():
            raise VttdataError(f"{path}:{line}: the video_id or the caption is empty.")
        video_id = find_video_id(video_id, known) or video_id
        if video_id in captions:
            raise VttdataError(f"{path}:{line}: {video_id!a} has a second caption; give exactly one caption per clip.")
        captions[video_id] = caption
    return captions


FORMAT = Format(write_results, RULES, takes_captions=True)
