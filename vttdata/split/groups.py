"""Groups of clips that must stay in one split: connected components over shared sources, queries, uploaders and pairs.

Near-duplicates are not searched for here; callers pass the pairs of sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from vttdata.records import Clip

Tie = Literal["source", "query", "uploader", "near_duplicate"]


@dataclass(frozen=True, slots=True)
class ClipGroup:
    """Clips that stay together.

    Fields:
        group_id: see `group_clips`.
        size: number of clips.
        strata: (stratum, number of clips) sorted by stratum; the numbers add up to `size`.
        digest: hash of the seed and of what identifies the group while clips come and go.
    """

    group_id: str
    size: int
    strata: tuple[tuple[str, int], ...]
    digest: bytes

    @property
    def rank(self) -> float:
        """First of two pseudo-random numbers, 0..1, that place the group; see `vttdata.split.balance`."""
        return int.from_bytes(self.digest[:6]) / 2**48

    @property
    def point(self) -> float:
        """Second of the two numbers."""
        return int.from_bytes(self.digest[6:12]) / 2**48


def group_clips(
    clips: Iterable[Clip],
    together: Collection[Tie],
    pairs: Iterable[tuple[str, str]] = (),
    uploaders: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return `video_id` -> group id, which is the smallest `video_id` of the group, whatever the order of anything.

    Args:
        clips: with distinct ids.
        together: ties between clips: ``source`` (cut from one original), ``query`` (found by one search; clips without
            a query are not tied by it), ``uploader`` (their originals were published by one, as far as `uploaders`
            knows), ``near_duplicate`` (their originals are connected by `pairs`, directly or over others, which then
            count as one original).
        pairs: two source ids each; sources without clips still connect others.
        uploaders: source id -> who published it.
    """
    uploaders = uploaders or {}
    nodes = DisjointSets()
    paired_sources: set[str] = set()
    for source_a, source_b in pairs if "near_duplicate" in together else ():
        paired_sources |= {source_a, source_b}
        nodes.join(nodes.node("source", source_a), nodes.node("source", source_b))
    node_of_clip: dict[str, int] = {}
    for clip in clips:
        node = node_of_clip[clip.video_id] = nodes.add()
        if "source" in together or clip.source_id in paired_sources:
            nodes.join(nodes.node("source", clip.source_id), node)
        if "query" in together and clip.query is not None:
            nodes.join(nodes.node("query", clip.query), node)
        if "uploader" in together and clip.source_id in uploaders:
            nodes.join(nodes.node("uploader", uploaders[clip.source_id]), node)
    root_of_clip = {video_id: nodes.root(node) for video_id, node in node_of_clip.items()}
    group_of_root: dict[int, str] = {}
    for video_id, root in root_of_clip.items():
        group_of_root[root] = min(video_id, group_of_root.get(root, video_id))
    return {video_id: group_of_root[root] for video_id, root in root_of_clip.items()}


def take_apart(
    group_of: Mapping[str, str],
    clips: Iterable[Clip],
    together: Collection[Tie],
    limit: float,
    pairs: Iterable[tuple[str, str]] = (),
    uploaders: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return `video_id` -> group id, where groups of more than `limit` clips are made again by fewer kinds of ties."""
    sizes = Counter(group_of.values())
    large = (clip for clip in clips if sizes[group_of[clip.video_id]] > limit)
    return {**group_of, **group_clips(large, together, pairs, uploaders)}


def count_ties(
    group_of: Mapping[str, str],
    clips: Iterable[Clip],
    pairs: Iterable[tuple[str, str]],
    uploaders: Mapping[str, str],
    number: int,
) -> list[tuple[str, int, dict[str, int]]]:
    """Return the largest groups: id, number of clips, and how many sources, queries, uploaders and pairs are in it."""
    largest = dict(Counter(group_of.values()).most_common(number))
    found: dict[str, dict[str, set[object]]] = {group: {} for group in largest}
    group_of_source: dict[str, str] = {}
    for clip in clips:
        if (group := group_of[clip.video_id]) in largest:
            group_of_source[clip.source_id] = group
            ties = {"sources": clip.source_id, "queries": clip.query, "uploaders": uploaders.get(clip.source_id)}
            for kind, name in ties.items():
                found[group].setdefault(kind, set()).update({name} - {None})
    for pair in pairs:
        for group in {group_of_source[source] for source in pair if source in group_of_source}:
            found[group].setdefault("near-duplicate pairs", set()).add(pair)
    return [(name, size, {kind: len(names) for kind, names in found[name].items()}) for name, size in largest.items()]


class DisjointSets:
    """Disjoint sets of nodes with path halving (Tarjan and van Leeuwen, 1984); the smallest node is the root."""

    def __init__(self) -> None:
        self._parent: list[int] = []
        self._nodes: dict[tuple[str, str], int] = {}

    def add(self) -> int:
        """Add a set of one node, and return the node."""
        self._parent.append(len(self._parent))
        return len(self._parent) - 1

    def node(self, kind: str, name: str) -> int:
        """Return the node of a name among those of its kind; add it when it is asked for the first time."""
        number = self._nodes.get((kind, name))
        if number is None:
            number = self._nodes[kind, name] = self.add()
        return number

    def root(self, node: int) -> int:
        """Return the node that stands for the set of this one."""
        parent = self._parent
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def join(self, node_a: int, node_b: int) -> None:
        """Unite the sets of two nodes."""
        root_a, root_b = self.root(node_a), self.root(node_b)
        self._parent[max(root_a, root_b)] = min(root_a, root_b)
