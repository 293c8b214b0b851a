"""Dataset folders: written, counted, described and checked.

What a dataset contains is decided elsewhere, and nothing is uploaded.
"""

from vttdata.dataset.manifest import find_damage
from vttdata.dataset.metadata import Metadata, OfficialLayout, PaperFigure
from vttdata.dataset.statistics import SplitStatistics, Statistics, compute_statistics
from vttdata.dataset.write import write_dataset

__all__ = [
    "Metadata",
    "OfficialLayout",
    "PaperFigure",
    "SplitStatistics",
    "Statistics",
    "compute_statistics",
    "find_damage",
    "write_dataset",
]
