"""Withdraw items from a dataset (``vttdata withdraw``)."""

from __future__ import annotations

import json
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
        "Without --ids, --source and --annotator, --also takes out of PATH what was withdrawn before. Only files that "
        "vttdata wrote are changed; others that mention what is withdrawn are listed with a command that changes them.",
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
@option("--keep-copies", "Keep sources that are edited copies of those that go.", is_flag=True)
@option(
    "--also PATH",
    "What was made of the dataset: a set of foils, a build, a campaign, stimuli, an evaluation, an export, a protocol "
    "file; may be repeated.",
    type=FILE,
    multiple=True,
)
@option("--dry-run", "Say what would be changed or removed (each file with --json), and stop.", is_flag=True)
@json_option
def command(
    dataset: str,
    ids: Path | None,
    urls: tuple[str, ...],
    annotators: tuple[str, ...],
    reason: str,
    forget_fingerprints: bool,
    keep_copies: bool,
    also: tuple[Path, ...],
    dry_run: bool,
    as_json: bool,
) -> int:
    """Remove videos with all that was made of them.

    A clip goes with its source, all clips of the source, and edited copies that its fingerprint shows; with their
    captions, questions, foils, judgments, files and traces in the build folder. The dataset keeps salted hashes, so
    that no later build in its folder takes them in again, and becomes the next major version.
    """
    from vttdata.compose.withdraw import WithdrawalRequest, withdraw
    from vttdata.files.id_lists import read_ids

    missing = next((path for path in also if not path.exists()), None)
    if missing is not None:
        raise VttdataError(f"{missing}: there is no such file or folder.")
    names = read_ids(ids, "source_id") if ids is not None else ()
    request = WithdrawalRequest(reason, names, urls, annotators, not forget_fingerprints, keep_copies, also)
    report = withdraw(dataset, request, dry_run=dry_run)
    print(json.dumps(report.as_json(), indent=2, ensure_ascii=False) if as_json else report.as_text())
    return DONE
