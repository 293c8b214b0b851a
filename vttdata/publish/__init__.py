"""Dataset folders: written so that they load everywhere and never stale, counted, described and checked.

It decides nothing about what is in a dataset, and it does not upload.
"""

from vttdata.publish.about import About, PaperFigure
from vttdata.publish.changes import ConfigDifference, Difference
from vttdata.publish.dataset import write_dataset
from vttdata.publish.difference import difference
from vttdata.publish.given import Given
from vttdata.publish.manifest import find_damage
from vttdata.publish.statistics import SplitStatistics, Statistics, statistics

__all__ = [
    "About",
    "ConfigDifference",
    "Difference",
    "Given",
    "PaperFigure",
    "SplitStatistics",
    "Statistics",
    "difference",
    "find_damage",
    "statistics",
    "write_dataset",
]
