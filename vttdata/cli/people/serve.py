"""Serve the pages of a campaign (``vttdata people serve``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, WholeNumber, argument, option


@click.command(
    "serve",
    cls=Command,
    not_on_windows=True,
    notes=[
        "Every answer is saved before the page goes on; after a crash the same command goes on. Beyond one machine, "
        "put a web server with HTTPS before it, and name its address with --url."
    ],
    examples=["vttdata people serve captioning --port 8080"],
)
@argument("folder", "CAMPAIGN", "Folder of a campaign.", type=FILE)
@option("--port N", "Port to listen on.", type=WholeNumber(0, 65535), default=8080)
@option("--host ADDRESS", "Address to listen on; 0.0.0.0 lets other machines connect.", default="127.0.0.1")
@option("--url URL", "Address of the server as workers see it.", show_default="host and port")
def command(folder: Path, port: int, host: str, url: str | None) -> int:
    """Serve the pages of a campaign until Ctrl-C, and print the links of its workers and of the requester."""
    from vttdata.cli.people.invite import print_links
    from vttdata.people.campaign import read_campaign
    from vttdata.people.server import bind, opened_campaign, run_server

    campaign = read_campaign(folder)
    with opened_campaign(campaign) as service, bind(host, port) as listener:
        workers = [state.worker for state in service.store.workers()]
        print_links(campaign, workers, url or f"http://{host}:{listener.getsockname()[1]}")
        print("Serving; Ctrl-C ends it.", flush=True)
        run_server(campaign, service, listener)
    return DONE
