"""Dataset folders: written so that they load everywhere and never stale, counted, described and checked.

It decides nothing about what is in a dataset, and it does not upload.
"""

from vttdata.publish.about import About, PaperFigure
from vttdata.publish.dataset import write_dataset
from vttdata.publish.given import Given
from vttdata.publish.manifest import find_damage
from vttdata.publish.statistics import SplitStatistics, Statistics, statistics

__all__ = [
    "About",
    "Given",
    "PaperFigure",
    "SplitStatistics",
    "Statistics",
    "find_damage",
    "statistics",
    "write_dataset",
]
