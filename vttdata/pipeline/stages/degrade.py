"""The stage that degrades the captions of a benchmark, each with words from its own split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vttdata.generate import DegradeSettings, Donors, degrade
from vttdata.pipeline.stage import Kept, Outcome, Stage
from vttdata.records import Caption, Clip, Degraded


@dataclass(frozen=True, slots=True)
class Placed:
    """A caption with the source and the split of its clip."""

    caption: Caption
    source_id: str
    split: str


@dataclass(frozen=True)
class DegradeCaptions(Stage):
    """Degrades every caption; those where it cannot be done are kept with a flag."""

    name = "degraded"
    output = Degraded
    id_column = "video_id"
    all_at_once = True

    settings: DegradeSettings
    seed: int

    def process(self, item: tuple[Placed, ...]) -> Iterator[Outcome]:
        """Keep them all, in their order; no word goes from one split into another."""
        by_split: dict[str, list[Placed]] = {}
        for placed in item:
            by_split.setdefault(placed.split, []).append(placed)
        donors = {
            split: Donors((own.caption for own in placed), {own.caption.video_id: own.source_id for own in placed})
            for split, placed in by_split.items()
        }
        for placed in item:
            yield Kept(degrade(placed.caption, donors[placed.split], self.settings, seed=self.seed))


def placed_captions(captions: Iterable[Caption], clips: Iterable[Clip]) -> list[Placed]:
    """The captions of these clips in the order of the clips, then of `sen_id`; a clip standing twice counts once."""
    places: dict[str, tuple[int, Clip]] = {}
    for place, clip in enumerate(clips):
        places.setdefault(clip.video_id, (place, clip))
    known = [caption for caption in captions if caption.video_id in places]
    known.sort(key=lambda caption: (places[caption.video_id][0], caption.sen_id))
    clip_of = {video_id: clip for video_id, (_, clip) in places.items()}
    return [Placed(own, clip_of[own.video_id].source_id, clip_of[own.video_id].split or "train") for own in known]
