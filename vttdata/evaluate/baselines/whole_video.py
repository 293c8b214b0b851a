"""Most frequent training caption as the only sentence about each video, from its start to its end."""

from __future__ import annotations

from collections import Counter

from vttdata.evaluate.baseline import Baseline, Setting
from vttdata.evaluate.segments import Segment
from vttdata.evaluate.tasks.dense_captioning import DenseItems


def describe_whole_videos(setting: Setting[DenseItems]) -> list[list[Segment]]:
    """Return a segment for each video; of several captions with the most occurrences the first in alphabetical order.

    Raises:
        VttdataError: if the length of a video is not known.
    """
    counts = Counter(text for clip in setting.training for text in clip.captions)
    sentence = min(counts, key=lambda text: (-counts[text], text))
    return [[Segment(0.0, seconds, sentence)] for seconds in setting.items.known_lengths()]


BASELINE = Baseline("dense-captioning", describe_whole_videos)
