"""Find the clips of a benchmark inside a corpus, such as the list of videos that a model was trained on.

A clip is found by its source (an id or an address), by time, by near-duplicate pictures and by captions. The corpus is
read once, in batches of a few columns, so its size costs time and not memory; see `vttdata.dataset.foreign_tables`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from vttdata.dataset.foreign_tables import as_strings, list_tables, stream_table
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.leak_audit import read_fingerprints
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import Protocol
from vttdata.errors import VttdataError
from vttdata.files.addresses import hide_secrets
from vttdata.files.folded_addresses import PLATFORM, fold_address
from vttdata.files.results import Result, ResultTable, Section
from vttdata.files.tables import parse_seconds
from vttdata.ids import VIDEO_EXTENSIONS
from vttdata.json_types import JsonObject, Row
from vttdata.records import HASH_SCHEME, Fingerprint
from vttdata.split.audit.caption_sets import fold_captions
from vttdata.split.audit.evidence import fold_known_id, fold_source
from vttdata.split.near_duplicates.matches import match_sources

# What a clip shares with the corpus. A caption alone is no contamination: short ones recur by chance.
KINDS = ("source", "overlap", "near_duplicate", "caption")
FAILING = KINDS[:3]

# In an address, as in `vttdata.ids.youtube_id`; RE2 knows no look-ahead, so a longer id is one
# that nobody has.
_YOUTUBE_ADDRESS = (
    r"(?i:youtube(?:-nocookie)?\.com/(?:watch/?\?(?:[^#]*&)?v=|embed/|v/|e/|shorts/|live/)|youtu\.be/)"
    r"(?P<id>[A-Za-z0-9_-]{11,12})"
)
# Other addresses whose path does not end in what names the video.
_PLATFORM_ADDRESS = rf"(?i){PLATFORM}|attribution_link|web\.archive"
_LAST_SEGMENT = r"^[^?#]*?(?P<name>[^/?#]+)/?(?:[?#].*)?$"
# How a YouTube id begins a clip's name: in VATEX, MSVD and many lists `<id>_<start>_<end>`, in ActivityNet `v_<id>`.
_PREFIX = r"^(?:v_|youtube[-_:]|yt[-_:])"
_EXTENSION = rf"\.(?:{'|'.join(extension[1:] for extension in sorted(VIDEO_EXTENSIONS))})$"
_AFTER_ID = re.compile(r"[_.-]\d|[.]")
_ID_LENGTH = 11
_MAX_EXAMPLES = 10
# Sources of the corpus whose fingerprints are compared with those of the benchmark at once.
_FINGERPRINTS_AT_ONCE = 2_000


@dataclass
class Contamination(Result):
    """Content that the clips of a benchmark share with a corpus of so many rows.

    Fields:
        splits: split -> ids of its clips, in their order.
        found: kind -> ids of the clips that share it.
        judged: kinds that could be judged: times, fingerprints and captions need columns of the corpus.
        examples: kind -> (clip, what the corpus has) of the first clips.
    """

    rows: int = 0
    splits: dict[str, list[str]] = field(default_factory=dict)
    found: dict[str, set[str]] = field(default_factory=lambda: {kind: set() for kind in KINDS})
    judged: set[str] = field(default_factory=set)
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def add(self, kind: str, video_id: str, shown: str) -> None:
        """Add a clip that shares something."""
        if video_id not in self.found[kind] and len(self.examples[kind]) < _MAX_EXAMPLES:
            self.examples[kind].append((video_id, shown))
        self.found[kind].add(video_id)

    def clean(self, split: str) -> list[str]:
        """Return the clips of a split that share neither source nor pictures with the corpus, in their order."""
        shared = set().union(*(self.found[kind] for kind in FAILING))
        return [video_id for video_id in self.splits[split] if video_id not in shared]

    @property
    def ok(self) -> bool:
        """True if no clip shares source or pictures with the corpus."""
        return not any(self.found[kind] for kind in FAILING)

    def as_json(self) -> JsonObject:
        """Return plain values: kind -> split -> number of clips; null for what could not be judged."""
        splits = self.splits.items()
        counts = {kind: {split: len(self.found[kind] & set(ids)) for split, ids in splits} for kind in self.judged}
        return {
            "rows": self.rows,
            "splits": {split: {"clips": len(ids), "clean": len(self.clean(split))} for split, ids in splits},
            "shared": {kind: counts.get(kind) for kind in KINDS},
            "examples": {kind: [list(pair) for pair in pairs] for kind, pairs in self.examples.items() if pairs},
            "ok": self.ok,
        }

    def sections(self) -> Iterator[Section]:
        """Yield the clips of each split that share something, the first examples, and a verdict."""
        plain = self.as_json()
        names = {"near_duplicate": "near-duplicate source", "caption": "caption, word for word", "overlap": "same time"}
        rows = [
            [names.get(kind, kind), *(counts.values() if counts else ["not judged"] * len(self.splits))]
            for kind, counts in plain["shared"].items()
        ]
        rows += [[name, *(numbers[name] for numbers in plain["splits"].values())] for name in ("clean", "clips")]
        table = ResultTable(("clips that share", *self.splits), rows)
        yield Section("", [f"{self.rows:,} rows of the corpus were read."], table=table)
        for kind, pairs in self.examples.items():
            if pairs:
                yield Section(f"{names.get(kind, kind)}, first:", items=[": ".join(pair) for pair in pairs])
        verdict = (
            "No clip shares source or pictures with the corpus, as far as that was judged."
            if self.ok
            else "CONTAMINATED: clips of the benchmark are in the corpus; a score on them says little."
        )
        yield Section(sentences=[verdict])

    def clean_protocol(self) -> Protocol:
        """Return the clean clips of each split as a protocol."""
        clean = {split: list(dict.fromkeys(self.clean(split))) for split in self.splits}
        return Protocol("uncontaminated", {split: ids for split, ids in clean.items() if ids})


class BenchmarkClips:
    """Clips of a benchmark by everything that a row of a corpus may say of them."""

    def __init__(self, folder: Path, config: str, splits: Sequence[str]) -> None:
        files = read_layout(folder, needs="clips").files
        if config not in files:
            raise VttdataError(f"{folder}: has no configuration '{config}'.")
        unknown = [split for split in splits if split not in files[config]]
        if unknown:
            raise VttdataError(f"There is no split '{unknown[0]}'; the splits are {', '.join(files[config])}.")
        self.sources = list(chain(*files.get("sources", {}).values()))
        self.clips: dict[str, list[tuple[str, float | None, float | None]]] = defaultdict(list)
        self.splits: dict[str, list[str]] = {}
        # Key by which a corpus may know a source -> sources.
        self.names: dict[str, set[str]] = defaultdict(set)
        texts: dict[str, list[str]] = defaultdict(list)
        columns = ("video_id", "source_id", "url", "start", "end", "captions")
        for split in splits or files[config]:
            ids = self.splits.setdefault(split, [])
            for row in read_parquet_rows(files[config][split], ("video_id",), optional=columns[1:]):
                stated = fold_source(row.get("source_id") or "")
                # Clips without a known source are one each, and no id of a source contains a null.
                source = f"\0{row['video_id']}" if stated is None else row["source_id"]
                ids.append(row["video_id"])
                self.clips[source].append((row["video_id"], row.get("start"), row.get("end")))
                for name in (fold_known_id(row["video_id"]), stated, fold_address(row.get("url") or "")):
                    if name is not None:
                        self.names[name].add(source)
                for text in row.get("captions") or ():
                    texts[text].append(row["video_id"])
        self.captions: dict[str, list[str]] = defaultdict(list)
        for text, folded in zip(texts, fold_captions(pa.array(texts, pa.string())).to_pylist(), strict=True):
            self.captions[folded] += texts[text]
        self.captions.pop("", None)


def find_contamination(
    folder: Path,
    corpus: Path,
    *,
    config: str = "clips",
    splits: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> Contamination:
    """Find the clips of a dataset in a corpus: a dataset folder, a table, or a folder of tables.

    `config` is ``clips`` or a protocol of the benchmark, and `splits` are its own, by default all. `columns` are names
    in the corpus by the names of `NAMES`.

    Raises:
        VttdataError: when one of both cannot be read.
    """
    benchmark = BenchmarkClips(folder, config, splits)
    result = Contamination(splits=benchmark.splits, judged={"source"})
    captions = pa.array(list(benchmark.captions), pa.string())
    fingerprints: list[tuple[str, Fingerprint]] = []
    ours = dict(read_fingerprints(benchmark.sources, set(benchmark.clips)))
    for table in _tables(corpus, columns or {}):
        result.rows += table.num_rows
        present = set(table.column_names)
        result.judged |= {"overlap"} if {"start", "end"} <= present else set()
        result.judged |= {"caption"} if "caption" in present else set()
        result.judged |= {"near_duplicate"} if ours and "hashes" in present else set()
        for values, sources in find_source_rows(table, benchmark.names):
            _add_sources(result, benchmark, sources, values)
        if "caption" in present:
            for text in find_shared_captions(table, captions):
                # What is found once need not be found again: a common caption may be in every batch.
                for video_id in benchmark.captions.pop(text, ()):
                    result.add("caption", video_id, text[:160])
        if ours and "hashes" in present:
            for row in table.to_pylist():
                if row.get("hash_scheme") == HASH_SCHEME and row.get("hashes"):
                    name = str(row.get("source_id") or row.get("video_id") or row.get("url"))
                    fingerprints.append((name, Fingerprint(HASH_SCHEME, str(row["hashes"]))))
            while len(fingerprints) >= _FINGERPRINTS_AT_ONCE:
                _add_near_duplicates(result, benchmark, ours, fingerprints[:_FINGERPRINTS_AT_ONCE])
                del fingerprints[:_FINGERPRINTS_AT_ONCE]
    _add_near_duplicates(result, benchmark, ours, fingerprints)
    return result


def _tables(corpus: Path, columns: Mapping[str, str]) -> Iterator[pa.Table]:
    """Yield batches of the rows of a dataset's clips and sources, or of tables."""
    dataset = corpus / "dataset" if (corpus / "dataset" / "README.md").is_file() else corpus
    if (dataset / "README.md").is_file() and (dataset / "clips").is_dir():
        files = read_layout(dataset, needs="clips").files
        for path in chain(*files["clips"].values()):
            yield from stream_table(path)
        for path in chain(*files.get("sources", {}).values()):
            yield from (table for table in stream_table(path) if "hashes" in table.column_names)
        return
    for path in list_tables(corpus):
        yield from stream_table(path, columns)


