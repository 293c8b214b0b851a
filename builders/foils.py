"""Builds sets of foils from official captions: ActivityNet-FOIL (Shi et al., CVPR 2022, section 4.2) and of MSR-VTT.

ActivityNet-FOIL swaps concepts in the first paragraph of each test video and keeps the second one as its reference.
Foils of MSR-VTT are captions; no pair of concepts of its training videos is one of the others.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from pathlib import Path
from typing import ClassVar, Literal

import pydantic

from vttdata.annotations import Annotations
from vttdata.compose.package import about_build, provenance_of_build
from vttdata.dataset.foils.write import FoilSet, Paragraph, paragraph_pairs, write_foils
from vttdata.dataset.provenance import write_provenance
from vttdata.errors import VttdataError
from vttdata.generate.foils.blind.shortcuts import TextPair, audit_shortcuts
from vttdata.generate.foils.requirements import check_foil_libraries
from vttdata.generate.foils.search import FoilSettings
from vttdata.generate.foils.verdicts import read_verdicts
from vttdata.generate.foils.videos import ConceptAnnotation, VideoTexts, assign_training_folds
from vttdata.ids import digest
from vttdata.pipeline.build import Build
from vttdata.pipeline.stages.annotations import CAPTIONS, FINDINGS
from vttdata.pipeline.stages.foils import Foils
from vttdata.recipe import packaged
from vttdata.recipe.load import BaseRecipe
from vttdata.records import Caption
from vttdata.text.lm import load_judges
from vttdata.text.nouns.lexicon import load_lexicon


class Recipe(BaseRecipe):
    """A recipe for this builder.

    Fields:
        format: the benchmark whose files these are.
        annotations: the folder of the official files.
        foils: how foils are chosen.
        scorer: ``ngram``, or a causal model of HuggingFace by name or path.
        judges: language models besides, that try to solve the set blind and choose nothing, such as ``[gpt2]``.
        device: where such models compute: ``cpu``, ``cuda``, ``cuda:1``.
        lexicon: a file in the place of the packaged lexicon, or one that extends it.
        verdicts: on foils that people judged: a table (see `vttdata.generate.foils.verdicts`).
        verdicts_of: the name of a packaged recipe, for the verdicts that come with it where no others are given.
        pipeline: a trained spaCy pipeline that finds nouns, such as ``en_core_web_sm``; by rule without one.
    """

    paths: ClassVar[dict[str, Literal["file", "folder"]]] = {
        "annotations": "folder",
        "lexicon": "file",
        "verdicts": "file",
    }

    format: Literal["msrvtt", "activitynet-captions"]
    annotations: str = pydantic.Field(description="a folder with the official files, such as --set annotations=FOLDER")
    foils: FoilSettings = FoilSettings()
    scorer: str = "ngram"
    judges: tuple[str, ...] = ()
    device: str = "cpu"
    lexicon: str | None = None
    verdicts: str | None = None
    verdicts_of: str | None = None
    pipeline: str | None = None


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    check_foil_libraries()
    judges = load_judges(recipe.judges, device=recipe.device)
    official = packaged.load_builder(recipe.format).read(Path(recipe.annotations), language=recipe.language)
    lexicon = load_lexicon(Path(recipe.lexicon) if recipe.lexicon is not None else None)
    captions = list(run.stage(CAPTIONS, official.captions))
    run.stage(FINDINGS, official.findings, may_be_empty=True)
    both = recipe.foils.selection == "balanced"
    told, paragraphs = (
        _msrvtt(official, captions) if recipe.format == "msrvtt" else activitynet_texts(official, captions, both=both)
    )
    chosen = (recipe.foils, recipe.seed, recipe.scorer, recipe.lexicon, lexicon.version)
    table = recipe.verdicts
    if table is None and recipe.verdicts_of is not None:
        table = str(packaged.verdicts(recipe.verdicts_of))
    verdicts = {} if table is None else read_verdicts(Path(table))
    stage = Foils(*chosen, recipe.pipeline, recipe.device, table, digest(verdicts) if verdicts else None)
    pairs = list(run.stage(stage, told))

    folds = assign_training_folds(told)
    texts = folds.attacker_texts()
    shown = [TextPair(own.caption, own.foil, own.video_id, folds.fold_of[own.video_id]) for own in pairs]
    attacks = {"foils": audit_shortcuts(shown, texts=texts, models=judges)}
    scorer = Path(recipe.scorer).name if Path(recipe.scorer).exists() else recipe.scorer
    made = FoilSet(pairs, recipe.foils.selection, recipe.seed, lexicon.version, scorer, paragraphs, attacks)
    if paragraphs:
        attacks["paragraphs"] = audit_shortcuts(paragraph_pairs(made), texts=texts, models=judges)
    arrows = Counter((own.swap.concept, own.swap.foil_concept) for own in pairs)
    judged = sum(own.foil_id in verdicts for own in pairs) if recipe.foils.selection == "balanced" else 0
    counts = [
        ("pairs of captions", f"{len(pairs):,}"),
        ("pairs of paragraphs" if paragraphs else "videos", f"{len({own.video_id for own in pairs}):,}"),
        *([("foils judged before they were taken", f"{judged:,}")] if judged else []),
        ("pairs of concepts that are swapped", f"{len(arrows):,}"),
        ("concepts that are swapped", f"{len({concept for concept, _ in arrows}):,}"),
        *((f"{name} (the paper)", number) for name, number in _PAPER if paragraphs),
    ]
    made = dataclasses.replace(made, counts=counts)
    libraries = ("scikit-learn", "scipy", *([recipe.pipeline] if recipe.pipeline else []))
    origin = provenance_of_build(run, official.files, libraries=libraries)
    write_foils(run.dataset, made, about_build(run, official.files), lambda folder: write_provenance(folder, origin))


_PAPER = (("pairs of paragraphs", "1,900"), ("pairs of concepts", "2,191"), ("foils a concept", "about 13"))


def activitynet_texts(
    official: Annotations, captions: list[Caption], *, both: bool
) -> tuple[list[VideoTexts], list[Paragraph]]:
    """The test videos with both paragraphs, and the training videos, whose texts only train models.

    The paper changes the first annotator's paragraph; with `both`, either annotator's may be the one.
    """
    clips = {clip.video_id: clip for clip in official.clips}
    seconds = {source.source_id: source.stated_seconds for source in official.sources}
    concepts = {own.video_id: own for own in official.concepts}
    tested = {clip.source_id for clip in official.clips if clip.split == "test"}
    written: dict[str, tuple[list[Caption], list[Caption]]] = defaultdict(lambda: ([], []))
    for caption in captions:
        written[clips[caption.video_id].source_id][caption.annotator == "2"].append(caption)
    told: list[VideoTexts] = []
    paragraphs: list[Paragraph] = []
    for video, sides in written.items():
        ids, other_ids = (tuple(caption.video_id for caption in side) for side in sides)
        texts, others = (tuple(caption.caption.strip() for caption in side) for side in sides)
        if video not in tested:
            told.append(VideoTexts(video, ids, texts, lm_training_only=True))
            continue
        known = [concepts.get(name) for name in ids]
        annotated = tuple(
            ConceptAnnotation(c.tokens, c.token_indices, c.classes) if c is not None else None for c in known
        )
        names = tuple(sorted({name for c in known if c is not None for name in c.classes}))
        complete = texts and others
        told.append(
            VideoTexts(
                video,
                ids,
                texts,
                paragraph=True,
                other_texts=others if complete else (),
                other_ids=other_ids if complete and both else (),
                present=names,
                annotations=annotated,
                needs_other_texts=True,
            )
        )
        spans = [tuple((clips[name].start, clips[name].end) for name in side) for side in (ids, other_ids)]
        paragraphs += [
            Paragraph(video, "1", seconds[video], ids, texts, spans[0], others, spans[1]),
            Paragraph(video, "2", seconds[video], other_ids, others, spans[1], texts, spans[0]),
        ]
    if not any(own.texts and own.references for own in paragraphs):
        raise VttdataError("No test video has a paragraph in both files of the test split; are they of one release?")
    return told, paragraphs


def _msrvtt(official: Annotations, captions: list[Caption]) -> tuple[list[VideoTexts], list[Paragraph]]:
    """All clips with their captions in the official splits; none is a paragraph."""
    split = {clip.video_id: clip.split for clip in official.clips}
    own: dict[str, list[Caption]] = defaultdict(list)
    for caption in captions:
        own[caption.video_id].append(caption)
    told = [
        VideoTexts(
            video,
            tuple(f"{video}_{c.sen_id}" for c in some),
            tuple(c.caption.strip() for c in some),
            split=split[video],
        )
        for video, some in own.items()
        if video in split
    ]
    return told, []
