"""TOMATO (Shangguan et al., 2024): multiple-choice questions on motion.

The release (github.com/yale-nlp/TOMATO, ``data``) is one file for each type of motion, such as ``count.json`` and
``shape&trend.json``: an object from numbers to questions with `question`, `options`, `answer` (index from 0) and `key`,
the name of the video.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_files, key_path, list_files
from vttdata.annotations.record_collector import RecordCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.records import VideoQuestion
from vttdata.text.questions import letters

_TYPES = ("count", "direction", "rotation", "shape&trend", "velocity&frequency", "visual_cues")


@dataclass(frozen=True, slots=True)
class MotionQuestion(OfficialObject):
    """Question about the video `key`, its options, and the index of the right one."""

    question: str
    options: list[str]
    answer: int
    key: str


_SHAPE: pydantic.TypeAdapter[dict[str, MotionQuestion]] = pydantic.TypeAdapter(dict[str, MotionQuestion])


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with one or more of the official files.

    Returns:
        One clip for each video, and its questions in the order of the files, under ``<type>/<number>``; all are in the
        split ``test``. Clips start and end at 0, since the files state no length.

    Raises:
        VttdataError: when there is no file, one is damaged or of another shape, or an answer is no option.
    """
    records = RecordCollector(language)
    files = choose_files(folder, {}, optional={name: f"{name}.json" for name in _TYPES})
    if not files:
        names = ", ".join(file.name for file in list_files(folder, {".json"})[:5]) or "no file"
        raise VttdataError(f"{folder}: holds no {', '.join(_TYPES)}.json of TOMATO; there is {names}.")
    added: set[str] = set()
    for kind, file in files.items():
        for number, item in records.read_json(file, _SHAPE).items():
            location = f"{file}: {key_path((number,))}"
            if item.key not in added:
                records.add_clip(file, item.key, item.key, 0, None, split="test", location=location)
                added.add(item.key)
            question = VideoQuestion(
                f"{kind}/{number}",
                item.key,
                "multiple_choice",
                item.question,
                tuple(item.options),
                letters(len(item.options)),
                item.answer,
                type=kind,
            )
            records.add_question(file, question, location=location)
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
