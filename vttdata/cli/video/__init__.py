"""Group ``vttdata video``: one module for each command about single video files."""

from vttdata.cli.options import CommandFolder

command = CommandFolder("video", package=__name__, help="Find the shots of a video file, or frames that fit a caption.")
