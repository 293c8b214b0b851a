"""Kernel canonical correlation analysis of words, and of `--features` or colours (Hodosh et al., JAIR 2013)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vttdata.evaluate.baseline import Baseline, Setting, word_vectors
from vttdata.evaluate.canonical_correlation import KernelView, correlate_views, try_settings
from vttdata.evaluate.items import ClipItems
from vttdata.statistics.arrays import Floats

REGULARISATIONS = (0.01, 0.1, 0.5, 1.0, 5.0)
DIMENSIONS = (10, 25, 50, 100, 200, 400, 800)
"""What is tried on the clips for tuning; Hodosh et al. try .1 to 5, and 10 to 6,000."""

# Clips by which kernels are approximated where there are more; all of fewer clips are used.
_LANDMARKS = 1_500

Vectorize = Callable[[Sequence[Sequence[str]], Sequence[Sequence[str]]], tuple[Any, Any]]
"""From captions of clips, and of others, to sparse vectors whose dot product is the kernel."""


def correlate_words(setting: Setting[ClipItems], vectors: Vectorize) -> Floats:
    """Return the cosine of each caption and clip in the space in which training captions and clips correlate most.

    Regularisation and dimensions are those with the highest mean reciprocal rank of the clips for tuning.
    """
    learned, tuning = setting.divide_training()
    choice = setting.draw("", "kcca")
    landmarks = sorted(choice.sample(range(len(learned)), min(_LANDMARKS, len(learned))))
    ids = [clip.video_id for clip in learned]
    asked = [[clip.captions[0]] for clip in tuning] + [[texts[0]] for texts in setting.items.references]
    queries, words = vectors(asked, [clip.captions for clip in learned])
    texts = KernelView.of((words @ words[landmarks].T).toarray(), landmarks)
    marks = [ids[index] for index in landmarks]
    looks = KernelView.of(setting.compare_looks(ids, marks), landmarks)
    kernel = (queries @ words[landmarks].T).toarray()
    regularisation, size = 0.1, 50
    if tuning:
        held_out = kernel[: len(tuning)], setting.compare_looks([clip.video_id for clip in tuning], marks)
        tried = try_settings(texts, looks, held_out, REGULARISATIONS, DIMENSIONS)
        _, regularisation, size = max(tried, key=lambda entry: (round(entry[0], 9), entry[1], -entry[2]))
    found = correlate_views(texts, looks, regularisation)
    return found.cosines(kernel[len(tuning) :], setting.compare_looks(setting.items.ids, marks), size)


def bags_of_words(texts: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> tuple[Any, Any]:
    """Return TF-IDF vectors of the captions of each clip, taken together."""
    return word_vectors(["\n".join(captions) for captions in texts], ["\n".join(captions) for captions in others])


BASELINE = Baseline("retrieval", lambda setting: correlate_words(setting, bags_of_words))
