"""Audit of a division into splits, whoever made it: which clips of one split share material with another.

It counts what it gets: it does not look for near-duplicates, and it reads no files. Its text is a table for the
terminal, rows for the card, and a sentence for a build that is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vttdata.files.results import Result, ResultTable, Section
from vttdata.json_types import JsonObject
from vttdata.records import Caption, Clip
from vttdata.split.audit.caption_sets import find_caption_sets
from vttdata.split.audit.clip_table import ClipTable, Flags, count_overlaps, has_span, longest_overlaps
from vttdata.split.audit.repeated_captions import CaptionBatches, batch_captions, find_repeated_captions
from vttdata.split.groups import DisjointSets
from vttdata.split.near_duplicates.candidates import measured_recall
from vttdata.split.near_duplicates.matches import NearDuplicate, SimilarSources

# Leaks for which an audit fails; captions found in several splits are only reported.
FAILING = ("source", "overlap", "near_duplicate", "caption_set")

# Leak -> its name, the key of its count in `Audit.leaks`, and the unit of that count, to be formatted with a plural s.
LEAKS = {
    "source": ("source in several splits", "sources", "source{}"),
    "overlap": ("overlap in time", "pairs", "pair{} of clips"),
    "near_duplicate": ("near-duplicate source", "pairs", "pair{} of sources"),
    "caption_set": ("same captions", "pairs", "pair{} of clips"),
    "caption": ("caption in several splits", "captions", "text{}"),
}

_MAX_EXAMPLES = 10
_MAX_CAPTION_LENGTH = 100
_PAIR_FIELDS = ("similarity", "distance", "offset_seconds", "overlap_seconds", "mirrored", "rotation")


@dataclass(frozen=True, slots=True)
class Audit(Result):
    """Result of an audit as plain values. ``clips`` counts by split the clips that share with another split.

    Fields:
        splits: split -> ``clips``, ``sources``, ``captions``.
        leaks: ``source`` (``sources``, ``clips``), ``overlap`` (``pairs``, ``clips``; missing where no clip has a
            usable span), ``near_duplicate`` (the same; missing where nothing is known of near-duplicates),
            ``caption_set`` (the same: clips that share most of their captions; missing without captions) and
            ``caption``: ``captions`` is the number of texts that occur verbatim in more than one split, ``sentences``
            the number of captions with these texts.
        within: ``overlap_pairs`` (in one split), ``duplicate_captions`` (captions that repeat an earlier one of their
            clip), ``duplicate_captions_in_split`` (of their split) and ``ambiguous_captions`` (captions whose text
            describes another segment of their source too, so that they name no segment in temporal grounding).
        unknown: ``sources`` and ``spans``: clips of which nothing says what original video they are of, or without a
            usable span, which could not be judged. ``clips``: split -> the former. ``malformed``: column -> clips with
            a value that cannot be used. ``pages``: clips whose address is that of most sources. Where near-duplicates
            are judged also ``fingerprints``: sources that have none. Of foreign datasets ``row_numbers``: columns of
            ids that count rows.
        closest: most similar pair of sources in different splits, where fingerprints exist.
        examples: leak -> the worst examples, the worst first.
        compared: what clips of different splits were compared by -> number of clips that have it: columns of evidence
            and ``times``; of ``captions``, and of sources with ``fingerprints``.
        shared_keys: column of evidence -> number of its values that clips of several splits have.
        conflicts: pairs of columns (``column``, ``other``) of which one value has several of the other, their number
            (``values``), and ``examples``.
        families: split -> number of its independent families: sources that are connected by near-duplicates are one.
            None where nothing is known of near-duplicates.
    """

    splits: dict[str, dict[str, int]]
    leaks: dict[str, JsonObject]
    within: dict[str, int]
    unknown: JsonObject
    closest: JsonObject | None
    examples: dict[str, list[JsonObject]]
    compared: dict[str, int]
    shared_keys: dict[str, int]
    conflicts: list[JsonObject]
    families: dict[str, int] | None = None

    @property
    def ok(self) -> bool:
        """True if nothing leaks; what could not be judged does not count."""
        return not any(any(self.leaks[leak]["clips"].values()) for leak in FAILING if leak in self.leaks)

    @property
    def filled(self) -> list[str]:
        """Splits with clips; of fewer than two nothing is compared."""
        return [split for split, counts in self.splits.items() if counts["clips"]]

    @property
    def verdict(self) -> str:
        """Return the outcome in a sentence, which says too what was not judged."""
        if not self.ok:
            return f"LEAKS: {leak_sentence(self)}."
        filled = self.filled
        if len(filled) < 2:
            return f"Nothing was compared: {f'all clips are in {filled[0]}' if filled else 'there are no clips'}."
        parts = []
        if "near_duplicate" not in self.leaks:
            parts.append("near-duplicates")
        elif self.unknown["fingerprints"]:
            parts.append(f"near-duplicates of {quantity(self.unknown['fingerprints'], 'source{}')}")
        if self.unknown["sources"]:
            parts.append(f"{quantity(self.unknown['sources'], 'clip{}')} of unknown source")
        if "overlap" not in self.leaks:
            parts.append("overlaps in time")
        elif self.unknown["spans"]:
            parts.append(f"{quantity(self.unknown['spans'], 'clip{}')} without a usable span")
        unjudged = f"; {join_words(parts)} were not judged" if parts else ""
        return f"No leaks found by {join_words([*self.compared] or ['nothing'])}{unjudged}."

    @property
    def warnings(self) -> list[str]:
        """Return a sentence for each split that has no clips or none of a known source, or is one family."""
        sentences = []
        for split, counts in self.splits.items():
            if not counts["clips"]:
                sentences.append(f"The split {split} has no clips, so nothing in it was compared.")
            elif counts["clips"] == self.unknown["clips"][split]:
                sentences.append(f"Nothing says what original videos the clips of the split {split} are of.")
        return sentences + [
            f"The split {split} is one family of near-duplicates, which connect all of its "
            f"{self.splits[split]['sources']:,} sources; results on it are results on a single video."
            for split, families in (self.families or {}).items()
            if families == 1 < self.splits[split]["sources"]
        ]

    def as_json(self) -> JsonObject:
        """Return plain values, in the order in which people read them."""
        names = (
            "verdict",
            "warnings",
            "splits",
            "families",
            "leaks",
            "within",
            "ok",
            "unknown",
            "compared",
            "conflicts",
        )
        return {name: getattr(self, name) for name in (*names, "shared_keys", "closest", "examples")}

    def sections(self) -> Iterator[Section]:
        """Yield what splits contain and share, the worst examples, and the verdict."""
        yield from self.overview()
        for leak, (name, _, _) in LEAKS.items():
            if examples := self.examples.get(leak):
                yield Section(f"{name}, worst first:", items=[example_text(leak, example) for example in examples])
        yield Section("", [*(f"WARNING: {warning}" for warning in self.warnings), self.verdict])

    def overview(self) -> list[Section]:
        """Return what splits contain, and how much of it they share."""
        contents = ResultTable.of_rows(count_rows(self), "Contents of each split")
        shared = ResultTable.of_rows(leak_rows(self), "Clips that share with another split")
        return [
            Section("Contents", table=contents),
            Section("What splits share", notes(self), table=shared, key="leaks"),
        ]


def audit(clips: Iterable[Clip], captions: Iterable[Caption] = (), near: SimilarSources | None = None) -> Audit:
    """Audit the splits of clips; a clip that occurs twice with two splits is in both.

    Captions of other clips are left out. `near` are sources that look alike, such as from `Matches.similar_sources` of
    `vttdata.split.near_duplicates.matches`; None if nothing is known of them.
    """
    table = ClipTable.from_clips(clips)
    return audit_table(table, batch_captions(table, captions), near)


def audit_table(clips: ClipTable, captions: CaptionBatches, near: SimilarSources | None = None) -> Audit:
    """Audit the splits of a table of clips, as `audit` does.

    Takes n log n time, and about 100 bytes for each clip and 12 for each caption.
    """
    leaks: dict[str, JsonObject] = {}
    examples: dict[str, list[JsonObject]] = {}
    splits_of_sources, has_shared_key = clips.splits_of_sources(), clips.find_shared_keys()
    leaks["source"], examples["source"] = find_shared_sources(clips, splits_of_sources, has_shared_key)
    has_spans = has_span(clips.start, clips.end)
    overlaps_within = 0
    if has_spans.any() or not len(clips):
        leaks["overlap"], examples["overlap"], overlaps_within = find_overlaps(clips)
    closest = families = None
    if near is not None:
        families = count_families(clips, splits_of_sources, near.pairs)
        leaks["near_duplicate"], examples["near_duplicate"] = find_near_duplicate_leaks(
            clips, splits_of_sources, near.pairs
        )
        closest = describe_pair(near.closest, clips, splits_of_sources) if near.closest is not None else None
        closest = closest or next(iter(examples["near_duplicate"]), None)
    repeated = find_repeated_captions(clips, captions, _MAX_EXAMPLES)
    if any(repeated.counts.values()):
        leaks["caption_set"], examples["caption_set"], _ = find_caption_sets(clips, captions, _MAX_EXAMPLES)
    leaks["caption"], examples["caption"] = repeated.leak, repeated.examples
    clip_counts = clips.count_by_split(np.ones(len(clips), dtype=np.bool_))
    source_counts = splits_of_sources.sum(axis=0).tolist()
    splits = {
        split: {"clips": clip_counts[split], "sources": sources, "captions": repeated.counts[split]}
        for split, sources in zip(clips.split_names, source_counts, strict=True)
    }
    within = {"overlap_pairs": overlaps_within, **repeated.within}
    unknown: JsonObject = {"sources": int((~clips.has_source).sum()), "spans": int((~has_spans).sum())}
    unknown |= {"clips": clips.count_by_split(~clips.has_source)}
    unknown |= {"malformed": {each.column: each.malformed for each in clips.evidence if each.malformed}}
    unknown |= {"pages": clips.clips_of_pages}
    shared_keys = {each.column: len(np.unique(each.keys[has_shared_key[each.column]])) for each in clips.evidence}
    stated = {each.column: each.keys >= 0 for each in clips.evidence} | {"times": has_spans}
    compared = {
        column: int(rows.sum())
        for column, rows in stated.items()
        if np.count_nonzero(np.bincount(clips.split[rows])) > 1
    }
    if np.count_nonzero([*repeated.counts.values()]) > 1:
        compared["captions"] = sum(repeated.counts.values())
    if near is not None:
        unknown["fingerprints"] = near.without_fingerprint
        compared["fingerprints"] = len(clips.names) - near.without_fingerprint
    return Audit(splits, leaks, within, unknown, closest, examples, compared, shared_keys, clips.conflicts, families)


def count_families(clips: ClipTable, splits_of_sources: Flags, pairs: Sequence[NearDuplicate]) -> dict[str, int]:
    """Return split -> number of its families: sources connected by near-duplicates, or a source that has none."""
    nodes = DisjointSets()
    for pair in pairs:
        nodes.join(nodes.node("source", pair.source_a), nodes.node("source", pair.source_b))
    families = np.arange(len(splits_of_sources))
    paired = sorted({name for pair in pairs for name in (pair.source_a, pair.source_b)})
    first_of_family: dict[int, int] = {}
    for name, index in zip(paired, clips.find_sources(paired).tolist(), strict=True):
        if index >= 0:
            families[index] = first_of_family.setdefault(nodes.root(nodes.node("source", name)), index)
    return {
        split: len(np.unique(families[in_split]))
        for split, in_split in zip(clips.split_names, splits_of_sources.T, strict=True)
    }


def find_shared_sources(
    clips: ClipTable, splits_of_sources: Flags, has_shared_key: Mapping[str, Flags]
) -> tuple[JsonObject, list[JsonObject]]:
    """Find sources with clips in several splits; the worst have the most clips outside their main split."""
    shared = splits_of_sources.sum(axis=1) > 1
    leaking = shared[clips.source]
    rows = np.flatnonzero(leaking)
    counts = np.zeros(splits_of_sources.shape, dtype=np.int64)
    np.add.at(counts, (clips.source[rows], clips.split[rows]), 1)
    outside_main_split = counts.sum(axis=1) - counts.max(axis=1, initial=0)
    examples = []
    for source in np.argsort(-outside_main_split, kind="stable")[:_MAX_EXAMPLES]:
        if not outside_main_split[source]:
            break
        rows_of_source = rows[clips.source[rows] == source]
        in_split = {
            name: rows_of_source[clips.split[rows_of_source] == split]
            for split, name in enumerate(clips.split_names)
            if counts[source, split]
        }
        examples.append(
            {
                "source_id": clips.source_ids[int(source)].as_py(),
                "clips": {name: len(selected) for name, selected in in_split.items()},
                "video_ids": {
                    name: [clips.describe(row)["video_id"] for row in selected[:3]]
                    for name, selected in in_split.items()
                },
                "by": [column for column, flags in has_shared_key.items() if flags[rows_of_source].any()],
            }
        )
    return {"sources": int(shared.sum()), "clips": clips.count_by_split(leaking)}, examples


def find_overlaps(clips: ClipTable) -> tuple[JsonObject, list[JsonObject], int]:
    """Find clips of one source that overlap in time; the last value counts the pairs inside one split."""
    in_source = count_overlaps(clips.source, clips.start, clips.end)
    source_and_split = clips.source * len(clips.split_names) + clips.split
    in_split = count_overlaps(source_and_split, clips.start, clips.end)
    across = in_source - in_split
    leak = {"pairs": int(across.sum()) // 2, "clips": clips.count_by_split(across > 0)}
    examples = [
        {
            "seconds": round(seconds, 3),
            "source_id": clips.source_ids[int(clips.source[row_a])].as_py(),
            "clips": [clips.describe(row_a), clips.describe(row_b)],
        }
        for seconds, row_a, row_b in longest_overlaps(clips, across > 0, _MAX_EXAMPLES)
    ]
    return leak, examples, int(in_split.sum()) // 2


def find_near_duplicate_leaks(
    clips: ClipTable, splits_of_sources: Flags, pairs: Sequence[NearDuplicate]
) -> tuple[JsonObject, list[JsonObject]]:
    """Find near-duplicate sources in different splits; the worst are the most similar."""
    sources = clips.find_sources([name for pair in pairs for name in (pair.source_a, pair.source_b)]).reshape(-1, 2)
    known = (sources >= 0).all(axis=1) & (sources[:, 0] != sources[:, 1])
    source_a, source_b = sources[known].T
    splits_of_partners = np.zeros_like(splits_of_sources)
    np.logical_or.at(splits_of_partners, source_a, splits_of_sources[source_b])
    np.logical_or.at(splits_of_partners, source_b, splits_of_sources[source_a])
    # A clip leaks if a partner of its source has clips in any split but the clip's own.
    leaking = splits_of_partners[clips.source].sum(axis=1) > splits_of_partners[clips.source, clips.split]
    in_several = (splits_of_sources[source_a] | splits_of_sources[source_b]).sum(axis=1) > 1
    # Of pairs that occur more than once, the first is kept.
    distinct = {tuple(sorted(sources[index])): pairs[index] for index in np.flatnonzero(known)[in_several][::-1]}
    worst = sorted(distinct.values(), key=lambda pair: (-pair.similarity, pair.source_a, pair.source_b))
    described = (describe_pair(pair, clips, splits_of_sources) for pair in worst[:_MAX_EXAMPLES])
    examples = [example for example in described if example]
    return {"pairs": len(distinct), "clips": clips.count_by_split(leaking)}, examples


def describe_pair(pair: NearDuplicate, clips: ClipTable, splits_of_sources: Flags) -> JsonObject | None:
    """Return a pair of sources as an example; None when one of them has no clips."""
    sources = clips.find_sources([pair.source_a, pair.source_b])
    if (sources < 0).any():
        return None
    splits = [
        [split for split, has_clips in zip(clips.split_names, splits_of_sources[source], strict=True) if has_clips]
        for source in sources
    ]
    fields = {name: getattr(pair, name) for name in _PAIR_FIELDS}
    return {"sources": [pair.source_a, pair.source_b], "splits": splits, **fields}


def leak_sentence(audit: Audit) -> str:
    """Return the leaks that make an audit fail in words, such as ``source in several splits (3 sources)``."""
    counted = [(*LEAKS[leak], audit.leaks.get(leak, {})) for leak in FAILING]
    return ", ".join(f"{name} ({quantity(leak[key], unit)})" for name, key, unit, leak in counted if leak.get(key))


def quantity(number: int, unit: str) -> str:
    """Return a number with its unit, such as ``1 source`` or ``2 pairs of clips``."""
    return f"{number:,} {unit.format('' if number == 1 else 's')}"


def join_words(parts: Sequence[str]) -> str:
    """Return a list in words, such as ``a, b and c``."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def count_rows(audit: Audit) -> list[tuple[str, ...]]:
    """Return a header and the numbers of clips, sources, families of near-duplicates and captions of each split."""
    rows = [(key, *(f"{row[key]:,}" for row in audit.splits.values())) for key in ("clips", "sources", "captions")]
    families = [f"{audit.families[split]:,}" if audit.families else "not judged" for split in audit.splits]
    return [("", *audit.splits), *rows[:2], ("independent families", *families), rows[2]]


