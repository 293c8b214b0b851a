"""Plan how many judgments or HITs to pay for (``vttdata people plan``)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, NumberRange, ParamType, WholeNumber, argument, option
from vttdata.errors import VttdataError

MAX_CAPTIONS = 10**6
ITEMS, HITS = "Ratings of items", "Direct Assessment"


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
AMOUNT = NumberRange(0, 10**6)


@click.command(
    "plan",
    cls=Command,
    notes=[
        "With --items, prints for each number of judgments an item: half of the 95 % interval of one item's mean and "
        "of the mean over all items, hours of work, and their cost. For yes or no about evenly divided items, --sd 0.5 "
        "is most.",
        "Otherwise, prints for each number of answered HITs and each gap: power, the share of better systems found "
        "better; false, of the other pairs, those with a win all the same; caught, of bad workers; lost, of good ones. "
        "Made-up crowds of diligent, noisy, biased and bad workers answer; half of the systems are better than the "
        "other half by the gap.",
    ],
    examples=[
        "vttdata people plan --items 500 --judgments 3,5,10 --sd 0.9 --spread 0.8 --seconds 15",
        "vttdata people plan --items 500 --judgments 1,3 --judge-correlation 0.5 --judged 3000",
        "vttdata people plan --systems 5 --videos 200 --gap 3,5 --hits 15,30,60",
        "vttdata people plan assessment --bad 0.3",
        "vttdata people plan --systems 5 --hits 93 --price 0.99 --fee 0.2",
    ],
)
@argument(
    "campaign",
    "[CAMPAIGN]",
    "A campaign of the task rate-slider, or the manifest.csv of an export, whose HITs are answered.",
    type=FILE,
    required=False,
)
@option("--items N", "Number of items.", type=COUNT, group=ITEMS)
@option(
    "--judgments N,...",
    "Numbers of workers who judge each item.",
    type=NumberList(COUNT, "3,5,10"),
    default="1,3,5,10,20",
    group=ITEMS,
)
@option(
    "--sd X",
    "Standard deviation of different workers' ratings of the same item, in steps of your scale.",
    type=AMOUNT,
    default=1.0,
    group=ITEMS,
)
@option(
    "--spread X",
    "Standard deviation of the items' true means, in the same steps.",
    type=AMOUNT,
    default=1.0,
    group=ITEMS,
)
@option("--seconds X", "Time that a judgment takes.", type=AMOUNT, default=20.0, group=ITEMS)
@option("--hourly X", "Pay of an hour.", type=AMOUNT, default=12.0, group=ITEMS)
@option("--controls SHARE", "Controls beside each judgment.", type=NumberRange(0, 10), default=0.1, group=ITEMS)
@option(
    "--judge-correlation R",
    "Pearson's r of an automatic judge and one worker's ratings: adds how many items must be rated if 'vttdata metric "
    "judge' corrects it.",
    type=NumberRange(0, 1),
    group=ITEMS,
)
@option("--judged N", "Items that the judge rates.", type=COUNT, show_default="ten times --items", group=ITEMS)
@option("--systems N", "Number of systems, without a CAMPAIGN.", type=COUNT, default=8, group=HITS)
@option("--videos N", "Number of videos, without a CAMPAIGN.", type=COUNT, default=100, group=HITS)
@option(
    "--gap POINTS,...",
    "By how many points of 0..100 better systems are better.",
    name="gaps",
    type=NumberList(NumberRange(0, 50), "3,5,10"),
    default="3,5,10",
    group=HITS,
)
@option(
    "--hits N,...",
    "Numbers of HITs to be answered, each by one worker.",
    type=NumberList(COUNT, "15,30,60"),
    show_default="half the campaign's, all, two and four times",
    group=HITS,
)
@option("--bad SHARE", "Share of bad workers.", type=NumberRange(0, 1, max_open=True), default=0.2, group=HITS)
@option(
    "--price X", "What a worker is paid for a HIT; adds a column with the cost.", type=AMOUNT, default=None, group=HITS
)
@option(
    "--fee SHARE",
    "What the platform takes beside the price, such as 0.2 of it.",
    type=NumberRange(0, 10),
    default=0.0,
    group=HITS,
)
@option("--seeds N", "How often everything is drawn.", type=COUNT, default=20, group=HITS)
@click.pass_context
def command(ctx: click.Context, /, campaign: Path | None, items: int | None, **options: Any) -> int:
    """Plan how many raters an item needs, or how many HITs tell systems apart.

    Plans are no promises: they hold for the spread and the behaviour of workers that they assume.
    """
    wanted = HITS if items is None else ITEMS
    for param in ctx.command.params:
        is_given = ctx.get_parameter_source(param.name or "") == ParameterSource.COMMANDLINE
        if is_given and getattr(param, "group", wanted) not in (None, wanted):
            other = "takes no --items" if wanted == ITEMS else "is about --items"
            raise VttdataError(f"{param.opts[0]} {other}; see 'vttdata people plan --help'.")
    if items is not None:
        if campaign is not None:
            raise VttdataError("--items is about items without a campaign; leave one of both out.")
        _print_precision(items, options)
    else:
        names = ("systems", "videos", "gaps", "hits", "bad", "seeds", "price", "fee")
        _print_power(campaign, **{name: options[name] for name in names})
    return DONE


def _print_precision(items: int, options: Mapping[str, Any]) -> None:
    from vttdata.files.results import ResultColumn, ResultTable, format_plain_table
    from vttdata.people.scoring.precision import items_with_judge, precision

    names = ("sd", "spread", "seconds", "hourly", "controls")
    rows = [precision(items, n, **{name: options[name] for name in names}) for n in options["judgments"]]
    head: list[ResultColumn | str] = [
        "judgments",
        "item +-",
        "mean +-",
        ResultColumn("hours", 1),
        ResultColumn("cost", 2),
    ]
    table = [[row.judgments, row.item, row.mean, row.hours, row.cost] for row in rows]
    if options["judge_correlation"] is not None:
        judged = options["judged"] or 10 * items
        if judged < items:
            raise VttdataError(f"--judged: the judge rates all items, at least the {items:,} of --items.")
        spreads = {
            "sd": options["sd"],
            "spread": options["spread"],
            "r": options["judge_correlation"],
            "judged": judged,
        }
        try:
            numbers = [items_with_judge(items, n, **spreads) for n in options["judgments"]]
        except ValueError as error:
            raise VttdataError(f"--judge-correlation, --sd and --spread: {error}.") from None
        head += ["items with judge", ResultColumn("their cost", 2)]
        for row, plan, number in zip(table, rows, numbers, strict=True):
            row += [number, plan.cost * number / items]
    elif options["judged"] is not None:
        raise VttdataError("--judged is about a judge; name its correlation with --judge-correlation.")
    print(format_plain_table(ResultTable(head, table)))


def _print_power(
    campaign: Path | None,
    *,
    systems: int,
    videos: int,
    gaps: list[float],
    hits: list[int] | None,
    bad: float,
    seeds: int,
    price: float | None,
    fee: float,
) -> None:
    from vttdata.files.results import format_cell
    from vttdata.files.table_formats import counted
    from vttdata.people.answers.manifest import read_manifest
    from vttdata.people.campaign import read_campaign
    from vttdata.people.scoring.power import placeholder_hits, power, reliability_by

    if price is None and fee:
        raise VttdataError("--fee is a share of the price of a HIT; name it by --price.")
    if campaign is None:
        if systems * videos > MAX_CAPTIONS:
            raise VttdataError(f"--systems and --videos: at most {MAX_CAPTIONS:,} captions can be planned for.")
        manifest, settings = placeholder_hits(systems, videos), None
    elif campaign.is_dir():
        asked = read_campaign(campaign)
        manifest, settings = asked.manifest(), asked.task.settings.reliability
    else:
        manifest, settings = read_manifest(campaign), None
    settings = settings or reliability_by(manifest)
    number = len(manifest)
    answered = hits or [max(number // 2, 1), number, 2 * number, 4 * number]
    print(f"{counted(number, 'HIT')}; {bad:.0%} of workers are bad; {seeds} seeds\n")
    head = ("hits", "gap", "power", "false", "caught", "lost", *(("cost",) if price is not None else ()))
    print("".join(f"{name:>9}" for name in head))
    for gap, count in itertools.product(gaps, answered):
        estimate = power(manifest, count, gap, bad=bad, seeds=seeds, settings=settings)
        shares = (estimate.power, estimate.false, estimate.caught, estimate.lost)
        # Each row is printed as soon as it is known, since all of them may take minutes.
        cost = "" if price is None else f"{count * price * (1 + fee):>9,.2f}"
        print(f"{count:>9,}{gap:>9g}{''.join(f'{format_cell(share):>9}' for share in shares)}{cost}", flush=True)
