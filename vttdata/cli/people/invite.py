"""Add workers to a campaign and print their links (``vttdata people invite``)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option
from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.people.campaign import Campaign

MAX_NAME = 100


@click.command("invite", cls=Command, examples=["vttdata people invite captioning dora emil"])
@argument("folder", "CAMPAIGN", "Folder of a campaign; its server may be running.", type=FILE)
@argument("workers", "[NAME]...", "Names of further workers.", nargs=-1)
@option("--url URL", "Address of the server as workers see it.", default="http://127.0.0.1:8080")
def command(folder: Path, workers: tuple[str, ...], url: str) -> int:
    """Add workers, and print the links of all.

    Whoever has a worker's link answers as that worker. Links for Prolific and Mechanical Turk are the same for all of
    their workers, whom the platform names.
    """
    from vttdata.people.campaign import read_campaign
    from vttdata.people.store import Store

    names = split_names(",".join(workers))
    campaign = read_campaign(folder)
    with contextlib.closing(Store(campaign)) as store:
        for name in names:
            store.add_worker(name)
        print_links(campaign, [state.worker for state in store.workers()], url)
    return DONE


def split_names(text: str) -> list[str]:
    """Return the names in a list with commas.

    Raises:
        VttdataError: when one cannot be a name or is duplicated.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if not name.isprintable() or len(name) > MAX_NAME or ":" in name:
            raise VttdataError(
                f"The worker {name[:80]!a} must be printable, without ':', at most {MAX_NAME} characters."
            )
        if names.count(name) > 1:
            raise VttdataError(f"The worker {name!a} is duplicated.")
    return names


def print_links(campaign: Campaign, workers: Iterable[str], url: str) -> None:
    """Print the links of workers, of platforms and of the requester."""
    root = url.rstrip("/")
    for worker in workers:
        # Workers of platforms come by the platform's link.
        if ":" not in worker:
            print(f"{worker}\t{root}/w/{campaign.worker_token(worker)}")
    print(
        f"(Prolific)\t{root}/join/{campaign.join_token}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"
    )
    print(f"(Mechanical Turk, external question)\t{root}/join/{campaign.join_token}")
    print(f"(completion code)\t{campaign.completion_code}")
    print(f"(requester, keep it secret)\t{root}/r/{campaign.requester_token}")
