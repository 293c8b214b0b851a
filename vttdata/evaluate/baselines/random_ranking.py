"""Clips in random order for each caption, and captions in random order for each clip."""

from __future__ import annotations

import numpy as np

from vttdata.evaluate.baseline import Baseline, Setting
from vttdata.evaluate.items import ClipItems
from vttdata.statistics.arrays import Floats


def draw_similarities(setting: Setting[ClipItems]) -> Floats:
    """Draw the similarity of each caption and clip."""
    number = len(setting.items.ids)
    return np.random.Generator(np.random.PCG64([setting.seed, 3])).random((number, number))


BASELINE = Baseline("retrieval", draw_similarities)