def find_source_rows(table: pa.Table, sources_of_name: Mapping[str, set[str]]) -> Iterator[tuple[Row, set[str]]]:
    """Yield the rows that name sources of the benchmark, and these; `sources_of_name` has keys of evidence."""
    names = pa.array(list(sources_of_name), pa.string())
    by_row: dict[int, set[str]] = defaultdict(set)
    for column in ("url", "source_url", "source_id", "video_id"):
        if column not in table.column_names:
            continue
        texts = as_strings(table.column(column))
        find = _find_addresses if "url" in column or _occurs(texts, "://") else _find_ids
        for row, name in find(texts, names):
            by_row[row] |= sources_of_name[name]
    if by_row:
        rows = sorted(by_row)
        for row, values in zip(rows, table.take(rows).to_pylist(), strict=True):
            yield values, by_row[row]


def _find_addresses(texts: pa.Array, names: pa.Array) -> Iterator[tuple[int, str]]:
    """Yield the rows whose address is a key, and the key; those that can be one are told by a part of the address."""
    videos = pc.utf8_lower(pc.struct_field(pc.extract_regex(texts, pattern=_YOUTUBE_ADDRESS), "id"))
    for row in pc.indices_nonzero(pc.is_in(videos, value_set=names)).to_pylist():
        if videos[row].is_valid:
            yield row, videos[row].as_py()
    others = pc.indices_nonzero(pc.and_(videos.is_null(), texts.is_valid()))
    texts = texts.take(others)
    last_of_names = pc.struct_field(pc.extract_regex(names, pattern=_LAST_SEGMENT), "name")
    last = pc.struct_field(pc.extract_regex(texts, pattern=_LAST_SEGMENT), "name")
    may_be = pc.or_(
        pc.is_in(last, value_set=last_of_names.drop_null()), pc.match_substring_regex(texts, _PLATFORM_ADDRESS)
    )
    known = frozenset(names.to_pylist())
    for row in pc.indices_nonzero(may_be).to_pylist():
        name = fold_address(texts[row].as_py())
        if name is not None and name in known:
            yield others[row].as_py(), name


