"""Build the dataset of a benchmark from its official annotation files: same ids, splits and order, every row.

Shared by the builders of benchmarks, each of which adds the reader of its files. Irregularities in the files become
findings and are never mended.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import pydantic

from vttdata.annotations import Annotations, Finding, read_protocol
from vttdata.annotations.model import join_paragraphs
from vttdata.annotations.protocol_splits import check_name
from vttdata.compose.package import Origin, package
from vttdata.dataset import OfficialLayout
from vttdata.dataset.metadata import Figure, PaperFigure
from vttdata.dataset.protocol_file import read_protocol_file
from vttdata.dataset.questions import QuestionSet
from vttdata.dataset.tombstones import Tombstones
from vttdata.dataset.videos import MediaFiles, PublishSettings
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.generate import DegradeSettings
from vttdata.generate.blind.questions import (
    MIN_QUESTIONS,
    MultipleChoice,
    QuestionAttack,
    audit_questions,
    can_be_attacked,
    find_floor,
)
from vttdata.memory import garbage_collection_paused
from vttdata.missing_modules import check_installed
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.annotations import (
    CAPTIONS,
    CLIPS,
    CONCEPTS,
    FINDINGS,
    MOMENTS,
    QUESTIONS,
    SOURCES,
    ClipFiles,
    SourceFiles,
    find_record_files,
    missing_files,
)
from vttdata.pipeline.stages.captions import DegradeCaptions, captions_in_splits
from vttdata.recipe import BaseRecipe
from vttdata.recipe.load import Paths
from vttdata.records import Degraded

_SHOWN_IDS = 3


class OfficialRecipe(BaseRecipe):
    """Recipe for a benchmark's official files.

    Fields:
        language: of the captions, ISO 639-1.
        annotations: folder of the official files.
        videos: folder with files ``<video_id>.<extension>`` (or ``<source_id>.<extension>``, as the builder says).
        paragraphs: make one clip of each video, whose caption is all sentences about it; see
            `vttdata.annotations.model`.
        protocols: name -> split -> file of clip ids, or name -> protocol file; each becomes a configuration.
        degrade: how to degrade every sentence into the configuration `degraded`; by default there is none.
        paper: figures in the benchmark's paper, which the card compares.
        publish: how the files in `videos` go into the dataset; by default they do not, since they belong to others.
    """

    paths: ClassVar[Paths] = {
        "annotations": "folder",
        "videos": "folder",
        "protocols.*": "file",
        "protocols.*.*": "file",
    }

    # Files of videos are hashed.

    language: str = "en"
    annotations: str = pydantic.Field(description="a folder with the official files, such as --set annotations=FOLDER")
    videos: str | None = None
    paragraphs: bool = False
    protocols: dict[str, dict[str, str] | str] = pydantic.Field(default_factory=dict)
    degrade: DegradeSettings | None = None
    paper: dict[Figure, PaperFigure] = pydantic.Field(default_factory=dict)
    publish: PublishSettings = PublishSettings()

    @pydantic.field_validator("protocols")
    @classmethod
    def _check_names(cls, protocols: dict[str, dict[str, str] | str]) -> dict[str, dict[str, str] | str]:
        for name, splits in protocols.items():
            check_name(name, {"test": splits} if isinstance(splits, str) else splits)
        return protocols


def official_builder(
    read: Callable[..., Annotations], *, files_by: Literal["video_id", "source_id"] = "video_id"
) -> Callable[[OfficialRecipe, Build], None]:
    """Return the function `build` of a builder whose `read(folder, language=...)` reads the official files.

    `files_by` is as of `build_official`.
    """

    def build(recipe: OfficialRecipe, run: Build) -> None:
        build_official(recipe, run, read(Path(recipe.annotations), language=recipe.language), files_by=files_by)

    return build


@garbage_collection_paused()
def build_official(
    recipe: OfficialRecipe,
    run: Build,
    official: Annotations,
    *,
    files_by: Literal["video_id", "source_id"] = "video_id",
) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end.

    `official` is the content of the official files in `recipe.annotations`, and `files_by` the id that names the files
    in `recipe.videos`: that of the clip, or that of the original video.
    """
    if len(official.questions) >= MIN_QUESTIONS:
        check_installed("Blind attackers of questions", "assess", "scipy", "sklearn")
    official = _leave_out_withdrawn(official, run.tombstones)
    if recipe.paragraphs:
        official = join_paragraphs(official)
    files = dict(official.files)
    protocols = {**official.protocols, **_read_protocols(recipe, official, files)}

    further = (
        official.classes,
        official.questions,
        official.questions,
        official.moments,
        recipe.videos,
        recipe.degrade,
    )
    run.steps = 5 + sum(bool(each) for each in further)
    sources = run.stage(SOURCES, official.sources)
    clips = run.stage(CLIPS, official.clips)
    captions = run.stage(CAPTIONS, official.captions, may_be_empty=True)
    concepts = run.stage(CONCEPTS, official.concepts) if official.classes else ()
    media: Path | None = None
    missing: tuple[Finding, ...] = ()
    if recipe.videos is not None and files_by == "source_id":
        sources = run.stage(
            SourceFiles(Path(recipe.videos)), find_record_files(Path(recipe.videos), sources), len(sources)
        )
        missing = missing_files(sources)
    elif recipe.videos is not None:
        media = Path(recipe.videos)
        clips = run.stage(ClipFiles(media), find_record_files(media, clips), len(clips))
        missing = missing_files(clips)
    for each in missing:
        of, has = f"{each.count:,} of {len(clips if media else sources):,}", "has" if each.count == 1 else "have"
        shown = ", ".join(each.ids[:_SHOWN_IDS]) + ", ..." * (each.count > _SHOWN_IDS)
        warnings.warn(f"{of} videos {has} no readable file in {recipe.videos}: {shown}", VttdataWarning, stacklevel=2)
    degraded: list[Degraded] = []
    if recipe.degrade is not None:
        placed = captions_in_splits(captions, clips)
        degraded = list(run.stage(DegradeCaptions(recipe.degrade, recipe.seed), placed, may_be_empty=True))
    findings = run.stage(FINDINGS, official.findings + missing, may_be_empty=True)
    questions = _attack_questions(run, official) if official.questions else None

    layout = OfficialLayout(
        official.categories,
        protocols,
        concepts,
        official.classes,
        degraded,
        questions=questions,
        moments=list(run.stage(MOMENTS, official.moments)) if official.moments else (),
    )
    package(
        run,
        clips,
        captions,
        sources,
        media=MediaFiles.chosen(media, recipe.publish.media or "none"),
        origin=Origin(layout, findings, {str(name): figure for name, figure in recipe.paper.items()}, files),
    )


