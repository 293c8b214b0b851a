"""Write what models are shown of clips in each condition (``vttdata stimuli``)."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from vttdata.cli.exit_codes import DONE, INCOMPLETE
from vttdata.cli.options import (
    FILE,
    POSITIVE,
    Command,
    Names,
    WholeNumber,
    config_option,
    dataset_argument,
    option,
    out_option,
    quiet_option,
    seed_option,
    split_option,
)
from vttdata.errors import VttdataError, list_choices


class StimuliCommand(Command):
    """Command whose help lists the conditions."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the conditions, then notes and examples."""
        from vttdata.conditions import CONDITIONS

        with formatter.section("Conditions"):
            formatter.write_dl(list(CONDITIONS.items()))
        super().format_epilog(ctx, formatter)


@click.command(
    "stimuli",
    cls=StimuliCommand,
    not_on_windows=True,
    notes=[
        "No model is run. DIR/stimuli.parquet has the indices and the times of all frames that are shown, and "
        "DIR/stimuli.json what was left out and why. 'vttdata export --stimuli DIR' writes a task of each condition, "
        "and 'vttdata evaluate --conditions' tells what the video added. Stopped at any moment, the command goes on."
    ],
    examples=[
        "vttdata stimuli vttdata/demo --out shown",
        "vttdata stimuli vttdata/tempcompass --videos videos --condition text --condition first --condition all "
        "--out shown",
    ],
)
@dataset_argument
@out_option("Folder to write.")
@option(
    "--condition NAME",
    "A condition of those below; may be repeated.",
    name="conditions",
    type=Names("condition", "vttdata.conditions:CONDITIONS.keys"),
    multiple=True,
    show_default="all",
)
@option("--frames N", "Frames of conditions with several pictures.", type=WholeNumber(1, 10**4), default=8)
@option(
    "--pictures",
    "Format of pictures.",
    type=click.Choice(["png", "jpeg"]),
    default="png",
)
@option(
    "--height LINES",
    "Lines of pictures and videos, an even number; a smaller clip is not enlarged.",
    type=WholeNumber(32, 4320),
    show_default="those of the clip",
)
@seed_option("Seed of all draws.")
@split_option("The split whose items are shown.", group="Selection", show_default="test, or the only one")
@config_option(
    "clips, or a protocol; of a set of foils foils or paragraphs; questions, or questions/KIND.",
    group="Selection",
    show_default="clips; foils of a set of foils; questions of a dataset of them",
)
@option(
    "--videos DIR",
    "Videos called <video_id>.<extension>; may be repeated.",
    type=FILE,
    multiple=True,
    show_default="the dataset's on this machine",
    group="Selection",
)
@option("--workers N", "Worker processes.", type=POSITIVE, show_default="one per core", group="Computation")
@quiet_option
def command(
    dataset: str,
    out: Path,
    conditions: tuple[str, ...],
    videos: tuple[Path, ...],
    workers: int | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Show clips to models as text alone, one frame, or out of order.

    Writes what is shown of the clip of each item, in conditions from nothing to the whole video, as pictures and
    videos whose frames are known exactly.
    """
    from vttdata.compose.stimuli import StimuliRequest, make_stimuli
    from vttdata.conditions import CONDITIONS, StimuliSettings
    from vttdata.files.table_formats import align_columns
    from vttdata.load.lookup import ALL_VIDEOS, find_dataset

    for name in conditions:
        if name not in CONDITIONS:
            raise VttdataError(f"There is no condition {name!a}; choose from {list_choices(name, CONDITIONS)}.")
    if options["height"] is not None and options["height"] % 2:
        raise VttdataError(f"--height is {options['height']}, which is not an even number.")
    for folder in videos:
        if not folder.is_dir():
            raise VttdataError(f"--videos: '{folder}' is not an existing folder.")
    request = StimuliRequest(
        find_dataset(dataset, videos=ALL_VIDEOS), options.pop("config"), options.pop("split"), videos
    )
    ordered = tuple(name for name in CONDITIONS if not conditions or name in conditions)
    made = make_stimuli(request, out, StimuliSettings(ordered, **options), workers=workers, quiet=quiet)
    rows = [["condition", "clips", "pictures", "bytes"]]
    rows += [
        [name, *(f"{counts[column]:,}" for column in ("clips", "pictures", "bytes"))]
        for name, counts in made["conditions"].items()
    ]
    print(align_columns(rows))
    short = max(counts["short"] for counts in made["conditions"].values())
    if short:
        print(
            f"vttdata: {short:,} clips have fewer than {options['frames']} frames and show each once.", file=sys.stderr
        )
    left_out = Counter((loss["reason"], loss.get("condition", "")) for loss in made["left_out"])
    for (reason, condition), number in sorted(left_out.items()):
        first = next(loss for loss in made["left_out"] if loss["reason"] == reason)
        what = f"no {condition} for" if condition else "nothing for"
        print(
            f"vttdata: {what} {number:,} of {made['clips']:,} clips ({reason}; first {first['video_id']}"
            f"{': ' + first['detail'] if first['detail'] else ''})",
            file=sys.stderr,
        )
    return INCOMPLETE if any("condition" not in loss for loss in made["left_out"]) else DONE
