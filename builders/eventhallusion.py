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
from vttdata.annotations.files import OfficialObject, choose_files, key_path, list_files
from vttdata.annotations.record_collector import RecordCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.records import VideoQuestion
from vttdata.text.questions import YES_NO, Choices, find_text, letters

_FILES = {name: f"{name}_questions.json" for name in ("entire", "interleave", "misleading")}
_CHOICES = Choices(YES_NO, letters(len(YES_NO)))


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
    records = RecordCollector(language)
    files = choose_files(folder, {}, optional=_FILES)
    if not files:
        names = ", ".join(file.name for file in list_files(folder, {".json"})[:5]) or "no file"
        raise VttdataError(f"{folder}: holds none of {', '.join(_FILES.values())} of EventHallusion; there is {names}.")
    for kind, file in files.items():
        for place, video in enumerate(records.read_json(file, _SHAPE)):
            records.add_clip(
                file, video.id, video.id, 0, None, split="test", location=f"{file}: {key_path((f'[{place}]',))}"
            )
            for number, item in enumerate(video.questions):
                location = f"{file}: {key_path((f'[{place}]', 'questions', number))}"
                answer = find_text(item.answer, _CHOICES)
                if answer is None:
                    raise VttdataError(f"{location}: the answer {item.answer[:60]!a} is neither yes nor no.")
                question = VideoQuestion(
                    f"{video.id}/{number}",
                    video.id,
                    "yes_no",
                    item.question,
                    YES_NO,
                    letters(len(YES_NO)),
                    answer,
                    type=kind,
                )
                records.add_question(file, question, location=location)
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
