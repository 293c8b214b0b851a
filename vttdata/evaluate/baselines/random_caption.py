"""Random human caption of a training clip, for each clip."""

from __future__ import annotations

from vttdata.evaluate.baseline import Baseline, Setting
from vttdata.evaluate.items import ClipItems


def draw_captions(setting: Setting[ClipItems]) -> list[str]:
    """Draw a training clip, and one of its captions, for each item."""
    captions = []
    for item in setting.items.ids:
        draw = setting.draw(item, "random-caption")
        captions.append(draw.choice(draw.choice(setting.training).captions))
    return captions


BASELINE = Baseline("captioning", draw_captions)
