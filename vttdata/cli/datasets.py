"""TODO docstring."""

from __future__ import annotations

import argparse
import json
from typing import Any


def add_datasets(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "datasets",
        help="list the benchmarks there are, or describe one",
        description="List the benchmarks that can be loaded or built: local builds, then what the packaged recipes "
        "build; or describe one of them with its configurations, splits and rows.",
        epilog="Example: vttdata datasets vttdata/demo",
    )
    parser.add_argument("dataset", metavar="DATASET", nargs="?", help="describe this one: its name or folder")
    parser.add_argument("--hub", action="store_true", help="list those on the Hub too, which needs the network")
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.set_defaults(run=_datasets)


def _datasets(options: argparse.Namespace) -> int:
    from vttdata.load.catalog import describe_dataset, list_datasets

    if options.dataset is not None:
        own = describe_dataset(options.dataset)
        print(json.dumps(own.as_json(), indent=2, ensure_ascii=False) if options.json else own.as_text())
        return 0
    found = list_datasets(hub=options.hub)
    if options.json:
        print(json.dumps([own.as_json() for own in found], indent=2, ensure_ascii=False))
    else:
        print("\n".join(own.as_line() for own in found))
    return 0
