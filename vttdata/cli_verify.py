"""The commands that compare datasets: ``diff`` two of them, ``verify`` one against its own account."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

_DONE, _DIFFERS = 0, 4


def add_diff(commands: Any) -> None:
    """Add the command `diff` to the parsers of a command line."""
    parser = commands.add_parser(
        "diff",
        help="say which rows two datasets do not share",
        description="Compare two datasets row by row: what was added, removed, changed (and in which columns) or moved "
        "to another split in each configuration, with examples, and the version number that the newer one needs.",
        epilog="Exit codes: 0 no row differs; 4 rows or columns differ; 2 bad usage or input. "
        "Example: vttdata diff vttdata/demo build/dataset",
    )
    what = "a dataset folder, a build folder, or a dataset's name"
    parser.add_argument("old", metavar="OLD", help=what)
    parser.add_argument("new", metavar="NEW", help=what)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.set_defaults(run=_diff)


def _diff(options: argparse.Namespace) -> int:
    from vttdata.publish.difference import difference
    from vttdata.publish.front_matter import read_version

    old, new = find_folder(options.old), find_folder(options.new)
    found = difference(old, new)
    version = read_version(old) if (old / "README.md").is_file() else None
    wanted = found.next_version(version) if version is not None else None
    if options.json:
        content = {"version": version, "next_version": wanted} | found.as_json()
        print(json.dumps(content, indent=2, ensure_ascii=False))
        return _code(found)
    print("\n".join(found.as_lines()) or "No row differs.")
    if found.needed != "none":
        after = f" (after {version}: {wanted})" if wanted is not None else ""
        print(f"The newer one needs a new {found.needed.upper()} version{after}.")
    return _code(found)


def _code(found: Any) -> int:
    return _DONE if found.needed == "none" else _DIFFERS


def find_folder(reference: str) -> Path:
    """The folder of a dataset by path or name, or one of tables that a command wrote, with their provenance."""
    from vttdata.loading import find_dataset
    from vttdata.publish.manifest import MANIFEST

    path = Path(reference)
    return path if (path / MANIFEST).is_file() else find_dataset(reference)
