"""Finds the groups of clips that must stay in one split: connected components over shared sources, queries and pairs.

It does not look for near-duplicates itself; whoever has found them hands in the pairs of sources.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from vttdata.records import Clip

Tie = Literal["source", "query", "near_duplicate"]


def group_clips(
    clips: Iterable[Clip], together: Collection[Tie], pairs: Iterable[tuple[str, str]] = ()
) -> dict[str, str]:
    """Give each clip the id of its group.

    Args:
        clips: with distinct ids.
        together: what ties clips: ``source`` (cut from one original), ``query`` (found by one search; clips without a
            query are not tied by it), ``near_duplicate`` (their originals are connected by `pairs`, directly or over
            others, which then count as one original).
        pairs: two source ids each; sources without clips still connect others.

    Returns:
        `video_id` -> group id, which is the smallest `video_id` of the group, whatever the order of anything.
    """
    forest = _Forest()
    paired: set[str] = set()
    if "near_duplicate" in together:
        for one, other in pairs:
            paired |= {one, other}
            forest.join(("source", one), ("source", other))
    members: dict[tuple[str, str], list[str]] = {}
    clips = list(clips)
    for clip in clips:
        own = ("clip", clip.video_id)
        if "source" in together or clip.source_id in paired:
            forest.join(own, ("source", clip.source_id))
        if "query" in together and clip.query is not None:
            forest.join(own, ("query", clip.query))
    for clip in clips:
        members.setdefault(forest.root(("clip", clip.video_id)), []).append(clip.video_id)
    names = {root: min(group) for root, group in members.items()}
    return {video_id: names[root] for root, group in members.items() for video_id in group}


class _Forest:
    """Disjoint sets with path halving (Tarjan and van Leeuwen, 1984)."""

    def __init__(self) -> None:
        self._parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(self, node: tuple[str, str]) -> tuple[str, str]:
        parent = self._parent
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def join(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._parent[second] = first
