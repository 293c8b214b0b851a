"""Splits that do not leak: clips that belong together form groups, and no group crosses a split."""

from vttdata.split.assign import Assignment, SplitSettings, assign_splits
from vttdata.split.groups import group_clips

__all__ = ["Assignment", "SplitSettings", "assign_splits", "group_clips"]
