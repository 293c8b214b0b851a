"""MVBench (Li et al., CVPR 2024), and other sets in its format: multiple-choice questions in one file for each task.

The release (huggingface.co/datasets/OpenGVLab/MVBench, ``json``) has a file ``<task>.json`` for each of 20 tasks: a
list of objects with `video`, `question`, `candidates`, `answer`, the text of one of them, and for videos of which a
part is asked about `start` and `end` in seconds. Videos that are folders of frames have `fps` beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, Seconds, key_path, list_files
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, build_official
from vttdata.errors import VttdataError
from vttdata.pipeline.build_folder import Build


@dataclass(frozen=True, slots=True)
class TaskQuestion(OfficialObject):
    """Question about a video or a part of it, and the text of the right candidate."""

    video: str
    question: str
    candidates: list[str]
    answer: str
    start: Seconds | None = None
    end: Seconds | None = None


_SHAPE: pydantic.TypeAdapter[list[TaskQuestion]] = pydantic.TypeAdapter(list[TaskQuestion])


class Recipe(OfficialRecipe):
    """Recipe for a set in the format of MVBench.

    Fields:
        folders: task -> name of the collection that its videos are of, which goes before their ids, since collections
            have files of the same name; a task without one has videos under their own names.
    """

    folders: dict[str, str] = pydantic.Field(default_factory=dict)


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    folder = Path(recipe.annotations)
    build_official(recipe, run, read(folder, language=recipe.language, folders=recipe.folders))


def read(folder: Path, *, language: str = "en", folders: Mapping[str, str] | None = None) -> Annotations:
    """Read all JSON files of a folder, its subfolders, or a zip archive in it; `folders` is as of `Recipe`.

    Returns:
        One clip for each video, and its questions in the order of the files, under ``<task>/<number>``, with numbers
        from 0. Their type is the task, the name of the file; all are in the split ``test``.

    Raises:
        VttdataError: when there is no file, one is damaged or of another shape, an answer is no candidate, or a part of
            a video ends before its start.
    """
    records = QuestionCollector(language)
    files = {PurePosixPath(file.name).stem: file for file in list_files(folder, {".json"})}
    if not files:
        raise VttdataError(f"{folder}: holds no JSON file of a task, such as action_sequence.json.")
    for task, file in files.items():
        collection = (folders or {}).get(task)
        for number, item in enumerate(records.read_json(file, _SHAPE)):
            location = f"{file}: {key_path((f'[{number}]',))}"
            if (item.start is None) != (item.end is None) or (item.start or 0) > (item.end or 0):
                raise VttdataError(f"{location}: 'start' and 'end' are no part of a video, in seconds.")
            asked = OfficialQuestion(
                f"{task}/{number}",
                item.video if collection is None else f"{collection}/{item.video}",
                item.question,
                item.candidates,
                item.answer,
                type=task,
                span=None if item.start is None or item.end is None else (item.start, item.end),
            )
            records.ask(file, asked, location=location)
    return records.result()
