"""Find the items of a test that share something with what a model was trained on.

Sharing is what the audit of splits calls a leak: a source, overlapping times, near-duplicate sources. Captions that
were also written about a training clip are found too, but make no leak, since short captions recur by chance.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.leak_audit import read_fingerprints
from vttdata.dataset.parquet import open_parquet, read_parquet_rows
from vttdata.dataset.protocol_file import Protocol, is_protocol_file, read_protocol_file
from vttdata.errors import VttdataError
from vttdata.evaluate.items import Items
from vttdata.files.id_lists import read_ids
from vttdata.ids import source_of
from vttdata.load.lookup import find_dataset
from vttdata.split.audit.atlas import VideoSet
from vttdata.split.audit.clip_table import ClipTable, count_overlaps
from vttdata.split.near_duplicates.matches import match_sources
from vttdata.statistics.arrays import Flags

Files = Mapping[str, Mapping[str, Sequence[Path]]]
_COLUMNS = ["video_id", "source_id", "url", "start", "end"]


class _Training(NamedTuple):
    """Clips that a model was trained on, the files of their sources, their captions, and the benchmark they are of."""

    clips: pa.Table
    sources: Sequence[Path]
    captions: Collection[str]
    benchmark: VideoSet | None = None


def find_shared_items(
    folder: Path, items: Items, training: Sequence[str | os.PathLike[str]], protocol: Protocol | None = None
) -> tuple[dict[str, Flags], list[str]]:
    """Return which items share something with training, and findings.

    Args:
        folder: dataset that the items are from.
        items: clips of a split, or questions or queries about them.
        training: each a split of the protocol, of the items' configuration, or of the dataset's clips; or the name of
            a benchmark in ``recipes/sources``, whose training split counts as seen, or all of it where it has none; or
            the folder or name of another dataset, all of whose clips count as seen; or a file of ids of clips or
            sources, or of URLs: every clip of the dataset, of any split, that the file names counts as seen, and of
            another protocol those of its training splits.
        protocol: that of the items, where a file states one of clips.

    Returns:
        ``source``, ``overlap``, ``near_duplicate``, ``caption``, ``leaked``, the union of the first three, and
        ``clean``, all others -> flags of the items, n. What cannot be judged is missing; without training all is.

    Raises:
        VttdataError: if there is no such split, dataset or file, or it is the split of the items itself.
    """
    if not training:
        return {}, []
    files = read_layout(folder, needs=None).files
    if "clips" not in files:
        raise VttdataError(f"{folder}: says nothing of sources and times, so scores cannot be given apart.")
    video_ids = items.clip_ids
    # Of a protocol file the clips are in any split of the dataset.
    tested_files = files.get(items.clip_config, {}).get(items.split) or list(chain(*files["clips"].values()))
    tested = _read_clips(tested_files)
    tested = tested.filter(pa.array(np.isin(tested.column("video_id").to_pylist(), video_ids)))
    # Official files may list a clip twice; its first row counts.
    first_rows = dict(zip(reversed(tested.column("video_id").to_pylist()), reversed(range(len(tested))), strict=True))
    tested = tested.take(pa.array([first_rows[video_id] for video_id in video_ids]))
    findings: list[str] = []
    parts = [_read_training(files, items, os.fspath(name), findings, protocol) for name in training]
    trained = pa.concat_tables([part.clips for part in parts], promote_options="permissive")
    benchmarks = [part.benchmark for part in parts if part.benchmark is not None]
    if benchmarks:
        from vttdata.load.video_sets import adopt_names

        tested = adopt_names([VideoSet("tested", tested), *benchmarks])[0].table
    split = np.repeat([0, 1], [len(tested), len(trained)])
    # Ids of clips are those of one dataset, and those of sources, with addresses, name videos everywhere.
    table = ClipTable.from_arrow(
        pa.concat_tables([tested, trained], promote_options="permissive"),
        split,
        ["test", "train"],
        ["source_id", "name_in_id", "url"],
    )
    sources = list(dict.fromkeys(chain(*files.get("sources", {}).values(), *(part.sources for part in parts))))
    leaks = _find_leaks(table, sources)
    if "near_duplicate" not in leaks:
        findings.append("Near-duplicates of training were not judged, since no source has a fingerprint.")
    leaked = np.logical_or.reduce(list(leaks.values()))
    if items.captions:
        texts = frozenset(chain.from_iterable(part.captions for part in parts))
        leaks["caption"] = np.array([any(text in texts for text in references) for references in items.captions])
    return {**leaks, "leaked": leaked, "clean": ~leaked}, findings


def _read_training(files: Files, items: Items, name: str, findings: list[str], protocol: Protocol | None) -> _Training:
    """Read what one entry of the training stands for, and add to the findings."""
    if protocol is not None and name in protocol.splits:
        if name == items.split:
            raise _scored_itself(name)
        return _read_protocol(files, protocol, [name], findings)
    if _states_protocol(name):
        listed = read_protocol_file(Path(name))
        return _read_protocol(files, listed, [split for split in listed.splits if split.startswith("train")], findings)
    own = items.clip_config
    config = own if name in files.get(own, {}) else "clips"
    is_split = name in files.get(config, {})
    is_list = not is_split and Path(name).is_file()
    if not is_split and not Path(name).exists():
        from vttdata.recipe.sources import all_sources

        if name in all_sources():
            return _read_benchmark(name, findings)
    sources: list[Path] = []
    if is_split:
        if (config, name) == (own, items.split):
            raise _scored_itself(name)
        paths = files[config][name]
    elif is_list:
        paths = list(dict.fromkeys(chain(*files["clips"].values(), *files.get(own, {}).values())))
    else:
        other = read_layout(find_dataset(name), needs="clips").files
        paths, sources = list(chain(*other["clips"].values())), list(chain(*other.get("sources", {}).values()))
    clips = _read_clips(paths)
    if not len(clips):
        raise VttdataError(f"'{name}' has no clips.")
    seen = _find_listed(clips, Path(name), findings) if is_list else np.ones(len(clips), dtype=np.bool_)
    rows = zip(read_parquet_rows(paths, ["captions"]), seen, strict=True)
    texts = {text for row, is_seen in rows if is_seen for text in row["captions"] or ()}
    return _Training(clips.filter(pa.array(seen)), sources, texts)


def _states_protocol(name: str) -> bool:
    """Return whether a name is that of a file of a protocol; a JSON file may have a list of ids as well."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        content = json.loads(Path(name).read_bytes()) if is_protocol_file(name) else None
        return isinstance(content, dict) and "protocol" in content
    return False


