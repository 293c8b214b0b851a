"""Ranking sets for any corpus (Hodosh et al., JAIR 2013): a pool with one caption a video, and which fit which.

Originals are not the only relevant captions, so people judge further pairs of the pool. A pre-filter by stemmed
unigram precision keeps them from judging all of them, and where runs of systems are given only what these rank first is
judged; a sample of what is dropped is judged as well, from which the loss is estimated. Without votes, the build writes
``pairs.csv`` for ``vttdata people make relevance``; with them, ``relevance.txt`` for ``vttdata evaluate --relevance``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
import pydantic

from vttdata.annotations.model import checked_id, sources_of
from vttdata.compose.input_captions import read_input
from vttdata.compose.package import Origin, package
from vttdata.dataset import OfficialLayout
from vttdata.errors import VttdataError
from vttdata.evaluate.pooling import SystemRankings, estimate_missed, fuse_rankings, pool_pairs, read_rankings
from vttdata.files.table_formats import as_csv
from vttdata.files.tables import Columns, number_or_nan, read_table
from vttdata.generate.prefilter import Words, make_stemmer, pool_precision, reaches
from vttdata.ids import digest
from vttdata.people.scoring.relevance import LayAgreement, is_relevant, lay_against_expert
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.annotations import CAPTIONS, CLIPS, SOURCES
from vttdata.recipe import BaseRecipe
from vttdata.recipe.load import Paths
from vttdata.records import Caption, Clip
from vttdata.text.language import detect_other_language

# A control has one to three captions of its own and is filled up with wrong ones (Hodosh et al., section 4.2.1).
_MOST_OWN = 3
_CONTROL_CAPTIONS = 10

Pair = tuple[str, str]
"""(caption_id, video_id)."""


class Recipe(BaseRecipe):
    """Recipe for a ranking set.

    Fields:
        input: human captions: a table with `video_id`, `caption` and if known `source_id`, or a dataset.
        columns: name of a column of the table -> its name there.
        split: split of a dataset from which the pool is drawn; none for all.
        pool: most videos of the pool.
        threshold: pairs with a lower precision are not judged, as an exact fraction.
        audit: number of pairs below the threshold, or of no system's first ones, that are judged all the same.
        runs: name of a system -> its scores of the pool, ``.npz`` or a TREC run; only pairs that one of them ranks
            among its first are judged. A build without runs has the pool that systems are to rank.
        depth: number of the first ones of each system.
        controls: most videos outside the pool that become controls.
        votes: table of judged pairs, ``pairs.csv`` of ``vttdata people score``; none before people have judged.
        experts: table of pairs with `caption_id`, `video_id` and `score`, with which votes are compared.
    """

    paths: ClassVar[Paths] = {"input": "input", "runs.*": "file", "votes": "file", "experts": "file"}

    input: str = pydantic.Field(description="human captions, such as --set input=captions.csv")
    columns: dict[str, str] = pydantic.Field(default_factory=dict)
    split: str | None = None
    pool: Annotated[int, pydantic.Field(ge=2, le=5000)] = 1000
    threshold: Annotated[str, pydantic.Field(pattern=r"^[0-9]{1,4}/[1-9][0-9]{0,3}$", description="such as 1/4")] = (
        "1/4"
    )
    audit: Annotated[int, pydantic.Field(ge=0)] = 200
    controls: Annotated[int, pydantic.Field(ge=0)] = 20
    runs: dict[str, str] = pydantic.Field(default_factory=dict)
    depth: Annotated[int, pydantic.Field(ge=1, le=5000)] = 10
    votes: str | None = None
    experts: str | None = None

    @pydantic.model_validator(mode="after")
    def _check_experts(self) -> Self:
        if self.experts is not None and self.votes is None:
            raise ValueError("found experts without votes, which they are compared with")
        return self


class Pool(NamedTuple):
    """Videos of the pool, with all captions and the one of each that is searched for, and videos left for controls."""

    videos: list[str]
    chosen: Mapping[str, Caption]
    captions: Mapping[str, Sequence[Caption]]
    source_of: Mapping[str, str]
    others: list[str]


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    stem = make_stemmer()
    pool = draw_pool(recipe)
    prepared = {v: [stem(caption.caption) for caption in captions] for v, captions in pool.captions.items()}
    kept, dropped = filter_pairs(pool, prepared, stem, Fraction(recipe.threshold))
    counts: list[list[object]] = [
        ["videos and captions of the pool", len(pool.videos)],
        ["pairs without the originals", len(kept) + len(dropped)],
        [f"pairs with a precision of at least {recipe.threshold}", len(kept)],
    ]
    if recipe.runs:
        systems = [read_rankings(Path(file), pool.videos) for file in recipe.runs.values()]
        ranked = {(name, video) for name, video in pool_pairs(systems, recipe.depth) if name != video}
        counts.append([f"pairs among the first {recipe.depth} of a system", len(ranked)])
        dropped += [pair for pair in kept if pair not in ranked]
        kept = [pair for pair in kept if pair in ranked]
        counts.append(["of these with the precision, to be judged", len(kept)])
        write_fused_run(run.folder / "borda.run", systems, pool.videos)
    audited = Random(digest([recipe.seed, "audit"])).sample(dropped, min(recipe.audit, len(dropped)))
    rows: list[list[object]] = [[video, name, pool.chosen[name].caption, ""] for name, video in [*kept, *audited]]
    rows += control_rows(pool, prepared, recipe.controls, recipe.seed)
    counts += [
        ["pairs left out, judged as an audit sample", len(audited)],
        ["probability with which a pair left out is judged", len(audited) / len(dropped) if dropped else 1.0],
    ]
    _write(run.folder / "pairs.csv", [["video_id", "caption_id", "caption", "expected"], *rows])
    if recipe.votes is not None:
        votes = read_votes(Path(recipe.votes), {*kept, *audited})
        counts += count_votes(votes, kept, audited, len(dropped))
        if recipe.experts is not None:
            compare_with_experts(run.folder / "experts.csv", votes, Path(recipe.experts))
        # An original is relevant to its own video without a vote.
        relevant = {(video, video): 1 for video in pool.videos}
        relevant |= {pair: int(is_relevant(*votes[pair])) for pair in sorted(votes)}
        lines = [f"{name} 0 {video} {value}\n" for (name, video), value in sorted(relevant.items())]
        (run.folder / "relevance.txt").write_text("".join(lines), encoding="utf-8", newline="\n")
    _write(run.folder / "counts.csv", [["figure", "number"], *counts])
    clips = [
        Clip(video, pool.source_of[video], 0.0, 0.0, None, None, None, split=recipe.split or "test")
        for video in pool.videos
    ]
    run.steps = 4
    sources = run.stage(SOURCES, sources_of(clips))
    clips = list(run.stage(CLIPS, clips))
    captions = run.stage(CAPTIONS, [pool.chosen[video] for video in pool.videos])
    package(run, clips, captions, sources, origin=Origin(OfficialLayout()))


def draw_pool(recipe: Recipe) -> Pool:
    """Draw the videos of the pool and one caption of each; the others may become controls.

    Raises:
        VttdataError: when the input cannot be read, has fewer than two videos with captions, or is not English.
    """
    captions: dict[str, list[Caption]] = {}
    source_of: dict[str, str] = {}
    splits = read_input(recipe.input, recipe.columns).splits
    if recipe.split is not None and recipe.split not in {split.split for split in splits}:
        names = ", ".join(split.split for split in splits) or "none"
        raise VttdataError(f"split: {recipe.input} has no split {recipe.split!a}; its splits are {names}.")
    candidates = set()
    for split in splits:
        for caption in split.captions:
            if caption.author == "human":
                captions.setdefault(checked_id(caption.video_id, recipe.input), []).append(caption)
                source_of[caption.video_id] = split.source_of.get(caption.video_id, caption.video_id)
                if recipe.split in (None, split.split):
                    candidates.add(caption.video_id)
    order = sorted(candidates, key=lambda video: digest([recipe.seed, "pool", video]))
    videos = sorted(order[: recipe.pool])
    if len(videos) < 2:
        raise VttdataError(f"{recipe.input}: a pool needs two videos with human captions, and there are {len(videos)}.")
    chosen = {
        video: min(
            captions[video], key=lambda caption: digest([recipe.seed, "caption", caption.video_id, caption.sen_id])
        )
        for video in videos
    }
    used = {source_of[video] for video in videos}
    texts = [caption.caption for video in videos for caption in captions[video]]
    if language := detect_other_language(texts, "en"):
        raise VttdataError(
            f"The captions of {recipe.input} are {language}; pairs are filtered by stems of English words."
        )
    others = [video for video in sorted(captions) if source_of[video] not in used]
    return Pool(videos, chosen, captions, source_of, others)


def filter_pairs(
    pool: Pool, prepared: Mapping[str, Sequence[Words]], stem: Any, threshold: Fraction
) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs that reach the threshold and those that do not; originals are neither."""
    candidates = [stem(pool.chosen[video].caption) for video in pool.videos]
    kept = reaches(pool_precision([prepared[video] for video in pool.videos], candidates), threshold)
    pairs: tuple[list[Pair], list[Pair]] = ([], [])
    for row, column in np.ndindex(*kept.shape):
        if row != column:
            pairs[0 if kept[row, column] else 1].append((pool.videos[column], pool.videos[row]))
    return pairs


