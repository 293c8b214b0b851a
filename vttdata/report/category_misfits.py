"""Find clips whose captions speak for another category than their own: naive Bayes over words, each clip left out.

Naive Bayes takes words as independent of each other and is far too sure of itself. What it says is therefore scaled
until it agrees best with the categories that the dataset gives (temperature scaling, Guo et al. 2017): where words tell
little, all categories become about as likely, and no clip is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# Categories with fewer clips are not compared.
_MIN_CLIPS = 5
# What is compared at most: the first captions of each clip, and the largest categories.
_MAX_CAPTIONS = 5
_MAX_CATEGORIES = 100
# Clips are found from these odds on. On MSR-VTT, 100 of whose 10,000 clips were moved to random categories, odds were
# right up to about 500; beyond, they were too sure.
MIN_ODDS, MAX_ODDS = 10, 500
# Weight, in clips, of a word's share in all clips when its share in a category is estimated.
_SMOOTHING = 2.0
# Scales above the greatest are those of words that always tell.
_MAX_SCALE, _STEPS, _TOLERANCE = 1e3, 60, 1e-6
_SHOWN = 48
_WORDS = 4

_Numbers = npt.NDArray[Any]


class Misfit(NamedTuple):
    """Clip whose captions speak for another category: odds of that against its own, and the words that tell most."""

    video_id: str
    category: str
    better: str
    odds: float
    words: tuple[str, ...]


class CategoryFigures(NamedTuple):
    """Clips of a category, those whose words name it, and the misfits, with where most of them seem to belong."""

    clips: int
    named: int
    misfits: int
    better: str


@dataclass(slots=True)
class CategoryFindings:
    """Clips whose captions speak for another category than theirs: how many of those judged, and the clearest ones."""

    judged: int = 0
    found: int = 0
    misfits: list[Misfit] = field(default_factory=list)
    categories: dict[str, CategoryFigures] = field(default_factory=dict)

    @property
    def named(self) -> int:
        """Number of clips whose own category is the likeliest by their words."""
        return sum(figures.named for figures in self.categories.values())


def find_misfits(captions: pa.Table, categories: Mapping[str, str]) -> CategoryFindings:
    """Return the clips whose captions speak for another category.

    The score of a category for a clip is the mean, over the words of the clip's captions, of the logarithm of the share
    of the category's other clips that have the word, estimated as if two more clips of the category had it as often as
    all clips. Probabilities are proportional to ``exp(scale * score)``, with the scale that gives the categories of the
    dataset the greatest likelihood. How frequent a category is does not count.

    Captions have the columns ``video_id`` and ``caption``; clips without one of the `categories` are not compared.
    """
    of_row = pc.index_in(captions["video_id"], pa.array(list(categories), captions["video_id"].type))
    captions = pa.table({"clip": of_row, "caption": captions["caption"]})
    # Dropping rows copies the others, also where there is none to drop.
    if any(column.null_count for column in captions.columns):
        captions = captions.drop_null()
    every_id, every_category = [*categories], [*categories.values()]
    captioned = np.unique(captions["clip"].to_numpy()).tolist()
    largest = Counter(every_category[clip] for clip in captioned).most_common(_MAX_CATEGORIES)
    names = sorted(name for name, size in largest if size >= _MIN_CLIPS)
    if len(names) < 2:
        return CategoryFindings()
    label_of = {name: label for label, name in enumerate(names)}
    compared = [clip for clip in captioned if every_category[clip] in label_of]
    labels = np.array([label_of[every_category[clip]] for clip in compared])
    number_of = np.full(len(every_id), -1)
    number_of[compared] = np.arange(len(compared))
    clips, words, times, vocabulary = _count_words(captions["caption"], number_of[captions["clip"].to_numpy()])
    clips_of_word = np.bincount(words, minlength=len(vocabulary))
    # A word of one clip says nothing about the others.
    is_common = clips_of_word[words] > 1
    clips, words, times = clips[is_common], words[is_common], times[is_common]
    of_clip, sizes = labels[clips], np.bincount(labels, minlength=len(names))
    prior = _SMOOTHING * (clips_of_word - 1) / (len(compared) - 1)
    counts = [np.bincount(words[of_clip == label], minlength=len(vocabulary)) for label in range(len(names))]

    def log_shares(label: int, words: _Numbers, left_out: int) -> _Numbers:
        shares: _Numbers = (counts[label][words] - left_out + prior[words]) / (sizes[label] - left_out + _SMOOTHING)
        return np.log(shares)

    length = np.maximum(np.bincount(clips, times, minlength=len(compared)), 1)
    common, log_share = np.flatnonzero(clips_of_word > 1), np.zeros(len(vocabulary))
    scores = np.empty((len(compared), len(names)))
    for label in range(len(names)):
        log_share[common] = log_shares(label, common, 0)
        terms, is_own = log_share[words], of_clip == label
        terms[is_own] = log_shares(label, words[is_own], 1)
        scores[:, label] = np.bincount(clips, times * terms, minlength=len(compared)) / length
    scores -= scores[np.arange(len(compared)), labels, np.newaxis]
    scores *= _fit_scale(scores)
    better, odds = scores.argmax(axis=1), np.exp(scores.max(axis=1))
    order = np.argsort(-odds, kind="stable")
    order = order[odds[order] >= MIN_ODDS]
    found = CategoryFindings(len(compared), len(order))
    for label, name in enumerate(names):
        moved = Counter(better[order[labels[order] == label]].tolist())
        named = int(np.count_nonzero(better[labels == label] == label))
        most = names[moved.most_common(1)[0][0]] if moved else ""
        found.categories[name] = CategoryFigures(int(sizes[label]), named, moved.total(), most)
    for clip in order[:_SHOWN].tolist():
        span = slice(*np.searchsorted(clips, (clip, clip + 1)).tolist())
        clip_words = words[span]
        gains = times[span] * (log_shares(better[clip], clip_words, 0) - log_shares(labels[clip], clip_words, 1))
        telling = clip_words[np.argsort(-gains, kind="stable")[:_WORDS]]
        texts = tuple(vocabulary.take(pa.array(telling)).to_pylist())
        video_id, category = every_id[compared[clip]], names[labels[clip]]
        found.misfits.append(Misfit(video_id, category, names[better[clip]], float(odds[clip]), texts))
    return found


def _fit_scale(scores: _Numbers) -> float:
    """Return the scale of greatest likelihood, 0 if none helps, by Newton's method between bounds.

    Scores are (clips, categories), and those of a clip's own category 0.
    """
    scale, least, most = 0.0, 0.0, _MAX_SCALE
    for _ in range(_STEPS):
        shares = np.exp(scale * (scores - scores.max(axis=1, keepdims=True)))
        shares /= shares.sum(axis=1, keepdims=True)
        means = (shares * scores).sum(axis=1)
        slope, curvature = -means.sum(), (shares * scores**2).sum() - (means**2).sum()
        least, most = (scale, most) if slope > 0 else (least, scale)
        following = scale + slope / curvature if curvature > 0 else most
        following = following if least < following < most else (least + most) / 2
        if abs(following - scale) <= _TOLERANCE * following:
            break
        scale = following
    return float(scale)


class _WordCounts(NamedTuple):
    """Clip, number of the word, and how often, for each distinct word of each clip; and the words by their numbers."""

    clips: _Numbers
    words: _Numbers
    times: _Numbers
    vocabulary: pa.Array


def _count_words(captions: pa.ChunkedArray, clips: _Numbers) -> _WordCounts:
    """Count the words of each clip; clips below 0 are left out.

    `clips` are the numbers of the clips of the texts.
    """
    order = np.argsort(clips, kind="stable")
    caption_number = np.arange(len(order)) - np.searchsorted(clips[order], clips[order])
    order = order[(caption_number < _MAX_CAPTIONS) & (clips[order] >= 0)]
    texts = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(captions.take(pa.array(order))))
    tokens = pc.list_flatten(texts).combine_chunks().dictionary_encode()
    # Each distinct token is taken apart once: "man's" is two words.
    cleaned = pc.replace_substring_regex(pc.utf8_lower(tokens.dictionary), r"[^\p{L}\p{M}\p{N}]+", " ")
    parts = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(cleaned))
    words = pc.list_flatten(parts).dictionary_encode()
    lists = pa.ListArray.from_arrays(parts.offsets, words.indices).take(tokens.indices)
    clips = np.repeat(np.repeat(clips[order], pc.list_value_length(texts).to_numpy()), pc.list_value_length(lists))
    numbers = pc.list_flatten(lists).to_numpy()
    # Arrow splits a text without words, such as that of a lone dash, into one empty text.
    is_word = numbers != pc.index(words.dictionary, "").as_py()
    size = max(len(words.dictionary), 1)
    pairs, times = np.unique(clips[is_word] * size + numbers[is_word], return_counts=True)
    return _WordCounts(pairs // size, pairs % size, times, words.dictionary)
