"""Stages that find near-duplicate sources and assign clips to splits; both need all items at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage
from vttdata.records import Clip, Source
from vttdata.split import SplitSettings, assign_splits
from vttdata.split.near_duplicates.matches import find_near_duplicates
from vttdata.split.near_duplicates.records import NearDuplicate


@dataclass(frozen=True)
class NearDuplicates(Stage):
    """Find the pairs of sources that show the same, wholly or in part."""

    name = "copies"
    output = NearDuplicate
    all_at_once = True

    def process(self, item: tuple[Source, ...]) -> Iterator[Outcome]:
        """Keep every pair."""
        yield from (Kept(pair) for pair in find_near_duplicates(item))


@dataclass(frozen=True)
class Split(Stage):
    """Assign groups of clips to splits, and sort clips by id. Pinned clips that do not exist are rejected.

    Sort the tuples, so that the order in which their values were found makes nothing stale.

    Fields:
        settings: see `SplitSettings`.
        seed: see `assign_splits`.
        pins: (`video_id`, split).
        pairs: ids of near-duplicate sources.
        uploaders: (`source_id`, uploader).
    """

    name = "split"
    version = 2
    output = Clip
    id_column = "video_id"
    all_at_once = True
    reasons = frozenset({"pinned_but_missing"})

    settings: SplitSettings
    seed: int
    pins: tuple[tuple[str, str], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    uploaders: tuple[tuple[str, str], ...] = ()

    def process(self, item: tuple[Clip, ...]) -> Iterator[Outcome]:
        """Keep every clip with its split."""
        pins = dict(self.pins)
        assignment = assign_splits(
            item, self.settings, seed=self.seed, pairs=self.pairs, uploaders=dict(self.uploaders), pins=pins
        )
        for clip in sorted(item, key=lambda clip: clip.video_id):
            yield Kept(dataclasses.replace(clip, split=assignment.split_of[clip.video_id]))
        for video_id in assignment.lost_pins:
            yield Rejected(video_id, "pinned_but_missing", f"is pinned to {pins[video_id]}, but there is no such clip")
