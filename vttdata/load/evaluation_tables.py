"""Make the configurations ``items``, ``queries`` and ``relevance`` of a dataset as tables of `datasets`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets

from vttdata.export.evaluation_tables import EVALUATION_TABLES, evaluation_rows
from vttdata.export.reader import CaptionCounts, DatasetReader
from vttdata.records import arrow_schema, to_row


def is_evaluation_table(name: object) -> bool:
    """Return whether a configuration is made from clips and captions: ``items`` and so on, or ``PROTOCOL-items``."""
    return str(name).rpartition("-")[2] in EVALUATION_TABLES


def make_evaluation_table(folder: Path, arguments: Mapping[str, Any]) -> Any:
    """Make ``items``, ``queries`` or ``relevance`` of clips, or of a protocol; None if the dataset cannot have it.

    Of the arguments of `datasets.load_dataset`, only ``name``, ``split`` and ``streaming`` have an effect.

    Raises:
        VttdataError: if the dataset cannot be read.
        ValueError: if the split does not exist.
    """
    name: str = arguments["name"]
    protocol, _, table = name.rpartition("-")
    config, dataset = protocol or "clips", DatasetReader(folder)
    if name in dataset.configs or "captions" not in dataset.configs or config not in dataset.clip_configs():
        return None
    features = datasets.Features.from_arrow_schema(arrow_schema(EVALUATION_TABLES[table]))
    names, requested_split = dataset.splits(config), arguments.get("split")
    splits = datasets.DatasetDict()
    for split in [requested_split] if requested_split in names else names:
        with tempfile.TemporaryDirectory() as scratch:
            clips = dataset.references(config, split, Path(scratch), CaptionCounts())
            rows = [to_row(row) for clip in clips for row in evaluation_rows(table, clip)]
        info = datasets.DatasetInfo(features=features, version=dataset.version, config_name=name)
        columns = {column: [row[column] for row in rows] for column in features}
        splits[split] = datasets.Dataset.from_dict(columns, info=info, split=datasets.NamedSplit(split))
    chosen = _select_rows(splits, requested_split)
    if not arguments.get("streaming"):
        return chosen
    if isinstance(chosen, datasets.DatasetDict):
        return datasets.IterableDatasetDict({split: rows.to_iterable_dataset() for split, rows in chosen.items()})
    return chosen.to_iterable_dataset()


def _select_rows(splits: datasets.DatasetDict, split: object) -> Any:
    """Return the rows of a split, or of an instruction such as ``train+test[:10]``; all splits for None."""
    if split is None:
        return splits
    if isinstance(split, (list, tuple)):
        return [_select_rows(splits, part) for part in split]
    spec = split if isinstance(split, datasets.ReadInstruction) else datasets.ReadInstruction.from_spec(str(split))
    parts = spec.to_absolute({name: rows.num_rows for name, rows in splits.items()})
    chosen = [splits[part.splitname].select(range(part.from_, part.to)) for part in parts]
    return chosen[0] if len(chosen) == 1 else datasets.concatenate_datasets(chosen)
