"""Clips of different splits that are described by the same captions, so that they show the same.

One short caption is written about many videos, and a set of captions about one. What counts is therefore the share of a
clip's captions that another clip has too, word for word, and how long they are; captions that many clips have, such as
those of a template, do not count. Case, punctuation and white space make no difference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.json_types import JsonObject
from vttdata.split.audit.clip_table import ClipTable, Flags, Integers
from vttdata.split.audit.repeated_captions import CaptionBatches, hash_texts, occur_again

# Share of the distinct captions of the clip that has fewer.
_MIN_SHARE = 0.5
# Bytes of the captions that both have, folded. Official splits, which share no video, have at most 71
# (ActivityNet Captions; YouCook2 48, MSR-VTT and Flickr8k share no half of the captions of a clip).
_MIN_BYTES = 90
# Clips that have a caption; one that more have is common.
_MAX_CLIPS = 8
_ROW_BITS = 32


class CaptionSets(NamedTuple):
    """Clips of different splits with the same captions: the leak and its examples, as in `Audit`, and n flags."""

    leak: JsonObject
    examples: list[JsonObject]
    has_partner: Flags


def find_caption_sets(clips: ClipTable, batches: CaptionBatches, max_examples: int) -> CaptionSets:
    """Find pairs of clips of different splits that share most of their captions, those with the most text first.

    Takes 16 bytes for each caption.
    """
    captions_of, rows, hashes, sizes_of = _read_repeated(clips, batches)
    starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])) if len(hashes) else np.zeros(0, np.int64)
    sizes = np.diff(np.append(starts, len(hashes)))
    packed, shared_bytes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in range(2, _MAX_CLIPS + 1):
        members = rows[starts[sizes == size][:, None] + np.arange(size)].astype(np.int64)
        count = sizes_of[starts[sizes == size]].astype(np.int64)
        for first in range(size):
            for second in range(first + 1, size):
                a, b = members[:, first], members[:, second]
                across = clips.split[a] != clips.split[b]
                packed.append((a << _ROW_BITS | b)[across])
                shared_bytes.append(count[across])
    pairs, pair_of = np.unique(np.concatenate(packed), return_inverse=True)
    shared = np.bincount(pair_of, minlength=len(pairs))
    total_bytes = np.bincount(pair_of, weights=np.concatenate(shared_bytes), minlength=len(pairs))
    a, b = pairs >> _ROW_BITS, pairs & (2**_ROW_BITS - 1)
    fewer = np.minimum(captions_of[a], captions_of[b])
    leaking = (shared >= _MIN_SHARE * fewer) & (total_bytes >= _MIN_BYTES)
    a, b, shared, fewer, total_bytes = (column[leaking] for column in (a, b, shared, fewer, total_bytes))
    has_partner = np.zeros(len(clips), np.bool_)
    has_partner[a] = has_partner[b] = True
    examples: list[JsonObject] = [
        {
            "captions": int(shared[index]),
            "of": int(fewer[index]),
            "bytes": int(total_bytes[index]),
            "clips": [clips.describe(int(a[index])), clips.describe(int(b[index]))],
        }
        for index in np.argsort(-total_bytes, kind="stable")[:max_examples]
    ]
    return CaptionSets({"pairs": len(a), "clips": clips.count_by_split(has_partner)}, examples, has_partner)


def fold_captions(texts: pa.Array) -> pa.Array:
    """Return texts (Arrow) as they are compared: words in lower case, with single spaces and without punctuation."""
    folded = pc.utf8_trim(pc.utf8_lower(texts), " .")
    is_plain = pc.invert(pc.match_substring_regex(folded, r"[^\pL\pN\pM ]|  "))
    # Most captions are plain, and replacing takes several times as long as all else.
    spaced = pc.replace_substring_regex(folded.filter(pc.invert(is_plain)), r"[^\pL\pN\pM ]", " ")
    words = pc.utf8_trim(pc.replace_substring_regex(spaced, "  +", " "), " ")
    return pc.replace_with_mask(folded, pc.invert(is_plain), words)


def _read_repeated(clips: ClipTable, batches: CaptionBatches) -> tuple[Integers, Integers, Integers, Integers]:
    """Return the number of distinct captions of each clip, and of those that several clips have row, hash and bytes.

    They are in the order of hashes; captions without words are left out.
    """
    parts = [(np.zeros(0, np.uint32), np.zeros(0, np.uint64), np.zeros(0, np.uint32))]
    for rows, texts in batches():
        folded = fold_captions(texts)
        size = pc.binary_length(folded).to_numpy(zero_copy_only=False)
        parts.append((rows[size > 0].astype(np.uint32), hash_texts(folded)[size > 0], size[size > 0].astype(np.uint32)))
    rows, hashes, sizes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    del parts
    captions_of = np.bincount(rows, minlength=len(clips))
    again = np.flatnonzero(occur_again(hashes))
    again = again[np.lexsort((rows[again], hashes[again]))]
    rows, hashes, sizes = rows[again], hashes[again], sizes[again]
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (rows[1:] != rows[:-1]) | (hashes[1:] != hashes[:-1])
    captions_of -= np.bincount(rows[~is_new], minlength=len(clips))
    return captions_of, rows[is_new], hashes[is_new], sizes[is_new]
