"""Judges a division into splits, whoever made it: which clips of one split have something of another in them.

It counts what it is given: it does not look for near-duplicates, and it reads no files. The counting is done in
`vttdata.split.audit.leaks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.records import Caption, Clip
from vttdata.split.audit.clip_table import Entries, Flags, Integers
from vttdata.split.audit.repeated_captions import Batches, repeats
from vttdata.split.audit.time_overlaps import has_span, overlapping, worst_overlaps
from vttdata.split.near_duplicates.records import NearDuplicate, Resemblance

FAILING = ("source", "overlap", "near_duplicate")
"""The leaks for which an audit fails; captions found in several splits are reported only."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The judgement, as plain values; numbers of clips are by split, and count clips that share with another split.

    Fields:
        splits: split -> ``clips``, ``sources``, ``captions``.
        leaks: ``source`` (``sources``, ``clips``), ``overlap`` (``pairs``, ``clips``), ``near_duplicate`` (the same; is
            missing where nothing is known of near-duplicates) and ``caption``: ``captions`` is the number of texts that
            stand verbatim in more than one split, ``sentences`` the number of captions that say them.
        within: ``overlap_pairs`` (in one split), ``duplicate_captions`` (captions that repeat an earlier one of their
            clip) and ``duplicate_captions_in_split`` (of their split).
        unknown: ``sources`` and ``spans``: clips without a source, or without a usable span; they could not be judged.
            Where near-duplicates are judged also ``fingerprints``: sources that have none.
        closest: the most similar pair of sources in different splits, where fingerprints exist.
        examples: leak -> the worst of its kind, the worst first.
    """

    splits: dict[str, dict[str, int]]
    leaks: dict[str, dict[str, Any]]
    within: dict[str, int]
    unknown: dict[str, int]
    closest: dict[str, Any] | None
    examples: dict[str, list[dict[str, Any]]]

    @property
    def ok(self) -> bool:
        """Whether nothing leaks; what could not be judged does not count."""
        return not any(any(self.leaks[kind]["clips"].values()) for kind in FAILING if kind in self.leaks)

    def as_json(self) -> dict[str, Any]:
        """Plain values, in the order in which people read them."""
        return {
            "splits": self.splits,
            "leaks": self.leaks,
            "within": self.within,
            "ok": self.ok,
            "unknown": self.unknown,
            "closest": self.closest,
            "examples": self.examples,
        }


def audit(clips: Iterable[Clip], captions: Iterable[Caption] = (), near: Resemblance | None = None) -> Audit:
    """Judge the splits of clips.

    Args:
        clips: with their splits; a clip given twice with two splits stands in both.
        captions: about these clips and others, which are left out.
        near: what is known of sources that look alike, such as `Matches.resemblance` in
        `vttdata.split.near_duplicates.matches`.
    """
    from vttdata.split.audit.clip_table import entries_of_clips
    from vttdata.split.audit.repeated_captions import batches_of_captions

    entries = entries_of_clips(clips)
    return audit_entries(entries, batches_of_captions(entries, captions), near)


_EXAMPLES = 10

_TOLD = ("similarity", "distance", "offset_seconds", "overlap_seconds", "mirrored")


def audit_entries(entries: Entries, captions: Batches, near: Resemblance | None = None) -> Audit:
    """Judge entries and their captions; costs n log n in time and about 100 bytes an entry, 12 a caption."""
    leaks: dict[str, dict[str, Any]] = {}
    examples: dict[str, list[dict[str, Any]]] = {}
    there = entries.presence()
    leaks["source"], examples["source"] = _source(entries, there)
    leaks["overlap"], examples["overlap"], within = _overlap(entries)
    closest = None
    if near is not None:
        leaks["near_duplicate"], examples["near_duplicate"] = _near_duplicate(entries, there, near.pairs)
        closest = _pair(near.closest, entries, there) if near.closest is not None else None
        closest = closest or next(iter(examples["near_duplicate"]), None)
    said = repeats(entries, captions, _EXAMPLES)
    clips = entries.per_split(said.entries)
    leaks["caption"] = {"captions": said.texts, "sentences": said.sentences, "clips": clips}
    examples["caption"] = said.worst
    every = entries.per_split(np.ones(len(entries), dtype=np.bool_))
    splits = {
        split: {"clips": every[split], "sources": int(there[:, place].sum()), "captions": said.captions[split]}
        for place, split in enumerate(entries.splits)
    }
    within |= {"duplicate_captions": said.in_clip, "duplicate_captions_in_split": said.in_split}
    unknown = _unknown(entries) | ({} if near is None else {"fingerprints": near.unseen})
    return Audit(splits, leaks, within, unknown, closest, examples)


def _source(entries: Entries, there: Flags) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Sources that feed several splits; the worst have the most clips outside their main split."""
    shared = there.sum(axis=1) > 1
    leaking = shared[entries.source]
    found = {"sources": int(shared.sum()), "clips": entries.per_split(leaking)}
    places = np.flatnonzero(leaking)
    table = np.zeros((len(there), len(entries.splits)), dtype=np.int64)
    np.add.at(table, (entries.source[places], entries.split[places]), 1)
    astray = table.sum(axis=1) - table.max(axis=1, initial=0)
    examples = []
    for source in np.argsort(-astray, kind="stable")[:_EXAMPLES]:
        if astray[source]:
            own = places[entries.source[places] == source]
            clips = {split: int(n) for split, n in zip(entries.splits, table[source], strict=True) if n}
            ids = {
                split: [c["video_id"] for c in map(entries.clip, own[entries.split[own] == place][:3])]
                for place, split in enumerate(entries.splits)
                if split in clips
            }
            examples.append({"source_id": entries.source_ids[int(source)].as_py(), "clips": clips, "video_ids": ids})
    return found, examples


