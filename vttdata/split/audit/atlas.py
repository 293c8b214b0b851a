"""What sets of videos share with each other: sources, seconds of them, near-duplicates, and captions or questions.

A set is a table of evidence as of `vttdata.split.audit.evidence`, whatever it was read from. All pairs are counted at
once, from the splits that each source and each text is in; nothing is compared pair by pair. No files are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.files.results import Result, ResultTable, Section
from vttdata.json_types import JsonObject
from vttdata.records import Fingerprint
from vttdata.split.audit.caption_sets import fold_captions
from vttdata.split.audit.clip_table import Flags, Floats, Integers, has_span
from vttdata.split.audit.evidence import COLUMNS, OF_SOURCES, join_rows, read_evidence
from vttdata.split.audit.repeated_captions import hash_texts
from vttdata.split.near_duplicates.matches import match_sources

# Columns by which items of several sets are compared; ids of clips are those of one set.
_EVIDENCE = tuple(name for name in COLUMNS if name != "video_id")
_MAX_ROWS = 40


@dataclass(frozen=True, slots=True)
class VideoSet:
    """Items of a benchmark, a dataset or a list.

    Fields:
        name: of the set.
        table: rows with ``item``, ``split``, ``start``, ``end`` (seconds; null where not known) and what evidence of
            `vttdata.split.audit.evidence` there is.
        texts: split -> captions or questions.
        fingerprints: of sources, by their ``source_id`` in the table.
        unknown: what its files do not say, in sentences.
        is_training: whether all splits are trained on, and not only those whose name begins with ``train``.
    """

    name: str
    table: pa.Table
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fingerprints: Sequence[tuple[str, Fingerprint]] = ()
    unknown: Sequence[str] = ()
    is_training: bool = False


@dataclass(frozen=True, slots=True)
class SplitOfSet:
    """Split of a set: its items, those of them whose source is not known, its sources, texts, and hours of them.

    Hours are those of what is known of the spans, each second of a source once; None where nothing is.
    """

    set_name: str
    split: str
    is_training: bool
    items: int = 0
    unknown: int = 0
    sources: int = 0
    texts: int = 0
    hours: float | None = None

    def __str__(self) -> str:
        return f"{self.set_name} {self.split}"


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two splits of different sets share.

    `seconds` are those of the `timed` sources, whose spans are known in both; None where these are none.
    """

    a: SplitOfSet
    b: SplitOfSet
    sources: int
    timed: int
    seconds: float | None
    near_duplicates: int | None
    texts: int

    @property
    def is_leak(self) -> bool:
        """Whether one is trained on and the other is not, and they share sources."""
        return self.a.is_training != self.b.is_training and bool(self.sources or self.near_duplicates)


