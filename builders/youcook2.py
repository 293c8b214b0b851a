"""YouCook2 (Zhou, Xu and Corso, AAAI 2018): 1,790 cooking videos of 89 recipes, each step with its segment.

The release is ``yc2_annotations_trainval.json`` (also called ``youcookii_annotations_trainval.json``): a `database`
from YouTube ids to `subset`, `recipe_type`, `duration` and `annotations`, whose `segment` is in seconds. Sentences of
the test videos were never released; a file of their segments alone, where it is there, gives clips without captions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialObject, Seconds, choose_files, key_path
from vttdata.annotations.model import SPLITS
from vttdata.annotations.record_collector import RecordCollector, VideoFacts
from vttdata.compose.official_benchmark import OfficialRecipe, official_builder
from vttdata.errors import VttdataError
from vttdata.ids import youtube_url


@dataclass(frozen=True, slots=True)
class RecipeStep(OfficialObject):
    """Step of a recipe: its segment in seconds, and what is done."""

    id: Annotated[int, pydantic.Field(ge=0)]
    segment: tuple[Seconds, Seconds]
    sentence: str | None = None


@dataclass(frozen=True, slots=True)
class CookingVideo(OfficialObject):
    """Video with the steps of its recipe."""

    subset: str
    duration: Annotated[Seconds, pydantic.Field(ge=0)]
    annotations: list[RecipeStep]
    recipe_type: str
    video_url: str = ""


@dataclass(frozen=True, slots=True)
class CookingVideos(OfficialObject):
    """Content of the official file."""

    database: dict[str, CookingVideo]


_SHAPE: pydantic.TypeAdapter[CookingVideos] = pydantic.TypeAdapter(CookingVideos)
_FILES = {"training and validation": "*annotations_trainval.json"}
_TEST = {"test segments": "*annotations_test*.json"}


def read(folder: Path, *, language: str = "en") -> Annotations:
    """Read a folder, or a zip archive in it, with the official JSON file.

    Returns:
        One clip for each step under ``<youtube id>_<step id>``, in the order of the file. The category is the number of
        the recipe type; YouTube's address follows from the id.

    Raises:
        VttdataError: when the file is missing, damaged or of another shape.
    """
    records = RecordCollector(language)
    categories: set[str] = set()
    for file in choose_files(folder, _FILES, optional=_TEST).values():
        for name, video in records.read_json(file, _SHAPE).database.items():
            location = f"{file}: {key_path(('database', name))}"
            if video.subset not in SPLITS:
                raise VttdataError(f"{location}: subset {video.subset[:60]!a} is not training, validation or testing.")
            categories.add(video.recipe_type)
            if video.video_url not in ("", youtube_url(name)):
                records.findings.add("differing_url", file.name, name)
            for step in video.annotations:
                clip = records.add_clip(
                    file,
                    f"{name}_{step.id}",
                    name,
                    *step.segment,
                    split=SPLITS[video.subset],
                    video=VideoFacts(youtube_url(name), video.recipe_type, video.duration),
                    location=location,
                )
                if step.sentence is not None:
                    records.add_caption(file, clip.video_id, step.sentence, sen_id=0)
    return records.result(categories=sorted(categories, key=lambda name: (len(name), name)))


Recipe = OfficialRecipe
build = official_builder(read, files_by="source_id")
