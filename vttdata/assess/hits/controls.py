"""The human captions that control workers: one of each video, and its degraded form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vttdata.generate import Donors, degrade
from vttdata.generate.degrade.donors import point
from vttdata.records import Caption, Degraded
from vttdata.text.captions import clean_text


@dataclass(frozen=True, slots=True)
class Person:
    """A person's caption of a video, its degraded form, and where the new words of that come from."""

    video_id: str
    caption: str
    worse: str
    degraded: Degraded


class Controls:
    """What the human captions give for controls.

    Args:
        human: in an order that does not depend on the input's.
        source_of: `video_id` -> `source_id`; a video that is not there is its own source.
        videos: those that systems have captions of, sorted.
        seed: of all draws.

    Attributes:
        videos: as given.
        people: one for each of these videos that allows it, sorted by video. Where a video has several captions the
            seed says which; the others only lend words. So a video has one human caption, as in the paper.
        without: a kind of `vttdata.assess.hits.plan.NOTES` -> the videos for which there is no control.
    """

    def __init__(
        self, human: Sequence[Caption], source_of: Mapping[str, str], videos: Sequence[str], seed: int
    ) -> None:
        self.videos = videos
        own: dict[str, list[Caption]] = {}
        for caption in human:
            own.setdefault(caption.video_id, []).append(caption)
        donors = Donors(human, {video: source_of.get(video, video) for video in own})
        found = {video: _person(own[video], donors, seed) for video in videos if video in own}
        self.people = [person for person in found.values() if person is not None]
        shown = set(videos)
        self.without = {
            "no_human": [video for video in videos if video not in own],
            "not_degraded": [video for video, person in found.items() if person is None],
            "only_human": [video for video in own if video not in shown],
        }


def _person(captions: Iterable[Caption], donors: Donors, seed: int) -> Person | None:
    """The first of a video's captions, in an order that the seed decides, that can be degraded."""
    for caption in sorted(captions, key=lambda c: point("person", seed, c.video_id, c.sen_id, c.caption)):
        result = degrade(caption, donors, seed=seed)
        if result.flag is None and result.caption is not None:
            return Person(caption.video_id, clean_text(caption.caption), clean_text(result.caption), result)
    return None
