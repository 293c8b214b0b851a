"""The stage that gives every clip its split, seeing all of them at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from vttdata.pipeline.stage import Kept, Outcome, Stage
from vttdata.records import Clip
from vttdata.split import SplitSettings, assign_splits


@dataclass(frozen=True)
class Split(Stage):
    """Assigns connected groups of clips to splits; sorts by clip id."""

    name = "split"
    output = Clip
    id_column = "video_id"
    whole = True

    settings: SplitSettings
    seed: int

    def process(self, item: tuple[Clip, ...]) -> Iterator[Outcome]:
        """Keep every clip, with its split."""
        assignment = assign_splits(item, self.settings, seed=self.seed)
        for clip in sorted(item, key=lambda clip: clip.video_id):
            yield Kept(dataclasses.replace(clip, split=assignment.split_of[clip.video_id]))
