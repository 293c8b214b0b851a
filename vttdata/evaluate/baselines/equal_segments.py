"""Equal parts of each video without a word, as many as a training video has segments: what segments alone reach."""

from __future__ import annotations

from collections import Counter
from statistics import median

from vttdata.evaluate.baseline import Baseline, Setting
from vttdata.evaluate.segments import Segment
from vttdata.evaluate.tasks.dense_captioning import DenseItems


def divide_videos(setting: Setting[DenseItems]) -> list[list[Segment]]:
    """Return the segments of each video, as many as the median of the training videos.

    Raises:
        VttdataError: if the length of a video is not known.
    """
    number = round(median(Counter(clip.source_id for clip in setting.training).values()))
    return [
        [Segment(seconds * part / number, seconds * (part + 1) / number, "") for part in range(number)]
        for seconds in setting.items.known_lengths()
    ]


BASELINE = Baseline("dense-captioning", divide_videos)
