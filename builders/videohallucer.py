"""VideoHallucer (Wang et al., 2024): pairs of yes-or-no questions on what a video shows and what it does not show.

The release (github.com/patrick-tssn/VideoHallucer, ``videohallucer_datasets/NAME/NAME.json``) has one list of pairs for
each subset: `basic` and `hallucination`, each with `video`, `question` and `answer`. A pair is right if both answers
are. The two videos of a pair in ``semantic_detail``, ``ID_a.mp4`` and ``ID_b.mp4``, are parts of one source.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_files, key_path, list_files
from vttdata.annotations.record_collector import RecordCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.records import VideoQuestion
from vttdata.text.questions import YES_NO, Choices, find_text, letters

_SUBSETS = (
    "object_relation",
    "temporal",
    "semantic_detail",
    "interaction",
    "external_factual",
    "external_nonfactual",
    "fact_detect",
)
_CHOICES = Choices(YES_NO, letters(len(YES_NO)))


@dataclass(frozen=True, slots=True)
class YesNoQuestion(OfficialObject):
    """Question about the file of a video, and yes or no."""

    video: str
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class QuestionPair(OfficialObject):
    """Question on what is true, and one on what is not."""

    basic: YesNoQuestion
    hallucination: YesNoQuestion


_SHAPE: pydantic.TypeAdapter[list[QuestionPair]] = pydantic.TypeAdapter(list[QuestionPair])


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, its subfolders, or a zip archive in it, with one or more of the official files.

    Returns:
        One clip for each video, and its questions in the order of the files, under ``<subset>/<number>/basic`` and
        ``<subset>/<number>/hallucination``, with numbers from 0. Their type is the subset, their group the pair, and
        their split ``test``. Clips start and end at 0, since the files state no length.

    Raises:
        VttdataError: when there is no file, one is damaged or of another shape, or an answer is neither yes nor no.
    """
    records = RecordCollector(language)
    files = choose_files(folder, {}, optional={name: f"{name}.json" for name in _SUBSETS})
    if not files:
        names = ", ".join(file.name for file in list_files(folder, {".json"})[:5]) or "no file"
        raise VttdataError(f"{folder}: holds no {', '.join(_SUBSETS)}.json of VideoHallucer; there is {names}.")
    added: set[str] = set()
    for subset, file in files.items():
        for number, pair in enumerate(records.read_json(file, _SHAPE)):
            for part, item in (("basic", pair.basic), ("hallucination", pair.hallucination)):
                location = f"{file}: {key_path((f'[{number}]', part))}"
                answer = find_text(item.answer, _CHOICES)
                if answer is None:
                    raise VttdataError(f"{location}: the answer {item.answer[:60]!a} is neither yes nor no.")
                video = PurePosixPath(item.video).stem if item.video.endswith(".mp4") else item.video
                if video not in added:
                    source = video[:-2] if subset == "semantic_detail" and video[-2:] in ("_a", "_b") else video
                    records.add_clip(file, video, source, 0, None, split="test", location=location)
                    added.add(video)
                name = f"{subset}/{number}"
                question = VideoQuestion(
                    f"{name}/{part}",
                    video,
                    "yes_no",
                    item.question,
                    YES_NO,
                    letters(len(YES_NO)),
                    answer,
                    group=name,
                    type=subset,
                )
                records.add_question(file, question, location=location)
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
