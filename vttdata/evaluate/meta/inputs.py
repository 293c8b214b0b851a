"""Read what metrics are compared with people on: judgments of any kind, candidates and references from other files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from vttdata.errors import VttdataError
from vttdata.evaluate.meta.judgments import (
    CROWD,
    EXPERT,
    SCORED,
    JudgmentTable,
    check_unique_names,
    read_dataset_judgments,
    read_flickr8k,
    read_judgment_table,
)
from vttdata.evaluate.meta.stress import StressSet, read_stress_set
from vttdata.export.reader import DatasetReader
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.tables import READ_SUFFIXES, Columns, read_table, required_text
from vttdata.load.lookup import find_dataset
from vttdata.text.captions import INPUT_COLUMNS, read_caption_table


class Inputs(NamedTuple):
    """Sets of judgments by people, sets of pairs that need no people, and the folders of datasets among them."""

    judgments: list[JudgmentTable]
    pairs: list[StressSet]
    datasets: list[Path]


def read_inputs(
    sources: Sequence[str],
    *,
    candidates: Path | None = None,
    references: str | None = None,
    offset: int = 0,
    split: str | None = None,
    columns: Mapping[str, str] = {},
) -> Inputs:
    """Read sets of judgments, and make pairs of the captions of datasets that have no judgments.

    Args:
        sources: each a table of judgments, a folder of `vttdata people score` or with files of Flickr8k, or a dataset.
        candidates: table of the captions of systems, for tables of judgments without texts.
        references: dataset or table of human captions, for tables of judgments without references.
        offset: see `read_judgment_table`.
        split: of datasets without judgments.
        columns: name -> what the column is called in one of the tables.

    Raises:
        VttdataError: if one cannot be read, is none of these, or an option fits none of them.
    """
    texts = read_candidates(candidates, columns) if candidates is not None else None
    human = read_references(references, columns) if references is not None else None
    inputs = Inputs([], [], [])
    tables = 0
    for source in sources:
        path = Path(os.path.expanduser(source))
        if path.is_dir() and not (path / "README.md").is_file():
            path = next((path / name for name in SCORED if (path / name).is_file()), path)
        if path.name in (EXPERT, CROWD) or (path.is_dir() and any((path / name).is_file() for name in (EXPERT, CROWD))):
            inputs.judgments.extend(read_flickr8k(path))
        elif path.is_file() or path.suffix.lower() in READ_SUFFIXES:
            inputs.judgments.append(read_judgment_table(path, texts, human, offset, columns))
            tables += 1
        else:
            folder = find_dataset(source)
            inputs.datasets.append(folder)
            if "judgments" in DatasetReader(folder).configs:
                inputs.judgments.extend(read_dataset_judgments(folder))
            else:
                inputs.pairs.extend(read_stress_set(folder, split=split))
    if not tables and (texts is not None or human is not None or offset):
        raise VttdataError("Candidates, references and an offset belong to a table of judgments, and none is given.")
    check_unique_names(inputs.judgments)
    return inputs


def read_candidates(file: Path, columns: Mapping[str, str] = {}) -> dict[tuple[str, str], str]:
    """Read the captions of systems: a table with ``video_id``, ``caption`` and, if known, ``system``.

    The manifest of `vttdata people export` is such a table; its controls are left out.

    Returns:
        (system, video_id) -> caption.

    Raises:
        VttdataError: if it cannot be read, or a caption is duplicated.
    """
    ids, texts = ("video_id", "item", "image_id"), ("caption", "candidate")
    candidates: dict[tuple[str, str], str] = {}
    known = Columns((*ids, *texts, "system", "kind"), [ids, texts], mapping=columns, any_table=True)
    for line, row in read_table(file, known):
        if row.get("kind") not in (None, "system", "human"):
            continue
        video_id = unescape_formula(required_text(file, line, row, next(name for name in ids if name in row)))
        caption = unescape_formula(required_text(file, line, row, next(name for name in texts if name in row)))
        key = (unescape_formula(str(row.get("system") or "")), video_id)
        if candidates.setdefault(key, caption) != caption:
            raise VttdataError(f"{file}:{line}: the caption of {video_id[:80]!a} by {key[0][:80]!a} is duplicated.")
    if not candidates:
        raise VttdataError(f"{file}: contains no captions.")
    return candidates


def read_references(source: str, columns: Mapping[str, str] = {}) -> dict[str, list[str]]:
    """Read human captions of a dataset, all splits, or of a table with ``video_id`` and ``caption``.

    Returns:
        ``video_id`` -> captions.

    Raises:
        VttdataError: if it cannot be read, or has no human captions.
    """
    references: dict[str, list[str]] = {}
    if Path(source).is_file():
        for raw in read_caption_table(Path(source), columns, INPUT_COLUMNS, any_table=True):
            if raw.author in (None, "human") and raw.caption:
                references.setdefault(raw.video_id or raw.source or "", []).append(raw.caption)
    else:
        dataset = DatasetReader(find_dataset(source))
        dataset.require_captions()
        for split in dataset.splits("captions"):
            for caption in dataset.captions(split):
                if caption.author == "human":
                    references.setdefault(caption.video_id, []).append(caption.caption)
    if not references:
        raise VttdataError(f"{source}: contains no human captions.")
    return references
