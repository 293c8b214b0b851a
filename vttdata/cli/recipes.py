"""List the recipes, or print one (``vttdata recipes``)."""

from __future__ import annotations

import sys

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import Command, Names, argument
from vttdata.errors import VttdataError


@click.command("recipes", cls=Command, examples=["vttdata recipes", "vttdata recipes own-folder"])
@argument(
    "recipe",
    "[RECIPE]",
    "Print this packaged recipe.",
    type=Names("recipe", "vttdata.recipe.packaged:recipes"),
    required=False,
)
def command(recipe: str | None) -> int:
    """List the packaged recipes, a line each, or print one to start from.

    A printed recipe is a file to edit: give it a name of its own, and build it with 'vttdata build FILE'.
    """
    from vttdata.recipe import packaged

    known = packaged.recipes()
    if recipe is None:
        width = max(map(len, known))
        for name, path in known.items():
            first = path.read_text(encoding="utf-8").partition("\n")[0]
            print(f"{name:<{width}}  {first.removeprefix('#').strip()}")
        return DONE
    if recipe not in known:
        raise VttdataError(f"No recipe '{recipe[:80]}'; there are {', '.join(known)}.")
    print(known[recipe].read_text(encoding="utf-8"), end="")
    print("Save it as FILE.yaml, change its name, and build it: vttdata build FILE.yaml", file=sys.stderr)
    return DONE
