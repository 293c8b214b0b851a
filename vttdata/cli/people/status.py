"""Print how a campaign stands (``vttdata people status``)."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, json_option


@click.command("status", cls=Command, examples=["vttdata people status captioning"])
@argument("folder", "CAMPAIGN", "Folder of a campaign; its server may be running.", type=FILE)
@json_option
def command(folder: Path, as_json: bool) -> int:
    """Print the progress of a campaign, the quality of its workers, and their agreement."""
    from vttdata.files.table_formats import as_plain
    from vttdata.people.campaign import read_campaign
    from vttdata.people.service import make_report
    from vttdata.people.store import Store

    campaign = read_campaign(folder)
    with contextlib.closing(Store(campaign, reading=True)) as store:
        report = make_report(campaign, store)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return DONE
    print(f"{report['title']} ({report['task']}): {report['complete']:,} of {report['units']:,} units complete")
    seconds = "" if report["seconds"] is None else f", median {report['seconds']:.1f} s"
    print(f"{report['collected']:,} of {report['wanted']:,} judgments; {report['answers']:,} answers{seconds}")
    workers = [
        [
            row["worker"],
            row["answers"],
            round(row["seconds"], 1),
            row["verdict"],
            row["evidence"],
            "; ".join(row["flags"]),
        ]
        for row in report["workers"]
    ]
    if workers:
        print("\n" + as_plain([["worker", "answers", "seconds", "verdict", "evidence", "flags"], *workers]))
    rows = [[row[name] for name in ("name", "items", "alpha", "fleiss", "kendall")] for row in report["agreement"]]
    if rows:
        print("\n" + as_plain([["agreement", "items", "alpha", "fleiss", "kendall"], *rows]))
    for problem in report["problems"]:
        print(f"{problem['video_id']}: {problem['problem']} ({problem['worker']})")
    return DONE
