"""Vinoground (Zhang et al., 2024): pairs of videos and of captions with the same words in another order of events.

The release (huggingface.co/datasets/HanSolo9682/Vinoground) is ``vinoground_textscore.json`` and
``vinoground_videoscore.json``: lists of objects with `idx`, such as ``0_pos``, `video_name`, `question` and `GT`, the
letter of the right option. The options are lines ``A. text`` of the question, which a line with an instruction follows.
A text question asks for the caption of a video, and a video question for the part of a video, joined from both, that a
caption is about. The four questions of a number are a group: its text score is that both of its text questions are
right, its video score that both video questions are, and its group score that all four are.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_present_files, key_path
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.text.questions import LinedOptions, find_label, split_option_lines

_FILES = {name: f"vinoground_{name}score.json" for name in ("text", "video")}


@dataclass(frozen=True, slots=True)
class CounterfactualQuestion(OfficialObject):
    """Question with its options as lines, the file of its video, and the letter that is right."""

    idx: str
    video_name: str
    question: str
    GT: str


_SHAPE: pydantic.TypeAdapter[list[CounterfactualQuestion]] = pydantic.TypeAdapter(list[CounterfactualQuestion])


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, its subfolders, or a zip archive in it, with one or both of the official files.

    Returns:
        One clip for each video, named by its folder and file, and its questions in the order of the files, under
        ``<text or video>/<idx>``; all are in the split ``test``. Their type is ``text`` or ``video``, their group the
        number, and the videos of a number are one source.

    Raises:
        VttdataError: when there is no file, one is damaged or of another shape, or an answer is no option.
    """
    records = QuestionCollector(language)
    for kind, file in choose_present_files(folder, _FILES, "Vinoground").items():
        for place, item in enumerate(records.read_json(file, _SHAPE)):
            location = f"{file}: {key_path((f'[{place}]',))}"
            number, mark, part = item.idx.rpartition("_")
            if not mark or part not in ("pos", "neg"):
                raise VttdataError(f"{location}: the idx {item.idx[:40]!a} is not such as '0_pos' or '0_neg'.")
            lined = _split_question(item.question, location)
            asked = OfficialQuestion(
                f"{kind}/{item.idx}",
                item.video_name,
                lined.question,
                lined.options,
                item.GT,
                find=find_label,
                labels=lined.labels,
                group=number,
                type=kind,
                source=f"pair-{number}",
            )
            records.ask(file, asked, location=location)
    return records.result()


def _split_question(text: str, location: str) -> LinedOptions:
    """Split a question whose lines of options may be followed by one line with an instruction, which is left out.

    Raises:
        VttdataError: when there are no such lines.
    """
    lined = split_option_lines(text) or split_option_lines(text.rstrip().rpartition("\n")[0])
    if lined is None:
        raise VttdataError(f"{location}: the question has no lines of options, such as 'A. text'.")
    return lined


Recipe = OfficialRecipe
build = official_builder(read)
