"""Stages of degraded captions: captions from outside are cleaned, and each is degraded with words from its split."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vttdata.generate import DegradeSettings, Donors, degrade
from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage
from vttdata.records import Caption, Clip, Degraded
from vttdata.text.captions import Removal, RemovalReason


@dataclass(frozen=True, slots=True)
class CaptionInSplit:
    """Caption with the source and the split of its clip."""

    caption: Caption
    source_id: str
    split: str


@dataclass(frozen=True)
class CleanedCaptions(Stage):
    """Captions of an input that was cleaned while it was read; removals are counted under their reasons."""

    name = "cleaned_captions"
    output = Caption
    id_column = "video_id"
    all_at_once = True
    reasons = frozenset(typing.get_args(RemovalReason))

    def process(self, item: tuple[Caption | Removal, ...]) -> Iterator[Outcome]:
        """Keep captions and reject removals, in their order."""
        for result in item:
            if isinstance(result, Caption):
                yield Kept(result)
            else:
                yield Rejected(result.video_id, result.reason, result.detail)


@dataclass(frozen=True)
class DegradeCaptions(Stage):
    """Degraded form of every caption; where there is none, the record has a flag."""

    name = "degraded"
    output = Degraded
    id_column = "video_id"
    all_at_once = True

    settings: DegradeSettings
    seed: int

    def process(self, item: tuple[CaptionInSplit, ...]) -> Iterator[Outcome]:
        """Keep all captions in their order; no word goes from one split into another."""
        by_split: dict[str, list[CaptionInSplit]] = {}
        for entry in item:
            by_split.setdefault(entry.split, []).append(entry)
        donors = {
            split: Donors(
                (entry.caption for entry in entries), {entry.caption.video_id: entry.source_id for entry in entries}
            )
            for split, entries in by_split.items()
        }
        for entry in item:
            yield Kept(degrade(entry.caption, donors[entry.split], self.settings, seed=self.seed))


def captions_in_splits(captions: Iterable[Caption], clips: Iterable[Clip]) -> list[CaptionInSplit]:
    """Return the captions of these clips in the order of the clips, then of `sen_id`; leave those of others out.

    Of a clip that is listed twice, the first counts; clips without a split count as ``train``.
    """
    first: dict[str, tuple[int, Clip]] = {}
    for place, clip in enumerate(clips):
        first.setdefault(clip.video_id, (place, clip))
    known = [caption for caption in captions if caption.video_id in first]
    known.sort(key=lambda caption: (first[caption.video_id][0], caption.sen_id))
    clip_of = {video_id: clip for video_id, (_, clip) in first.items()}
    return [
        CaptionInSplit(caption, clip_of[caption.video_id].source_id, clip_of[caption.video_id].split or "train")
        for caption in known
    ]
