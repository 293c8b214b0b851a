"""EventHallusion (Zhang et al., 2024): yes-or-no questions on events in short videos.

The release (github.com/Stevetich/EventHallusion, ``questions``) is ``entire_questions.json``,
``interleave_questions.json`` and ``misleading_questions.json``: lists of videos with `id` and `questions`, each of them
a `question` and the `answer` ``Yes.`` or ``No.``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_present_files, key_path
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.text.questions import YES_NO

_FILES = {name: f"{name}_questions.json" for name in ("entire", "interleave", "misleading")}


@dataclass(frozen=True, slots=True)
class EventQuestion(OfficialObject):
    """Question, and yes or no."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class EventVideo(OfficialObject):
    """Video, and the questions about it."""

    id: str
    questions: list[EventQuestion]


_SHAPE: pydantic.TypeAdapter[list[EventVideo]] = pydantic.TypeAdapter(list[EventVideo])


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with one to three of the official files.

    Returns:
        One clip for each video, and its questions in the order of the files, under ``<video>/<number>``, with numbers
        from 0. Their type is that of the file, and their split ``test``. Clips start and end at 0, since the files
        state lengths in whole seconds only.

    Raises:
        VttdataError: when there is no file, one is damaged or of another shape, or an answer is neither yes nor no.
    """
    records = QuestionCollector(language)
    for kind, file in choose_present_files(folder, _FILES, "EventHallusion").items():
        for place, video in enumerate(records.read_json(file, _SHAPE)):
            for number, item in enumerate(video.questions):
                asked = OfficialQuestion(
                    f"{video.id}/{number}", video.id, item.question, YES_NO, item.answer, type=kind
                )
                records.ask(file, asked, location=f"{file}: {key_path((f'[{place}]', 'questions', number))}")
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