def leak_rows(audit: Audit) -> list[tuple[str, ...]]:
    """Return a header and a row for each kind of leak: its name, its count, and the number of clips of each split."""
    rows: list[tuple[str, ...]] = [("leak", "found", *(f"{split} clips" for split in audit.splits))]
    for leak, (name, key, unit) in LEAKS.items():
        if leak not in audit.leaks:
            rows.append((name, "not judged", *("-" for _ in audit.splits)))
        else:
            count, clips = audit.leaks[leak][key], audit.leaks[leak]["clips"]
            rows.append((name, quantity(count, unit), *(f"{number:,}" for number in clips.values())))
    return rows


def notes(audit: Audit) -> list[str]:
    """Return sentences on repeats inside splits, on what could not be judged, and on the closest pair."""
    within, unknown = audit.within, audit.unknown
    sentences = audit.leaks["caption"]["sentences"]
    lines = [
        f"{sentences:,} captions have a text that occurs in several splits; this is reported but is not a failure.",
        f"Inside one split {within['overlap_pairs']:,} pairs of clips overlap in time; "
        f"{within['duplicate_captions']:,} captions repeat another of their clip.",
    ]
    if within["ambiguous_captions"]:
        lines.append(
            f"{within['ambiguous_captions']:,} captions describe another segment of their source too, word for word; "
            "as queries of temporal grounding they have several answers."
        )
    lines += _evidence_notes(audit)
    if unknown["sources"] or unknown["spans"]:
        lines.append(
            f"Not judged: {unknown['sources']:,} clips of unknown source, {unknown['spans']:,} without a usable span."
        )
    if unknown.get("fingerprints"):
        lines.append(
            f"Not judged for near-duplicates: {unknown['fingerprints']:,} sources without a fingerprint; each of them "
            "counts as a family."
        )
    if "overlap" not in audit.leaks:
        lines.append("Overlaps in time were not judged: no clip has a usable start and end.")
    if compared := audit.compared.get("fingerprints"):
        size, recall = measured_recall(compared)
        lines.append(
            f"Of copies with 2 to 20% of their bits changed, the search for near-duplicates found {recall:.1%} among "
            f"{size:,} drawn sources."
        )
    if "near_duplicate" not in audit.leaks:
        lines.append("Near-duplicates were not judged: no fingerprints or pairs of near-duplicates are known.")
    if audit.closest is not None:
        source_a, source_b = audit.closest["sources"]
        splits_a, splits_b = (" and ".join(splits) for splits in audit.closest["splits"])
        lines.append(
            f"The closest sources of different splits, {source_a} ({splits_a}) and {source_b} ({splits_b}), "
            f"reach {math.floor(100 * audit.closest['similarity'])}% of what makes near-duplicates."
        )
    elif "near_duplicate" in audit.leaks:
        lines.append("No two sources of different splits look alike anywhere.")
    return lines


