"""Delete a worker's data (``vttdata people forget``)."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument
from vttdata.errors import VttdataError


@click.command("forget", cls=Command, examples=["vttdata people forget captioning ann"])
@argument("folder", "CAMPAIGN", "Folder of a campaign whose server is stopped.", type=FILE)
@argument("worker", "WORKER", "Name of the worker, as 'vttdata people status' prints it.")
def command(folder: Path, worker: str) -> int:
    """Delete a worker with all answers, which others are then asked for.

    Tables that were written before still have the answers under the worker's hash, which is printed.
    """
    from vttdata.people.campaign import read_campaign
    from vttdata.people.service import lock_campaign
    from vttdata.people.store import Store

    campaign = read_campaign(folder)
    with lock_campaign(folder), contextlib.closing(Store(campaign)) as store:
        answers, is_known = store.delete_worker(worker)
    if not is_known:
        raise VttdataError(f"{folder}: there is no worker {worker[:80]!a}.")
    code = campaign.hash_worker(worker)
    print(
        f"{answers:,} answers were deleted; in tables written before they are those of {code}, and 'vttdata withdraw "
        f"DATASET --annotator {code}' takes them out of a dataset"
    )
    return DONE