@dataclass(frozen=True, slots=True)
class Atlas(Result):
    """Overlaps of sets.

    Fields:
        splits: those of all sets.
        overlaps: pairs of splits of different sets that share something, the split that is tested first.
        shared_items: (set, other set) -> split -> items of what is tested of the set whose source training of the other
            has, or a near-duplicate of it.
        items: set -> split -> its items.
        unknown: set -> what its files do not say.
        absent: set -> why it was not compared.
        date: day of the comparison.
        of: sets that the others were compared with; None for all.
    """

    splits: Sequence[SplitOfSet]
    overlaps: Sequence[Overlap]
    shared_items: Mapping[tuple[str, str], Mapping[str, list[str]]]
    items: Mapping[str, Mapping[str, list[str]]]
    unknown: Mapping[str, Sequence[str]]
    absent: Mapping[str, str]
    date: str
    of: Collection[str] | None = None

    @property
    def leaks(self) -> list[Overlap]:
        """Overlaps of a split that is tested with one that is trained on, those of the largest share first."""
        return sorted(filter(lambda each: each.is_leak, self.overlaps), key=lambda own: -own.sources / own.a.sources)

    @property
    def ok(self) -> bool:
        """True if no split that is tested shares sources with one that is trained on."""
        return not self.leaks

    def as_json(self) -> JsonObject:
        """Return plain values."""
        sets: dict[str, JsonObject] = defaultdict(dict)
        for own in self.splits:
            counts = {name: getattr(own, name) for name in ("items", "unknown", "sources", "texts", "hours")}
            sets[own.set_name][own.split] = counts | {"training": own.is_training}
        pairs = [
            {"a": [own.a.set_name, own.a.split], "b": [own.b.set_name, own.b.split], "leak": own.is_leak}
            | {name: getattr(own, name) for name in ("sources", "timed", "seconds", "near_duplicates", "texts")}
            for own in self.overlaps
        ]
        known = {"unknown": {name: list(own) for name, own in self.unknown.items() if own}, "absent": dict(self.absent)}
        return {"date": self.date, "sets": dict(sets), "overlaps": pairs, **known, "ok": self.ok}

    def sections(self) -> Iterator[Section]:
        """Yield the sets, the matrix of what is trained on and what is tested, all overlaps, and what is not known."""
        columns = ("set", "split", "items", "of unknown source", "sources", "hours", "texts")
        sharing = sorted((own for own in self.overlaps if own.sources), key=lambda own: -own.sources)
        named = {each.set_name for own in sharing for each in (own.a, own.b)} | {*(self.of or ())}
        rows = [
            (own.set_name, own.split, own.items, own.unknown, own.sources, own.hours, own.texts)
            for own in self.splits
            if self.of is None or own.set_name in named
        ]
        yield Section("Sets", [f"Compared on {self.date}."], table=ResultTable(columns, rows))
        if not self.ok:
            yield self._matrix()
        yield self._list_overlaps("Shared sources, pair by pair", sharing)
        texts = sorted((own for own in self.overlaps if own.texts), key=lambda own: -own.texts)
        yield self._list_overlaps(f"Most shared captions and questions, first {_MAX_ROWS}", texts[:_MAX_ROWS])
        notes = [f"{name}: {' '.join(own)}" for name, own in self.unknown.items() if own]
        notes += [f"{name} was left out: {reason}" for name, reason in self.absent.items()]
        if notes:
            yield Section("What is not known", items=notes)
        affected = len({own.a for own in self.leaks})
        verdict = f"LEAKS: {affected} splits share sources with training of another set; give scores apart for them."
        yield Section("", ["No tested split shares a source with training of another set." if self.ok else verdict])

    def _matrix(self) -> Section:
        leaks = {(own.a, own.b): own.sources for own in self.leaks}
        tested, trained = ([own for own in self.splits if own in {pair[side] for pair in leaks}] for side in (0, 1))
        rows = [[str(a), *(_share(leaks[a, b], a) if (a, b) in leaks else "" for b in trained)] for a in tested]
        sentence = (
            "Sources of a split that is tested (rows) that a split that is trained on (columns) has as well. A model "
            "that was trained so may remember them; `vttdata evaluate --train-split` gives its scores apart."
        )
        table = ResultTable(("tested", *map(str, trained)), rows)
        return Section("Protocols that are affected", [sentence], table=table)

    def _list_overlaps(self, title: str, overlaps: Sequence[Overlap]) -> Section:
        columns = ("split", "other split", "sources", "of the other", "seconds", "near-duplicates", "texts")
        rows = [
            (
                *(str(own.a), str(own.b), _share(own.sources, own.a), _share(own.sources, own.b)),
                *(_describe_seconds(own), own.near_duplicates, own.texts),
            )
            for own in overlaps
        ]
        if not rows:
            return Section(title, ["None."])
        sentence = (
            "Seconds are of sources whose spans are known in both, of as many as are named where these are not all; a "
            "span is what a set marks, or else the whole video. Texts are equal captions or questions."
        )
        return Section(title, [sentence], table=ResultTable(columns, rows))


def _describe_seconds(own: Overlap) -> str | None:
    if own.seconds is None:
        return None
    return f"{own.seconds:,.0f}{f' (of {own.timed:,})' if own.timed < own.sources else ''}"


