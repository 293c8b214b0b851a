"""Write a builder, a recipe and a test to start from, or a recipe for a file of questions (``vttdata new``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option
from vttdata.errors import VttdataError


@click.command(
    "new",
    cls=Command,
    examples=["vttdata new tiny-talks --out plugins", "vttdata new questions quiz.json --out plugins"],
)
@argument("name", "NAME", "Name of the benchmark: lower-case letters, digits, - and _; or questions.")
@argument("file", "[FILE]", "Of questions: a published file, for a recipe that reads it.", type=FILE, required=False)
@option(
    "--out DIR",
    "A checkout of this project, or a folder of plugins (VTTDATA_PLUGINS).",
    type=FILE,
    default=".",
    show_default="the working folder",
)
def command(name: str, file: Path | None, out: Path) -> int:
    """Write the files that a benchmark or a set of questions starts from.

    A builder, a recipe and a test read a table and pass; every place to change is marked TODO, and 'docs/extending.md'
    explains them. 'questions FILE' looks at a file of questions and writes a recipe with what it guessed of it. Videos
    and captions of your own need neither: 'vttdata build own-folder' takes them.
    """
    if file is not None:
        if name != "questions":
            raise VttdataError(f"{file}: only a file of questions is looked at: vttdata new questions FILE.")
        from vttdata.compose.new_question_set import write_question_recipe

        path, sentence = write_question_recipe(file, out)
        print(path, sentence, sep="\n")
        return DONE
    from vttdata.compose.new_benchmark import write_benchmark

    for path in write_benchmark(name, out):
        print(path)
    return DONE
