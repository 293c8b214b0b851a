"""Degraded captions of a table or a dataset as two tables, for an assessment.

What is written has a manifest and no card, so it is no dataset; a recipe with the key ``degrade`` over official files
builds one. Parquet and not CSV: types stay, and a caption that begins with ``=`` is no formula anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from vttdata.compose.input_captions import read_input
from vttdata.compose.package import provenance_of_build
from vttdata.dataset.manifest import write_manifest
from vttdata.dataset.parquet import write_rows
from vttdata.dataset.provenance import input_file, write_provenance
from vttdata.dataset.replace_folder import replace_folder
from vttdata.errors import VttdataError
from vttdata.generate import DegradeSettings
from vttdata.pipeline.build_folder import Build
from vttdata.pipeline.stages.captions import CaptionInSplit, CleanedCaptions, DegradeCaptions
from vttdata.records import Caption, Degraded, arrow_schema, to_row
from vttdata.text.captions import Removal

DEGRADED, REJECTED = "degraded.parquet", "rejected.parquet"
_REJECTED_SCHEMA = pa.schema([("video_id", pa.string()), ("reason", pa.string()), ("detail", pa.string())])
_ROWS_PER_GROUP = 10_000


class DegradedCounts(NamedTuple):
    """Numbers of captions by flag, ``degraded`` for those without one, and of removed captions by reason."""

    flags: Counter[str]
    removed: Counter[str]


def build_degraded(reference: str, columns: Mapping[str, str], settings: DegradeSettings, run: Build) -> DegradedCounts:
    """Degrade every caption of an input with words from its own split, and write both tables.

    The input is that of `read_input`; the build's dataset folder gets the tables, their provenance and a manifest.

    Raises:
        VttdataError: when the input has no captions, or only captions about one source.
    """
    material = read_input(reference, columns)
    entries: list[CaptionInSplit] = []
    for split in material.splits:
        for caption in split.captions:
            if caption.video_id not in split.source_of:
                raise VttdataError(f"{reference}: the source of clip {caption.video_id!a} is not known.")
            entries.append(CaptionInSplit(caption, split.source_of[caption.video_id], split.split))
    if not entries:
        raise VttdataError(f"{reference}: has no caption to degrade.")
    if len({entry.source_id for entry in entries}) == 1:
        raise VttdataError(
            f"{reference}: all {len(entries):,} captions are about one source, and words must come from another one."
        )
    recipe = run.loaded.recipe
    run.steps = 2
    cleaned: list[Caption | Removal] = [*(entry.caption for entry in entries), *material.removed]
    run.stage(CleanedCaptions(), cleaned)
    degraded = run.stage(DegradeCaptions(settings, recipe.seed), entries)
    counts = DegradedCounts(Counter(), Counter(removal.reason for removal in material.removed))
    with replace_folder(run.dataset) as folder:
        counts.flags.update(record.flag or "degraded" for record in degraded)
        write_rows(folder / DEGRADED, arrow_schema(Degraded), map(to_row, degraded), _ROWS_PER_GROUP)
        rejected = ({name: getattr(removal, name) for name in _REJECTED_SCHEMA.names} for removal in material.removed)
        write_rows(folder / REJECTED, _REJECTED_SCHEMA, rejected, _ROWS_PER_GROUP)
        write_provenance(folder, provenance_of_build(run, {}))
        files = (input_file("", path) for path in sorted(folder.iterdir()))
        facts = {file.name: {"sha256": file.sha256, "bytes": file.bytes} for file in files}
        write_manifest(folder, name=recipe.name, version=recipe.version, files=facts)
    return counts
