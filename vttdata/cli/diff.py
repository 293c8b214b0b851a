"""Report which rows differ between two datasets (``vttdata diff``)."""

from __future__ import annotations

import json

import click

from vttdata.cli.exit_codes import DIFFERENT, DONE
from vttdata.cli.options import DATASET, Command, argument, json_option
from vttdata.cli.verify import find_tables


@click.command(
    "diff",
    cls=Command,
    notes=["Exit codes: 0 no row differs; 4 rows or columns differ; 2 bad usage or input."],
    examples=["vttdata diff vttdata/demo build/dataset"],
)
@argument("old", "OLD", "A dataset folder, a build folder, or the name of a dataset.", type=DATASET)
@argument("new", "NEW", "Another version of it.", type=DATASET)
@json_option
def command(old: str, new: str, as_json: bool) -> int:
    """Compare two versions of a dataset row by row.

    Prints what was added, removed, changed (and in which columns) or moved to another split in each configuration, with
    examples, and the version number that the newer one needs.
    """
    from vttdata.dataset.front_matter import read_version
    from vttdata.load.lookup import EMBEDDED_VIDEOS
    from vttdata.publish.diff import compare_datasets

    before, after = (find_tables(reference, videos=EMBEDDED_VIDEOS) for reference in (old, new))
    found = compare_datasets(before, after)
    code = DONE if found.needed == "none" else DIFFERENT
    version = read_version(before) if (before / "README.md").is_file() else None
    next_version = found.next_version(version) if version is not None else None
    if as_json:
        content = {"version": version, "next_version": next_version} | found.as_json()
        print(json.dumps(content, indent=2, ensure_ascii=False))
        return code
    print("\n".join(found.as_lines()) or "No row differs.")
    if found.needed != "none":
        after_version = f" (after {version}: {next_version})" if next_version is not None else ""
        print(f"The newer one needs a new {found.needed.upper()} version{after_version}.")
    return code
