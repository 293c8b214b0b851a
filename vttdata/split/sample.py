"""Draw of some of many clips, evenly over categories; MSR-VTT has 10,000 of 30,000 clips (CVPR 2016, section 3.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from vttdata.ids import digest
from vttdata.records import Clip


def sample_clips(clips: Iterable[Clip], number: int, seed: int) -> set[str]:
    """Return the ids of at most `number` clips, of each category as many as of the others.

    A category with fewer clips gives all, and the others share what it lacks; what does not divide evenly comes from
    categories drawn by the seed. Within a category clips are drawn by hashes of the seed and their ids, whatever their
    order, so that further clips change few of the drawn ones. Clips without a category are a category.
    """
    by_category: dict[str, list[str]] = defaultdict(list)
    for clip in clips:
        by_category[clip.category or ""].append(clip.video_id)
    drawn: set[str] = set()
    # The smallest category first, so that what it lacks is shared by all that follow.
    order = sorted(by_category, key=lambda name: (len(by_category[name]), digest([seed, "category", name])))
    for position, name in enumerate(order):
        share = -(-(number - len(drawn)) // (len(order) - position)) if len(drawn) < number else 0
        ids = sorted(by_category[name], key=lambda video_id: digest([seed, "clip", video_id]))
        drawn.update(ids[:share])
    return drawn
