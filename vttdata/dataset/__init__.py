"""Dataset folders: written so that they load everywhere and never stale, counted, described and checked.

It decides nothing about what is in a dataset, and it does not upload.
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
