"""List the recipes (``vttdata recipes``)."""

from __future__ import annotations

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import Command


@click.command("recipes", cls=Command, examples=["vttdata recipes"])
def command() -> int:
    """List the packaged recipes, a line each."""
    from vttdata.recipe import packaged

    known = packaged.recipes()
    width = max(map(len, known))
    for name, path in known.items():
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        print(f"{name:<{width}}  {first.removeprefix('#').strip()}")
    return DONE
