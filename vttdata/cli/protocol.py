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
    notes=["Lists whose licence does not allow it are not shipped; the message says which list is needed."],
    examples=["vttdata protocol", "vttdata protocol msrvtt-9k vttdata/msrvtt --list test=ids.csv --out 9k.json"],
)
@argument(
    "name",
    "[PROTOCOL]",
    "Name of the protocol; without one, all are listed.",
    type=Names("protocol", "vttdata.compose.published_protocols:protocol_specifications"),
    required=False,
)
@argument("dataset", "[DATASET]", "The dataset of its benchmark.", type=DATASET, required=False)
@option("--out FILE", "Write the protocol file (.json) here.", type=FILE)
@option(
    "--list SPLIT=FILE",
    "Ids of a split whose list is yours: a table with a column video_id, or one id a line; may be repeated.",
    name="lists",
    type=SplitWithFile("split"),
    multiple=True,
)
def command(name: str | None, dataset: str | None, out: Path | None, lists: tuple[tuple[str, Path | None], ...]) -> int:
    """List the protocols of the literature, or make the file of one for a dataset.

    The number of clips and, where it is known, the digest are checked.
    """
    from vttdata.compose.published_protocols import make_protocol, protocol_specifications, read_specification
    from vttdata.files.table_formats import align_columns
    from vttdata.load.lookup import find_dataset

    if name is None:
        rows = [("protocol", "benchmark", "what it is")]
        for known, path in protocol_specifications().items():
            published = read_specification(path)
            rows.append((known, published.benchmark, f"{published.description} ({published.citation})"))
        print(align_columns(rows, left=range(3)))
        return DONE
    if dataset is None or out is None:
        raise VttdataError(f"Give a dataset and a file to write: vttdata protocol {name} DATASET --out FILE.json.")
    if out.suffix != ".json":
        raise VttdataError(f"{out}: the name of a protocol file ends in .json.")
    files = {split: file for split, file in lists if file is not None}
    if len(files) < len(lists):
        raise VttdataError("--list is SPLIT=FILE, such as --list test=ids.csv, once for each split.")
    protocol = make_protocol(name, find_dataset(dataset), files)
    protocol.write(out)
    counts = ", ".join(f"{split} {len(ids):,}" for split, ids in protocol.splits.items())
    print(f"{protocol.label}: {counts} clips ({out})")
    return DONE
