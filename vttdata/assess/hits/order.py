"""The order of a HIT: controls far from their originals, and everywhere as many of each kind.

It knows nothing of captions: it lays out pairs and single values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vttdata.generate.degrade.donors import point

T = TypeVar("T")


def block_length(items: int, min_distance: int | None) -> int:
    """How long blocks may be, so that the two of a pair lie `min_distance` apart: ceil(items / 2) - distance + 1.

    None asks for ten blocks, as in Graham's scripts: 10 of 100 items, which puts pairs 41 to 59 places apart.
    """
    if min_distance is None:
        return max(1, items // 10)
    return min(-(-items // 2) - min_distance + 1, max(1, items // 2))


def arrange(pairs: Sequence[Sequence[tuple[T, T]]], single: Sequence[T], block: int, purpose: object) -> list[T]:
    """Lay out pairs and single values.

    Both halves of the HIT are cut into blocks of `block` places. One of each pair comes into a block of the first half
    and the other into the same block of the second half, so at least ceil(items / 2) - block + 1 places lie from one to
    the other. Pairs of a kind are dealt to the blocks in turn, their first value by turns to the first and the second
    half; so blocks have as many of each as numbers allow, which for 100 items is Graham's 7, 1, 1 and 1.

    Args:
        pairs: kind by kind; together with `single` at least two places for each pair.
        single: what has no counterpart.
        block: places in a block.
        purpose: what decides all draws.
    """
    total = 2 * sum(map(len, pairs)) + len(single)
    half = total // 2
    cells = [list(range(start, min(start + block, half))) for start in range(0, half, block)]
    early = [_shuffled(own, (purpose, "early")) for own in cells]
    late = [_shuffled([total - half + place for place in own], (purpose, "late")) for own in cells]
    order = _shuffled(range(len(cells)), (purpose, "blocks"))
    places: dict[int, T] = {}
    turn = 0
    for kind, own in enumerate(pairs):
        flips = [point(purpose, "flip", kind, number) % 2 for number in range(len(cells))]
        for pair in _shuffled(own, (purpose, "pairs", kind)):
            while not early[order[turn % len(order)]]:
                turn += 1
            number = order[turn % len(order)]
            turn += 1
            first, second = pair if flips[number] else pair[::-1]
            flips[number] = 1 - flips[number]
            places[early[number].pop()] = first
            places[late[number].pop()] = second
    free = [place for place in range(total) if place not in places]
    places.update(zip(free, _shuffled(single, (purpose, "single")), strict=True))
    return [places[place] for place in range(total)]


def _shuffled(values: Sequence[T], purpose: object) -> list[T]:
    """The values in an order that only their number and the purpose decide."""
    order = sorted(range(len(values)), key=lambda place: point(purpose, place))
    return [values[place] for place in order]
