"""VATEX-EVAL for any corpus (Shi et al., CVPR 2022): candidates of each video, people's ratings, and their agreement.

Each video has a held-out human caption (``human``), which is none of its references, the captions of systems, and
adversarially matched captions of other videos (``adversarial-1``, ...), which are candidates like the others and never
called false. Without ratings, the build writes ``candidates.csv`` for ``vttdata people make rate-scale``; with them,
the dataset gets the configuration ``judgments``, and the build folder ``ratings.csv`` and ``agreement.csv``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import pydantic

from vttdata.annotations.model import checked_id, sources_of
from vttdata.compose.input_captions import read_input
from vttdata.compose.package import Origin, package
from vttdata.dataset import OfficialLayout
from vttdata.dataset.rows import JudgmentRow, judgment_row
from vttdata.errors import VttdataError
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.table_formats import as_csv
from vttdata.files.tables import Columns, read_table
from vttdata.generate.candidates import match_adversarially, tfidf_relevance
from vttdata.ids import digest
from vttdata.people.hits.system_captions import read_systems
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.annotations import CAPTIONS, CLIPS, SCORES, SOURCES
from vttdata.recipe import BaseRecipe
from vttdata.recipe.load import Paths
from vttdata.records import Caption, CaptionScore, Clip
from vttdata.statistics.agreement import krippendorff_alpha, pair_agreement

HUMAN = "human"
"""System of the held-out human captions."""

_RATING = ("video_id", "system", "candidate", "score", "annotator")


class Recipe(BaseRecipe):
    """Recipe for candidates and their ratings.

    Fields:
        input: human captions: a table with `video_id`, `caption` and if known `source_id`, or a dataset.
        columns: name of a column of the table -> its name there.
        systems: name of a system -> table of its captions.
        adversarial: number of adversarially matched captions of each video.
        max_relevance: captions with a higher relevance are not matched, since they would say the same.
        ratings: table of ratings, ``ratings.csv`` of a campaign `rate-scale`; none before people have rated.
    """

    paths: ClassVar[Paths] = {"input": "input", "systems.*": "file", "ratings": "file"}

    input: str = pydantic.Field(description="human captions, such as --set input=captions.csv")
    columns: dict[str, str] = pydantic.Field(default_factory=dict)
    systems: dict[str, str] = pydantic.Field(default_factory=dict)
    adversarial: Annotated[int, pydantic.Field(ge=0, le=20)] = 3
    max_relevance: Annotated[float, pydantic.Field(gt=0, le=1)] = 0.9
    ratings: str | None = None


class Corpus(NamedTuple):
    """Videos by id, in the order of the input, with a held-out caption and at least one other each."""

    splits: Mapping[str, str]
    source_of: Mapping[str, str]
    held_out: Mapping[str, Caption]
    references: Mapping[str, Sequence[Caption]]


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    corpus = hold_out_captions(recipe.input, recipe.columns, recipe.seed)
    systems = {name: _read_system(name, Path(file), corpus) for name, file in recipe.systems.items()}
    candidates = choose_candidates(corpus, systems, recipe.adversarial, recipe.max_relevance)
    clips = [
        Clip(video, corpus.source_of[video], 0.0, 0.0, None, None, None, split=split)
        for video, split in corpus.splits.items()
    ]
    language = recipe.language or "en"
    captions = [caption for video in corpus.splits for caption in _captions(video, corpus, candidates, language)]
    rows = [[v, name, texts[v]] for name, texts in candidates.items() for v in corpus.splits if v in texts]
    (run.folder / "candidates.csv").write_text(
        as_csv([["video_id", "system", "caption"], *rows]), encoding="utf-8", newline="\n"
    )
    scores: list[CaptionScore] = []
    if recipe.ratings is not None:
        if recipe.date is None:
            raise VttdataError(
                "Ratings belong to a year; set 'date' to the day of publication (--set date=2026-11-21)."
            )
        ratings = read_ratings(Path(recipe.ratings), candidates)
        scores = score_candidates(ratings, captions, f"{recipe.date[:4]}-rated")
        _write_ratings(run.folder, ratings, candidates)
    run.steps = 5
    sources = run.stage(SOURCES, sources_of(clips))
    clips = list(run.stage(CLIPS, clips))
    captions = list(run.stage(CAPTIONS, captions))
    run.stage(SCORES, scores, may_be_empty=True)
    by_video: dict[str, list[Caption]] = defaultdict(list)
    for caption in captions:
        by_video[caption.video_id].append(caption)
    judged: dict[str, list[JudgmentRow]] = defaultdict(list)
    for score in scores:
        row = judgment_row(score, corpus.source_of[score.video_id], by_video[score.video_id])
        judged[corpus.splits[score.video_id]].append(row)
    layout = OfficialLayout(judgments={"judgments": judged} if judged else {})
    package(run, clips, captions, sources, origin=Origin(layout))


def hold_out_captions(reference: str, columns: Mapping[str, str], seed: int) -> Corpus:
    """Read human captions, and hold one of each video out.

    Videos with a single caption are left out: nothing would be left to compare with.

    Raises:
        VttdataError: when the input cannot be read, or no video has two captions.
    """
    splits: dict[str, str] = {}
    source_of: dict[str, str] = {}
    held_out: dict[str, Caption] = {}
    references: dict[str, Sequence[Caption]] = {}
    for split in read_input(reference, columns).splits:
        by_video: dict[str, list[Caption]] = defaultdict(list)
        for caption in split.captions:
            if caption.author == "human":
                by_video[caption.video_id].append(caption)
        for video, captions in by_video.items():
            if len(captions) < 2:
                continue
            checked_id(video, reference)
            chosen = min(captions, key=lambda own: digest([seed, "held out", video, own.sen_id, own.caption]))
            splits[video], held_out[video] = split.split or "test", chosen
            source_of[video] = split.source_of.get(video, video)
            references[video] = [caption for caption in captions if caption is not chosen]
    if not splits:
        raise VttdataError(f"{reference}: no video has two human captions, one to be held out and one to compare with.")
    return Corpus(splits, source_of, held_out, references)


def choose_candidates(
    corpus: Corpus, systems: Mapping[str, Mapping[str, str]], adversarial: int, max_relevance: float
) -> dict[str, dict[str, str]]:
    """Return system -> `video_id` -> candidate; what is matched adversarially is held-out captions of other sources."""
    videos = list(corpus.splits)
    candidates = {
        HUMAN: {video: corpus.held_out[video].caption for video in videos},
        **{n: dict(t) for n, t in systems.items()},
    }
    if adversarial:
        texts = [corpus.held_out[video].caption for video in videos]
        own = [[caption.caption for caption in corpus.references[video]] for video in videos]
        sources = [corpus.source_of[video] for video in videos]
        # What another video's caption says word for word would be a candidate twice.
        is_own = np.equal.outer(np.array(texts), np.array(texts))
        relevance = np.where(is_own, np.inf, tfidf_relevance(own, texts))
        rounds = match_adversarially(relevance, sources, adversarial, max_relevance=max_relevance)
        for number, chosen in enumerate(rounds, 1):
            candidates[f"adversarial-{number}"] = {v: texts[index] for v, index in zip(videos, chosen, strict=True)}
    return candidates


def read_ratings(file: Path, candidates: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, str], dict[str, float]]:
    """Read ratings: (video, system) -> annotator -> score; an annotator's several scores are averaged.

    Raises:
        VttdataError: when a row is about a candidate that the build does not have, or has no number.
    """
    scores: dict[tuple[str, str], dict[str, list[float]]] = {}
    for line, row in read_table(file, Columns(_RATING, tuple((name,) for name in _RATING), ("score",))):
        video, system, candidate, _, annotator = (unescape_formula(str(row.get(name) or "")) for name in _RATING)
        if candidates.get(system, {}).get(video) != candidate:
            raise VttdataError(
                f"{file}:{line}: the build has no candidate {candidate[:80]!a} of {video[:80]!a} by {system[:80]!a}; "
                "ratings are of a campaign about candidates.csv of this build."
            )
        try:
            score = float(row["score"])
        except (TypeError, ValueError):
            raise VttdataError(f"{file}:{line}: the score {str(row['score'])[:40]!a} is not a number.") from None
        if not annotator or not np.isfinite(score):
            raise VttdataError(f"{file}:{line}: a rating needs an annotator and a finite score.")
        scores.setdefault((video, system), {}).setdefault(annotator, []).append(score)
    if not scores:
        raise VttdataError(f"{file}: contains no ratings.")
    return {key: {name: float(np.mean(values)) for name, values in by.items()} for key, by in scores.items()}


def score_candidates(
    ratings: Mapping[tuple[str, str], Mapping[str, float]], captions: Iterable[Caption], campaign: str
) -> list[CaptionScore]:
    """Return mean scores, raw and standardised by annotator; an annotator without variance has z-scores of 0."""
    by_annotator: dict[str, list[float]] = {}
    for scores in ratings.values():
        for name, score in scores.items():
            by_annotator.setdefault(name, []).append(score)
    moments = {
        name: (float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0)
        for name, values in by_annotator.items()
    }
    sen_ids = {
        (caption.video_id, HUMAN if caption.author == "human" else caption.author): caption.sen_id
        for caption in captions
        if caption.author != "human" or caption.annotator == "held-out"
    }
    return [
        CaptionScore(
            video,
            system,
            float(np.mean(list(scores.values()))),
            float(np.mean([(s - moments[name][0]) / (moments[name][1] or 1.0) for name, s in scores.items()])),
            len(scores),
            campaign,
            sen_id=sen_ids[video, system],
        )
        for (video, system), scores in sorted(ratings.items())
    ]


def _read_system(name: str, file: Path, corpus: Corpus) -> dict[str, str]:
    if name == HUMAN or name.startswith("adversarial-"):
        raise VttdataError(f"systems: a system cannot be called {name!a}, which is the name of other candidates.")
    by_system, _ = read_systems([file], known=corpus.splits)
    if len(by_system) > 1:
        raise VttdataError(f"{file}: holds captions of {len(by_system)} systems; give each a table of its own.")
    texts = {video: text for video, text in next(iter(by_system.values())).items() if video in corpus.splits and text}
    if not texts:
        raise VttdataError(f"{file}: has no caption of a video of the input.")
    return texts


def _captions(video: str, corpus: Corpus, candidates: Mapping[str, Mapping[str, str]], language: str) -> list[Caption]:
    """Return the captions of a video: references as they were, then the held-out one and the other candidates."""
    references = list(corpus.references[video])
    number = max(caption.sen_id for caption in (*references, corpus.held_out[video])) + 1
    held_out = corpus.held_out[video]
    captions = [*references, Caption(video, held_out.sen_id, held_out.caption, "held-out", held_out.language, "human")]
    for system, texts in candidates.items():
        if system != HUMAN and video in texts:
            captions.append(Caption(video, number, texts[video], None, language, system))
            number += 1
    return captions


def _write_ratings(
    folder: Path,
    ratings: Mapping[tuple[str, str], Mapping[str, float]],
    candidates: Mapping[str, Mapping[str, str]],
) -> None:
    """Write single ratings and their agreement."""
    single = [
        [video, system, candidates[system][video], score, name]
        for (video, system), by_name in sorted(ratings.items())
        for name, score in sorted(by_name.items())
    ]
    (folder / "ratings.csv").write_text(as_csv([list(_RATING), *single]), encoding="utf-8", newline="\n")
    values = {f"{system}/{video}": by_name for (video, system), by_name in ratings.items()}
    pairs = pair_agreement(values)
    table: list[list[str | float]] = [
        ["measure", "value"],
        ["Krippendorff's alpha, ordinal", krippendorff_alpha(values, "ordinal")],
        ["Krippendorff's alpha, interval", krippendorff_alpha(values, "interval")],
        ["Kendall's tau-b, mean of pairs of annotators", pairs.kendall],
        ["Spearman's rho, mean of pairs of annotators", pairs.spearman],
    ]
    (folder / "agreement.csv").write_text(as_csv(table), encoding="utf-8", newline="\n")
