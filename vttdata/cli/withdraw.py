"""Withdraw items from a dataset (``vttdata withdraw``)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, dataset_argument, json_option, option
from vttdata.errors import VttdataError


@click.command(
    "withdraw",
    cls=Command,
    notes=[
        "Interrupted at any moment, the same command, or 'vttdata withdraw DATASET' alone, finishes it; until then "
        "nothing is built or published from the dataset. What is published changes by 'vttdata publish'.",
    ],
    examples=[
        "vttdata withdraw vttdata/demo --ids gone.txt --reason 'request of the owner' --dry-run",
        "vttdata withdraw street --source https://youtu.be/dQw4w9WgXcQ --reason takedown --also campaign",
    ],
)
@dataset_argument
@option(
    "--ids FILE", "Ids of clips or sources, or names of their files, one a line or a table with video_id.", type=FILE
)
@option("--source URL", "Address of a source; may be repeated.", name="urls", multiple=True)
@option("--annotator NAME", "Whose captions go, not the clips; may be repeated.", name="annotators", multiple=True)
@option("--reason TEXT", "Why, for the card.", default="request", group="Record")
@option(
    "--forget-fingerprints",
    "Keep no fingerprints, so that later builds know edited copies no more.",
    is_flag=True,
    group="Record",
)
@option(
    "--also PATH",
    "A folder with what was made of the dataset: a set of foils, a campaign, evaluations, exports, protocols; may be "
    "repeated.",
    name="further",
    type=FILE,
    multiple=True,
)
@option("--dry-run", "Print what would be withdrawn, and stop.", is_flag=True)
@json_option
def command(
    dataset: str,
    ids: Path | None,
    urls: tuple[str, ...],
    annotators: tuple[str, ...],
    reason: str,
    forget_fingerprints: bool,
    further: tuple[Path, ...],
    dry_run: bool,
    as_json: bool,
) -> int:
    """Remove videos with all that was made of them.

    A clip goes with its source, all clips of the source, and edited copies that its fingerprint shows; with their
    captions, questions, foils, judgments, files and traces in the build folder. The dataset keeps salted hashes, so
    that no later build in its folder takes them in again, and becomes the next major version.
    """
    from vttdata.compose.withdraw import WithdrawalRequest, find_unfinished, plan_withdrawal, withdraw
    from vttdata.files.id_lists import read_ids

    planned = find_unfinished(dataset)
    is_unfinished = planned is not None
    if planned is None:
        if ids is None and not urls and not annotators:
            raise VttdataError("Name what to withdraw with --ids, --source or --annotator.")
        missing = next((path for path in further if not path.exists()), None)
        if missing is not None:
            raise VttdataError(f"{missing}: there is no such file or folder.")
        names = read_ids(ids, "source_id") if ids is not None else ()
        request = WithdrawalRequest(reason, names, urls, annotators, not forget_fingerprints, further)
        planned = plan_withdrawal(dataset, request)
    if dry_run:
        print(f"{planned.dataset}: {planned.as_text()} would be withdrawn. Nothing was changed.")
        return DONE
    report = withdraw(planned)
    if is_unfinished:
        message = "vttdata: An interrupted withdrawal was finished; if this command names more, run it again."
        print(message, file=sys.stderr)
    print(json.dumps(report.as_json(), indent=2, ensure_ascii=False) if as_json else report.as_text())
    return DONE
