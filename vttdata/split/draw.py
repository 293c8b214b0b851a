"""Stable draw of a split for each group of clips, which no other group has a part in; no records.

The rule: every split draws a waiting time for every group, exponential with the split's ratio as its rate, from a hash
of the seed, the group and the split's name; the group goes where the wait is shortest (weighted rendezvous hashing,
Thaler and Ravishankar, 1998). So a group falls into a split with the probability of its ratio, a split that takes in
nothing more gives up its own groups only, and a changed ratio moves groups to or from its split only.

No rule can do that and keep to the ratios as well: each group draws alone, so the share of a split differs from its
ratio r by about sqrt(r (1 - r) / groups). One bound is kept: with at least as many groups as splits no split is empty;
the group with the shortest wait for an empty one goes there.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence

from vttdata.split.groups import ClipGroup


def draw_splits(
    groups: Sequence[ClipGroup], ratios: Mapping[str, float], occupied: Mapping[str, int]
) -> dict[str, str]:
    """Return group id -> split, for groups in any order.

    Args:
        groups: to be placed.
        ratios: split -> share, of those splits that take groups in.
        occupied: split -> number of groups that are in it already.
    """
    waits = {group.group_id: _waits(group, ratios) for group in groups}
    split_of = {group_id: min(waits_of, key=lambda split: waits_of[split]) for group_id, waits_of in waits.items()}
    counts = Counter(split_of.values()) + Counter({split: occupied.get(split, 0) for split in ratios})
    by_ratio = sorted(ratios, key=lambda split: (-ratios[split], split))
    nonempty = by_ratio[: len(groups) + sum(1 for split in ratios if occupied.get(split))]
    for empty in (split for split in nonempty if not counts[split]):
        # A split that may not be empty itself has to keep one group.
        movable = [name for name, split in split_of.items() if counts[split] > (split in nonempty)]
        if movable:
            moved = min(movable, key=lambda name: (waits[name][empty], name))
            counts[split_of[moved]] -= 1
            counts[empty] += 1
            split_of[moved] = empty
    return split_of


def _waits(group: ClipGroup, ratios: Mapping[str, float]) -> dict[str, float]:
    """Return the waiting time of a group for each split."""
    waits = {}
    for split, ratio in ratios.items():
        hashed = hashlib.sha256(group.digest + split.encode()).digest()
        # Half a step above the number, since there is no logarithm of 0.
        waits[split] = -math.log((int.from_bytes(hashed[:6]) + 0.5) / 2**48) / ratio
    return waits
