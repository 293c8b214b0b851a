"""The command ``vttdata export``: a dataset in the format that somebody else's code reads."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError
from vttdata.export.formats import export_formats


def add_export(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    try:
        formats = export_formats()
        width = max(map(len, formats))
        listed = "\n".join(f"  {name:<{width}}  {description}" for name, description in formats.items())
    except VttdataError as error:
        listed = f"  {error}"
    parser = commands.add_parser(
        "export",
        help="write a dataset in a format that other code reads",
        description="Write a dataset in a format that other code reads unchanged. DIR/README.md says how it is read\n"
        "and by which rules it was written; an earlier export in DIR is replaced as a whole.",
        epilog=f"formats:\n{listed}\n\n"
        "Examples:\n"
        "  vttdata export vttdata/msrvtt --format coco --split test --out references\n"
        "  vttdata export vttdata/msrvtt --format coco-results --captions system.csv --out results",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("dataset", metavar="DATASET", help="a dataset folder, a build folder, or a dataset's name")
    parser.add_argument("--format", metavar="NAME", required=True, help="one of those below")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="where to write")
    one = "only this split (default: all; for lmms-eval and coco-results test, or the only one)"
    parser.add_argument("--split", metavar="NAME", help=one)
    config = "clips, or a protocol (default: clips; for retrieval these and all protocols, for jsonl every table)"
    parser.add_argument("--config", metavar="NAME", help=config)
    table = "a CSV, TSV or JSONL table with video_id and caption, one row a clip; for coco-results"
    parser.add_argument("--captions", metavar="TABLE", type=Path, help=table)
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    from vttdata.export.write import export
    from vttdata.load.dataset import find_dataset

    asked = {"config": options.config, "split": options.split, "captions": options.captions}
    written = export(find_dataset(options.dataset), options.format, options.out, **asked)
    for name in written.files:
        print(written.folder / name)
    for note in written.notes:
        print(f"note: {note}", file=sys.stderr)
    return 0