def control_rows(pool: Pool, prepared: Mapping[str, Sequence[Words]], number: int, seed: int) -> Iterator[list[object]]:
    """Yield the rows of controls: captions of a video outside the pool, and of others that share no stem with them."""
    draw = Random(digest([seed, "controls"]))
    for video in draw.sample(pool.others, min(number, len(pool.others))):
        stems = {word for words in prepared[video] for word in words}
        wrong = [
            (other, caption.caption)
            for other in pool.others
            if pool.source_of[other] != pool.source_of[video]
            for caption, words in zip(pool.captions[other], prepared[other], strict=True)
            if words and stems.isdisjoint(words)
        ]
        own = [caption.caption for caption in pool.captions[video]]
        own = draw.sample(own, min(draw.randint(1, _MOST_OWN), len(own)))
        for index, text in enumerate(own):
            yield [video, f"own-{index}-{video}", text, "yes"]
        for index, (_, text) in enumerate(draw.sample(wrong, min(_CONTROL_CAPTIONS - len(own), len(wrong)))):
            yield [video, f"wrong-{index}-{video}", text, "no"]


def read_votes(file: Path, known: set[Pair]) -> dict[Pair, tuple[int, int]]:
    """Read votes: (caption, video) -> numbers of yes and of judgments.

    Raises:
        VttdataError: when a pair is not one of the build, or a number is not one.
    """
    columns = ("caption_id", "video_id", "yes", "judgments")
    votes: dict[Pair, tuple[int, int]] = {}
    for line, row in read_table(file, Columns(columns, tuple((name,) for name in columns))):
        pair = (str(row["caption_id"]), str(row["video_id"]))
        if pair not in known or pair in votes:
            problem = "is duplicated" if pair in votes else "is none of pairs.csv of this build"
            raise VttdataError(f"{file}:{line}: the pair of {pair[0][:80]!a} and {pair[1][:80]!a} {problem}.")
        numbers = [str(row[name]) for name in columns[2:]]
        if not all(text.isascii() and text.isdecimal() and len(text) < 10 for text in numbers):
            raise VttdataError(f"{file}:{line}: 'yes' and 'judgments' are not whole numbers.")
        yes, judgments = map(int, numbers)
        if not 0 <= yes <= judgments or judgments == 0:
            raise VttdataError(f"{file}:{line}: {yes} of {judgments} judgments cannot be yes.")
        votes[pair] = (yes, judgments)
    if not votes:
        raise VttdataError(f"{file}: contains no votes.")
    return votes


