"""Commands and options that no longer exist, and what does their work now."""

from __future__ import annotations

import click

from vttdata.errors import VttdataError

_RAY = "'vttdata build RECIPE --engine ray' builds on several machines, under Slurm too (docs/scale.md)"

# What was typed after ``vttdata`` -> the present way.
REMOVED = {"merge": _RAY, "slurm": _RAY, "build --shard": _RAY}


def check_not_removed(ctx: click.Context, name: str) -> None:
    """Check that a command or option, typed in the context of the command before it, was not removed.

    Raises:
        VttdataError: If it was; says what to use instead.
    """
    typed = " ".join([*ctx.command_path.split()[1:], name])
    if typed in REMOVED:
        raise VttdataError(f"'vttdata {typed}' no longer exists: {REMOVED[typed]}.")
