"""List what a build rejected and why (``vttdata rejects``)."""

from __future__ import annotations

import dataclasses
import itertools
import json
import shlex
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import DATASET, Command, argument, json_option, option
from vttdata.errors import VttdataError

_SHOWN_OF_STAGE = 20


@click.command(
    "rejects",
    cls=Command,
    notes=["The same is in the build folder: stages/STAGE/rejected.parquet and failed.parquet."],
    examples=[
        "vttdata rejects street",
        "vttdata rejects street --stage filter",
        "vttdata rejects street --video walk.mp4",
    ],
)
@argument("build", "BUILD", "A build folder, or the name of a local build.", type=DATASET)
@option("--stage NAME", "All of this stage, such as screen or captions.", show_default="some of each")
@option("--video NAME", "Why this video, by its file, address or id, has no clip or not more, in one line.")
@json_option
def command(build: str, stage: str | None, video: str | None, as_json: bool) -> int:
    """Say why a video has no clip: what a build left out, and why.

    A line for each source, clip or caption that was rejected or failed: stage, id, file of the source, reason, and the
    value with its limit.
    """
    from vttdata.load.local_builds import BuildRegistry
    from vttdata.pipeline.attrition import explain_video, read_rejects, stages_of_build

    local = BuildRegistry().find(build)
    if local is None:
        raise VttdataError(f"There is no build '{build[:80]}' on this machine; 'vttdata list' shows those there are.")
    folder = local.folder
    if video is not None:
        if stage is not None or as_json:
            raise VttdataError("--video says one line; leave out --stage and --json.")
        print(explain_video(folder, video))
        return DONE
    stages = stages_of_build(folder)
    if not stages and stage is None and not as_json:
        print(f"Nothing was built in {folder} yet; 'vttdata build {shlex.quote(str(folder))}' goes on.")
        return DONE
    unfinished = ""
    if stages and not local.is_finished:
        unfinished = f"The build came as far as stage '{stages[-1]}'; later ones have not run."
    if stage is not None and stage not in stages:
        there = ", ".join(stages) or "none yet"
        raise VttdataError(f"{folder}: has no stage '{stage[:80]}'; there are {there}. {unfinished}".rstrip())
    chosen = [stage] if stage is not None else stages
    if as_json:
        entries = [dataclasses.asdict(reject) for name in chosen for reject in read_rejects(folder, name)]
        print(json.dumps(entries, indent=2, ensure_ascii=False))
        return DONE
    _print_rejects(build, folder, chosen, None if stage is not None else _SHOWN_OF_STAGE)
    if unfinished:
        print(unfinished)
    return DONE


def _print_rejects(build: str, folder: Path, stages: list[str], shown: int | None) -> None:
    from vttdata.files.table_formats import align_columns
    from vttdata.pipeline.attrition import read_rejects, stages_of_build

    rows, hidden = [("stage", "id", "file", "reason", "detail")], []
    for name in stages:
        rejects = read_rejects(folder, name)
        for reject in itertools.islice(rejects, shown):
            reason = f"failed: {reject.reason}" if reject.failed else reject.reason
            rows.append((reject.stage, reject.id, reject.file or "-", reason, reject.facts))
        if more := sum(1 for _ in rejects):
            hidden.append(f"{more:,} more of stage {name}: vttdata rejects {build} --stage {name}")
    if len(rows) > 1:
        print(align_columns(rows, left=range(5)))
    elif shown is None:
        elsewhere = [name for name in stages_of_build(folder) if any(True for _ in read_rejects(folder, name))]
        others = f" Others did: {', '.join(elsewhere)}." if elsewhere else ""
        print(f"Stage '{stages[0]}' rejected nothing, and nothing failed in it.{others}")
    else:
        print("Nothing was rejected, and nothing failed.")
    if hidden:
        print("", *hidden, sep="\n")
