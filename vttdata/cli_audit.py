"""The command ``audit``: parses, calls, prints."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from vttdata.cli_audit_foils import add_attack_options, audit_foils, holds_foils, refuse_attack_options
from vttdata.errors import VttdataError

EXIT_CODES = (
    "Exit codes: 0 done; 1 not all of it could be done; 2 bad usage, recipe or input; 3 an audit found leaks; "
    "4 what was compared differs."
)
_DONE, _LEAKS = 0, 3


def add_audit(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "audit",
        help="find what the splits of a dataset share",
        description="Find what leaks between the splits of a dataset: shared sources, clips that overlap in time, "
        "near-duplicate sources and captions that stand verbatim in several splits (reported only). Of foils, "
        "a dataset or a table with the columns true, foil and video_id: how far they can be solved without videos.",
        epilog=f"{EXIT_CODES} Example: vttdata audit vttdata/demo --split train=a.csv --split test=b.csv",
    )
    parser.add_argument("dataset", metavar="DATASET", help="a dataset folder, a build folder, or a dataset's name")
    split = "judge this split in the place of the dataset's own: a table with a column video_id, or one id a line"
    parser.add_argument("--split", metavar="NAME=FILE", action="append", type=_split_file, help=f"{split}; repeatable")
    protocol = "judge the splits of this protocol, another configuration of the dataset"
    parser.add_argument("--protocol", metavar="NAME", default="clips", help=protocol)
    add_attack_options(parser)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.set_defaults(run=_audit)


def _split_file(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not name or not equals or not file:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=FILE, such as test=ids.csv")
    return name, Path(file)


def _audit(options: argparse.Namespace) -> int:
    from vttdata.loading import find_dataset
    from vttdata.publish.audited import audit_dataset
    from vttdata.report.audit import audit_text

    if not options.split and holds_foils(options.dataset):
        return audit_foils(options)
    refuse_attack_options(options)
    splits = dict(options.split or ())
    if len(splits) < len(options.split or ()):
        raise VttdataError("--split names one split twice; put all of its ids into one file.")
    found = audit_dataset(find_dataset(options.dataset), splits or None, config=options.protocol)
    print(json.dumps(found.as_json(), indent=2, ensure_ascii=False) if options.json else audit_text(found))
    return _DONE if found.ok else _LEAKS
