"""TOMATO (Shangguan et al., 2024): multiple-choice questions on motion.

The release (github.com/yale-nlp/TOMATO, ``data``) is one file for each type of motion, such as ``count.json`` and
``shape&trend.json``: an object from numbers to questions with `question`, `options`, `answer` (index from 0),
`demonstration_type` (human, object or simulated) and `key`: the folder and the name of the video.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_present_files, key_path
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder

_FILES = {
    name: f"{name}.json"
    for name in ("count", "direction", "rotation", "shape&trend", "velocity&frequency", "visual_cues")
}


@dataclass(frozen=True, slots=True)
class MotionQuestion(OfficialObject):
    """Question about the video `key` of a demonstration type, its options, and the index of the right one."""

    question: str
    options: list[str]
    answer: int
    demonstration_type: str
    key: str


_SHAPE: pydantic.TypeAdapter[dict[str, MotionQuestion]] = pydantic.TypeAdapter(dict[str, MotionQuestion])


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with one or more of the official files.

    Returns:
        One clip for each video, named by its folder and file, and its questions in the order of the files, under
        ``<type>/<number>``; all are in the split ``test``. Clips start and end at 0, since the files state no length.

    Raises:
        VttdataError: when there is no file, one is damaged or of another shape, or an answer is no option.
    """
    records = QuestionCollector(language)
    for kind, file in choose_present_files(folder, _FILES, "TOMATO").items():
        for number, item in records.read_json(file, _SHAPE).items():
            video = f"{item.demonstration_type}/{item.key}"
            asked = OfficialQuestion(f"{kind}/{number}", video, item.question, item.options, item.answer, type=kind)
            records.ask(file, asked, location=f"{file}: {key_path((number,))}")
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
