"""Human caption of the training clip that looks most alike, by `--features` or by the colours of shots."""

from __future__ import annotations

from vttdata.evaluate.baseline import Baseline, Setting
from vttdata.evaluate.items import ClipItems


def borrow_captions(setting: Setting[ClipItems]) -> list[str]:
    """Find the nearest training clip of each item, and draw one of its captions."""
    likeness = setting.compare_looks(setting.items.ids, [clip.video_id for clip in setting.training])
    return [
        setting.draw(item, "nearest-caption").choice(setting.training[nearest].captions)
        for item, nearest in zip(setting.items.ids, likeness.argmax(axis=1).tolist(), strict=True)
    ]


BASELINE = Baseline("captioning", borrow_captions)
