"""Finds captions that stand verbatim more than once: in several splits, in one clip, in one split.

Two captions are the same when their characters are the same: capitals, punctuation, white space and Unicode form all
count. Texts are compared by a 64-bit hash, so memory is 12 bytes a caption, however long they are; among 20 million
captions two different texts meet by chance in one run of 90,000.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from vttdata.records import Caption
from vttdata.split.audit.clip_table import Entries, Flags, Integers

Batches = Callable[[], Iterator[tuple[Integers, Any]]]
"""Yields all captions piece by piece, each time it is called: the entry of each caption, and the texts (Arrow)."""
Hashes = npt.NDArray[np.uint64]

_PARTS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """What was found.

    Fields:
        captions: entries' number of captions, summed by split.
        texts: how many texts stand in more than one split; `sentences` is how many captions say them.
        entries: which entries have such a caption.
        in_clip, in_split: how many captions repeat an earlier one of their clip, of their split.
        worst: the most frequent texts of several splits: text, how often in each split, a clip of each.
    """

    captions: dict[str, int]
    texts: int
    sentences: int
    entries: Flags
    in_clip: int
    in_split: int
    worst: list[dict[str, Any]]


def repeats(entries: Entries, batches: Batches, number: int) -> Repeats:
    """Find repeated captions; `number` examples at most are told."""
    pieces = [(entry.astype(np.uint32), _hash(texts)) for entry, texts in batches()]
    entry = np.concatenate([piece[0] for piece in pieces]) if pieces else np.zeros(0, np.uint32)
    hashes = np.concatenate([piece[1] for piece in pieces]) if pieces else np.zeros(0, np.uint64)
    del pieces
    flags = np.zeros(len(entries), dtype=np.bool_)
    texts = sentences = in_clip = in_split = 0
    frequent: list[tuple[int, int]] = []
    for part in range(_PARTS):
        own = np.flatnonzero(hashes >> np.uint64(60) == part)
        found = _group(hashes[own], entries.split[entry[own]], entry[own])
        flags[found.entries] = True
        texts += len(found.shared)
        sentences += int(found.times.sum())
        in_clip += found.in_clip
        in_split += found.in_split
        frequent = sorted([*frequent, *zip((-found.times).tolist(), found.shared.tolist(), strict=True)])[:number]
    told = np.bincount(entries.split[entry], minlength=len(entries.splits))
    captions = {name: int(count) for name, count in zip(entries.splits, told, strict=True)}
    worst = _worst(entries, batches, hashes, entry, [value for _, value in frequent])
    return Repeats(captions, texts, sentences, flags, in_clip, in_split, worst)


def batches_of_captions(entries: Entries, captions: Iterable[Caption]) -> Batches:
    """The captions of entries; one that stands in two splits is told in both."""
    places: dict[str, list[int]] = {}
    for place, video_id in enumerate(entries.video_id.to_pylist()):
        places.setdefault(video_id, []).append(place)
    told = [(place, c.caption) for c in captions for place in places.get(c.video_id, ())]
    numbers = np.array([place for place, _ in told], dtype=np.int64)
    texts = pa.array([text for _, text in told], pa.large_string())

    def read() -> Iterator[tuple[Integers, Any]]:
        yield numbers, texts

    return read


def _hash(texts: Any) -> Hashes:
    import pandas as pd

    hashes: Hashes = pd.util.hash_array(texts.to_numpy(zero_copy_only=False), categorize=False)
    return hashes


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    shared: Hashes
    times: Integers
    entries: Integers
    in_clip: int
    in_split: int


def _group(hashes: Hashes, split: Integers, entry: npt.NDArray[np.uint32]) -> _Found:
    """Sort captions by text, split and clip, and look at where each of these changes."""
    order = np.lexsort((entry, split, hashes))
    hashes, split, entry = hashes[order], split[order], entry[order]
    new_text = np.ones(len(hashes), dtype=np.bool_)
    new_text[1:] = hashes[1:] != hashes[:-1]
    new_split, new_clip = new_text.copy(), new_text.copy()
    new_split[1:] |= split[1:] != split[:-1]
    new_clip[1:] |= entry[1:] != entry[:-1]
    text = np.cumsum(new_text) - 1
    shared = np.bincount(text, weights=new_split) > 1
    return _Found(
        hashes[new_text][shared],
        np.bincount(text)[shared],
        entry[shared[text]].astype(np.int64),
        len(hashes) - int(new_clip.sum()),
        len(hashes) - int(new_split.sum()),
    )


def _worst(
    entries: Entries, batches: Batches, hashes: Hashes, entry: npt.NDArray[np.uint32], wanted: list[int]
) -> list[dict[str, Any]]:
    texts: dict[int, str] = {}
    values = np.array(wanted, dtype=np.uint64)
    for _, captions in batches() if wanted else ():
        own = _hash(captions)
        for place in np.flatnonzero(np.isin(own, values)):
            texts.setdefault(int(own[place]), captions[int(place)].as_py())
        if len(texts) == len(wanted):
            break
    examples = []
    for value in wanted:
        places = [int(place) for place in entry[hashes == np.uint64(value)]]
        first = {clip["split"]: clip["video_id"] for clip in (entries.clip(place) for place in reversed(places))}
        times = Counter(entries.splits[entries.split[place]] for place in places)
        splits = [split for split in entries.splits if split in first]
        told = {
            "captions": {split: times[split] for split in splits},
            "clips": {split: first[split] for split in splits},
        }
        examples.append({"caption": texts[value], **told})
    return examples
