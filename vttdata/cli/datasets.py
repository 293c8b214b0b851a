"""List datasets, or describe one (``vttdata datasets``)."""

from __future__ import annotations

import json
import sys

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import DATASET, Command, argument, json_option, option

_MAX_MISSING = 5


@click.command("datasets", cls=Command, examples=["vttdata datasets", "vttdata datasets vttdata/demo --json"])
@argument("dataset", "[DATASET]", "Describe this dataset: its name or folder.", type=DATASET, required=False)
@option("--hub", "List the datasets on the Hub too, which needs the network.", is_flag=True)
@json_option
def command(dataset: str | None, hub: bool, as_json: bool) -> int:
    """List the benchmarks that can be loaded or built, or describe one.

    Local builds come first, then what the packaged recipes build. A dataset is described with its configurations,
    splits and numbers of rows.
    """
    from vttdata.load.catalog import describe_dataset, list_datasets
    from vttdata.load.local_builds import missing_builds

    if dataset is not None:
        description = describe_dataset(dataset)
        content = json.dumps(description.as_json(), indent=2, ensure_ascii=False)
        print(content if as_json else description.as_text())
        return DONE
    missing = missing_builds()
    for gone in missing[:_MAX_MISSING]:
        print(f"vttdata: {gone}.", file=sys.stderr)
    if len(missing) > _MAX_MISSING:
        more, folder = len(missing) - _MAX_MISSING, missing[0].entry.parent
        print(
            f"vttdata: {more} more builds are gone; entries of all builds with --out are in {folder}.", file=sys.stderr
        )
    descriptions = list_datasets(hub=hub)
    if as_json:
        print(json.dumps([entry.as_json() for entry in descriptions], indent=2, ensure_ascii=False))
    else:
        print("\n".join(entry.as_line() for entry in descriptions))
    return DONE