def _find_ids(texts: pa.Array, names: pa.Array) -> Iterator[tuple[int, str]]:
    """Yield the rows whose id, or name of a file, is a key or begins with one as clips' names do, and the key."""
    texts = pc.utf8_lower(pc.utf8_trim(texts, " \t\r\n'\ufeff"))
    if _occurs(texts, "/") or _occurs(texts, "\\"):
        texts = pc.replace_substring_regex(texts, r"^.*[/\\]", "")
    if _occurs(texts, "."):
        texts = pc.replace_substring_regex(texts, rf"(?:{_EXTENSION})|(?:^([0-9]+)\.0+$)", r"\1")
    if pc.any(pc.match_substring_regex(texts, "^0[0-9]")).as_py():
        texts = pc.replace_substring_regex(texts, "^0+([0-9]+)$", r"\1")
    may_have_prefix = pc.or_(pc.starts_with(texts, "v_"), pc.starts_with(texts, "y"))
    rows = pc.indices_nonzero(may_have_prefix)
    yield from _find_beginnings(texts, names, range(len(texts)))
    plain = pc.replace_substring_regex(texts.take(rows), _PREFIX, "")
    yield from _find_beginnings(plain, names, rows.to_pylist())


def _find_beginnings(texts: pa.Array, names: pa.Array, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield the rows, by their numbers, that are a key, or begin with a YouTube id and go on as with ``_<start>``."""
    for candidate in (texts, pc.utf8_slice_codeunits(texts, 0, _ID_LENGTH)):
        for index in pc.indices_nonzero(pc.is_in(candidate, value_set=names)).to_pylist():
            name, text = candidate[index].as_py(), texts[index].as_py()
            if name is not None and (name == text or _AFTER_ID.match(text[_ID_LENGTH:])):
                yield rows[index], name


def _occurs(texts: pa.Array, part: str) -> bool:
    return bool(pc.any(pc.match_substring(texts, part)).as_py())


def find_shared_captions(table: pa.Table, captions: object) -> Sequence[str]:
    """Return the captions of the benchmark that a batch has, as `fold_captions` folds them."""
    column = table.column("caption").combine_chunks()
    while pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = pc.list_flatten(column)
    texts = fold_captions(as_strings(column))
    shared: Sequence[str] = pc.unique(texts.filter(pc.is_in(texts, value_set=captions))).to_pylist()
    return shared


def _add_sources(
    result: Contamination, benchmark: BenchmarkClips, sources: set[str], row: Mapping[str, object]
) -> None:
    """Add the clips of sources, and those that a row overlaps in time; a row without times is the whole video."""
    shown = hide_secrets(str(row.get("url") or row.get("source_id") or row.get("video_id")))
    start, end = (parse_seconds(row.get(name)) for name in ("start", "end"))
    whole = not end > start
    for video_id, clip_start, clip_end in chain.from_iterable(benchmark.clips[source] for source in sorted(sources)):
        result.add("source", video_id, shown)
        overlaps = whole or (
            clip_start is not None and clip_end is not None and min(end, clip_end) > max(start, clip_start)
        )
        if "overlap" in result.judged and overlaps:
            result.add("overlap", video_id, shown if whole else f"{shown} {start:g}-{end:g} s")


def _add_near_duplicates(
    result: Contamination,
    benchmark: BenchmarkClips,
    ours: Mapping[str, Fingerprint],
    others: Iterable[tuple[str, Fingerprint]],
) -> None:
    """Add the clips of sources that look like sources of the corpus."""
    marked = {f"corpus:{name}": fingerprint for name, fingerprint in others}
    for pair in match_sources([*ours.items(), *marked.items()]).duplicates() if marked else ():
        sides = {pair.source_a, pair.source_b}
        if len(sides & marked.keys()) == 1:
            (other,) = sides & marked.keys()
            (source,) = sides - {other}
            for video_id, _, _ in benchmark.clips[source]:
                result.add("near_duplicate", video_id, other.removeprefix("corpus:"))
