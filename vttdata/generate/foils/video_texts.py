"""Texts of videos, and the division of these texts among the models that are trained on them.

A language model never scores foils of a video whose captions it was trained on, and blind attackers learn from texts
that no model behind the foils has read. Training itself is the business of `vttdata.text.lm`.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vttdata.errors import VttdataError
from vttdata.records import Caption

Captions = Iterable[Caption] | Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ConceptAnnotation:
    """Annotated concepts of one caption: its tokens, and for each mention the index of its token and its class."""

    tokens: tuple[str, ...]
    indices: tuple[int, ...]
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VideoTexts:
    """Texts and annotations of one video.

    Fields:
        ids, texts: its captions; only these get foils.
        paragraph: whether the captions are read together; otherwise each stands alone.
        other_texts: further texts about the video, which say what is present.
        other_ids: their caption ids where they are a second paragraph that may get foils too.
        present: annotated names of things that are present.
        annotations: concepts of each caption, None for a caption without annotation; empty without any.
        split: foils of each split are balanced by themselves; pairs of ``train`` share no two concepts with
            those of other splits.
        lm_training_only: whether the texts train language models and get no foils.
        needs_other_texts: whether the video is rejected when it has no other texts.
    """

    video_id: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    paragraph: bool = False
    other_texts: tuple[str, ...] = ()
    other_ids: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    annotations: tuple[ConceptAnnotation | None, ...] = ()
    split: str | None = None
    lm_training_only: bool = False
    needs_other_texts: bool = False

    @property
    def caption_ids(self) -> tuple[str, ...]:
        """Ids of all captions that may get foils."""
        return (*self.ids, *self.other_ids)


def group_texts_by_video(captions: Captions, splits: Mapping[str, str | None] | None = None) -> list[VideoTexts]:
    """Group captions by video, in the order of the video ids; a text that a video repeats counts once.

    Arguments are as of `vttdata.generate.mine_foils`. The id of a caption is ``VIDEO_SEN``, with the `sen_id` of its
    record or else its index, from 0, among the different texts of its video.

    Raises:
        VttdataError: when there are no captions, a caption is not a text, or two of a video share a `sen_id`.
    """
    texts_of: Mapping[str, Mapping[str, str] | Sequence[str]]
    if isinstance(captions, Mapping):
        texts_of = captions
    else:
        texts_of = by_id = defaultdict[str, dict[str, str]](dict)
        for caption in captions:
            caption_id = f"{caption.video_id}_{caption.sen_id}"
            if caption_id in by_id[caption.video_id]:
                raise VttdataError(f"Two captions of video {caption.video_id[:80]!a} have the sen_id {caption.sen_id}.")
            by_id[caption.video_id][caption_id] = caption.caption
    videos = [_video_texts(name, texts, (splits or {}).get(name)) for name, texts in sorted(texts_of.items())]
    if not any(text for video in videos for text in video.texts):
        raise VttdataError("There are no captions to make foils of, or no words in them.")
    return videos


def _video_texts(video_id: str, texts: Sequence[str] | Mapping[str, str], split: str | None) -> VideoTexts:
    listed = list(texts.items()) if isinstance(texts, Mapping) else [("", text) for text in texts]
    if isinstance(texts, str) or not all(isinstance(text, str) for _, text in listed):
        raise VttdataError(f"The captions of video {video_id[:80]!a} should be a list of texts.")
    ids: dict[str, str] = {}
    for caption_id, text in listed:
        ids.setdefault(text.strip(), caption_id or f"{video_id}_{len(ids)}")
    return VideoTexts(video_id, tuple(ids.values()), tuple(ids), split=split)


# Each of six parts, by hash, has a video with a probability of .996.
_ENOUGH_VIDEOS = 40


class TrainingTexts(NamedTuple):
    """Texts for the models that work on one fold; the three lists share no video, and none with the fold.

    Each is a list of the texts of its videos.
    """

    scorer: list[Sequence[str]]
    second_scorer: list[Sequence[str]]
    attackers: list[Sequence[str]]


@dataclass(frozen=True, slots=True)
class TrainingFolds:
    """Folds of videos (video id -> number), and the texts that train the models of each fold."""

    fold_of: Mapping[str, int]
    training: Sequence[TrainingTexts]

    def attacker_texts(self) -> dict[int, Sequence[Sequence[str]]]:
        """Return for each fold the texts, by video, that no model behind its foils was trained on."""
        return {fold: training.attackers for fold, training in enumerate(self.training)}


def assign_training_folds(videos: Sequence[VideoTexts]) -> TrainingFolds:
    """Divide texts among models.

    Videos with `lm_training_only` train the models of a single fold of all others; where there are none, the videos
    are halved by a hash of their ids, and the models of each half are trained on the other.

    Raises:
        VttdataError: when there is too little text.
    """
    training = {video.video_id: video.texts for video in videos if video.lm_training_only}
    if training:
        return TrainingFolds({video.video_id: 0 for video in videos}, [_divide_in_thirds(training)])
    halves: list[dict[str, Sequence[str]]] = [{}, {}]
    for video in videos:
        halves[stable_hash("half", video.video_id) % 2][video.video_id] = video.texts
    fold_of = {video_id: fold for fold, half in enumerate(halves) for video_id in half}
    return TrainingFolds(fold_of, [_divide_in_thirds(half) for half in reversed(halves)])


def _divide_in_thirds(texts: Mapping[str, Sequence[str]]) -> TrainingTexts:
    thirds = TrainingTexts([], [], [])
    for video_id, of_video in texts.items():
        thirds[_third(video_id)].append(of_video)
    if not all(any(text.split() for texts in third for text in texts) for third in thirds):
        raise VttdataError(
            "There are too few videos with captions to train language models on, among which a hash divides them; "
            f"{_ENOUGH_VIDEOS} are enough. Captions of other videos in the same table, such as those of a benchmark, "
            "help: they train the models, and have foils too."
        )
    return thirds


def select_usage_texts(videos: Sequence[VideoTexts], fold: int, folds: TrainingFolds) -> Iterator[Sequence[str]]:
    """Yield the texts of each video from which the usage of nouns may be counted for the foils of a fold.

    These are the texts of all videos, those of the fold included, except for the texts of attackers.
    """
    separate = any(video.lm_training_only for video in videos)
    for video in videos:
        trains = video.lm_training_only if separate else folds.fold_of[video.video_id] != fold
        if not trains or TrainingTexts._fields[_third(video.video_id)] != "attackers":
            yield (*video.texts, *video.other_texts)


def _third(video_id: str) -> int:
    return stable_hash("third", video_id) % len(TrainingTexts._fields)


def stable_hash(*texts: str) -> int:
    """Return a 32-bit number that depends on the texts only."""
    return int.from_bytes(hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).digest()[:4], "big")
