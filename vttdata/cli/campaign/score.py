"""Turn the answers of a campaign into tables (``vttdata campaign score``)."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option, out_option
from vttdata.errors import VttdataError
from vttdata.files.output_file import write_files


@click.command(
    "score",
    cls=Command,
    notes=[
        "Writes results.csv, the task's table; workers.csv, agreement.csv and report.md; report.html, a page with "
        "the same and the most disputed items with frames; and what the next step reads: "
        "captions.csv (caption) for 'vttdata build', relevance.txt (relevance) for 'vttdata evaluate --relevance', "
        "clips.csv (choose) for the recipe own-list; results.csv of foil-review is for 'vttdata foil --verdicts', that "
        "of rate-scale and rate-slider a table of ratings.",
        "Workers are hashed with a salt of the campaign.",
    ],
    examples=["vttdata campaign score captioning --out captioning-results"],
)
@argument("folder", "CAMPAIGN", "Folder of a campaign; its server may be running.", type=FILE)
@out_option("Folder for the tables; made if need be.")
@option("--keep-all", "Use the answers of workers who fail the controls too.", is_flag=True)
def command(folder: Path, out: Path, keep_all: bool) -> int:
    """Turn the answers of a campaign into tables of results, quality and agreement."""
    from vttdata.annotate.campaign import CAMPAIGN, read_campaign
    from vttdata.annotate.results import result_files
    from vttdata.annotate.store import Store
    from vttdata.report.campaign_report import campaign_page

    if (out / CAMPAIGN).exists():
        raise VttdataError(
            f"{out}: holds a campaign, whose secret must not be published; choose another folder with --out."
        )
    campaign = read_campaign(folder)
    with contextlib.closing(Store(campaign)) as store:
        files = result_files(campaign, store, keep_all=keep_all)
        files["report.html"] = campaign_page(campaign, store)
    write_files(out, files)
    print(files["report.md"])
    print(f"{out} holds {', '.join(files)}", file=sys.stderr)
    return DONE
