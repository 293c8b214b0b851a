"""Find the items of a test that share something with what a model was trained on.

Sharing is what the audit of splits calls a leak: a source, overlapping times, near-duplicate sources. Captions that
were also written about a training clip are found too, but make no leak, since short captions recur by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from vttdata.load.lookup import find_dataset
from vttdata.split.audit.clip_table import ClipTable
from vttdata.split.audit.time_overlaps import count_overlaps
from vttdata.split.near_duplicates.matches import match_sources

Files = Mapping[str, Mapping[str, Sequence[Path]]]
_COLUMNS = ["video_id", "source_id", "url", "start", "end"]


def find_shared_items(folder: Path, items: Items, training: str) -> dict[str, Flags]:
    """Return which items share something with training.

    Args:
        folder: dataset that the items are from.
        items: clips of a split.
        training: split of the items' configuration, or of the dataset's clips; or the folder or name of another
            dataset, all of whose clips count as seen; or a file of ids of clips or sources, or of URLs.

    Returns:
        ``source``, ``overlap``, ``near_duplicate``, ``caption`` and ``leaked``, the union of the first three -> flags
        of the items, n. What cannot be judged is missing: a list of ids says nothing of times, pictures or captions.

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
        return _find_listed(tested, read_ids(Path(training)))
    else:
        other = read_layout(find_dataset(training), needs="clips").files
        trained_files = list(chain(*other["clips"].values()))
        sources = [path for layout in (files, other) for path in chain(*layout.get("sources", {}).values())]
    trained = _read_clips(trained_files)
    if not len(trained):
        raise VttdataError(f"'{training}' has no clips.")
    split = np.repeat([0, 1], [len(tested), len(trained)])
    table = ClipTable.from_arrow(pa.concat_tables([tested, trained]), split, ["test", "train"])
    shared = _find_leaks(table, sources)
    texts = {text for row in read_parquet_rows(trained_files, ["captions"]) for text in row["captions"] or ()}
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


def _find_listed(tested: Any, listed: Iterable[str]) -> dict[str, Flags]:
    """Return the clips whose id, source or URL is in a list."""
    names = set(listed)
    columns = [tested.column(name).to_pylist() for name in ("video_id", "source_id", "url")]
    flags = np.array([any(value in names for value in row) for row in zip(*columns, strict=True)])
    return {"source": flags, "leaked": flags}


def _read_clips(paths: Sequence[Path]) -> Any:
    tables = []
    for path in paths:
        with open_parquet(path, *_COLUMNS) as file:
            tables.append(file.read(columns=_COLUMNS))
    return pa.concat_tables(tables)


def _first_rows(video_ids: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the first row of each wanted clip; official files may list a clip twice."""
    rows: dict[str, int] = {}
    for row, video_id in enumerate(video_ids):
        rows.setdefault(video_id, row)
    return [rows[video_id] for video_id in wanted]
