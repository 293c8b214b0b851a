"""Estimate how many HITs detect a difference (``vttdata hits power``)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, NumberRange, ParamType, WholeNumber, option
from vttdata.errors import VttdataError

MAX_CAPTIONS = 10**6


class NumberList(ParamType):
    """Numbers of a type in a range, separated by commas; errors quote an `example`."""

    name = "numbers"

    def __init__(self, number: ParamType, example: str) -> None:
        self._number, self._example = number, example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[Any]:
        """Split a text at its commas and convert the parts."""
        if isinstance(value, list):
            return value
        try:
            return [self._number.convert(part.strip(), param, ctx) for part in value.split(",")]
        except click.BadParameter as error:
            self.fail(f"'{value[:40]}' is not like {self._example}: {error.message}", param, ctx)


COUNT = WholeNumber(1, MAX_CAPTIONS)


@click.command(
    "power",
    cls=Command,
    notes=[
        "Prints for each number of answered HITs and each gap: power, the share of better systems found better; false, "
        "of the other pairs, those with a win all the same; caught, of bad workers; lost, of good ones."
    ],
    examples=["vttdata hits power --systems 5 --videos 200 --gap 3,5 --hits 15,30,60"],
)
@option(
    "--manifest FILE",
    "Of a campaign that 'hits make' wrote; without it, one of --systems and --videos is made up.",
    type=FILE,
)
@option("--systems N", "Number of systems.", type=COUNT, default=8, group="Campaign")
@option("--videos N", "Number of videos.", type=COUNT, default=100, group="Campaign")
@option(
    "--gap POINTS,...",
    "By how many points of 0..100 better systems are better.",
    name="gaps",
    type=NumberList(NumberRange(0, 50), "3,5,10"),
    default="3,5,10",
    group="Simulation",
)
@option(
    "--hits N,...",
    "Numbers of HITs to be answered, each by one worker.",
    type=NumberList(COUNT, "15,30,60"),
    show_default="half the campaign's, all, two and four times",
    group="Simulation",
)
@option("--bad SHARE", "Share of bad workers.", type=NumberRange(0, 1, max_open=True), default=0.2, group="Simulation")
@option("--seeds N", "How often everything is drawn.", type=COUNT, default=20, group="Simulation")
def command(
    manifest: Path | None, systems: int, videos: int, gaps: list[float], hits: list[int] | None, bad: float, seeds: int
) -> int:
    """Plan how many HITs it takes to find a difference between systems.

    Made-up crowds of diligent, noisy, biased and bad workers answer the HITs of a campaign; the workers are judged, the
    systems ranked, and it is counted how often a better system wins significantly over a worse one. Half of the systems
    are better than the other half by the gap. It is a plan and no promise.
    """
    from vttdata.assess.manifest import read_manifest
    from vttdata.assess.power import placeholder_hits, power
    from vttdata.files.table_formats import as_cell

    if manifest is None:
        if systems * videos > MAX_CAPTIONS:
            raise VttdataError(f"--systems and --videos: at most {MAX_CAPTIONS:,} captions can be planned for.")
        campaign = placeholder_hits(systems, videos)
    else:
        campaign = read_manifest(manifest)
    number = len(campaign)
    answered = hits or [max(number // 2, 1), number, 2 * number, 4 * number]
    print(f"{number:,} HITs; {bad:.0%} of workers are bad; {seeds} seeds\n")
    print("".join(f"{name:>9}" for name in ("hits", "gap", "power", "false", "caught", "lost")))
    for gap, count in itertools.product(gaps, answered):
        estimate = power(campaign, count, gap, bad=bad, seeds=seeds)
        shares = (estimate.power, estimate.false, estimate.caught, estimate.lost)
        # Each row is printed as soon as it is known, since all of them may take minutes.
        print(f"{count:>9,}{gap:>9g}{''.join(f'{as_cell(share):>9}' for share in shares)}", flush=True)
    return DONE
