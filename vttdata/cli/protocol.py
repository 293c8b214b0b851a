"""Make a protocol file of the literature for a dataset (``vttdata protocol``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import DATASET, FILE, Command, Names, SplitWithFile, argument, option
from vttdata.errors import VttdataError


@click.command(
    "protocol",
    cls=Command,
    notes=[
        "'vttdata list' has the protocols. Lists whose licence does not allow it are not shipped; the message says "
        "which list is needed. Where the name of a protocol goes, the file goes as well: load_dataset(NAME, "
        "'9k.json'), vttdata evaluate --config 9k.json, vttdata audit --config 9k.json, and protocols in a recipe."
    ],
    examples=["vttdata protocol msrvtt-9k vttdata/msrvtt --list test=ids.csv --out 9k.json"],
)
@argument(
    "name",
    "PROTOCOL",
    "Name of the protocol.",
    type=Names("protocol", "vttdata.recipe.packaged:protocols"),
)
@argument("dataset", "DATASET", "The dataset of its benchmark.", type=DATASET)
@option("--out FILE", "Write the protocol file (.json) here.", type=FILE, required=True)
@option(
    "--list SPLIT=FILE",
    "Ids of a split whose list is yours: a table with a column video_id, or one id a line; may be repeated.",
    name="lists",
    type=SplitWithFile("split"),
    multiple=True,
)
def command(name: str, dataset: str, out: Path, lists: tuple[tuple[str, Path | None], ...]) -> int:
    """Make the splits that papers use, such as MSR-VTT 1k-A.

    Writes a protocol file: the ids of each split. The number of clips and, where it is known, the digest are checked.
    """
    from vttdata.compose.published_protocols import make_protocol
    from vttdata.load.lookup import find_dataset

    if out.suffix != ".json":
        raise VttdataError(f"{out}: the name of a protocol file ends in .json.")
    files = {split: file for split, file in lists if split and file is not None}
    if len(files) < len(lists):
        raise VttdataError("--list is SPLIT=FILE, such as --list test=ids.csv, once for each split.")
    protocol = make_protocol(name, find_dataset(dataset), files)
    protocol.write(out)
    counts = ", ".join(f"{split} {len(ids):,}" for split, ids in protocol.splits.items())
    print(f"{protocol.label}: {counts} clips ({out})")
    return DONE
