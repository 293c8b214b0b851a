"""Splits that do not leak: clips that belong together form groups, and no group crosses a split; and an audit."""

from vttdata.split.assign import Assignment, SplitSettings, assign_splits
from vttdata.split.audit.leaks import Audit, audit
from vttdata.split.groups import group_clips
from vttdata.split.near_duplicates.records import NearDuplicate, Resemblance

__all__ = [
    "Assignment",
    "Audit",
    "NearDuplicate",
    "Resemblance",
    "SplitSettings",
    "assign_splits",
    "audit",
    "group_clips",
]
