"""Find the clips of a benchmark inside a corpus, such as the list of videos that a model was trained on.

A clip is found by its source (an id or an address), by time, by near-duplicate pictures and by captions. The corpus is
read once, in batches of a few columns, so its size costs time and not memory. Unlike in `vttdata.files.tables`, nobody
can look at all of its rows: columns are found by their usual names, and a table that cannot be parsed is refused as a
whole.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.leak_audit import read_fingerprints
from vttdata.dataset.parquet import open_parquet, read_parquet_rows
from vttdata.dataset.protocol_file import Protocol
from vttdata.errors import VttdataError
from vttdata.files.table_formats import align_columns
from vttdata.files.tables import fold_name, parse_seconds
from vttdata.ids import source_of
from vttdata.json_types import JsonObject, Row
from vttdata.records import HASH_SCHEME, Fingerprint
from vttdata.split.near_duplicates.matches import match_sources

# What a clip shares with the corpus. A caption alone is no contamination: short ones recur by chance.
KINDS = ("source", "overlap", "near_duplicate", "caption")
FAILING = KINDS[:3]

_YOUTUBE_ID = re.compile(r"[\w-]{11}", re.ASCII)
# In an address, as in `vttdata.ids.source_of`; RE2 knows no look-ahead, so a longer id is one
# that nobody has.
_YOUTUBE_ADDRESS = (
    r"(?i:youtube(?:-nocookie)?\.com/(?:watch/?\?(?:[^#]*&)?v=|embed/|v/|e/|shorts/|live/)|youtu\.be/)"
    r"(?P<id>[A-Za-z0-9_-]{11,12})"
)
# How a YouTube id begins a clip's name: in VATEX, MSVD and many lists `<id>_<start>_<end>`, in ActivityNet `v_<id>`.
_PREFIXES = ("v_", "youtube-")
_ID_LENGTH = 11
_MAX_EXAMPLES = 10
# Sources of the corpus whose fingerprints are compared with those of the benchmark at once.
_FINGERPRINTS_AT_ONCE = 2_000

# Columns that are looked for -> names that tables have for them, without regard to case.
NAMES = {
    "video_id": ("video_id", "videoid", "youtube_id", "youtubeid", "vid", "clip_id", "id"),
    "source_id": ("source_id",),
    "url": ("url", "video_url", "contenturl", "page_url"),
    "start": ("start", "start_timestamp", "start_time", "start_seconds", "begin"),
    "end": ("end", "end_timestamp", "end_time", "end_seconds"),
    "caption": ("caption", "captions", "text", "sentence", "description"),
    "hash_scheme": ("hash_scheme",),
    "hashes": ("hashes",),
}
SUFFIXES = (
    *(".parquet", ".csv", ".tsv", ".jsonl", ".ndjson"),
    *(".csv.gz", ".tsv.gz", ".jsonl.gz", ".csv.zst", ".jsonl.zst"),
)

# Of text that is parsed at once; larger blocks are no faster.
_BLOCK_BYTES = 2**23
_BATCH_ROWS = 2**16


@dataclass
class Contamination:
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

    def as_text(self) -> str:
        """Return a table of the splits, the first examples and a verdict, for a terminal."""
        plain = self.as_json()
        names = {"near_duplicate": "near-duplicate source", "caption": "caption, word for word", "overlap": "same time"}
        rows = [["clips that share", *self.splits]]
        for kind, counts in plain["shared"].items():
            cells = [f"{number:,}" for number in counts.values()] if counts else ["not judged"] * len(self.splits)
            rows.append([names.get(kind, kind), *cells])
        for name in ("clean", "clips"):
            rows.append([name, *(f"{numbers[name]:,}" for numbers in plain["splits"].values())])
        parts = [f"{self.rows:,} rows of the corpus were read.", align_columns(rows)]
        for kind, pairs in self.examples.items():
            if pairs:
                lines = [f"  {video_id}: {shown}" for video_id, shown in pairs]
                parts.append("\n".join([f"{names.get(kind, kind)}, first:", *lines]))
        parts.append(
            "No clip shares source or pictures with the corpus, as far as that was judged."
            if self.ok
            else "CONTAMINATED: clips of the benchmark are in the corpus; a score on them says little."
        )
        return "\n\n".join(parts)

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
        # Name by which a corpus may know a source -> source.
        self.names: dict[str, str] = {}
        self.captions: dict[str, list[str]] = defaultdict(list)
        columns = ("video_id", "source_id", "url", "start", "end", "captions")
        for split in splits or files[config]:
            ids = self.splits.setdefault(split, [])
            for row in read_parquet_rows(files[config][split], ("video_id",), optional=columns[1:]):
                source = row.get("source_id") or row["video_id"]
                ids.append(row["video_id"])
                self.clips[source].append((row["video_id"], row.get("start"), row.get("end")))
                for name in list_source_names(row["video_id"], row.get("source_id"), row.get("url")):
                    self.names.setdefault(name, source)
                for text in row.get("captions") or ():
                    self.captions[text.lower().strip(" .")].append(row["video_id"])
        self.captions.pop("", None)


def list_source_names(video_id: str, source_id: str | None, url: str | None) -> Iterator[str]:
    """Yield the names that a corpus may have for a clip or its source: ids, the address, and forms of a YouTube id."""
    yield from filter(None, (video_id, source_id, url))
    youtube = source_of(url) if url else source_id or ""
    if _YOUTUBE_ID.fullmatch(youtube):
        yield from (youtube, *(prefix + youtube for prefix in _PREFIXES))


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
    names = pa.array(list(benchmark.names), pa.string())
    captions = pa.array(list(benchmark.captions), pa.string())
    fingerprints: list[tuple[str, Fingerprint]] = []
    ours = dict(read_fingerprints(benchmark.sources, set(benchmark.clips)))
    for table in _tables(corpus, columns or {}):
        result.rows += table.num_rows
        present = set(table.column_names)
        result.judged |= {"overlap"} if {"start", "end"} <= present else set()
        result.judged |= {"caption"} if "caption" in present else set()
        result.judged |= {"near_duplicate"} if ours and "hashes" in present else set()
        for values, source in find_source_rows(table, names, benchmark.names):
            _add_source(result, benchmark, source, values)
        if "caption" in present:
            for text in find_shared_captions(table, captions):
                # What is found once need not be found again: a common caption may be in every batch.
                for video_id in benchmark.captions.pop(text, ()):
                    result.add("caption", video_id, text[:160])
        if ours and "hashes" in present:
            for row in table.to_pylist():
                if row.get("hash_scheme") == HASH_SCHEME and row.get("hashes"):
                    name = str(row.get("source_id") or row.get("video_id") or row.get("url"))
                    fingerprints.append((name, Fingerprint(HASH_SCHEME, row["hashes"])))
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
            yield from stream_corpus(path)
        for path in chain(*files.get("sources", {}).values()):
            yield from (table for table in stream_corpus(path) if "hashes" in table.column_names)
        return
    for path in corpus_files(corpus):
        yield from stream_corpus(path, columns)


def find_source_rows(table: pa.Table, names: object, source_of_name: Mapping[str, str]) -> Iterator[tuple[Row, str]]:
    """Yield the rows that name a source of the benchmark, and that source."""
    by_row: dict[int, str] = {}
    for column in ("url", "source_id", "video_id"):
        if column not in table.column_names:
            continue
        texts = as_strings(table.column(column))
        if column == "url":
            ids = pc.struct_field(pc.extract_regex(texts, pattern=_YOUTUBE_ADDRESS), "id")
        else:
            # A YouTube id before `_<start>`; an id is found by its first letters, and what follows is checked below.
            ids = pc.utf8_slice_codeunits(texts, 0, _ID_LENGTH)
        for candidate in (texts, ids):
            for row in pc.indices_nonzero(pc.is_in(candidate, value_set=names)).to_pylist():
                name, text = candidate[row].as_py(), texts[row].as_py()
                if candidate is texts or column == "url" or re.match(r"[_.-]\d|[.]", text[_ID_LENGTH:]):
                    by_row.setdefault(row, source_of_name[name])
    if by_row:
        rows = sorted(by_row)
        for row, values in zip(rows, table.take(rows).to_pylist(), strict=True):
            yield values, by_row[row]


def find_shared_captions(table: pa.Table, captions: object) -> Sequence[str]:
    """Return the captions of the benchmark that a batch has, without regard to capitals and full stops."""
    column = table.column("caption").combine_chunks()
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = pc.list_flatten(column)
    texts = pc.utf8_trim(pc.utf8_lower(as_strings(column)), " .")
    shared: Sequence[str] = pc.unique(texts.filter(pc.is_in(texts, value_set=captions))).to_pylist()
    return shared


def _add_source(result: Contamination, benchmark: BenchmarkClips, source: str, row: Mapping[str, object]) -> None:
    """Add the clips of a source, and those that a row overlaps in time; a row without times is the whole video."""
    shown = str(row.get("url") or row.get("source_id") or row.get("video_id"))
    start, end = (parse_seconds(row.get(name)) for name in ("start", "end"))
    whole = not end > start
    for video_id, clip_start, clip_end in benchmark.clips[source]:
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


def corpus_files(path: Path) -> list[Path]:
    """Return a table, or the tables in a folder and its subfolders, sorted.

    Raises:
        VttdataError: when there is none.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and file.name.lower().endswith(SUFFIXES))
    else:
        files = [path] if path.is_file() else []
    if not files or not all(file.name.lower().endswith(SUFFIXES) for file in files):
        raise VttdataError(f"{path}: a table, or a folder of tables, is expected; they end in {', '.join(SUFFIXES)}.")
    return files


