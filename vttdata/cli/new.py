"""Write a builder, a recipe and a test to start from (``vttdata new``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option


@click.command("new", cls=Command, examples=["vttdata new tiny-talks --out plugins"])
@argument("name", "NAME", "Name of the benchmark: lower-case letters, digits, - and _.")
@option(
    "--out DIR",
    "A checkout of this project, or a folder of plugins (VTTDATA_PLUGINS).",
    type=FILE,
    default=".",
    show_default="the working folder",
)
def command(name: str, out: Path) -> int:
    """Add a benchmark of your own in code: write files to start from.

    A builder, a recipe and a test read a table and pass; every place to change is marked TODO, and 'docs/extending.md'
    explains them. Videos and captions of your own need no code: 'vttdata build own-folder' takes them.
    """
    from vttdata.compose.new_benchmark import write_benchmark

    for path in write_benchmark(name, out):
        print(path)
    return DONE
