"""The stages that see everything at once: which sources are near-duplicates, and which split each clip gets."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from vttdata.pipeline.stage import Kept, Outcome, Stage
from vttdata.records import Clip, Source
from vttdata.split import SplitSettings, assign_splits
from vttdata.split.duplicates import NearDuplicate, find_near_duplicates


@dataclass(frozen=True)
class NearDuplicates(Stage):
    """Finds the pairs of sources that show the same, wholly or in part."""

    name = "copies"
    output = NearDuplicate
    whole = True

    def process(self, item: tuple[Source, ...]) -> Iterator[Outcome]:
        """Keep every pair."""
        yield from (Kept(pair) for pair in find_near_duplicates(item))


@dataclass(frozen=True)
class Split(Stage):
    """Assigns connected groups of clips to splits; sorts by clip id. `pairs` are sources that are near-duplicates."""

    name = "split"
    output = Clip
    id_column = "video_id"
    whole = True

    settings: SplitSettings
    seed: int
    pairs: tuple[tuple[str, str], ...] = ()

    def process(self, item: tuple[Clip, ...]) -> Iterator[Outcome]:
        """Keep every clip, with its split."""
        assignment = assign_splits(item, self.settings, seed=self.seed, pairs=self.pairs)
        for clip in sorted(item, key=lambda clip: clip.video_id):
            yield Kept(dataclasses.replace(clip, split=assignment.split_of[clip.video_id]))