def write_fused_run(path: Path, systems: Sequence[SystemRankings], pool: Sequence[str]) -> None:
    """Write the ranking of videos by Borda counts over all systems, as a run in TREC's format."""
    lines = []
    for query in pool:
        ranked = fuse_rankings([system.videos[query] for system in systems], pool)
        lines += [f"{query} Q0 {video} {rank} {len(pool) - rank} borda\n" for rank, video in enumerate(ranked)]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def compare_with_experts(path: Path, votes: Mapping[Pair, tuple[int, int]], experts: Path) -> None:
    """Write how well votes find what experts call relevant, at all thresholds of both.

    Raises:
        VttdataError: when the table cannot be read, or has no pair that was voted on.
    """
    columns = ("caption_id", "video_id", "score")
    compared = []
    for line, row in read_table(experts, Columns(columns, tuple((name,) for name in columns), ("score",))):
        score = number_or_nan(str(row["score"]))
        if not math.isfinite(score):
            raise VttdataError(f"{experts}:{line}: the score {str(row['score'])[:40]!a} is not a number.")
        if (numbers := votes.get((str(row["caption_id"]), str(row["video_id"])))) is not None:
            compared.append((*numbers, score))
    if not compared:
        raise VttdataError(f"{experts}: no pair of it was voted on.")
    scores = sorted({score for _, _, score in compared})
    shares = sorted({Fraction(yes, judgments) for yes, judgments, _ in compared} - {Fraction(0)})
    table: list[list[object]] = [list(row) for row in lay_against_expert(compared, scores[1:], shares)]
    _write(path, [list(LayAgreement._fields), *table])


def count_votes(
    votes: Mapping[Pair, tuple[int, int]], kept: Sequence[Pair], audited: Sequence[Pair], dropped: int
) -> list[list[object]]:
    """Return figures about votes: relevant pairs, captions with several relevant videos, what was missed.

    `dropped` is the number of pairs from which those audited were drawn.
    """
    relevant = {pair for pair, numbers in votes.items() if is_relevant(*numbers)}
    judged, sampled = [pair for pair in kept if pair in votes], [pair for pair in audited if pair in votes]
    missed = estimate_missed(sum(pair in relevant for pair in sampled), len(sampled), dropped - len(sampled))
    return [
        ["pairs judged", len(judged)],
        ["relevant pairs beyond the originals", len(relevant)],
        ["captions with more than one relevant video", len({name for name, _ in relevant})],
        ["pairs of the audit sample judged", len(sampled)],
        ["of these relevant, which would have been lost", sum(pair in relevant for pair in sampled)],
        ["relevant pairs that nobody judged, estimated", round(missed.number, 1)],
        ["the same, lower end of 95 %", round(missed.low, 1)],
        ["the same, upper end of 95 %", round(missed.high, 1)],
    ]


def _write(path: Path, table: list[list[object]]) -> None:
    path.write_text(as_csv(table), encoding="utf-8", newline="\n")
