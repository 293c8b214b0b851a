"""Ties that join nearly everything: the build says which, and a recipe cuts those of one kind in large groups."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import cast

import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from vttdata.compose.earlier_dataset import EarlierDataset, report_split_changes
from vttdata.errors import VttdataWarning
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.split import KeepOne, Rendition, Split
from vttdata.recipe.load import load_recipe
from vttdata.records import Clip
from vttdata.split import SplitSettings

QUERIES, SOURCES = 257, 7710
CLIPS = [Clip(f"v{n}", f"s{n}", 0.0, 10.0, 0, 1, 1, query=f"q{n % QUERIES}") for n in range(SOURCES)]
_DRAW = Random(61)
# Two sources each, 5 % of the number of sources.
PAIRS = tuple((f"s{a}", f"s{b}") for a, b in (_DRAW.sample(range(SOURCES), 2) for _ in range(SOURCES // 20)))
ALL_TIES = SplitSettings(together=("source", "query", "near_duplicate"), method="balanced", stratify=None)


def largest_component() -> int:
    """Return the number of clips in the largest group, by SciPy: queries are nodes that pairs of sources connect."""
    ends = [[int(source[1:]) % QUERIES for source in side] for side in zip(*PAIRS, strict=True)]
    graph = coo_array(([True] * len(PAIRS), ends), shape=(QUERIES, QUERIES))
    _, labels = connected_components(graph, directed=False)
    return int(max(sum(labels == label) for label in labels) * SOURCES / QUERIES)


def placed(division: Split, clips: list[Clip]) -> list[Clip]:
    split_of = division.assign(clips, division.settings).split_of
    return [replace(clip, split=split_of[clip.video_id]) for clip in clips]


def test_build_says_which_ties_made_the_largest_groups() -> None:
    division = Split(ALL_TIES, 0, pairs=PAIRS)
    with pytest.warns(VttdataWarning, match="Ties make large groups") as caught:
        report_split_changes(cast(Build, None), EarlierDataset({}, [], {}), placed(division, CLIPS), [], division)
    header, first = str(caught[0].message).splitlines()[1:3]
    assert header.split() == ["group", "clips", "ties"]
    size = largest_component()
    assert size > 0.5 * SOURCES
    assert f"{size:,} sources, {size * QUERIES // SOURCES} queries, " in first
    assert first.endswith(" near-duplicate pairs")


@pytest.mark.parametrize("method", ["balanced", "stable"])
def test_large_groups_are_taken_apart_and_copies_stay_together(method: str) -> None:
    settings = replace(ALL_TIES, cut_ties=("query",), method=method)  # type: ignore[arg-type]
    division = Split(settings, 0, pairs=PAIRS)
    assignment = division.assign(CLIPS, settings)
    assert assignment.largest_gap < (0.001 if method == "balanced" else 0.03)
    number_of = {clip.source_id: assignment.split_of[clip.video_id] for clip in CLIPS}
    assert all(number_of[a] == number_of[b] for a, b in PAIRS)


def test_small_groups_keep_ties_that_may_be_cut() -> None:
    settings = replace(ALL_TIES, cut_ties=("query",))
    assert len(set(Split(settings, 0).groups(CLIPS).values())) == QUERIES


def test_recipe_of_msrvtt_keeps_one_of_a_family() -> None:
    recipe = load_recipe("msrvtt-collect", ()).recipe
    assert recipe.near_duplicates == "keep_one"  # type: ignore[attr-defined]
    renditions = tuple(Rendition(name, "", 9.0, 1, 1.0, 0.0) for name in sorted({clip.source_id for clip in CLIPS}))
    kept = [
        outcome.record for outcome in KeepOne(PAIRS, renditions).process(tuple(CLIPS)) if hasattr(outcome, "record")
    ]
    assert Split(ALL_TIES, 0, pairs=PAIRS).assign(kept, ALL_TIES).largest_gap < 0.01
