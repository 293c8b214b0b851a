"""Splits that do not leak: clips that belong together form groups, and no group crosses a split."""

from vttdata.split.assign import Assignment, SplitSettings, assign_splits
from vttdata.split.duplicates import Matches, NearDuplicate, find_near_duplicates, match_sources, shared_seconds
from vttdata.split.groups import group_clips

__all__ = [
    "Assignment",
    "Matches",
    "NearDuplicate",
    "SplitSettings",
    "assign_splits",
    "find_near_duplicates",
    "group_clips",
    "match_sources",
    "shared_seconds",
]
