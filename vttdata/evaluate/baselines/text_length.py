"""Longer captions for longer clips: no other information is used."""

from __future__ import annotations

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.baseline import Baseline, Setting
from vttdata.evaluate.items import ClipItems
from vttdata.statistics.arrays import Floats
from vttdata.text.word_spans import split_words


def compare_lengths(setting: Setting[ClipItems]) -> Floats:
    """Return minus the distance of the caption's rank by words and the clip's rank by seconds.

    Raises:
        VttdataError: if the length of a clip is unknown.
    """
    seconds = np.array([end - start for start, end in setting.items.spans], dtype=np.float64)
    if np.isnan(seconds).any():
        raise VttdataError("The length of a clip is unknown, so captions cannot be ranked by it.")
    words = np.array([len(split_words(texts[0])) for texts in setting.items.references], dtype=np.float64)
    ranks = [np.searchsorted(np.sort(values), values) for values in (words, seconds)]
    distances: Floats = -np.abs(ranks[0][:, np.newaxis] - ranks[1][np.newaxis, :]).astype(np.float64)
    return distances


BASELINE = Baseline("retrieval", compare_lengths)
