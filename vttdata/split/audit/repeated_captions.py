"""Captions that occur verbatim more than once: in several splits, in one clip, in one split.

Two captions are the same when their characters are the same: capitals, punctuation, white space and Unicode form all
count. Texts are compared by a 64-bit hash, so memory is 12 bytes for each caption, however long they are; among 20
million captions two different texts share a hash in one run of 90,000.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from xxhash import xxh3_64_intdigest

from vttdata.json_types import JsonObject
from vttdata.records import Caption
from vttdata.split.audit.clip_table import ClipTable, Flags, Integers

# Yields all captions in batches, each time it is called: rows of a `ClipTable`, and as many texts (Arrow).
CaptionBatches = Callable[[], Iterator[tuple[Integers, "pa.Array"]]]
Hashes = npt.NDArray[np.uint64]

# Captions are sorted in so many portions, by the upper 4 bits of their hashes, to keep the peak of memory low.
_PORTION_BITS = 4


class RepeatedCaptions(NamedTuple):
    """Captions whose text occurs again.

    Fields:
        leak: texts in more than one split, as in `Audit.leaks`.
        examples: text, how often in each split, a clip of each.
        within: repeats in a clip, in a split and in a source, as in `Audit.within`.
        counts: number of captions of each split, repeated or not.
    """

    leak: JsonObject
    examples: list[JsonObject]
    within: dict[str, int]
    counts: dict[str, int]


def find_repeated_captions(clips: ClipTable, batches: CaptionBatches, max_examples: int) -> RepeatedCaptions:
    """Count repeated captions; the worst are the most frequent ones of several splits."""
    hashed = [(rows.astype(np.uint32), hash_texts(texts)) for rows, texts in batches()]
    rows = np.concatenate([np.zeros(0, np.uint32), *(rows for rows, _ in hashed)])
    hashes = np.concatenate([np.zeros(0, np.uint64), *(hashes for _, hashes in hashed)])
    del hashed
    has_shared_text = np.zeros(len(clips), dtype=np.bool_)
    texts = sentences = in_clip = in_split = in_source = 0
    # (minus the number of captions, hash), so that sorting puts the most frequent first.
    frequent: list[tuple[int, int]] = []
    for portion in range(2**_PORTION_BITS):
        selected = np.flatnonzero(hashes >> np.uint64(64 - _PORTION_BITS) == portion)
        selected = selected[occur_again(hashes[selected])]
        # Captions are sorted by text, split and clip, and it is counted where each of these changes.
        selected = selected[np.lexsort((rows[selected], clips.split[rows[selected]], hashes[selected]))]
        text_hashes, clip_rows = hashes[selected], rows[selected]
        new_text = np.ones(len(selected), dtype=np.bool_)
        new_text[1:] = text_hashes[1:] != text_hashes[:-1]
        new_split, new_clip = new_text.copy(), new_text.copy()
        new_split[1:] |= clips.split[clip_rows[1:]] != clips.split[clip_rows[:-1]]
        new_clip[1:] |= clip_rows[1:] != clip_rows[:-1]
        text = np.cumsum(new_text) - 1
        in_several = np.bincount(text, weights=new_split) > 1
        frequency = np.bincount(text)[in_several]
        has_shared_text[clip_rows[in_several[text]]] = True
        texts += len(frequency)
        sentences += int(frequency.sum())
        in_clip += len(selected) - int(new_clip.sum())
        in_split += len(selected) - int(new_split.sum())
        in_source += count_ambiguous(clips, text_hashes, clip_rows)
        shared = zip((-frequency).tolist(), text_hashes[new_text][in_several].tolist(), strict=True)
        frequent = sorted([*frequent, *shared])[:max_examples]
    per_split = np.bincount(clips.split[rows], minlength=len(clips.split_names))
    captions = {name: int(count) for name, count in zip(clips.split_names, per_split, strict=True)}
    examples = _examples(clips, batches, hashes, rows, [value for _, value in frequent])
    leak = {"captions": texts, "sentences": sentences, "clips": clips.count_by_split(has_shared_text)}
    within = {
        "duplicate_captions": in_clip,
        "duplicate_captions_in_split": in_split,
        "ambiguous_captions": in_source,
    }
    return RepeatedCaptions(leak, examples, within, captions)


def batch_captions(clips: ClipTable, captions: Iterable[Caption]) -> CaptionBatches:
    """Return the captions of clips as one batch; those of a clip in two splits occur twice."""
    rows_of_clip: dict[str, list[int]] = {}
    for row, video_id in enumerate(clips.video_id.to_pylist()):
        rows_of_clip.setdefault(video_id, []).append(row)
    pairs = [(row, caption.caption) for caption in captions for row in rows_of_clip.get(caption.video_id, ())]
    rows = np.array([row for row, _ in pairs], dtype=np.int64)
    texts = pa.array([text for _, text in pairs], pa.large_string())
    return lambda: iter([(rows, texts)])


def occur_again(hashes: Hashes) -> Flags:
    """Return which of n hashes occur more than once."""
    order = np.argsort(hashes)
    is_equal = hashes[order[1:]] == hashes[order[:-1]]
    flags = np.zeros(len(hashes), dtype=np.bool_)
    flags[order[1:]] = is_equal
    flags[order[:-1]] |= is_equal
    return flags


def hash_texts(texts: pa.Array) -> Hashes:
    """Return a 64-bit hash of each text, or of bytes (Arrow); none may be null."""
    is_large = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
    contents = texts.cast(pa.large_binary() if is_large else pa.binary()).to_pylist()
    return np.fromiter(map(xxh3_64_intdigest, contents), np.uint64, len(contents))


def count_ambiguous(clips: ClipTable, hashes: Hashes, rows: npt.NDArray[np.uint32]) -> int:
    """Count captions whose text is that of a caption of the same source with another span."""
    # An unknown time differs from no other unknown one.
    source, start, end = clips.source[rows], np.nan_to_num(clips.start[rows]), np.nan_to_num(clips.end[rows])
    order = np.lexsort((end, start, source, hashes))
    hashes, source, start, end = hashes[order], source[order], start[order], end[order]
    is_new = np.ones(len(hashes), dtype=np.bool_)
    is_new[1:] = (hashes[1:] != hashes[:-1]) | (source[1:] != source[:-1])
    group = np.cumsum(is_new) - 1
    differs = np.zeros(len(hashes), dtype=np.bool_)
    differs[1:] = ~is_new[1:] & ((start[1:] != start[:-1]) | (end[1:] != end[:-1]))
    ambiguous = np.bincount(group, weights=differs) > 0 if len(group) else np.zeros(0, dtype=np.bool_)
    return int(ambiguous[group].sum())


def _examples(
    clips: ClipTable, batches: CaptionBatches, hashes: Hashes, rows: npt.NDArray[np.uint32], example_hashes: list[int]
) -> list[JsonObject]:
    """Read the captions again until the text of each hash is known, and describe them."""
    texts: dict[int, str] = {}
    for _, captions in batches() if example_hashes else ():
        batch_hashes = hash_texts(captions)
        for index in np.flatnonzero(np.isin(batch_hashes, np.array(example_hashes, dtype=np.uint64))):
            texts.setdefault(int(batch_hashes[index]), captions[int(index)].as_py())
        if len(texts) == len(example_hashes):
            break
    examples = []
    for value in example_hashes:
        described = [clips.describe(int(row)) for row in rows[hashes == np.uint64(value)]]
        first_clip = {clip["split"]: clip["video_id"] for clip in reversed(described)}
        frequency = Counter(clip["split"] for clip in described)
        splits = [split for split in clips.split_names if split in first_clip]
        examples.append(
            {
                "caption": texts[value],
                "captions": {split: frequency[split] for split in splits},
                "clips": {split: first_clip[split] for split in splits},
            }
        )
    return examples
