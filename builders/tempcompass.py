"""TempCompass (Liu et al., Findings of ACL 2024): questions on five temporal aspects of short videos, in three kinds.

The release (github.com/llyx97/TempCompass, ``questions``) is ``multi-choice.json``, ``yes_no.json`` and
``caption_matching.json``: objects from videos to aspects (action, direction, speed, order, attribute_change) to lists
of `question` and `answer`. The options are the last lines of a question, such as ``A. text`` or ``Option 1: text``, and
the answer is such a line, or yes or no.

Videos such as ``ID_reverse``, ``ID_concat_0`` and ``ID_OTHER_0`` are made from the takes that they name, so all of them
are one source.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_present_files, key_path
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.text.questions import YES_NO, LinedOptions, find_option, find_text, letters, split_option_lines

_FILES = {
    "multiple_choice": "multi-choice.json",
    "yes_no": "yes_no.json",
    "caption_matching": "caption_matching.json",
}


@dataclass(frozen=True, slots=True)
class AspectQuestion(OfficialObject):
    """Question, with its options as lines, and the line that is right."""

    question: str
    answer: str


_SHAPE: pydantic.TypeAdapter[dict[str, dict[str, list[AspectQuestion]]]] = pydantic.TypeAdapter(
    dict[str, dict[str, list[AspectQuestion]]]
)


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with one to three of the official files.

    Returns:
        One clip for each video, and its questions in the order of the files, under
        ``<kind>/<video>/<aspect>/<number>``, with numbers from 0; all are in the split ``test``. Clips start and end at
        0, since the files state no length.

    Raises:
        VttdataError: when there is no file, one is damaged or of another shape, or an answer is no option.
    """
    records = QuestionCollector(language)
    files = choose_present_files(folder, _FILES, "TempCompass")
    contents = {kind: records.read_json(file, _SHAPE) for kind, file in files.items()}
    sources = group_takes(video for videos in contents.values() for video in videos)
    for kind, videos in contents.items():
        for video, aspects in videos.items():
            for aspect, items in aspects.items():
                for number, item in enumerate(items):
                    location = f"{files[kind]}: {key_path((video, aspect, number))}"
                    lined = LinedOptions(item.question, YES_NO, letters(len(YES_NO)))
                    if kind != "yes_no":
                        lined = _split_options(item.question, location)
                    asked = OfficialQuestion(
                        f"{kind}/{video}/{aspect}/{number}",
                        video,
                        lined.question,
                        lined.options,
                        item.answer,
                        find=find_text if kind == "yes_no" else find_option,
                        kind=kind,
                        labels=lined.labels,
                        type=aspect,
                        source=sources[video],
                    )
                    records.ask(files[kind], asked, location=location)
    return records.result()


def _split_options(question: str, location: str) -> LinedOptions:
    lined = split_option_lines(question)
    if lined is None:
        raise VttdataError(f"{location}: the question does not end with lines of options, such as 'A. text'.")
    return lined


def group_takes(videos: Iterable[str]) -> dict[str, str]:
    """Return the source of each video: the first take of all that are connected by videos made from several."""
    parent: dict[str, str] = {}

    def find(take: str) -> str:
        while parent.setdefault(take, take) != take:
            take = parent[take]
        return take

    first: dict[str, str] = {}
    for video in videos:
        takes = [part for part in video.split("_") if part.isdecimal() and len(part) > 1]
        roots = sorted({find(take) for take in takes or [video]})
        first[video] = roots[0]
        for root in roots[1:]:
            parent[root] = roots[0]
    return {video: find(root) for video, root in first.items()}


Recipe = OfficialRecipe
build = official_builder(read)
