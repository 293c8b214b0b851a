"""VideoHallucer (Wang et al., 2024): pairs of yes-or-no questions on what a video shows and what it does not show.

The release (github.com/patrick-tssn/VideoHallucer, ``videohallucer_datasets/NAME/NAME.json``) has one list of pairs for
each subset: `basic` and `hallucination`, each with `video`, `question` and `answer`. A pair is right if both answers
are. The two videos of a pair in ``semantic_detail``, ``ID_a.mp4`` and ``ID_b.mp4``, are parts of one source.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, choose_present_files, key_path
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.text.questions import YES_NO, name_video

_FILES = {
    name: f"{name}.json"
    for name in (
        "object_relation",
        "temporal",
        "semantic_detail",
        "interaction",
        "external_factual",
        "external_nonfactual",
        "fact_detect",
    )
}


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
    records = QuestionCollector(language)
    for subset, file in choose_present_files(folder, _FILES, "VideoHallucer").items():
        for number, pair in enumerate(records.read_json(file, _SHAPE)):
            group = f"{subset}/{number}"
            for part, item in (("basic", pair.basic), ("hallucination", pair.hallucination)):
                video = name_video(item.video)
                is_part = subset == "semantic_detail" and video.endswith(("_a", "_b"))
                asked = OfficialQuestion(
                    f"{group}/{part}",
                    item.video,
                    item.question,
                    YES_NO,
                    item.answer,
                    group=group,
                    type=subset,
                    source=video[:-2] if is_part else video,
                )
                records.ask(file, asked, location=f"{file}: {key_path((f'[{number}]', part))}")
    return records.result()


Recipe = OfficialRecipe
build = official_builder(read)