def _evidence_notes(audit: Audit) -> list[str]:
    """Return sentences on what connects splits, and on evidence that contradicts itself or cannot be used."""
    lines = []
    by = {column: number for column, number in audit.shared_keys.items() if number}
    if by:
        lines.append(f"What clips of different splits have in common, by column: {_count_columns(by)}.")
    for conflict in audit.conflicts:
        column, other = conflict["column"], conflict["other"]
        example = conflict["examples"][0]
        lines.append(
            f"{quantity(conflict['values'], 'value{}')} of {column} with several of {other}, such as {example[column]} "
            f"with {join_words(example[other])}; clips that share either count as one."
        )
    if audit.unknown["malformed"]:
        lines.append(
            f"Values that cannot be used count as unknown, by column: {_count_columns(audit.unknown['malformed'])}."
        )
    if audit.unknown.get("row_numbers"):
        columns = join_words(audit.unknown["row_numbers"])
        lines.append(f"Not used: {columns}, which counts the rows of each split.")
    if audit.unknown["pages"]:
        lines.append(f"Not used: the address of {audit.unknown['pages']:,} clips, which most sources have.")
    return lines


def _count_columns(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{column} ({number:,})" for column, number in counts.items())


def example_text(leak: str, example: JsonObject) -> str:
    """Return one of `Audit.examples` of a leak as text."""
    if leak == "source":
        ids = example["video_ids"]
        in_splits = (
            f"{number:,} in {split} ({', '.join(ids[split])}{', ...' if number > len(ids[split]) else ''})"
            for split, number in example["clips"].items()
        )
        return f"{example['source_id']}: {'; '.join(in_splits)}; by {join_words(example['by'])}"
    if leak == "overlap":
        clip_a, clip_b = (f"{clip['video_id']} ({clip['split']})" for clip in example["clips"])
        return f"{example['seconds']:.2f} s: {clip_a} and {clip_b} of {example['source_id']}"
    if leak == "near_duplicate":
        named = zip(example["sources"], example["splits"], strict=True)
        source_a, source_b = (f"{source} ({', '.join(splits)})" for source, splits in named)
        alike = f"{example['overlap_seconds']:.1f} s alike, similarity {example['similarity']:.2f}"
        return f"{alike}: {source_a} and {source_b}"
    if leak == "caption_set":
        clip_a, clip_b = (f"{clip['video_id']} ({clip['split']})" for clip in example["clips"])
        return f"{example['captions']} of {example['of']} captions, {example['bytes']:,} bytes: {clip_a} and {clip_b}"
    counts = ", ".join(f"{number:,} in {split}" for split, number in example["captions"].items())
    caption = example["caption"]
    if len(caption) > _MAX_CAPTION_LENGTH:
        caption = f"{caption[:_MAX_CAPTION_LENGTH]}..."
    return f'{counts}: "{caption}"'


def clips_of_example(leak: str, example: JsonObject) -> list[str]:
    """Return the ids of the clips that one of `Audit.examples` of a leak names, of a source one in each split."""
    if leak == "source":
        return [ids[0] for ids in example["video_ids"].values()]
    return [clip["video_id"] for clip in example["clips"]] if leak in ("overlap", "caption_set") else []