def _share(sources: int, of: SplitOfSet) -> str:
    return f"{sources:,} ({sources / max(of.sources, 1):.1%})"


def compare_sets(
    sets: Sequence[VideoSet], date: str, of: Collection[str] | None = None, absent: Mapping[str, str] | None = None
) -> Atlas:
    """Count what the splits of sets with distinct names share; with `of`, only in pairs with one of these sets."""
    joined = _Joined(sets)
    described = joined.describe()
    near, alike = joined.match_fingerprints()
    shared_sources, seconds = _count_pairs(joined.membership), _share_seconds(joined.spans)
    shared_texts = _count_pairs(joined.text_membership)
    overlaps = []
    shared: dict[tuple[str, str], dict[str, list[str]]] = {}
    for pair in combinations(range(len(described)), 2):
        # What is tested comes first.
        i, j = sorted(pair, key=lambda number: described[number].is_training)
        a, b = described[i], described[j]
        if a.set_name == b.set_name or (of is not None and a.set_name not in of and b.set_name not in of):
            continue
        duplicates = None if near is None else int(near[i, j])
        timed, shared_seconds = seconds.get(pair, (0, None))
        number = int(shared_sources[i, j])
        found = Overlap(a, b, number, timed, shared_seconds, duplicates, int(shared_texts[i, j]))
        overlaps += [found] if found.sources or found.texts or duplicates else []
        if found.is_leak:
            ids = shared.setdefault((a.set_name, b.set_name), {}).setdefault(a.split, [])
            is_shared = (joined.membership[:, j] | alike[:, j])[joined.source] & joined.is_known
            ids += [item for item in joined.list_items(i, is_shared) if item not in ids]
    listed: dict[str, dict[str, list[str]]] = {}
    for number, split in enumerate(described):
        listed.setdefault(split.set_name, {})[split.split] = joined.list_items(number)
    return Atlas(described, overlaps, shared, listed, {own.name: own.unknown for own in sets}, absent or {}, date, of)


class _Joined:
    """Rows of all sets, with the number of the source of each; splits of sets have numbers too."""

    def __init__(self, sets: Sequence[VideoSet]) -> None:
        self.sets = sets
        self.numbers: dict[tuple[str, str], int] = {}
        for own in sets:
            for split in dict.fromkeys([*own.table.column("split").to_pylist(), *own.texts]):
                self.numbers[own.name, split] = len(self.numbers)
        self.owners = [own.name for own in sets for _ in range(len(own.table))]
        self.table = pa.concat_tables([own.table for own in sets], promote_options="permissive")
        splits = zip(self.owners, self.table.column("split").to_pylist(), strict=True)
        self.split = np.array([self.numbers[own] for own in splits], np.int64)
        self.items = self.table.column("item").to_pylist()
        read = read_evidence(self.table.select([name for name in _EVIDENCE if name in self.table.column_names]))
        self.is_known = np.zeros(len(self.table), np.bool_)
        for each in read:
            self.is_known |= (each.keys >= 0) & (each.column in OF_SOURCES)
        self.source = join_rows(read, len(self.table))
        self.membership = np.zeros((self.source.max(initial=-1) + 1, len(self.numbers)), np.bool_)
        self.membership[self.source[self.is_known], self.split[self.is_known]] = True
        start, end = (
            self.table.column(name).cast(pa.float64()).fill_null(np.nan).to_numpy() for name in ("start", "end")
        )
        self.spans = _merge_spans(self.source, self.split, start, end, self.is_known)
        self.text_membership = _place_texts(sets, self.numbers)

    def list_items(self, number: int, among: Flags | None = None) -> list[str]:
        """Return the distinct items of a split, of its rows with a flag."""
        rows = np.flatnonzero((self.split == number) if among is None else (self.split == number) & among)
        return list(dict.fromkeys(self.items[row] for row in rows))

    def describe(self) -> list[SplitOfSet]:
        """Return what the splits contain."""
        seconds: dict[int, float] = defaultdict(float)
        for (_, number), spans in self.spans.items():
            seconds[number] += sum(end - start for start, end in spans)
        sets = {own.name: own for own in self.sets}
        return [
            SplitOfSet(
                name,
                split,
                split.startswith("train") or sets[name].is_training,
                len(self.list_items(number)),
                len(self.list_items(number, ~self.is_known)),
                int(self.membership[:, number].sum()),
                len(sets[name].texts.get(split, ())),
                seconds[number] / 3600 if number in seconds else None,
            )
            for (name, split), number in self.numbers.items()
        ]

    def match_fingerprints(self) -> tuple[Integers | None, Flags]:
        """Return the pairs of near-duplicates between two splits, and which source has one in which split.

        The number is None unless several sets have fingerprints.
        """
        alike = np.zeros_like(self.membership)
        if sum(bool(own.fingerprints) for own in self.sets) < 2:
            return None, alike
        named = zip(self.owners, self.table.column("source_id").to_pylist(), strict=True)
        source_of = {f"{own}\0{name}": number for (own, name), number in zip(named, self.source.tolist(), strict=True)}
        near = np.zeros((len(self.numbers),) * 2, np.int64)
        prints = ((f"{own.name}\0{name}", each) for own in self.sets for name, each in own.fingerprints)
        for pair in match_sources(prints).duplicates():
            a, b = source_of[pair.source_a], source_of[pair.source_b]
            if a != b:
                between = np.outer(self.membership[a], self.membership[b])
                near += between | between.T
                alike[a] |= self.membership[b]
                alike[b] |= self.membership[a]
        return near, alike


