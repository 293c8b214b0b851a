"""Correct values of a dataset (``vttdata correct``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, dataset_argument, option


@click.command(
    "correct",
    cls=Command,
    notes=[
        "The table has the columns id, field, old, new, reason, who and date. An id is that of a clip or question, or "
        "VIDEO#SEN_ID of a caption or query; a field is captions.caption, clips.category, clips.start, clips.end, "
        "questions.question, questions.options, questions.answer, moments.starts and so on."
    ],
    examples=["vttdata correct vttdata/demo --errata errata.csv", "vttdata diff published vttdata/demo"],
)
@dataset_argument
@option("--errata FILE", "Table of corrections (CSV, TSV, JSON).", type=FILE, required=True)
@option("--out DIR", "Folder of the corrected dataset.", type=FILE, show_default="in the place of the dataset")
def command(dataset: str, errata: Path, out: Path | None) -> int:
    """Correct captions, answers, spans or categories.

    Every old value is compared with the dataset first; if one differs, nothing is changed. The dataset becomes the next
    major version, with the corrections in the configuration 'errata' and on the card, and later builds in its folder
    keep them. 'vttdata evaluate NEW PREDICTIONS --against OLD/evaluation.json' shows what they do to a score.
    """
    from vttdata.compose.correct import correct_dataset

    folder, version, revision = correct_dataset(dataset, errata, out=out)
    counts = ", ".join(f"{config} {rows:,}" for config, rows in sorted(revision.corrected.items()) if rows)
    print(f"{folder} has version {version}; rows with new values: {counts}")
    return DONE
