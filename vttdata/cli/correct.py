"""Correct values of a dataset (``vttdata correct``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, dataset_argument, option
from vttdata.errors import VttdataError


@click.command(
    "correct",
    cls=Command,
    notes=[
        "The table has the columns id, field, old, new, reason, who and date. An id is that of a clip or question, or "
        "VIDEO#SEN_ID of a caption or query; a field is captions.caption, clips.category, clips.start, clips.end, "
        "questions.question, questions.options, questions.answer, moments.starts and so on."
    ],
    examples=[
        "vttdata correct vttdata/demo --find 'a man' > errata.csv",
        "vttdata correct vttdata/demo --errata errata.csv",
        "vttdata correct vttdata/msrvtt --errata errata.csv --out corrected",
    ],
)
@dataset_argument
@option("--errata FILE", "Table of corrections (CSV, TSV, JSON).", type=FILE)
@option("--find TEXT", "Print the values that contain this text, or whose id does, as a table to be filled in.")
@option("--out DIR", "Folder of the corrected dataset.", type=FILE, show_default="in the place of the dataset")
def command(dataset: str, errata: Path | None, find: str | None, out: Path | None) -> int:
    """Correct captions, answers, spans or categories.

    Every old value is compared with the dataset first; if one differs, nothing is changed. The dataset becomes the next
    major version, with the corrections in the configuration 'errata' and on the card, and later builds in its folder
    keep them. 'vttdata evaluate NEW PREDICTIONS --against OLD/evaluation.json' shows what they do to a score.
    """
    if (errata is None) == (find is None):
        raise VttdataError("Give either --errata FILE, or --find TEXT for the ids and values that it wants.")
    if find is not None:
        return _print_values(dataset, find)
    assert errata is not None
    from vttdata.compose.correct import correct_dataset

    folder, version, revision = correct_dataset(dataset, errata, out=out)
    counts = ", ".join(f"{config} {rows:,}" for config, rows in sorted(revision.corrected.items()) if rows)
    print(f"{folder} has version {version}; rows with new values: {counts}")
    return DONE


def _print_values(dataset: str, text: str) -> int:
    """Print the values of a dataset that contain a text as a table of errata."""
    from vttdata.dataset.errata import COLUMNS, find_values
    from vttdata.files.table_formats import as_csv
    from vttdata.load.lookup import find_dataset

    rows = [[*found, found[-1], "", "", ""] for found in find_values(find_dataset(dataset), text)]
    if not rows:
        raise VttdataError(f"No value that can be corrected contains {text[:80]!a}, and no id.")
    print(as_csv([list(COLUMNS), *rows]), end="")
    return DONE