def _leave_out_withdrawn(official: Annotations, tombstones: Tombstones) -> Annotations:
    """Return the official content that stages do not filter by themselves without what is withdrawn."""
    if not tombstones.rows:
        return official
    protocols = {
        name: {
            split: [video_id for video_id in ids if not tombstones.covers(video_id)] for split, ids in splits.items()
        }
        for name, splits in official.protocols.items()
    }
    gone = {clip.video_id for clip in official.clips if tombstones.cover_record(clip)}
    scores = tuple(score for score in official.scores if score.video_id not in gone)
    questions = tuple(question for question in official.questions if question.video_id not in gone)
    findings = tuple(
        dataclasses.replace(
            finding, ids=tuple(name for name in finding.ids if not tombstones.covers(name.partition("/")[0]))
        )
        for finding in official.findings
    )
    return dataclasses.replace(official, protocols=protocols, scores=scores, questions=questions, findings=findings)


def _attack_questions(run: Build, official: Annotations) -> QuestionSet:
    """Let blind attackers try the questions, those of the split ``train`` only where there are no others."""
    questions = list(run.stage(QUESTIONS, official.questions))
    clips = {clip.video_id: clip for clip in official.clips}
    tested = [each for each in questions if clips[each.video_id].split != "train"] or questions
    attacks: dict[str, Sequence[QuestionAttack]] = {}
    blind: dict[str, float] = {}
    with run.engine.progress(run.step("blind attacks")):
        for kind in dict.fromkeys(each.kind for each in tested):
            of_kind = [each for each in tested if each.kind == kind]
            # All videos of a source have one id.
            choices = [
                MultipleChoice(each.question, each.options, each.answer, clips[each.video_id].source_id, each.group)
                for each in of_kind
            ]
            if can_be_attacked(choices):
                attacks[kind] = audit_questions(choices)
                names = (each.question_id for each in of_kind)
                blind |= zip(names, find_floor(attacks[kind]).right, strict=True)
    return QuestionSet(questions, attacks, blind)


def _read_protocols(
    recipe: OfficialRecipe, official: Annotations, files: dict[str, str]
) -> dict[str, dict[str, list[str]]]:
    """Return the protocols that the recipe names, checked against the clips before any work."""
    duplicates = sorted(official.protocols.keys() & recipe.protocols.keys())
    if duplicates:
        raise VttdataError(
            f"protocols.{duplicates[0]}: the official files have a protocol of this name; choose another name."
        )
    known = {clip.video_id for clip in official.clips}
    protocols: dict[str, dict[str, list[str]]] = {}
    for name, splits in recipe.protocols.items():
        if isinstance(splits, str):
            protocol = read_protocol_file(Path(splits))
            protocol.check_ids(known, splits)
            protocols[name] = {split: list(ids) for split, ids in protocol.splits.items()}
            files[f"{Path(splits).name} ({protocol.name})"] = protocol.digest
        else:
            paths = {split: Path(file) for split, file in splits.items()}
            protocols[name] = read_protocol(name, paths, known, files)
    return protocols
