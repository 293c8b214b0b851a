"""Finds the groups of clips that must stay in one split: connected components over shared sources, queries and pairs.

It does not look for near-duplicates itself; whoever has found them hands in the pairs of sources.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from vttdata.records import Clip

Tie = Literal["source", "query", "uploader", "near_duplicate"]


@dataclass(frozen=True, slots=True)
class Group:
    """Clips that stay together: so many (`size`), how many of each stratum, sorted by stratum.

    `rank` and `point` are two numbers, 0..1, as good as random.
    """

    group_id: str
    size: int
    strata: tuple[tuple[str, int], ...]
    rank: float
    point: float


def group_clips(
    clips: Iterable[Clip],
    together: Collection[Tie],
    pairs: Iterable[tuple[str, str]] = (),
    uploaders: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Give each clip the id of its group.

    Args:
        clips: with distinct ids.
        together: what ties clips: ``source`` (cut from one original), ``query`` (found by one search; clips without a
            query are not tied by it), ``uploader`` (their originals were published by one, as far as `uploaders`
            knows), ``near_duplicate`` (their originals are connected by `pairs`, directly or over others, which then
            count as one original).
        pairs: two source ids each; sources without clips still connect others.
        uploaders: source id -> who published it.

    Returns:
        `video_id` -> group id, which is the smallest `video_id` of the group, whatever the order of anything.
    """
    forest = _Forest()
    paired: set[str] = set()
    for one, other in pairs if "near_duplicate" in together else ():
        paired |= {one, other}
        forest.join(forest.named("source", one), forest.named("source", other))
    ids: list[str] = []
    nodes: list[int] = []
    for clip in clips:
        node = forest.new()
        for tie, name in _ties(clip, together, paired, uploaders or {}):
            forest.join(forest.named(tie, name), node)
        ids.append(clip.video_id)
        nodes.append(node)
    roots = [forest.root(node) for node in nodes]
    names: dict[int, str] = {}
    for root, video_id in zip(roots, ids, strict=True):
        names[root] = min(video_id, names.get(root, video_id))
    return {video_id: names[root] for root, video_id in zip(roots, ids, strict=True)}


def _ties(
    clip: Clip, together: Collection[Tie], paired: Collection[str], uploaders: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    if "source" in together or clip.source_id in paired:
        yield "source", clip.source_id
    if "query" in together and clip.query is not None:
        yield "query", clip.query
    if "uploader" in together and clip.source_id in uploaders:
        yield "uploader", uploaders[clip.source_id]


class _Forest:
    """Disjoint sets of numbered nodes with path halving (Tarjan and van Leeuwen, 1984); the smaller number is root."""

    def __init__(self) -> None:
        self._parent: list[int] = []
        self._numbers: dict[tuple[str, str], int] = {}

    def new(self) -> int:
        """A node of its own."""
        self._parent.append(len(self._parent))
        return len(self._parent) - 1

    def named(self, tie: str, name: str) -> int:
        """The node of this name among those of its kind."""
        number = self._numbers.get((tie, name))
        if number is None:
            number = self._numbers[tie, name] = self.new()
        return number

    def root(self, node: int) -> int:
        parent = self._parent
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def join(self, one: int, other: int) -> None:
        first, second = self.root(one), self.root(other)
        self._parent[max(first, second)] = min(first, second)
