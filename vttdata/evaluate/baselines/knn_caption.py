"""Caption on which the training clips that look most alike agree most (KNN of MSR-VTT, CVPR 2016, table 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vttdata.evaluate.baseline import Baseline, Setting, TrainingClip, word_vectors
from vttdata.evaluate.items import ClipItems
from vttdata.statistics.arrays import Floats

NEIGHBOURS = (1, 2, 5, 10, 20, 50)
"""Numbers of nearest clips that are tried on the clips for tuning."""


def agree_on_captions(setting: Setting[ClipItems]) -> list[str]:
    """Return for each item the caption of its nearest training clips that shares most words with all of theirs.

    Words are compared by the cosine of TF-IDF vectors. The number of clips is the one of `NEIGHBOURS` whose captions
    share most words with the human captions of the clips for tuning.
    """
    learned, tuning = setting.divide_training()
    counts = [k for k in NEIGHBOURS if k <= len(learned)]
    scored = [(choose_captions(setting, [c.video_id for c in tuning], learned, k), k) for k in counts]
    best = max(scored, key=lambda entry: (_likeness(entry[0], tuning), -entry[1]))[1] if tuning else 1
    return choose_captions(setting, setting.items.ids, setting.training, best)


def choose_captions(
    setting: Setting[ClipItems], ids: Sequence[str], clips: Sequence[TrainingClip], k: int
) -> list[str]:
    """Return the caption on which the `k` nearest of some clips agree most, for each of the n ids."""
    texts = [text for clip in clips for text in clip.captions]
    _, vectors = word_vectors(texts[:1], texts)
    ends = np.cumsum([len(clip.captions) for clip in clips])
    nearest = np.argsort(-setting.compare_looks(ids, [clip.video_id for clip in clips]), axis=1, kind="stable")[:, :k]
    chosen = []
    for row in nearest.tolist():
        own = [index for clip in row for index in range(ends[clip] - len(clips[clip].captions), ends[clip])]
        words: Any = vectors[own]
        # The mean cosine with all of them is that with their mean.
        agreement = np.asarray(words @ words.mean(axis=0).T).ravel()
        chosen.append(texts[own[int(agreement.argmax())]])
    return chosen


def _likeness(captions: Sequence[str], clips: Sequence[TrainingClip]) -> float:
    queries, references = word_vectors(captions, ["\n".join(clip.captions) for clip in clips])
    cosines: Floats = np.asarray(queries.multiply(references).sum(axis=1)).ravel()
    return round(float(cosines.mean()), 9)


BASELINE = Baseline("captioning", agree_on_captions)
