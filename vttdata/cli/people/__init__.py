"""Group ``vttdata people``: one module for each command about what people are asked."""

from vttdata.cli.options import CommandFolder

command = CommandFolder(
    "people",
    package=__name__,
    help="Have people choose, caption, rate, check; score their answers.",
    sections={"Commands": ("plan", "make", "invite", "serve", "status", "score", "export", "forget")},
)
