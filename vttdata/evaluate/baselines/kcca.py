"""Kernel canonical correlation analysis of words and colours (Hodosh et al., JAIR 2013, section 4)."""

from __future__ import annotations

import numpy as np

from vttdata.evaluate.baseline import Baseline, Setting, word_vectors
from vttdata.statistics.arrays import Floats

# Training clips at most, drawn at random: the cost grows with their third power.
_MAX_CLIPS = 1_500
_DIMENSIONS = 50
# Share of the mean eigenvalue that is added to each, so that noise in small directions is not blown up.
_REGULARISATION = 0.1


def correlate_words_and_colours(setting: Setting) -> Floats:
    """Return the cosine of each caption and clip in the space in which training captions and clips correlate most."""
    training = setting.training
    if len(training) > _MAX_CLIPS:
        training = setting.draw("", "kcca").sample(training, _MAX_CLIPS)
    texts, words = word_vectors(
        [texts[0] for texts in setting.items.references], ["\n".join(clip.captions) for clip in training]
    )
    colours = setting.colours([clip.video_id for clip in training])
    text_space, word_axes = whiten((words @ words.T).toarray())
    picture_space, picture_axes = whiten(_intersect(colours, colours))
    left, strength, right = np.linalg.svd(text_space.T @ picture_space)
    kept = slice(0, min(_DIMENSIONS, len(strength)))
    projected_texts = (texts @ words.T).toarray() @ word_axes @ left[:, kept]
    pictures = _intersect(setting.colours(setting.items.ids), colours) @ picture_axes @ right.T[:, kept]
    return _normalise(projected_texts * strength[kept]) @ _normalise(pictures).T


def whiten(kernel: Floats) -> tuple[Floats, Floats]:
    """Return the regularised coordinates of n training items, and the axes that project further rows of the kernel."""
    values, vectors = np.linalg.eigh(kernel)
    kept = values > values[-1] * 1e-9
    values, vectors = values[kept], vectors[:, kept]
    shrunk = values + _REGULARISATION * values.mean()
    return vectors * np.sqrt(values / shrunk), vectors / np.sqrt(values * shrunk)


def _intersect(histograms: Floats, others: Floats) -> Floats:
    """Return the histogram intersection of each pair."""
    return np.stack([np.minimum(histogram, others).sum(axis=1) for histogram in histograms])


def _normalise(rows: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.maximum(lengths, 1e-12)


BASELINE = Baseline("retrieval", correlate_words_and_colours)
