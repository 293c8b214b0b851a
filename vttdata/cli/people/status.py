"""Print how a campaign stands (``vttdata people status``)."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, json_option
from vttdata.cli.terminal import print_result


@click.command("status", cls=Command, examples=["vttdata people status captioning"])
@argument("folder", "CAMPAIGN", "Folder of a campaign; its server may be running.", type=FILE)
@json_option
def command(folder: Path, as_json: bool) -> int:
    """Print the progress of a campaign, the quality of its workers, and their agreement."""
    from vttdata.files.results import Section
    from vttdata.files.table_formats import counted
    from vttdata.people.campaign import read_campaign
    from vttdata.people.service import make_report, report_sections
    from vttdata.people.store import Store

    campaign = read_campaign(folder)
    with contextlib.closing(Store(campaign, reading=True)) as store:
        report = make_report(campaign, store)
    seconds = "" if report["seconds"] is None else f", median {report['seconds']:.1f} s"
    head = [
        f"{report['title']} ({report['task']}): {report['complete']:,} of {counted(report['units'], 'unit')} complete",
        f"{report['collected']:,} of {counted(report['wanted'], 'judgment')}; "
        f"{counted(report['answers'], 'answer')}{seconds}",
    ]
    print_result(report, [Section("", head), *report_sections(report)], as_json=as_json)
    return DONE
