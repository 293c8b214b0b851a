"""Find captions that deserve a look: texts that many clips share, very short and long ones, and unusual annotators."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# Annotators with fewer captions are not compared.
_MIN_CAPTIONS = 10
_EXAMPLES = 12
_SHOWN_TEXTS = 200
# Robust z-scores from here on are called unusual.
_UNUSUAL = 3.5

_Numbers = npt.NDArray[Any]


class AnnotatorFigures(NamedTuple):
    """Figures of one annotator.

    Fields:
        captions, clips: how many.
        mean_words: of a caption.
        repeated: share of captions whose text the annotator wrote before.
        commonest: text that the annotator wrote most often.
    """

    captions: int
    clips: int
    mean_words: float
    repeated: float
    commonest: str


@dataclass(slots=True)
class CaptionFindings:
    """Findings on all captions of a dataset.

    Fields:
        captions: number of captions.
        shared: text -> number of captions with it, of texts in several clips, the most frequent first.
        shared_captions: number of captions whose text several clips have.
        words: number of words -> number of captions.
        shortest, longest: video id and text of the extremes.
        annotators: annotator -> figures, of those with enough captions.
        unusual: annotator -> why, the most unusual first.
    """

    captions: int = 0
    shared: dict[str, int] = field(default_factory=dict)
    shared_captions: int = 0
    words: Counter[int] = field(default_factory=Counter)
    shortest: list[tuple[str, str]] = field(default_factory=list)
    longest: list[tuple[str, str]] = field(default_factory=list)
    annotators: dict[str, AnnotatorFigures] = field(default_factory=dict)
    unusual: dict[str, str] = field(default_factory=dict)


def find_odd_captions(captions: pa.Table) -> CaptionFindings:
    """Return the findings on captions.

    Args:
        captions: columns ``video_id``, ``caption`` and ``annotator``; rows without a text do not count.
    """
    found = CaptionFindings()
    captions = captions.filter(pc.is_valid(captions["caption"]))
    found.captions = captions.num_rows
    if not found.captions:
        return found
    texts, named = _number(pc.utf8_lower(captions["caption"]))
    words = pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(captions["caption"]))).to_numpy()
    clips, _ = _number(captions["video_id"])
    times = np.bincount(texts)
    first, last = np.full(len(times), len(clips)), np.full(len(times), -1)
    np.minimum.at(first, texts, clips)
    np.maximum.at(last, texts, clips)
    shared = np.flatnonzero(first < last)
    found.shared_captions = int(times[shared].sum())
    # A text may be of any length, and only the most frequent ones are shown.
    least = np.sort(times[shared])[-_SHOWN_TEXTS:][:1]
    frequent = shared[times[shared] >= least] if len(least) else shared
    counted = zip(named.take(pa.array(frequent)).to_pylist(), times[frequent].tolist(), strict=True)
    found.shared = dict(sorted(counted, key=lambda entry: (-entry[1], entry[0]))[:_SHOWN_TEXTS])
    found.words = Counter({number: count for number, count in enumerate(np.bincount(words).tolist()) if count})
    order = np.argsort(words, kind="stable")
    found.shortest, found.longest = (
        [(row["video_id"], row["caption"]) for row in captions.take(pa.array(rows)).to_pylist()]
        for rows in (order[:_EXAMPLES], order[::-1][:_EXAMPLES])
    )
    known = pc.is_valid(captions["annotator"]).to_numpy()
    if known.any():
        annotators, names = _number(captions["annotator"].drop_null())
        found.annotators = _count_by_annotator(annotators, names, clips[known], texts[known], named, words[known])
        found.unusual = _find_unusual(found.annotators)
    return found


def _number(values: pa.ChunkedArray) -> tuple[_Numbers, pa.Array]:
    """Return the number of each value, and the distinct values."""
    encoded = values.combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary


def _count_by_annotator(
    annotators: _Numbers, names: pa.Array, clips: _Numbers, texts: _Numbers, named: pa.Array, words: _Numbers
) -> dict[str, AnnotatorFigures]:
    """Return the figures of annotators with enough captions, by name; arrays have a number for each caption."""
    captions = np.bincount(annotators)
    total = np.bincount(annotators, words)
    written, times = np.unique(annotators * len(named) + texts, return_counts=True)
    written_by = written // len(named)
    distinct_texts = np.bincount(written_by)
    size = int(clips.max()) + 1
    distinct_clips = np.bincount(np.unique(annotators * size + clips) // size)
    # Of each annotator, the most frequent text comes first, and of equally frequent ones that with the least number.
    order = np.lexsort((-times, written_by))
    commonest = (written % len(named))[order[np.searchsorted(written_by, np.arange(len(names)))]]
    frequent = np.flatnonzero(captions >= _MIN_CAPTIONS)
    rows = zip(
        names.take(pa.array(frequent)).to_pylist(),
        captions[frequent].tolist(),
        distinct_clips[frequent].tolist(),
        (total / captions)[frequent].tolist(),
        (1 - distinct_texts / captions)[frequent].tolist(),
        named.take(pa.array(commonest[frequent])).to_pylist(),
        strict=True,
    )
    return {name: AnnotatorFigures(*figures) for name, *figures in sorted(rows)}


def _find_unusual(annotators: dict[str, AnnotatorFigures]) -> dict[str, str]:
    """Compare each annotator with the median of all, in median absolute deviations."""
    if len(annotators) < 3:
        return {}
    reasons: dict[str, tuple[float, str]] = {}
    measures = {"words a caption": "mean_words", "share of captions that repeat an own text": "repeated"}
    for name, attribute in measures.items():
        values = {annotator: float(getattr(figures, attribute)) for annotator, figures in annotators.items()}
        middle = statistics.median(values.values())
        # 1.4826 makes the deviation that of a normal distribution (Iglewicz and Hoaglin 1993).
        spread = 1.4826 * statistics.median(abs(value - middle) for value in values.values())
        spread = max(spread, 0.05 if attribute == "repeated" else 0.5)
        for annotator, value in values.items():
            score = abs(value - middle) / spread
            if score >= _UNUSUAL and score > reasons.get(annotator, (0.0, ""))[0]:
                reasons[annotator] = (score, f"{name}: {value:.2f}, median of all {middle:.2f}")
    ordered = sorted(reasons.items(), key=lambda entry: (-entry[1][0], entry[0]))
    return {annotator: reason for annotator, (_, reason) in ordered}
