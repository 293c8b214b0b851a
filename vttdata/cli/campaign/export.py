"""Export a campaign for other tools (``vttdata campaign export``)."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option, out_option

FORMS = ("pages", "label-studio", "answers")


@click.command(
    "export",
    cls=Command,
    notes=[
        "pages: the static pages, crowd CSV and manifest of 'vttdata hits make' (rate-slider). label-studio: tasks "
        "with answers, and a labelling configuration. answers: every answer under hashed workers, as JSON lines."
    ],
    examples=[
        "vttdata campaign export rating --format label-studio --videos 'https://example.org/{video_id}.mp4' --out ls"
    ],
)
@argument("folder", "CAMPAIGN", "Folder of a campaign.", type=FILE)
@option("--format NAME", "What to write.", name="form", type=click.Choice(FORMS), required=True)
@out_option("Folder to write; made if need be.")
@option("--videos URL", "Address of the videos, with {video_id} in it.", show_default="files of the campaign")
def command(folder: Path, form: str, out: Path, videos: str | None) -> int:
    """Write a campaign for a crowd platform or another annotation tool, or all of its answers."""
    from vttdata.annotate.campaign import read_campaign
    from vttdata.annotate.exports import export_campaign
    from vttdata.annotate.store import Store

    campaign = read_campaign(folder)
    with contextlib.closing(Store(campaign)) as store:
        written = export_campaign(campaign, store, form, out, videos)
    print(f"{out} holds {', '.join(written)}")
    return DONE
