"""Words that a caption shares with those of the training clip of the most similar colours (NN of Hodosh et al.)."""

from __future__ import annotations

import numpy as np

from vttdata.evaluate.baseline import Baseline, Setting, word_vectors
from vttdata.statistics.arrays import Floats


def compare_words(setting: Setting) -> Floats:
    """Return the cosine of TF-IDF vectors of each caption and of the captions of each clip's nearest training clip."""
    training = setting.training
    theirs = setting.colours([clip.video_id for clip in training])
    nearest = [int(np.argmin(np.abs(theirs - own).sum(axis=1))) for own in setting.colours(setting.items.ids)]
    queries, clips = word_vectors(
        [texts[0] for texts in setting.items.references], ["\n".join(clip.captions) for clip in training]
    )
    cosines: Floats = (queries @ clips[nearest].T).toarray()
    return cosines


BASELINE = Baseline("retrieval", compare_words)