def _count_pairs(membership: Flags) -> Integers:
    """Return how many rows of (n, splits) flags two splits have in common, (splits, splits)."""
    shared = membership[membership.sum(axis=1) > 1].astype(np.int64)
    counts: Integers = shared.T @ shared
    return counts


def _merge_spans(
    source: Integers, split: Integers, start: Floats, end: Floats, is_known: Flags
) -> dict[tuple[int, int], list[tuple[float, float]]]:
    """Return (source, split) -> its spans, sorted, those that overlap as one."""
    rows = np.flatnonzero(has_span(start, end) & is_known)
    rows = rows[np.lexsort((start[rows], split[rows], source[rows]))]
    merged: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for own, at, first, last in zip(*(column[rows].tolist() for column in (source, split, start, end)), strict=True):
        spans = merged[own, at]
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((max(first, 0.0), last))
    return merged


def _share_seconds(
    spans: Mapping[tuple[int, int], list[tuple[float, float]]],
) -> dict[tuple[int, int], tuple[int, float]]:
    """Return (split, later split) -> number of sources whose spans are known in both, and seconds that both have."""
    splits_of: dict[int, list[int]] = defaultdict(list)
    for source, split in spans:
        splits_of[source].append(split)
    shared: dict[tuple[int, int], tuple[int, float]] = {}
    for source, splits in splits_of.items():
        for a, b in combinations(sorted(splits), 2):
            number, seconds = shared.get((a, b), (0, 0.0))
            in_common = (
                max(0.0, min(last, end) - max(first, start))
                for first, last in spans[source, a]
                for start, end in spans[source, b]
            )
            shared[a, b] = number + 1, seconds + sum(in_common)
    return shared


def _place_texts(sets: Sequence[VideoSet], numbers: Mapping[tuple[str, str], int]) -> Flags:
    """Return which distinct text, folded, is in which split."""
    hashes, splits = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for own in sets:
        for split, texts in own.texts.items():
            folded = fold_captions(pa.array(texts, pa.large_string())).unique()
            hashes.append(hash_texts(folded.filter(pc.not_equal(folded, ""))))
            splits.append(np.full(len(hashes[-1]), numbers[own.name, split]))
    distinct, inverse = np.unique(np.concatenate(hashes), return_inverse=True)
    membership = np.zeros((len(distinct), len(numbers)), np.bool_)
    membership[inverse, np.concatenate(splits)] = True
    return membership
