"""Plan how many judgments to pay for (``vttdata campaign plan``)."""

from __future__ import annotations

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.hits.power import NumberList
from vttdata.cli.options import Command, NumberRange, WholeNumber, option

COUNT = WholeNumber(1, 10**6)
AMOUNT = NumberRange(0, 10**6)


@click.command(
    "plan",
    cls=Command,
    notes=[
        "Prints for each number of judgments an item: half of the 95 % interval of one item's mean and of the mean "
        "over all items, hours of work, and their cost. For yes or no about evenly divided items, --sd 0.5 is most."
    ],
    examples=["vttdata campaign plan --items 500 --judgments 3,5,10 --sd 0.9 --spread 0.8 --seconds 15"],
)
@option("--items N", "Number of items.", type=COUNT, required=True)
@option(
    "--judgments N,...",
    "Numbers of workers who judge each item.",
    type=NumberList(COUNT, "3,5,10"),
    default="1,3,5,10,20",
)
@option("--sd X", "Standard deviation of different workers' ratings of the same item.", type=AMOUNT, default=1.0)
@option("--spread X", "Standard deviation of the items' true means.", type=AMOUNT, default=1.0)
@option("--seconds X", "Time that a judgment takes.", type=AMOUNT, default=20.0)
@option("--hourly X", "Pay of an hour.", type=AMOUNT, default=12.0)
@option("--controls SHARE", "Controls beside each judgment.", type=NumberRange(0, 10), default=0.1)
def command(
    items: int, judgments: list[int], sd: float, spread: float, seconds: float, hourly: float, controls: float
) -> int:
    """Print which interval a number of judgments gives, how long they take and what they cost."""
    from vttdata.assess.precision import precision
    from vttdata.files.table_formats import as_plain

    rows = [
        precision(items, n, sd=sd, spread=spread, seconds=seconds, hourly=hourly, controls=controls) for n in judgments
    ]
    head = ["judgments", "item +-", "mean +-", "hours", "cost"]
    print(
        as_plain(
            [head, *([row.judgments, row.item, row.mean, round(row.hours, 1), round(row.cost, 2)] for row in rows)]
        )
    )
    return DONE
