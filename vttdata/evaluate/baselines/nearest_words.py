"""Words that a caption shares with those of the training clip that looks most alike (NN of Hodosh et al.)."""

from __future__ import annotations

from vttdata.evaluate.baseline import Baseline, Setting, word_vectors
from vttdata.evaluate.items import ClipItems
from vttdata.statistics.arrays import Floats


def compare_words(setting: Setting[ClipItems]) -> Floats:
    """Return the cosine of TF-IDF vectors of each caption and of the captions of each clip's nearest training clip."""
    training = setting.training
    nearest = setting.compare_looks(setting.items.ids, [clip.video_id for clip in training]).argmax(axis=1)
    queries, clips = word_vectors(
        [texts[0] for texts in setting.items.references], ["\n".join(clip.captions) for clip in training]
    )
    cosines: Floats = (queries @ clips[nearest].T).toarray()
    return cosines


BASELINE = Baseline("retrieval", compare_words)
