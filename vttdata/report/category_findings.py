"""Find clips whose captions fit another category than their own: naive Bayes over words, leaving one out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# Categories with fewer clips are not compared.
_MIN_CLIPS = 5
# What is compared at most: evenly spread clips, and the largest categories.
_MAX_CLIPS = 50_000
_MAX_CATEGORIES = 100
# Odds from here on are called a better fit.
MIN_ODDS = 1000
# Weight, in clips, of a word's share in all clips when its share in a category is estimated.
_SMOOTHING = 2.0
_SHOWN = 48
_WORDS = 4

_Numbers = npt.NDArray[Any]


class Misfit(NamedTuple):
    """Clip whose captions fit another category better: natural log odds of the two, and the words that tell most."""

    video_id: str
    category: str
    better: str
    log_odds: float
    words: tuple[str, ...]


@dataclass(slots=True)
class CategoryFindings:
    """Clips whose captions fit another category than theirs.

    Fields:
        judged: number of clips that were compared.
        misfits: those that fit another category better, the clearest first, at most some dozens.
        moves: category and the one that fits better -> number of clips.
    """

    judged: int = 0
    misfits: list[Misfit] = field(default_factory=list)
    moves: Counter[tuple[str, str]] = field(default_factory=Counter)


def find_misfits(captions: pa.Table, categories: Mapping[str, str]) -> CategoryFindings:
    """Return the clips whose captions fit another category better.

    A clip has the words of all its captions, each once. The odds of a category compare, for each of these words, the
    share of the category's clips that have it. The clip itself is left out of all shares, and a share is estimated as
    if two more clips of the category had the word as often as all clips. How frequent a category is does not count.

    Args:
        captions: columns ``video_id`` and ``caption``.
        categories: video id -> category.
    """
    ids, labels, names = _choose_clips(captions, categories)
    if len(names) < 2:
        return CategoryFindings()
    clips, words, vocabulary = _clip_words(captions, ids)
    clips_of_word = np.bincount(words, minlength=len(vocabulary))
    # A word of one clip says nothing about the others.
    is_common = clips_of_word[words] > 1
    clips, words = clips[is_common], words[is_common]
    if not len(words):
        return CategoryFindings(len(ids))
    sizes = np.bincount(labels, minlength=len(names))
    prior = _SMOOTHING * (clips_of_word[words] - 1) / (len(ids) - 1)
    counts = [np.bincount(words[labels[clips] == label], minlength=len(vocabulary)) for label in range(len(names))]

    def log_shares(label: int, span: slice) -> _Numbers:
        is_own = labels[clips[span]] == label
        in_category = counts[label][words[span]] - is_own + prior[span]
        logs: _Numbers = np.log(in_category / (sizes[label] - is_own + _SMOOTHING))
        return logs

    scores = np.stack(
        [np.bincount(clips, log_shares(label, slice(None)), minlength=len(ids)) for label in range(len(names))]
    )
    own = scores[labels, np.arange(len(ids))]
    scores[labels, np.arange(len(ids))] = -np.inf
    better, odds = scores.argmax(axis=0), scores.max(axis=0) - own
    order = [clip for clip in np.argsort(-odds, kind="stable").tolist() if odds[clip] >= np.log(MIN_ODDS)]
    found = CategoryFindings(len(ids), [], Counter((names[labels[clip]], names[better[clip]]) for clip in order))
    for clip in order[:_SHOWN]:
        span = slice(*np.searchsorted(clips, (clip, clip + 1)).tolist())
        gains = log_shares(better[clip], span) - log_shares(labels[clip], span)
        telling = words[span][np.argsort(-gains, kind="stable")[:_WORDS]]
        texts = tuple(vocabulary.take(pa.array(telling)).to_pylist())
        found.misfits.append(Misfit(ids[clip], names[labels[clip]], names[better[clip]], float(odds[clip]), texts))
    return found


def _choose_clips(captions: pa.Table, categories: Mapping[str, str]) -> tuple[list[str], _Numbers, list[str]]:
    """Return the clips to compare, the number of each one's category, and the categories."""
    ids = [name for name in pc.unique(captions["video_id"]).to_pylist() if name in categories]
    ids = ids[:: -(-len(ids) // _MAX_CLIPS) or 1]
    sizes = Counter(categories[name] for name in ids)
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:_MAX_CATEGORIES]
    names = sorted(name for name in largest if sizes[name] >= _MIN_CLIPS)
    numbers = {name: number for number, name in enumerate(names)}
    ids = [name for name in ids if categories[name] in numbers]
    return ids, np.array([numbers[categories[name]] for name in ids], dtype=np.int64), names


def _clip_words(captions: pa.Table, ids: Sequence[str]) -> tuple[_Numbers, _Numbers, pa.Array]:
    """Return the number of the clip and of the word for each distinct word of each clip, in order, and the words."""
    clips = pc.index_in(captions["video_id"], pa.array(ids, captions["video_id"].type))
    texts = pc.replace_substring_regex(pc.utf8_lower(captions["caption"]), r"[^\p{L}\p{M}\p{N}]+", " ")
    lists = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))
    chosen = pc.and_(pc.is_valid(clips), pc.is_valid(texts))
    lists, clips = lists.filter(chosen), clips.filter(chosen)
    words = pc.list_flatten(lists).combine_chunks().dictionary_encode()
    clips = np.repeat(clips.to_numpy().astype(np.int64), pc.list_value_length(lists).to_numpy())
    size = max(len(words.dictionary), 1)
    pairs = np.unique(clips * size + words.indices.to_numpy())
    return pairs // size, pairs % size, words.dictionary
