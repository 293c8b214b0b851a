"""QVHighlights (Lei et al., NeurIPS 2021): queries about 150 s of videos, with all their windows and their highlights.

The release (github.com/jayleicn/moment_detr, ``data``) is ``highlight_train_release.jsonl``,
``highlight_val_release.jsonl`` and ``highlight_test_release.jsonl``, whose lines have `qid`, `query`, `duration`, `vid`
and, but for test, `relevant_windows` (seconds from the start of the video), `relevant_clip_ids` (parts of 2 s) and
`saliency_scores` (of three workers, 0 to 4). A video is ``<YouTube id>_<start>_<end>``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_present_files
from vttdata.annotations.record_collector import RecordCollector, VideoFacts
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.records import QueryWindows

_FILES = {
    "train": "highlight_train_release.jsonl",
    "validation": "highlight_val_release.jsonl",
    "test": "highlight_test_release.jsonl",
}
_VIDEO = re.compile(r"(?P<source>.{11})_(?P<start>\d+\.\d+)_(?P<end>\d+\.\d+)")
_WORKERS = 3
_Second = Annotated[float, pydantic.Field(ge=0)]
_Saliency = Annotated[int, pydantic.Field(ge=0, le=4)]


@dataclass(frozen=True, slots=True)
class HighlightQuery(OfficialObject):
    """Query with its windows and the saliency of their parts; without them in the test split."""

    qid: int
    query: str
    duration: _Second
    vid: str
    relevant_windows: list[tuple[_Second, _Second]] = field(default_factory=list)
    relevant_clip_ids: list[Annotated[int, pydantic.Field(ge=0)]] = field(default_factory=list)
    saliency_scores: list[Annotated[list[_Saliency], pydantic.Field(min_length=_WORKERS, max_length=_WORKERS)]] = field(
        default_factory=list
    )


_SHAPE: pydantic.TypeAdapter[HighlightQuery] = pydantic.TypeAdapter(HighlightQuery)


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with one to three of the official files.

    Returns:
        One clip for each video of each split, its queries as captions under their `qid`, and their windows. Queries of
        the test split have no windows, and no row in `moments`.

    Raises:
        VttdataError: when there is no file, or a line is damaged or of another shape.
    """
    records = RecordCollector(language)
    for split, file in choose_present_files(folder, _FILES, "QVHighlights").items():
        videos: set[str] = set()
        for location, query in records.read_json_lines(file, _SHAPE):
            match = _VIDEO.fullmatch(query.vid)
            if match is None:
                raise VttdataError(f"{location}: {query.vid[:60]!a} is not <YouTube id>_<start>_<end>.")
            if len(query.saliency_scores) != len(query.relevant_clip_ids):
                raise VttdataError(
                    f"{location}: {len(query.relevant_clip_ids)} parts have {len(query.saliency_scores)} judgments."
                )
            if query.vid not in videos:
                videos.add(query.vid)
                start = float(match["start"])
                facts = VideoFacts(f"https://www.youtube.com/watch?v={match['source']}")
                span = (start, start + query.duration)
                records.add_clip(file, query.vid, match["source"], *span, split=split, video=facts, location=location)
            records.add_caption(file, query.vid, query.query, sen_id=query.qid)
            if split != "test" or query.relevant_windows:
                moments = QueryWindows(
                    query.vid,
                    query.qid,
                    tuple(start for start, _ in query.relevant_windows),
                    tuple(end for _, end in query.relevant_windows),
                    tuple(query.relevant_clip_ids),
                    tuple(score for scores in query.saliency_scores for score in scores),
                )
                records.add_moments(file, moments, query.duration)
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
