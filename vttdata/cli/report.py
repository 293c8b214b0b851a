"""Write the report of a build or dataset as a page (``vttdata report``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import DATASET, FILE, Command, argument, option


@click.command(
    "report",
    cls=Command,
    notes=[
        "The page needs no network and no server. What is too large for it is in a folder of the same name beside it, "
        "which the page reads when it is needed: move both. Every build writes its report."
    ],
    examples=["vttdata report vttdata/demo", "vttdata report street --out street.html"],
)
@argument("dataset", "BUILD|DATASET", "A build or dataset: its folder, or its name.", type=DATASET)
@option("--out FILE", "File to write.", type=FILE, show_default="report.html in the build, or here without a build")
def command(dataset: str, out: Path | None) -> int:
    """Show a build or dataset as a page: pictures, what was left out and why, leaks, odd captions.

    Clips with frames, shots and captions, to filter, sort and search; counts for other thresholds; near-duplicates and
    leaks side by side; distributions; provenance. It says what is missing where there are no videos or no build.
    """
    from vttdata.load.local_builds import find_build
    from vttdata.load.lookup import find_dataset
    from vttdata.report.build_report import REPORT, write_report

    build = find_build(dataset)
    folder = build if build is not None else find_dataset(dataset)
    target = out if out is not None or build is not None else Path(REPORT)
    print(write_report(folder, target))
    return DONE