def _overlap(entries: Entries) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, int]]:
    anywhere = overlapping(entries.source, entries.start, entries.end)
    in_split = overlapping(entries.source * len(entries.splits) + entries.split, entries.start, entries.end)
    across = anywhere - in_split
    found = {"pairs": int(across.sum()) // 2, "clips": entries.per_split(across > 0)}
    examples = [
        {
            "seconds": round(seconds, 3),
            "source_id": entries.source_ids[int(entries.source[one])].as_py(),
            "clips": [entries.clip(one), entries.clip(other)],
        }
        for seconds, one, other in worst_overlaps(entries, across > 0, _EXAMPLES)
    ]
    return found, examples, {"overlap_pairs": int(in_split.sum()) // 2}


def _near_duplicate(
    entries: Entries, there: Flags, pairs: Sequence[NearDuplicate]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Near-duplicate sources that feed different splits; the worst are the most alike."""
    numbers = _numbers(entries, [name for pair in pairs for name in (pair.source_a, pair.source_b)]).reshape(-1, 2)
    known = (numbers >= 0).all(axis=1) & (numbers[:, 0] != numbers[:, 1])
    one, other = numbers[known].T
    beside = np.zeros_like(there)
    np.logical_or.at(beside, one, there[other])
    np.logical_or.at(beside, other, there[one])
    leaking = beside[entries.source].sum(axis=1) > beside[entries.source, entries.split]
    across = np.flatnonzero(known)[(there[one] | there[other]).sum(axis=1) > 1]
    distinct = {tuple(sorted(numbers[place])): place for place in across[::-1].tolist()}
    worst = sorted((pairs[place] for place in distinct.values()), key=lambda p: (-p.similarity, p.source_a, p.source_b))
    examples = [example for pair in worst[:_EXAMPLES] if (example := _pair(pair, entries, there))]
    return {"pairs": len(distinct), "clips": entries.per_split(leaking)}, examples


def _pair(pair: NearDuplicate, entries: Entries, there: Flags) -> dict[str, Any] | None:
    """A pair of sources for people; None when one has no clips here."""
    numbers = _numbers(entries, [pair.source_a, pair.source_b])
    if (numbers < 0).any():
        return None
    splits = [[split for split, fed in zip(entries.splits, there[number], strict=True) if fed] for number in numbers]
    told = {name: getattr(pair, name) for name in _TOLD}
    return {"sources": [pair.source_a, pair.source_b], "splits": splits, **told}


def _numbers(entries: Entries, source_ids: Sequence[str]) -> Integers:
    """The numbers of sources; -1 for those that have no clips."""
    found = pc.index_in(pa.array(source_ids, entries.source_ids.type), value_set=entries.source_ids)
    numbers: Integers = found.fill_null(-1).to_numpy().astype(np.int64)
    return numbers


def _unknown(entries: Entries) -> dict[str, int]:
    return {"sources": entries.homeless, "spans": int((~has_span(entries.start, entries.end)).sum())}
