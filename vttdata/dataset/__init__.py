"""Dataset folders: written, counted, described and checked.

What a dataset contains is decided elsewhere, and nothing is uploaded.
"""

from vttdata.dataset.manifest import find_damage
from vttdata.dataset.metadata import Metadata, OfficialLayout, PaperFigure
from vttdata.dataset.statistics import SplitStatistics, Statistics, compute_statistics
from vttdata.dataset.videos import MediaFiles
from vttdata.dataset.write import WriteHooks, write_dataset

__all__ = [
    "MediaFiles",
    "Metadata",
    "OfficialLayout",
    "PaperFigure",
    "SplitStatistics",
    "Statistics",
    "WriteHooks",
    "compute_statistics",
    "find_damage",
    "write_dataset",
]
