"""Make a campaign (``vttdata campaign make``)."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import click

from vttdata.annotate.tasks import TASKS
from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import DATASET, FILE, Command, Names, argument, columns_option, option, out_option, seed_option


@click.command(
    "make",
    cls=Command,
    not_on_windows=True,
    notes=[
        "TASK is caption, choose, foil-review, rate-scale, rate-slider or relevance, or one of your own.",
        "INPUT is what the task takes: videos for caption and choose, captions of systems for rate-slider and "
        "rate-scale, pairs for relevance, foils for foil-review. docs/annotate.md has the settings and tables of each.",
        "The folder holds a secret from which links are derived: keep it from workers, and do not publish it.",
    ],
    examples=[
        "vttdata campaign make caption videos --out captioning --set judgments=20 --invite ann,bob,cem",
        "vttdata campaign make rate-scale ours.csv theirs.csv --captions captions.csv --videos videos --out rating",
    ],
)
@argument("task", "TASK", "What people do.", type=Names("task", TASKS.descriptions))
@argument("inputs", "INPUT...", "What it is about.", nargs=-1, required=True, type=DATASET)
@out_option("Folder of the campaign; it must not hold one.")
@option(
    "--videos DIR",
    "Folder of the videos, named by their ids.",
    type=FILE,
    name="folder",
    show_default="folders among the inputs",
)
@option("--captions INPUT", "Human captions: a dataset or a table, for controls and to be rated.", type=DATASET)
@columns_option("the tables that have it")
@option("--set KEY=VALUE", "Setting of the task or the campaign; may be repeated.", name="settings", multiple=True)
@option("--invite NAME,...", "Names of workers, who get links; more with 'vttdata campaign invite'.", name="workers")
@seed_option("Seed of all draws.")
def command(
    task: str,
    inputs: tuple[str, ...],
    out: Path,
    folder: Path | None,
    captions: str | None,
    columns: dict[str, str],
    settings: tuple[str, ...],
    workers: str | None,
    seed: int,
) -> int:
    """Make a campaign, in which people answer questions about videos.

    A campaign is a folder with everything that is asked. 'vttdata annotate' serves its pages, and 'vttdata campaign
    score' turns the answers into tables.
    """
    from vttdata.annotate.campaign import make_campaign
    from vttdata.annotate.store import Store
    from vttdata.annotate.task import Material
    from vttdata.cli.campaign.invite import split_names
    from vttdata.compose.input_captions import read_input
    from vttdata.media.video_folder import locate_videos

    names = split_names(workers or "")
    splits = read_input(captions, columns, any_table=True).splits if captions is not None else []
    human = [caption for split in splits for caption in split.captions if caption.author == "human"]
    source_of = {video: source for split in splits for video, source in split.source_of.items()}
    folders = [folder] if folder is not None else [Path(name) for name in inputs if Path(name).is_dir()]
    material = Material(
        inputs,
        lambda wanted: {name: path for where in folders for name, path in locate_videos(where, wanted).items()},
        human,
        source_of,
        columns,
        seed,
    )
    campaign = make_campaign(out, task, material, settings)
    for note in material.notes:
        print(f"vttdata: {note}", file=sys.stderr)
    with contextlib.closing(Store(campaign)) as store:
        for name in names:
            store.add_worker(name)
    controls = sum(unit.is_control for unit in campaign.units.values())
    print(
        f"{len(campaign.units) - controls:,} units by {campaign.settings.judgments} workers each, {controls:,} units "
        f"that are controls, {len(campaign.videos):,} videos"
    )
    print(f"{out} holds the campaign; start it with: vttdata annotate {out}")
    return DONE
