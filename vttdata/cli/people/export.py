"""Export a campaign for other tools (``vttdata people export``)."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option, out_option, replace_option

FORMS = ("pages", "csv", "label-studio", "answers")


@click.command(
    "export",
    cls=Command,
    notes=[
        "csv, of rate-slider: crowd.csv (a row a HIT, for a platform's template), hits.jsonl, and for you manifest.csv "
        "(what each item is; keep it from workers) and notes.csv. pages: the same, and a page for each HIT. "
        "label-studio: tasks with answers, and a labelling configuration; what is answered there is not read back. "
        "answers: every answer under hashed workers, as JSON lines."
    ],
    examples=[
        "vttdata people export rating --format pages --out hits",
        "vttdata people export captioning --format label-studio --videos 'https://example.org/{video_id}.mp4' --out ls",
    ],
)
@argument("folder", "CAMPAIGN", "Folder of a campaign.", type=FILE)
@option("--format NAME", "What to write.", name="form", type=click.Choice(FORMS), required=True)
@out_option("Folder to write; made if need be.")
@replace_option("Write into DIR though it holds a build or a dataset.")
@option(
    "--videos WHERE",
    "Address of the videos with {video_id} in it, for pages also a path relative to theirs.",
    show_default="those of the campaign",
)
def command(folder: Path, form: str, out: Path, replace: bool, videos: str | None) -> int:
    """Write a campaign for a crowd platform or another annotation tool, or all of its answers."""
    from vttdata.load.output_folder import check_output
    from vttdata.people.campaign import read_campaign
    from vttdata.people.exports import export_campaign
    from vttdata.people.store import Store

    campaign = read_campaign(folder)
    check_output(out, {"tables"}, replace=replace)
    with contextlib.closing(Store(campaign, reading=True)) as store:
        written = export_campaign(campaign, store, form, out, videos)
    print(f"{out} holds {', '.join(written)}")
    return DONE
