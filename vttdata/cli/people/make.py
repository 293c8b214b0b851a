"""Make a campaign (``vttdata people make``)."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    DATASET,
    Command,
    Names,
    argument,
    columns_option,
    option,
    out_option,
    replace_option,
    seed_option,
)
from vttdata.errors import VttdataError
from vttdata.people.tasks import TASKS


@click.command(
    "make",
    cls=Command,
    notes=[
        "TASK and its INPUT. caption: write captions of videos. choose: keep, trim or refuse proposed clips of videos. "
        "rate-scale: rate captions of systems in steps, by a few people whom you know. rate-slider: Direct Assessment, "
        "captions of systems from 0 to 100 in tasks (HITs) with hidden controls, also for a crowd. relevance: which "
        "captions fit which videos, of pairs. foil-review: which of a true and a wrong caption fits, of foils. Or one "
        "of your own. A system is called as its file. docs/people.md has the settings and tables of each.",
        "On a crowd platform, workers answer on your server, by a link that 'vttdata people invite' prints; units of "
        "rate-slider can also be pages or a platform's table ('vttdata people export'), whose answers 'vttdata people "
        "score' reads.",
        "The folder holds a secret from which links are derived: keep it from workers, and do not publish it.",
    ],
    examples=[
        "vttdata people make caption videos --out captioning --set judgments=20 --invite ann,bob,cem",
        "vttdata people make rate-scale ours.csv theirs.csv --captions captions.csv --videos videos --out rating "
        "--set judgments=5 --invite ann,bob,cem,dora,emil",
        "vttdata people make rate-slider ours.csv theirs.json --captions msrvtt.csv "
        "--videos 'https://example.org/{video_id}.mp4' --out assessment --seed 7",
    ],
)
@argument("task", "TASK", "What people do.", type=Names("task", TASKS.descriptions))
@argument(
    "inputs",
    "INPUT...",
    "What the task takes; see below.",
    nargs=-1,
    required=True,
    type=DATASET,
)
@out_option("Folder of the campaign; it must not hold one.")
@replace_option("Write into DIR though it holds a build or a dataset.")
@option(
    "--videos WHERE",
    "Where the videos are: a folder of files named by their ids, or a URL with {video_id} in it.",
    show_default="folders among the inputs",
)
@option("--captions INPUT", "Human captions: a dataset or a table, for controls and to be rated.", type=DATASET)
@columns_option("the tables that have it", several=True)
@option(
    "--set KEY=VALUE",
    "Setting of the task or the campaign, such as judgments=5, the workers for each unit; may be repeated.",
    name="settings",
    multiple=True,
)
@option("--invite NAME,...", "Names of workers, who get links; more with 'vttdata people invite'.", name="workers")
@seed_option("Seed of what is asked; order and controls are drawn from the campaign's secret.")
def command(
    task: str,
    inputs: tuple[str, ...],
    out: Path,
    replace: bool,
    videos: str | None,
    captions: str | None,
    columns: dict[str, list[str]],
    settings: tuple[str, ...],
    workers: str | None,
    seed: int,
) -> int:
    """Make a campaign, in which people answer questions about videos.

    A campaign is a folder with everything that is asked. 'vttdata people serve' shows it to invited workers, 'vttdata
    people export' prepares it for a crowd platform, and 'vttdata people score' turns the answers into tables.
    """
    from vttdata.cli.people.invite import split_names
    from vttdata.compose.input_captions import read_input
    from vttdata.dataset.manifest import read_dataset_manifest
    from vttdata.files.table_formats import counted
    from vttdata.load.local_builds import dataset_in
    from vttdata.load.output_folder import check_output
    from vttdata.people.campaign import make_campaign
    from vttdata.people.store import Store
    from vttdata.people.task import Material
    from vttdata.subprocesses import check_system

    address = videos if videos is not None and "{video_id}" in videos else None
    check_output(out, {"tables"}, replace=replace)
    names = split_names(workers or "")
    _check_columns(columns, [Path(name) for name in (*inputs, captions) if name and Path(name).is_file()])
    splits = read_input(captions, columns, any_table=True).splits if captions is not None else []
    human = [caption for split in splits for caption in split.captions if caption.author == "human"]
    source_of = {video: source for split in splits for video, source in split.source_of.items()}
    folders = [Path(name) for name in inputs if Path(name).is_dir()]
    if videos is not None and address is None:
        folders = [Path(os.path.expanduser(videos))]
        if not folders[0].is_dir():
            raise VttdataError(f"{videos}: neither a folder of videos nor a URL with {{video_id}} in it.")
    if address is None:
        # Files are probed and, where browsers cannot play them, transcoded.
        check_system("'vttdata people make'")

    def locate(wanted: Iterable[str]) -> dict[str, Path]:
        from vttdata.media.video_folder import locate_videos

        return {name: path for where in folders for name, path in locate_videos(where, wanted).items()}

    made_from = [folder for name in (*inputs, captions) if name and (folder := dataset_in(Path(name))) is not None]
    material = Material(
        inputs,
        locate,
        human,
        source_of,
        columns,
        seed,
        address,
        datasets=[str(read_dataset_manifest(folder)["name"]) for folder in made_from],
    )
    campaign = make_campaign(out, task, material, settings, workers=len(names))
    for note in material.notes:
        print(f"vttdata: {note}.", file=sys.stderr)
    with contextlib.closing(Store(campaign)) as store:
        for name in names:
            store.add_worker(name)
    controls = sum(unit.is_control for unit in campaign.units.values())
    items = {len(unit.items) for unit in campaign.units.values()}
    print(
        f"{counted(len(campaign.units) - controls, 'unit')} of {'-'.join(map(str, sorted({min(items), max(items)})))} "
        f"{'item' if max(items) == 1 else 'items'} by {counted(campaign.settings.judgments, 'worker')} each, "
        f"{counted(controls, 'control')}, {counted(len(campaign.videos), 'video')}"
    )
    quoted = shlex.quote(str(out))
    print(
        f"{out} holds the campaign: 'vttdata people serve {quoted}' shows it to invited workers, and 'vttdata people "
        f"export {quoted}' writes it for a crowd platform"
    )
    return DONE


def _check_columns(columns: Mapping[str, Sequence[str]], tables: Sequence[Path]) -> None:
    """Raise VttdataError if a column is named that none of some tables has, as far as that can be told."""
    from vttdata.files.tables import fold_name, read_table

    headers: set[str] = set()
    for path in tables if columns else ():
        if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
            return
        with contextlib.suppress(VttdataError):
            headers.update(map(fold_name, next((row for _, row in read_table(path)), ())))
    missing = [column for named in columns.values() for column in named if fold_name(column) not in headers]
    if missing and headers:
        raise VttdataError(f"--columns: none of the tables has a column '{missing[0][:80]}'.")
