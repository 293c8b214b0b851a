"""EgoSchema (Mangalam et al., NeurIPS 2023): multiple-choice questions, each on three minutes of egocentric video.

The release (github.com/egoschema/EgoSchema) is ``questions.json``, a list of objects with `q_uid`, which names the
video too, `question` and ``option 0`` to ``option 4``, and ``subset_answers.json``, from `q_uid` to the index, from 0,
of the right option, for 500 of them. The authors keep the other answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_files, key_path
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError

_FILES = {"questions": "questions.json", "answers": "subset_answers.json"}


@dataclass(frozen=True, slots=True)
class EgocentricQuestion(OfficialObject):
    """Question and its five options; the id is also the name of the video."""

    q_uid: str
    question: str
    option_0: Annotated[str, pydantic.Field(validation_alias="option 0")]
    option_1: Annotated[str, pydantic.Field(validation_alias="option 1")]
    option_2: Annotated[str, pydantic.Field(validation_alias="option 2")]
    option_3: Annotated[str, pydantic.Field(validation_alias="option 3")]
    option_4: Annotated[str, pydantic.Field(validation_alias="option 4")]

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options in their order."""
        return (self.option_0, self.option_1, self.option_2, self.option_3, self.option_4)


_SHAPE: pydantic.TypeAdapter[list[EgocentricQuestion]] = pydantic.TypeAdapter(list[EgocentricQuestion])
_ANSWERS: pydantic.TypeAdapter[dict[str, int]] = pydantic.TypeAdapter(dict[str, int])


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the two official files.

    Returns:
        One clip for each question with an answer, which is in the split ``test``, in the order of the file. Questions
        without an answer are the finding ``no_answer``.

    Raises:
        VttdataError: when a file is missing, damaged or of another shape, or an answer is about another question or no
            index from 0 to 4.
    """
    records = QuestionCollector(language)
    files = choose_files(folder, _FILES)
    questions, answers = (
        records.read_json(files[role], shape) for role, shape in (("questions", _SHAPE), ("answers", _ANSWERS))
    )
    known = {question.q_uid for question in questions}
    stray = next((name for name in answers if name not in known), None)
    if stray is not None:
        raise VttdataError(f"{files['answers']}: {key_path((stray,))} is an answer to none of the questions.")
    for place, item in enumerate(questions):
        answer = answers.get(item.q_uid)
        if answer is None:
            records.findings.add("no_answer", files["questions"].name, item.q_uid)
            continue
        asked = OfficialQuestion(item.q_uid, item.q_uid, item.question, item.options, answer)
        records.ask(files["questions"], asked, location=f"{files['questions']}: {key_path((f'[{place}]',))}")
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
