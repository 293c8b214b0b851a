"""Group ``vttdata campaign``: one module for each command about people's tasks."""

from vttdata.cli.options import CommandFolder

command = CommandFolder(
    "campaign",
    package=__name__,
    help="Have people choose, caption, rate and check: make campaigns, see how they stand, score them.",
)
