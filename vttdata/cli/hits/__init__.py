"""Group ``vttdata hits``: one module for each command about Human Intelligence Tasks."""

from vttdata.cli.options import CommandFolder

command = CommandFolder(
    "hits", package=__name__, help="Have captions assessed by people: make tasks, score answers, compare, plan."
)
