"""Find captions that deserve a look: texts that many clips share, very short and long ones, and unusual annotators."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Annotators with fewer captions are not compared.
_MIN_CAPTIONS = 10
_EXAMPLES = 12
_SHOWN_TEXTS = 200
# Robust z-scores from here on are called unusual.
_UNUSUAL = 3.5


@dataclass(slots=True)
class AnnotatorFigures:
    """Figures of one annotator: captions, their words, how often each text (a number) was written, and the clips."""

    captions: int = 0
    words: int = 0
    texts: Counter[int] = field(default_factory=Counter)
    clips: set[str] = field(default_factory=set)
    commonest: str = ""

    @property
    def mean_words(self) -> float:
        """Mean number of words of a caption."""
        return self.words / self.captions

    @property
    def repeated(self) -> float:
        """Share of captions whose text the annotator wrote before."""
        return 1 - len(self.texts) / self.captions


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
    captions = captions.filter(pc.is_valid(captions["caption"])).combine_chunks()
    found.captions = captions.num_rows
    if not found.captions:
        return found
    texts = pc.utf8_lower(captions["caption"]).combine_chunks().dictionary_encode()
    words = pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(captions["caption"])))
    clips = captions["video_id"].combine_chunks().dictionary_encode().indices
    by_text = pa.table({"text": texts.indices, "clip": clips}).group_by("text")
    counts = by_text.aggregate([("clip", "min"), ("clip", "max"), ("clip", "count")])
    shared = counts.filter(pc.not_equal(counts["clip_min"], counts["clip_max"]))
    found.shared_captions = pc.sum(shared["clip_count"]).as_py() or 0
    # A text may be of any length, and only the most frequent ones are shown.
    least = sorted(shared["clip_count"].to_pylist())[-_SHOWN_TEXTS:][:1] or [0]
    frequent = shared.filter(pc.greater_equal(shared["clip_count"], least[0]))
    named = texts.dictionary.take(frequent["text"].combine_chunks()).to_pylist()
    counted = zip(named, frequent["clip_count"].to_pylist(), strict=True)
    found.shared = dict(sorted(counted, key=lambda entry: (-entry[1], entry[0]))[:_SHOWN_TEXTS])
    found.words = Counter({each["values"]: each["counts"] for each in pc.value_counts(words).to_pylist()})
    order = np.argsort(words.to_numpy(), kind="stable")
    found.shortest, found.longest = (
        [(row["video_id"], row["caption"]) for row in captions.take(pa.array(rows)).to_pylist()]
        for rows in (order[:_EXAMPLES], order[::-1][:_EXAMPLES])
    )
    if captions["annotator"].null_count < found.captions:
        found.annotators = _count_by_annotator(captions, texts, words)
        found.unusual = _find_unusual(found.annotators)
    return found


def _count_by_annotator(captions: pa.Table, texts: pa.DictionaryArray, words: pa.Array) -> dict[str, AnnotatorFigures]:
    annotators: dict[str, AnnotatorFigures] = {}
    columns = (captions["video_id"].to_pylist(), captions["annotator"].to_pylist(), words.to_pylist())
    for video_id, annotator, number, text in zip(*columns, texts.indices.to_pylist(), strict=True):
        if annotator is not None:
            figures = annotators.setdefault(str(annotator), AnnotatorFigures())
            figures.captions += 1
            figures.words += number
            figures.texts[text] += 1
            figures.clips.add(video_id)
    frequent = {name: each for name, each in sorted(annotators.items()) if each.captions >= _MIN_CAPTIONS}
    for figures in frequent.values():
        number = max(figures.texts, key=lambda text: (figures.texts[text], -text))
        figures.commonest = texts.dictionary[number].as_py()
    return frequent


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
