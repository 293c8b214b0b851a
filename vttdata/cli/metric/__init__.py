"""Group ``vttdata metric``: one module for each command about metrics themselves."""

from vttdata.cli.options import CommandFolder

command = CommandFolder(
    "metric", package=__name__, help="Compare metrics with people's scores; train and fuse metrics."
)
