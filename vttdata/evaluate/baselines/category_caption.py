"""Most frequent training caption of the clip's category, or of all clips where it is unknown."""

from __future__ import annotations

from collections import Counter

from vttdata.evaluate.baseline import Baseline, Setting
from vttdata.evaluate.items import ClipItems


def choose_frequent_captions(setting: Setting[ClipItems]) -> list[str]:
    """Return the caption with the most occurrences; of several the first in alphabetical order."""
    counts: dict[object, Counter[str]] = {None: Counter()}
    for clip in setting.training:
        counts.setdefault(clip.category, Counter()).update(clip.captions)
        if clip.category is not None:
            counts[None].update(clip.captions)
    best = {category: min(texts, key=lambda text: (-texts[text], text)) for category, texts in counts.items() if texts}
    return [best.get(category, best[None]) for category in setting.items.categories]


BASELINE = Baseline("captioning", choose_frequent_captions)
