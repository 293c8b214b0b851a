"""DiDeMo (Hendricks et al., ICCV 2017): sentences about moments of Flickr videos, each marked by four annotators.

The release (github.com/LisaAnne/LocalizingMoments, ``data``) is ``train_data.json``, ``val_data.json`` and
``test_data.json``: lists of objects with `annotation_id`, `description`, `video` and `times`. A time ``[3, 4]`` is the
fourth and the fifth piece of five seconds, 15 s to 25 s; annotation stopped at 30 s, and `num_segments` is 5 for videos
shorter than 25 s. The last piece may be shorter than its five seconds; the files do not say by how much.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_files
from vttdata.annotations.record_collector import RecordCollector, VideoFacts
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.records import QueryWindows

_PIECE_SECONDS = 5.0
_Piece = Annotated[int, pydantic.Field(ge=0, le=5)]


@dataclass(frozen=True, slots=True)
class Moment(OfficialObject):
    """Description of a moment, with the first and the last piece that each annotator marked."""

    annotation_id: int
    description: str
    video: str
    times: Annotated[list[tuple[_Piece, _Piece]], pydantic.Field(min_length=1)]
    dl_link: str | None = None
    num_segments: int = 6


_SHAPE: pydantic.TypeAdapter[list[Moment]] = pydantic.TypeAdapter(list[Moment])
_FILES = {"train": "train_data.json", "validation": "val_data.json", "test": "test_data.json"}


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the three official JSON files.

    Returns:
        One clip for each description in the order of the files, under ``<video>_<annotation id>``. The video is named
        by its file without extension, ``-`` for ``@``, which no id may have. The span is the one that most annotators
        marked, the first of these in the file where several were marked as often, which is a finding. What each
        annotator marked is in `moments`, for the benchmark's own measure.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape.
    """
    records = RecordCollector(language)
    for split, file in choose_files(folder, _FILES).items():
        for index, moment in enumerate(records.read_json(file, _SHAPE)):
            votes = Counter(moment.times)
            (first, last), most = votes.most_common(1)[0]
            video = moment.video.rpartition(".")[0].replace("@", "-") or moment.video
            clip = records.add_clip(
                file,
                f"{video}_{moment.annotation_id}",
                video,
                first * _PIECE_SECONDS,
                (last + 1) * _PIECE_SECONDS,
                split=split,
                video=VideoFacts(moment.dl_link),
                location=f'{file}: [{index}]["video"]',
            )
            if [*votes.values()].count(most) > 1:
                records.findings.add("annotators_disagree", file.name, clip.video_id)
            records.add_caption(file, clip.video_id, moment.description)
            marked = QueryWindows(
                clip.video_id,
                0,
                tuple(first * _PIECE_SECONDS for first, _ in moment.times),
                tuple((last + 1) * _PIECE_SECONDS for _, last in moment.times),
                annotators=tuple(range(len(moment.times))),
            )
            records.add_moments(file, marked, moment.num_segments * _PIECE_SECONDS)
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read, files_by="source_id")
