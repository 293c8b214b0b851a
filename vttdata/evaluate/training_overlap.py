"""Find the items of a test that share something with what a model was trained on.

Sharing is what the audit of splits calls a leak: a source, overlapping times, near-duplicate sources. Captions that
were also written about a training clip are found too, but make no leak, since short captions recur by chance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.leak_audit import read_fingerprints
from vttdata.dataset.parquet import open_parquet, read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.evaluate.items import Items
from vttdata.evaluate.resampling import Flags
from vttdata.files.id_lists import read_ids
from vttdata.ids import source_of
from vttdata.load.lookup import find_dataset
from vttdata.split.audit.clip_table import ClipTable
from vttdata.split.audit.time_overlaps import count_overlaps
from vttdata.split.near_duplicates.matches import match_sources

Files = Mapping[str, Mapping[str, Sequence[Path]]]
_COLUMNS = ["video_id", "source_id", "url", "start", "end"]


def find_shared_items(folder: Path, items: Items, training: str) -> tuple[dict[str, Flags], list[str]]:
    """Return which items share something with training, and findings.

    Args:
        folder: dataset that the items are from.
        items: clips of a split.
        training: split of the items' configuration, or of the dataset's clips; or the folder or name of another
            dataset, all of whose clips count as seen; or a file of ids of clips or sources, or of URLs: every clip of
            the dataset, of any split, that the file names counts as seen.

    Returns:
        ``source``, ``overlap``, ``near_duplicate``, ``caption`` and ``leaked``, the union of the first three -> flags
        of the items, n. What cannot be judged is missing.

    Raises:
        VttdataError: if there is no such split, dataset or file, or it is the split of the items itself.
    """
    files = read_layout(folder, needs=None).files
    tested = _read_clips(files[items.config][items.split])
    tested = tested.filter(pa.array(np.isin(tested.column("video_id").to_pylist(), items.ids)))
    tested = tested.take(pa.array(_first_rows(tested.column("video_id").to_pylist(), items.ids)))
    config = items.config if training in files[items.config] else "clips"
    if training in files.get(config, {}):
        if (config, training) == (items.config, items.split):
            raise VttdataError(f"'{training}' is the split that is scored, so all of it would count as training.")
        trained_files, sources = files[config][training], list(chain(*files.get("sources", {}).values()))
    elif Path(training).is_file():
        return _find_listed(files, tested, items, Path(training))
    else:
        other = read_layout(find_dataset(training), needs="clips").files
        trained_files = list(chain(*other["clips"].values()))
        sources = [path for layout in (files, other) for path in chain(*layout.get("sources", {}).values())]
    trained = _read_clips(trained_files)
    if not len(trained):
        raise VttdataError(f"'{training}' has no clips.")
    texts = {text for row in read_parquet_rows(trained_files, ["captions"]) for text in row["captions"] or ()}
    return _share(tested, trained, sources, texts, items), []


def _share(
    tested: Any, trained: Any, sources: Sequence[Path], texts: Collection[str], items: Items
) -> dict[str, Flags]:
    """Return the flags of `find_shared_items` for clips that were trained on and their captions."""
    split = np.repeat([0, 1], [len(tested), len(trained)])
    clips = _join_sources(pa.concat_tables([tested, trained]))
    table = ClipTable.from_arrow(clips, split, ["test", "train"])
    shared = _find_leaks(table, sources)
    captions = [any(text in texts for text in references) for references in items.references]
    return {**shared, "caption": np.array(captions), "leaked": np.logical_or.reduce([shared[leak] for leak in shared])}


def _find_leaks(table: ClipTable, source_files: Sequence[Path]) -> dict[str, Flags]:
    """Return the leaks of the rows of split 0 with those of split 1; near-duplicates only where fingerprints exist."""
    test = table.split == 0
    feeds_training = table.splits_of_sources()[:, 1]
    overlaps = count_overlaps(table.source, table.start, table.end)
    inside = count_overlaps(table.source * 2 + table.split, table.start, table.end)
    leaks = {"source": feeds_training[table.source[test]], "overlap": (overlaps > inside)[test]}
    names = table.source_ids.to_pylist()
    matches = match_sources(read_fingerprints(source_files, set(names)))
    if matches.samples.ids:
        partner_in_training = np.zeros(len(names), dtype=np.bool_)
        for pair in matches.duplicates():
            a, b = table.find_sources([pair.source_a, pair.source_b])
            partner_in_training[a] |= feeds_training[b]
            partner_in_training[b] |= feeds_training[a]
        leaks["near_duplicate"] = partner_in_training[table.source[test]]
    return leaks


def _find_listed(files: Files, tested: Any, items: Items, path: Path) -> tuple[dict[str, Flags], list[str]]:
    """Return what items share with the clips of the dataset, of any split, that a list names, and findings."""
    listed = set(read_ids(path))
    addresses = {source_of(name) for name in listed if "/" in name}
    paths = list(dict.fromkeys(chain(*files["clips"].values(), *files[items.config].values())))
    clips = _read_clips(paths)
    ids, source_ids, urls = (clips.column(name).to_pylist() for name in ("video_id", "source_id", "url"))
    named = np.array(
        [
            bool(listed & {video_id, source_id}) or (url is not None and source_of(url) in addresses)
            for video_id, source_id, url in zip(ids, source_ids, urls, strict=True)
        ],
        dtype=np.bool_,
    )
    known = {*ids, *source_ids}
    of_urls = {source_of(url) for url in urls if url is not None}
    unknown = [name for name in listed if name not in known and ("/" not in name or source_of(name) not in of_urls)]
    findings = []
    if unknown:
        findings.append(
            f"{path}: {len(unknown):,} of {len(listed):,} entries name no clip, source or URL of the dataset (first "
            f"{min(unknown)[:80]!a})."
        )
    texts = {
        text
        for row, is_named in zip(read_parquet_rows(paths, ["captions"]), named, strict=True)
        if is_named
        for text in row["captions"] or ()
    }
    sources = list(chain(*files.get("sources", {}).values()))
    return _share(tested, clips.filter(pa.array(named)), sources, texts, items), findings


def _read_clips(paths: Sequence[Path]) -> Any:
    tables = []
    for path in paths:
        with open_parquet(path, *_COLUMNS) as file:
            tables.append(file.read(columns=_COLUMNS))
    return pa.concat_tables(tables)


def _join_sources(table: Any) -> Any:
    """Give sources of one address one id, since datasets name the same video differently."""
    columns = (table.column(name).to_pylist() for name in ("source_id", "url"))
    id_of: dict[str, str] = {}
    joined = [
        source_id if source_id is None or url is None else id_of.setdefault(source_of(url), source_id)
        for source_id, url in zip(*columns, strict=True)
    ]
    index = table.schema.get_field_index("source_id")
    return table.set_column(index, "source_id", pa.array(joined, pa.string()))


def _first_rows(video_ids: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the first row of each wanted clip; official files may list a clip twice."""
    rows: dict[str, int] = {}
    for row, video_id in enumerate(video_ids):
        rows.setdefault(video_id, row)
    return [rows[video_id] for video_id in wanted]
