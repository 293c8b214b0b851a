"""List what a build rejected and why (``vttdata rejects``)."""

from __future__ import annotations

import dataclasses
import itertools
import json

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import DATASET, Command, argument, json_option, option
from vttdata.errors import VttdataError

_SHOWN_OF_STAGE = 20


@click.command(
    "rejects",
    cls=Command,
    notes=["The same is in the build folder: stages/STAGE/rejected.parquet and failed.parquet."],
    examples=["vttdata rejects street", "vttdata rejects street --stage filter"],
)
@argument("build", "BUILD", "A build folder, or the name of a local build.", type=DATASET)
@option("--stage NAME", "All of this stage, such as screen or captions.", show_default="some of each")
@json_option
def command(build: str, stage: str | None, as_json: bool) -> int:
    """List what a build rejected, or failed to process, and why.

    A line for each source, clip or caption: stage, id, file of the source, reason, and the value with its limit.
    """
    from vttdata.files.table_formats import align_columns
    from vttdata.load.local_builds import find_build
    from vttdata.pipeline.attrition import read_rejects, stages_of_build

    folder = find_build(build)
    if folder is None:
        raise VttdataError(
            f"There is no build '{build[:80]}' on this machine; 'vttdata datasets' lists those there are."
        )
    stages = stages_of_build(folder)
    if not stages and stage is None and not as_json:
        print(f"Nothing was built in {folder} yet; 'vttdata build {folder}' goes on.")
        return DONE
    if stage is not None and stage not in stages:
        raise VttdataError(f"{folder}: has no stage '{stage[:80]}'; there are {', '.join(stages) or 'none yet'}.")
    chosen = [stage] if stage is not None else stages
    if as_json:
        entries = [dataclasses.asdict(reject) for name in chosen for reject in read_rejects(folder, name)]
        print(json.dumps(entries, indent=2, ensure_ascii=False))
        return DONE
    rows, hidden = [("stage", "id", "file", "reason", "detail")], []
    for name in chosen:
        rejects = read_rejects(folder, name)
        for reject in itertools.islice(rejects, None if stage is not None else _SHOWN_OF_STAGE):
            reason = f"failed: {reject.reason}" if reject.failed else reject.reason
            rows.append((reject.stage, reject.id, reject.file or "-", reason, reject.detail))
        if more := sum(1 for _ in rejects):
            hidden.append(f"{more:,} more of stage {name}: vttdata rejects {build} --stage {name}")
    print(align_columns(rows, left=range(5)) if len(rows) > 1 else "Nothing was rejected, and nothing failed.")
    if hidden:
        print("", *hidden, sep="\n")
    return DONE