def stream_corpus(path: Path, columns: Mapping[str, str] | None = None) -> Iterator[pa.Table]:
    """Yield the columns of `NAMES` that the tables of a file have, in batches; texts are Arrow strings.

    The file is as in `corpus_files`, with a head if it is delimited; `columns` are its names by those in `NAMES`.

    Raises:
        VttdataError: when the file is damaged, has none of the columns by which videos or captions are known, or lacks
            one of `columns`.
    """
    name = path.name.lower()
    try:
        if name.endswith(".parquet"):
            with open_parquet(path) as file:
                found = find_columns(file.schema_arrow.names, columns or {}, path)
                for batch in file.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(found.values()))):
                    yield pa.table({key: batch.column(column) for key, column in found.items()})
        elif ".json" in name or ".ndjson" in name:
            yield from _stream_json(path, columns or {})
        else:
            yield from _stream_csv(path, columns or {}, "\t" if ".tsv" in name else ",")
    except (pa.ArrowException, UnicodeDecodeError) as error:
        # `ArrowInvalid` is a ValueError too, whose text may have several lines.
        reason = " ".join(str(error).split())[:200]
        raise VttdataError(f"{path}: cannot be parsed ({reason}).") from error
    except (OSError, EOFError) as error:
        raise VttdataError(f"{path}: cannot be read ({error}).") from error


