"""Find captions that deserve a look: texts that many clips share, very short and long ones, and unusual annotators."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.split.audit.repeated_captions import hash_texts
from vttdata.text.damage import find_text_damage
from vttdata.text.word_spans import find_words

# Annotators with fewer captions are not compared.
_MIN_CAPTIONS = 10
_EXAMPLES = 12
_SHOWN_TEXTS = 200
# Robust z-scores from here on are called unusual.
_UNUSUAL = 3.5
# Captions that are hashed at a time.
_BATCH = 50_000
# Whether a byte is white space of ASCII, as str.isspace has it.
_IS_SPACE = np.array([chr(byte).isspace() and byte < 128 for byte in range(256)])

_Numbers = npt.NDArray[Any]


class AnnotatorFigures(NamedTuple):
    """Figures of one annotator: `repeated` is the share of texts written before, `commonest` the most frequent text."""

    captions: int
    clips: int
    mean_words: float
    repeated: float
    commonest: str


@dataclass(slots=True)
class CaptionFindings:
    """Findings on all captions of a dataset.

    Fields:
        shared: text -> number of captions with it, of texts in several clips, the most frequent first.
        shared_captions: number of captions whose text several clips have.
        damaged: video id and text of captions that `vttdata.text.damage` finds damaged.
        words: number of words -> number of captions.
        shortest, longest: video id and text of the extremes.
        annotators: annotator -> figures, of those with enough captions.
        unusual: annotator -> why, the most unusual first.
    """

    captions: int = 0
    shared: dict[str, int] = field(default_factory=dict)
    shared_captions: int = 0
    damaged: list[tuple[str, str]] = field(default_factory=list)
    words: Counter[int] = field(default_factory=Counter)
    shortest: list[tuple[str, str]] = field(default_factory=list)
    longest: list[tuple[str, str]] = field(default_factory=list)
    annotators: dict[str, AnnotatorFigures] = field(default_factory=dict)
    unusual: dict[str, str] = field(default_factory=dict)


def find_odd_captions(captions: pa.Table) -> CaptionFindings:
    """Return the findings on rows of ``video_id``, ``caption`` and ``annotator``; those without a text do not count."""
    found = CaptionFindings()
    if captions["caption"].null_count:
        captions = captions.filter(pc.is_valid(captions["caption"]))
    found.captions = captions.num_rows
    if not found.captions:
        return found
    # Texts and ids are compared by hashes, a batch at a time: a dictionary would take several times their size.
    batches = captions.to_batches(max_chunksize=_BATCH)
    texts = _number(np.concatenate([hash_texts(pc.utf8_lower(batch["caption"])) for batch in batches]))
    first_rows = np.empty(int(texts.max()) + 1, np.int32)
    first_rows[texts[::-1]] = np.arange(len(texts), dtype=np.int32)[::-1]
    clips = _number(np.concatenate([_hash_runs(batch["video_id"]) for batch in batches]))

    def read_texts(numbers: _Numbers) -> list[str]:
        return list(pc.utf8_lower(captions["caption"].take(first_rows[numbers])).to_pylist())

    words = np.concatenate([_count_words(batch["caption"]) for batch in batches])
    times = np.bincount(texts)
    shared = np.unique(texts[clips != clips[first_rows][texts]])
    found.shared_captions = int(times[shared].sum())
    # A text may be of any length, and only the most frequent ones are shown.
    least = np.sort(times[shared])[-_SHOWN_TEXTS:][:1]
    frequent = shared[times[shared] >= least] if len(least) else shared
    counted = zip(read_texts(frequent), times[frequent].tolist(), strict=True)
    found.shared = dict(sorted(counted, key=lambda entry: (-entry[1], entry[0]))[:_SHOWN_TEXTS])
    for batch in batches:
        unusual = batch.filter(pc.invert(pc.string_is_ascii(batch["caption"])))
        rows = zip(unusual["video_id"].to_pylist(), unusual["caption"].to_pylist(), strict=True)
        found.damaged += ((video_id, text) for video_id, text in rows if find_text_damage(text) is not None)
    found.words = Counter({number: count for number, count in enumerate(np.bincount(words).tolist()) if count})
    order = np.argsort(words, kind="stable")
    found.shortest, found.longest = (
        [(row["video_id"], row["caption"]) for row in captions.take(pa.array(rows)).to_pylist()]
        for rows in (order[:_EXAMPLES], order[::-1][:_EXAMPLES])
    )
    known = pc.is_valid(captions["annotator"]).to_numpy()
    if known.any():
        encoded = captions["annotator"].drop_null().dictionary_encode().combine_chunks()
        annotators, names = encoded.indices.to_numpy().astype(np.int64), encoded.dictionary
        found.annotators = _count_by_annotator(annotators, names, clips[known], texts[known], words[known], read_texts)
        found.unusual = _find_unusual(found.annotators)
    return found


def _number(hashes: _Numbers) -> _Numbers:
    """Return the number of each hash among the distinct ones, in the order in which they come."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    numbers: _Numbers = np.argsort(np.argsort(first))[inverse].astype(np.int32)
    return numbers


