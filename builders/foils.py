"""Build sets of foils: ActivityNet-FOIL (Shi et al., CVPR 2022, section 4.2), foils of MSR-VTT, or of any captions.

ActivityNet-FOIL swaps concepts in the first paragraph of each test video and keeps the second one as its reference.
Foils of MSR-VTT are captions; no pair of concepts of its training videos is one of its other splits, unless questions
with more than two options are made. Captions of a table or a dataset (`input`) are treated like those of MSR-VTT.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import ClassVar, Literal

import pydantic

from vttdata.annotations import Annotations
from vttdata.compose.foils import FoilRecipe, FoilTexts, build_foils, read_foil_texts
from vttdata.dataset.foils.write import FoilSet, Paragraph
from vttdata.errors import VttdataError
from vttdata.generate.foils.video_texts import ConceptAnnotation, VideoTexts
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.annotations import CAPTIONS, FINDINGS
from vttdata.recipe import packaged
from vttdata.recipe.load import Paths
from vttdata.records import Caption

_PAPER = (("pairs of paragraphs", "1,900"), ("pairs of concepts", "2,191"), ("foils a concept", "about 13"))


class Recipe(FoilRecipe):
    """Recipe for foils of official captions, or of other captions; see `FoilRecipe` for the keys of both.

    Fields:
        input: a table with the columns `video_id` and `caption`, or a dataset by folder or name.
        columns: name of a column of the table -> its name there.
        format: without `input`: the benchmark whose official files these are.
        annotations: the folder of the official files.
    """

    paths: ClassVar[Paths] = {**FoilRecipe.paths, "input": "input", "annotations": "folder"}
    one_of: ClassVar[dict[str, frozenset[str]]] = {"": frozenset({"input", "format"})}

    input: str | None = None
    columns: dict[str, str] = pydantic.Field(default_factory=dict)
    format: Literal["msrvtt", "activitynet-captions"] | None = None
    annotations: str | None = pydantic.Field(None, validate_default=True)

    @pydantic.field_validator("annotations")
    @classmethod
    def _captions_have_one_origin(cls, annotations: str | None, others: pydantic.ValidationInfo) -> str | None:
        if others.data.get("input") is not None:
            if annotations is not None or others.data.get("format") is not None:
                raise ValueError("official files and 'input' exclude each other; take one of them out")
        elif others.data.get("columns"):
            raise ValueError("'columns' are those of a table, and official files have theirs; take one of them out")
        elif others.data.get("format") is None:
            raise ValueError("'format' is missing; it should be msrvtt or activitynet-captions, or 'input' be given")
        elif annotations is None:
            raise ValueError(
                "is missing; it should be a folder with the official files, such as --set annotations=FOLDER"
            )
        return annotations


def build(recipe: Recipe, run: Build) -> FoilSet:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    # Sentences, foils and blind attacks; of official files findings too.
    run.steps = 3 + (recipe.input is None)
    texts = (
        read_foil_texts(recipe.input, recipe.columns, run) if recipe.input is not None else _official_texts(recipe, run)
    )
    return build_foils(recipe, texts, run)


def _official_texts(recipe: Recipe, run: Build) -> FoilTexts:
    official: Annotations = packaged.load_builder(recipe.format or "").read(
        Path(recipe.annotations or ""), language=recipe.language
    )
    captions = list(run.stage(CAPTIONS, official.captions))
    run.stage(FINDINGS, official.findings, may_be_empty=True)
    if recipe.format == "msrvtt":
        return FoilTexts(msrvtt_texts(official, captions), files=official.files)
    either = recipe.foils.balanced
    videos, paragraphs = activitynet_texts(official, captions, both=either)
    return FoilTexts(videos, paragraphs, official.files, _PAPER)


def activitynet_texts(
    official: Annotations, captions: list[Caption], *, both: bool
) -> tuple[list[VideoTexts], list[Paragraph]]:
    """Return the test videos with both paragraphs, and the other videos, whose texts only train models.

    The validation videos take the place of test videos where the files have none of these. With `both`, either
    annotator's paragraph may be changed; the paper changes the first annotator's.

    Raises:
        VttdataError: when no test video, or no validation video in its place, has two paragraphs.
    """
    clips = {clip.video_id: clip for clip in official.clips}
    seconds = {source.source_id: source.stated_seconds for source in official.sources}
    concepts = {concept.video_id: concept for concept in official.concepts}
    split = "test" if any(clip.split == "test" for clip in official.clips) else "validation"
    tested = {clip.source_id for clip in official.clips if clip.split == split}
    written: dict[str, tuple[list[Caption], list[Caption]]] = defaultdict(lambda: ([], []))
    for caption in captions:
        written[clips[caption.video_id].source_id][caption.annotator == "2"].append(caption)
    videos: list[VideoTexts] = []
    paragraphs: list[Paragraph] = []
    for video, sides in written.items():
        ids, other_ids = (tuple(caption.video_id for caption in side) for side in sides)
        texts, others = (tuple(caption.caption.strip() for caption in side) for side in sides)
        if video not in tested:
            videos.append(VideoTexts(video, ids, texts, lm_training_only=True))
            continue
        known = [concepts.get(name) for name in ids]
        annotated = tuple(
            ConceptAnnotation(c.tokens, c.token_indices, c.classes) if c is not None else None for c in known
        )
        names = tuple(sorted({name for c in known if c is not None for name in c.classes}))
        complete = texts and others
        videos.append(
            VideoTexts(
                video,
                ids,
                texts,
                paragraph=True,
                other_texts=others if complete else (),
                other_ids=other_ids if complete and both else (),
                present=names,
                annotations=annotated,
                split=split,
                needs_other_texts=True,
            )
        )
        spans = [tuple((clips[name].start, clips[name].end) for name in side) for side in (ids, other_ids)]
        paragraphs += [
            Paragraph(video, "1", seconds[video], ids, texts, spans[0], others, spans[1]),
            Paragraph(video, "2", seconds[video], other_ids, others, spans[1], texts, spans[0]),
        ]
    if not any(paragraph.texts and paragraph.references for paragraph in paragraphs):
        raise VttdataError(f"No {split} video has a paragraph in both files of its split; are they of one release?")
    return videos, paragraphs


def msrvtt_texts(official: Annotations, captions: list[Caption]) -> list[VideoTexts]:
    """Return all clips with their captions in the official splits."""
    split = {clip.video_id: clip.split for clip in official.clips}
    by_clip: dict[str, list[Caption]] = defaultdict(list)
    for caption in captions:
        by_clip[caption.video_id].append(caption)
    return [
        VideoTexts(
            video_id,
            tuple(f"{video_id}_{caption.sen_id}" for caption in of_clip),
            tuple(caption.caption.strip() for caption in of_clip),
            split=split[video_id],
        )
        for video_id, of_clip in by_clip.items()
        if video_id in split
    ]