def _scored_itself(split: str) -> VttdataError:
    return VttdataError(f"'{split}' is the split that is scored, so all of it would count as training.")


def _read_protocol(files: Files, protocol: Protocol, splits: Sequence[str], findings: list[str]) -> _Training:
    """Read the clips that some splits of a protocol list, whatever split of the dataset they are in."""
    if not splits:
        raise VttdataError(f"{protocol.name}: has no split of training; name a file of the ids that were seen.")
    paths = list(chain(*files["clips"].values()))
    clips, listed = _read_clips(paths), {*chain.from_iterable(protocol.splits[split] for split in splits)}
    ids = clips.column("video_id").to_pylist()
    protocol.check_ids(set(ids), protocol.name)
    seen = np.array([video_id in listed for video_id in ids], np.bool_)
    findings.append(f"{protocol.label}: the {len(listed):,} clips of its {' and '.join(splits)} count as seen.")
    rows = zip(read_parquet_rows(paths, ["captions"]), seen, strict=True)
    texts = {text for row, is_seen in rows if is_seen for text in row["captions"] or ()}
    return _Training(clips.filter(pa.array(seen)), [], texts)


def _read_benchmark(name: str, findings: list[str]) -> _Training:
    """Read what the training split of a benchmark holds from its official files, which are fetched."""
    from vttdata.load.video_sets import read_benchmark

    benchmark = read_benchmark(name, findings.append)
    splits = set(benchmark.table.column("split").to_pylist()) | {*benchmark.texts}
    trained = [split for split in splits if split.startswith("train")] or sorted(splits)
    table = benchmark.table.filter(pc.is_in(benchmark.table.column("split"), pa.array(trained, pa.large_string())))
    findings.append(f"{name}: {', '.join(trained)} with {len(table):,} parts of videos counts as seen.")
    texts = {text for split in trained for text in benchmark.texts.get(split, ())}
    return _Training(table.rename_columns({"item": "video_id"}), [], texts, benchmark)


def _find_leaks(table: ClipTable, source_files: Sequence[Path]) -> dict[str, Flags]:
    """Return the leaks of the rows of split 0 with those of split 1; near-duplicates only where fingerprints exist."""
    test = table.split == 0
    feeds_training = table.splits_of_sources()[:, 1]
    overlaps = count_overlaps(table.source, table.start, table.end)
    inside = count_overlaps(table.source * 2 + table.split, table.start, table.end)
    leaks = {"source": feeds_training[table.source[test]], "overlap": (overlaps > inside)[test]}
    matches = match_sources(read_fingerprints(source_files, set(table.names.to_pylist())))
    if matches.samples.ids:
        partner_in_training = np.zeros(len(table.source_ids), dtype=np.bool_)
        for pair in matches.duplicates():
            a, b = table.find_sources([pair.source_a, pair.source_b])
            partner_in_training[a] |= feeds_training[b]
            partner_in_training[b] |= feeds_training[a]
        leaks["near_duplicate"] = partner_in_training[table.source[test]]
    return leaks


def _find_listed(clips: pa.Table, path: Path, findings: list[str]) -> Flags:
    """Return which clips a list names by their id, their source or its URL; entries that name none are a finding."""
    listed = set(read_ids(path, "source_id", "url"))
    columns = (clips.column(name).to_pylist() for name in ("video_id", "source_id", "url"))
    names = [{video_id, source_id, url and source_of(url)} for video_id, source_id, url in zip(*columns, strict=True)]
    known = frozenset(chain.from_iterable(names))
    unknown = [name for name in listed if known.isdisjoint({name, source_of(name)})]
    if unknown:
        findings.append(
            f"{path}: {len(unknown):,} of {len(listed):,} entries name no clip, source or URL of the dataset (first "
            f"{min(unknown)[:80]!a})."
        )
    wanted = listed | {source_of(name) for name in listed}
    return np.array([not wanted.isdisjoint(of_clip) for of_clip in names])


def _read_clips(paths: Sequence[Path]) -> pa.Table:
    tables = []
    for path in paths:
        with open_parquet(path, *_COLUMNS) as file:
            tables.append(file.read(columns=_COLUMNS))
    return pa.concat_tables(tables)
