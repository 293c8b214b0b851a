"""Splits that do not leak: clips that belong together form groups, no group crosses a split, and an audit checks it."""

from vttdata.split.assign import Assignment, SplitSettings, assign_splits
from vttdata.split.audit.leaks import Audit, audit
from vttdata.split.groups import group_clips
from vttdata.split.near_duplicates.matches import NearDuplicate, SimilarSources

__all__ = [
    "Assignment",
    "Audit",
    "NearDuplicate",
    "SimilarSources",
    "SplitSettings",
    "assign_splits",
    "audit",
    "group_clips",
]