def _hash_runs(texts: pa.Array) -> _Numbers:
    """Return a hash of each text; equal ones in a row, such as the ids of captions of a clip, are hashed once."""
    runs = pc.run_end_encode(texts)
    return np.repeat(hash_texts(runs.values), np.diff(runs.run_ends.to_numpy(), prepend=0))


def _count_words(captions: pa.Array) -> _Numbers:
    """Return the number of words of each caption, as `find_words` finds them."""
    # NumPy finds where words begin among the bytes of all captions in a fifth of the time in which Arrow splits them,
    # but it knows the white space of ASCII only.
    captions = captions.cast(pa.large_string())
    _, offsets_buffer, data = captions.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int64)[captions.offset :][: len(captions) + 1]
    is_space = _IS_SPACE[np.frombuffer(data or b"", np.uint8)[offsets[0] : offsets[-1]]]
    begins = ~is_space
    begins[1:] &= is_space[:-1]
    rows = np.flatnonzero(np.diff(offsets))
    first = (offsets - offsets[0])[rows]
    begins[first] = ~is_space[first]
    numbers = np.zeros(len(captions), np.int32)
    if len(rows):
        numbers[rows] = np.add.reduceat(begins, first, dtype=np.int32)
    others = np.flatnonzero(~pc.string_is_ascii(captions).to_numpy(zero_copy_only=False))
    numbers[others] = [len(find_words(text)) for text in captions.take(pa.array(others)).to_pylist()]
    return numbers


def _count_by_annotator(
    annotators: _Numbers,
    names: pa.Array,
    clips: _Numbers,
    texts: _Numbers,
    words: _Numbers,
    read_texts: Callable[[_Numbers], list[str]],
) -> dict[str, AnnotatorFigures]:
    """Return the figures of annotators with enough captions, by name; arrays have a number for each caption."""
    captions = np.bincount(annotators)
    total = np.bincount(annotators, words)
    number = int(texts.max()) + 1
    written, times = np.unique(annotators * number + texts, return_counts=True)
    written_by = written // number
    distinct_texts = np.bincount(written_by)
    size = int(clips.max()) + 1
    distinct_clips = np.bincount(np.unique(annotators * size + clips) // size)
    # Of each annotator, the most frequent text comes first, and of equally frequent ones any, but always the same.
    order = np.lexsort((-times, written_by))
    commonest = (written % number)[order[np.searchsorted(written_by, np.arange(len(names)))]]
    frequent = np.flatnonzero(captions >= _MIN_CAPTIONS)
    rows = zip(
        names.take(pa.array(frequent)).to_pylist(),
        captions[frequent].tolist(),
        distinct_clips[frequent].tolist(),
        (total / captions)[frequent].tolist(),
        (1 - distinct_texts / captions)[frequent].tolist(),
        read_texts(commonest[frequent]),
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