def find_columns(header: Sequence[str], columns: Mapping[str, str], path: Path) -> dict[str, str]:
    """Return name in `NAMES` -> column of a header.

    Raises:
        VttdataError: when a named column is missing, or nothing says which video a row is about or what it says.
    """
    unknown = next((name for name in columns if name not in NAMES), None)
    if unknown is not None:
        raise VttdataError(f"--columns {unknown}=...: there is no such column; choose from {', '.join(NAMES)}.")
    folded = {fold_name(name): name for name in reversed(header)}
    found: dict[str, str] = {}
    for name, usual in NAMES.items():
        if name in columns and columns[name] not in header:
            raise VttdataError(f"{path}: has no column '{columns[name]}'; the columns are {', '.join(header)[:400]}.")
        column = columns.get(name) or next((folded[alias] for alias in usual if alias in folded), None)
        if column is not None:
            found[name] = column
    if not found.keys() & {"video_id", "source_id", "url", "caption"}:
        if not header:
            raise VttdataError(f"{path}: is empty.")
        raise VttdataError(
            f"{path}: no column says which video a row is about, or what it says; the columns are "
            f"{', '.join(header)[:400]}. Name one with --columns video_id=COLUMN, url=COLUMN or caption=COLUMN."
        )
    return found


def _stream_csv(path: Path, columns: Mapping[str, str], delimiter: str) -> Iterator[pa.Table]:
    with pa.input_stream(str(path)) as stream:
        start = stream.read(2**20).decode("utf-8-sig", "replace")
    header = next(csv.reader(start.splitlines(keepends=True), delimiter=delimiter), [])
    found = find_columns(header, columns, path)
    wanted = list(dict.fromkeys(found.values()))
    options = pyarrow.csv.ConvertOptions(
        include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string()), strings_can_be_null=True
    )
    parse = pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    read = pyarrow.csv.ReadOptions(block_size=_BLOCK_BYTES)
    with closing(pyarrow.csv.open_csv(path, read, parse, options)) as reader:
        for batch in reader:
            yield pa.table({name: batch.column(column) for name, column in found.items()})


def _stream_json(path: Path, columns: Mapping[str, str]) -> Iterator[pa.Table]:
    with pa.input_stream(str(path)) as stream:
        line = stream.read(2**22).decode("utf-8-sig", "replace").partition("\n")[0]
    try:
        first = json.loads(line)
    except ValueError as error:
        raise VttdataError(f"{path}:1: not a line of JSON ({error}).") from error
    if not isinstance(first, dict):
        raise VttdataError(f"{path}:1: a JSON object on each line is expected.")
    found = find_columns(list(first), columns, path)
    read = pyarrow.json.ReadOptions(block_size=_BLOCK_BYTES)
    with closing(pyarrow.json.open_json(path, read)) as reader:
        for batch in reader:
            yield pa.table(
                {name: batch.column(column) for name, column in found.items() if column in batch.schema.names}
            )


def as_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of texts or numbers as one Arrow array of strings."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array if pa.types.is_string(array.type) else pc.cast(array, pa.string())
