"""What is known of videos, and which of their texts may teach which model.

Models are never trained on captions of a video whose foils they judge, and blind attackers learn from text that nothing
which made the foils has seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vttdata.errors import VttdataError

_THIRDS = 3


@dataclass(frozen=True, slots=True)
class Annotated:
    """The annotated concepts of one caption: its words, and for each mention the place of its word and its class."""

    tokens: tuple[str, ...]
    indices: tuple[int, ...]
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of one video.

    Fields:
        video_id: of the video.
        ids, texts: its captions; only these get foils.
        paragraph: whether the captions are read together; each stands alone otherwise.
        others: further texts about it, which say what is present.
        other_ids: their ids where they are a paragraph that may get foils too; a video's own ids come first.
        names: annotated things that are present.
        annotated: of each caption or None, where annotations say which words name things.
        split: balanced by itself; no pair of concepts of ``train`` is one of another split.
        teaches: whether its texts only train language models.
        needs_others: whether it is rejected when it has no other texts.
    """

    video_id: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    paragraph: bool = False
    others: tuple[str, ...] = ()
    other_ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    annotated: tuple[Annotated | None, ...] = ()
    split: str | None = None
    teaches: bool = False
    needs_others: bool = False


@dataclass(frozen=True, slots=True)
class Lessons:
    """Who may teach whom: the part of each video, and for each part three lots of texts that share no video.

    The lots are for the miner, for the model beside it, and for blind attackers, who so know nothing of either.
    """

    part_of: Mapping[str, int]
    thirds: Sequence[Sequence[Sequence[str]]]

    def held_out(self) -> dict[int, Sequence[str]]:
        """Part -> the texts that no miner of that part has seen."""
        return {part: own[-1] for part, own in enumerate(self.thirds)}


def lessons_for(told: Sequence[Told]) -> Lessons:
    """Divide texts between models: those of videos that teach, or else one half learns from the other half's.

    Raises:
        VttdataError: when there is too little text.
    """
    training = {own.video_id: own.texts for own in told if own.teaches}
    if training:
        return Lessons({own.video_id: 0 for own in told}, [_divided(training)])
    halves: list[dict[str, Sequence[str]]] = [{}, {}]
    for own in told:
        halves[hash_of("half", own.video_id) % 2][own.video_id] = own.texts
    part_of = {video_id: part for part, half in enumerate(halves) for video_id in half}
    return Lessons(part_of, [_divided(half) for half in reversed(halves)])


def known_usage(told: Sequence[Told], part: int, lessons: Lessons) -> Iterator[Sequence[str]]:
    """The texts of each video that teach the usage of nouns: all but those that blind attackers learn from."""
    apart = any(own.teaches for own in told)
    for own in told:
        teaches = own.teaches if apart else lessons.part_of[own.video_id] != part
        if not teaches or hash_of("third", own.video_id) % _THIRDS < _THIRDS - 1:
            yield (*own.texts, *own.others)


def _divided(texts: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Texts in three parts that share no video: for the miner, for the model beside it, and for blind attackers."""
    thirds: list[list[str]] = [[] for _ in range(_THIRDS)]
    for video_id, own in texts.items():
        thirds[hash_of("third", video_id) % _THIRDS].extend(own)
    if not all(any(text.split() for text in third) for third in thirds):
        raise VttdataError("There are too few videos with captions to train language models on; give more captions.")
    return thirds


def hash_of(*texts: str) -> int:
    """A number that depends on the texts only."""
    return int.from_bytes(hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).digest()[:4], "big")
