"""Choose the human captions used for quality control of workers: one per video, with its degraded form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vttdata.generate import Donors, degrade
from vttdata.generate.degrade.donors import hash64
from vttdata.records import Caption, Degraded
from vttdata.text.captions import clean_text


@dataclass(frozen=True, slots=True)
class HumanCaption:
    """Human caption of a video with its degraded form; `degraded` says where the new words come from."""

    video_id: str
    caption: str
    degraded_caption: str
    degraded: Degraded


def choose_controls(
    human: Sequence[Caption], source_of: Mapping[str, str], videos: Sequence[str], seed: int
) -> tuple[list[HumanCaption], dict[str, list[str]]]:
    """Choose one human caption of each video, as in the paper, and degrade it.

    Of several captions of a video, the first one that can be degraded in an order drawn by the seed is chosen; the
    others only lend words.

    Args:
        human: human captions, in an order that does not depend on the input's.
        source_of: `video_id` -> `source_id`; a video without an entry is its own source.
        videos: sorted videos with captions of systems.
        seed: seed of all draws.

    Returns:
        Human captions with their degraded forms, at most one per video, sorted by video; and kind of
        `vttdata.assess.hits.hit_records.NOTES` -> videos without controls.
    """
    captions_of: dict[str, list[Caption]] = {}
    for caption in human:
        captions_of.setdefault(caption.video_id, []).append(caption)
    donors = Donors(human, {video: source_of.get(video, video) for video in captions_of})
    chosen: dict[str, HumanCaption] = {}
    for video in videos:
        order = sorted(
            captions_of.get(video, ()), key=lambda c: hash64("person", seed, c.video_id, c.sen_id, c.caption)
        )
        for caption in order:
            result = degrade(caption, donors, seed=seed)
            if result.flag is None and result.caption is not None:
                texts = clean_text(caption.caption), clean_text(result.caption)
                chosen[video] = HumanCaption(video, *texts, result)
                break
    shown = set(videos)
    notes = {
        "no_human": [video for video in videos if video not in captions_of],
        "not_degraded": [video for video in videos if video in captions_of and video not in chosen],
        "only_human": [video for video in captions_of if video not in shown],
    }
    return list(chosen.values()), notes
