"""Splits that do not leak: clips that belong together form groups, no group crosses a split, and an audit checks it."""

from vttdata.split.assign import Assignment, SplitSettings, assign_splits
from vttdata.split.audit.leaks import Audit, audit
from vttdata.split.groups import group_clips
from vttdata.split.near_duplicates.matches import NearDuplicate, SimilarSources

# Name of `SimilarSources` for scripts that import it.
Resemblance = SimilarSources

__all__ = [
    "Assignment",
    "Audit",
    "NearDuplicate",
    "Resemblance",
    "SimilarSources",
    "SplitSettings",
    "assign_splits",
    "audit",
    "group_clips",
]
