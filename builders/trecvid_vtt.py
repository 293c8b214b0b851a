"""Builds a dataset of human judgments of captions from those of TRECVID's video-to-text task.

The judgments are those that BERTHA was made from (Lebron et al., LREC 2022), collected by Direct Assessment (Graham et
al., PLOS ONE 2018). Nothing is left out; what is odd in the files is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pydantic

from vttdata.annotations import read_trecvid
from vttdata.compose.package import package
from vttdata.dataset import Given
from vttdata.dataset.rows import judgment_row
from vttdata.pipeline.build import Build
from vttdata.pipeline.stages.annotations import Alignment, Annotated, OddThings, Originals, Scores, Sentences
from vttdata.recipe.load import BaseRecipe
from vttdata.records import Caption, CaptionScore, Clip


class Recipe(BaseRecipe):
    """A recipe for this builder.

    Fields:
        annotations: the folder that holds ``single-annotator`` and ``multiple-annotator``.
    """

    paths: ClassVar[dict[str, Literal["file", "folder"]]] = {"annotations": "folder"}

    annotations: str = pydantic.Field(description="a folder with the official files, such as --set annotations=FOLDER")


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    official = read_trecvid(Path(recipe.annotations), language=recipe.language)
    sources = run.stage(Originals(), official.sources)
    clips = list(run.stage(Annotated(), official.clips))
    captions = list(run.stage(Sentences(), official.captions))
    scores = run.stage(Scores(), official.scores)
    run.stage(Alignment(), official.alignment)
    findings = run.stage(OddThings(), official.findings, may_be_empty=True)
    given = Given(judgments=dict(_divided(_by_year(scores, clips, captions))))
    package(run, clips, captions, sources, None, None, given=given, findings=findings, files=official.files)


Rows = list[dict[str, Any]]


def _by_year(scores: Iterable[CaptionScore], clips: Sequence[Clip], captions: Iterable[Caption]) -> Mapping[str, Rows]:
    """The rows of judgments by the split of their clip."""
    known = {clip.video_id: clip for clip in clips}
    texts: dict[str, list[Caption]] = {}
    for caption in captions:
        texts.setdefault(caption.video_id, []).append(caption)
    rows: dict[str, Rows] = {}
    for score in scores:
        clip = known[score.video_id]
        rows.setdefault(clip.split or "", []).append(judgment_row(score, clip.source_id, texts[score.video_id]))
    return rows


def _divided(by_year: Mapping[str, Rows]) -> Iterator[tuple[str, dict[str, Rows]]]:
    """All judgments by year; and, for each year, those of all other years to train on and its own to test on."""
    yield "judgments", dict(by_year)
    for year, own in by_year.items() if len(by_year) > 1 else ():
        others = [row for other, rows in by_year.items() if other != year for row in rows]
        yield f"judgments-without-{year.removeprefix('year')}", {"train": others, "test": own}
