"""Order the items of HITs: choose what is repeated and degraded, keep pairs apart, and give items their ids.

No two HITs show the same captions in the same order, and no id depends on what its item is.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from vttdata.errors import VttdataError
from vttdata.generate.degrade.donors import hash64
from vttdata.people.hits.caption_selection import HitContent
from vttdata.people.hits.hit_records import Hit, HitItem, HitSettings

T = TypeVar("T")

# Ids are written with consonants, so that they form no words and no spreadsheet reads them as numbers.
_ID_LETTERS = "bcdfghjklmnpqrst"
_MAX_ATTEMPTS = 100


def lay_out_hits(contents: Iterable[HitContent], campaign: str, settings: HitSettings, seed: int) -> Iterator[Hit]:
    """Yield HITs with ids, no two of which show the same captions in the same order.

    Ids are derived from `campaign`, a digest of what it is made of.

    Raises:
        VttdataError: if HITs are too small to differ.
    """
    repeats_of_system = Counter[str]()
    seen: set[tuple[tuple[str, str], ...]] = set()
    for number, content in enumerate(contents):
        repeated = _choose_repeats(content, settings.repeat, repeats_of_system, seed, number)
        for attempt in range(_MAX_ATTEMPTS):
            items = _order_items(content, repeated, settings, (seed, number, attempt))
            key = tuple((item.video_id, item.caption) for item in items)
            if key not in seen:
                break
        else:
            raise VttdataError(f"HITs of {settings.items} items are too small for {number + 1} of them to differ.")
        seen.add(key)
        hit = f"h{number + 1:04}{_random_letters(campaign, number)}"
        ids = (_random_letters(campaign, number, position) for position in range(len(items)))
        yield Hit(hit, tuple(dataclasses.replace(item, item=name) for item, name in zip(items, ids, strict=True)))


def _choose_repeats(
    content: HitContent, number_of_repeats: int, repeats_of_system: Counter[str], seed: int, number: int
) -> list[tuple[str, str]]:
    """Choose (system, video) to be shown again: balanced over systems within the HIT, then over the campaign.

    Of a system, captions are preferred whose video no other system of the HIT describes.
    """
    videos_of: dict[str, list[str]] = {}
    for system, video, _ in content.captions:
        videos_of.setdefault(system, []).append(video)
    times = Counter(video for _, video, _ in content.captions)
    tie_break = {system: hash64("repeat", seed, number, system) for system in videos_of}
    repeats_in_hit = Counter[str]()
    repeated: list[tuple[str, str]] = []
    for _ in range(number_of_repeats):
        system = min(videos_of, key=lambda name: (repeats_in_hit[name], repeats_of_system[name], tie_break[name]))
        videos = videos_of[system]
        video = min(videos, key=lambda name: (times[name] > 1, hash64("repeat", seed, number, system, name)))
        videos.remove(video)
        if not videos:
            del videos_of[system]
        repeats_in_hit[system] += 1
        repeats_of_system[system] += 1
        repeated.append((system, video))
    return repeated


def _order_items(
    content: HitContent, repeated: Sequence[tuple[str, str]], settings: HitSettings, purpose: tuple[int, int, int]
) -> list[HitItem]:
    name = settings.human_name
    human = [HitItem("", caption.video_id, name, "human", caption.caption) for caption in content.human]
    order = sorted(range(len(human)), key=lambda index: hash64("degraded", purpose, index))
    degraded = [
        HitItem("", caption.video_id, name, "degraded", caption.degraded_caption, caption.degraded)
        for caption in content.human
    ]
    degraded_pairs = [(human[index], degraded[index]) for index in order[: settings.degraded]]
    systems = {(system, video): HitItem("", video, system, "system", text) for system, video, text in content.captions}
    repeat_pairs = [(systems[key], dataclasses.replace(systems[key], kind="repeat")) for key in repeated]
    single = [human[index] for index in sorted(order[settings.degraded :])]
    of_video: dict[str, list[HitItem]] = {}
    for key, item in systems.items():
        if key not in repeated:
            of_video.setdefault(item.video_id, []).append(item)
    twins = [(items[0], items[1]) for items in of_video.values() if len(items) == 2][: settings.twins]
    paired = {item for pair in twins for item in pair}
    single += [item for items in of_video.values() for item in items if item not in paired]
    return arrange([degraded_pairs, repeat_pairs, twins], single, settings.block_length, purpose)


def arrange(pairs: Sequence[Sequence[tuple[T, T]]], single: Sequence[T], block_length: int, purpose: object) -> list[T]:
    """Order pairs and single values so that the two values of a pair are far apart.

    Both halves of the list are cut into blocks. One value of each pair is placed into a block of the first half and the
    other into the same block of the second half, so they are at least ceil(items / 2) - block_length + 1 positions
    apart. Pairs of a kind are dealt to the blocks in turn, with their first value alternately in the first and in the
    second half; blocks get as many of each kind as numbers allow, for 100 items Graham's 7, 1, 1 and 1.

    Args:
        pairs: pairs of each kind; together with `single` at least two positions for each pair.
        single: values without a counterpart.
        block_length: number of positions in a block.
        purpose: seed of all draws.
    """
    total = 2 * sum(map(len, pairs)) + len(single)
    half = total // 2
    blocks = [list(range(start, min(start + block_length, half))) for start in range(0, half, block_length)]
    first_half = [_shuffled(block, (purpose, "early")) for block in blocks]
    second_half = [_shuffled([total - half + position for position in block], (purpose, "late")) for block in blocks]
    order = _shuffled(range(len(blocks)), (purpose, "blocks"))
    placed: dict[int, T] = {}
    turn = 0
    for kind, pairs_of_kind in enumerate(pairs):
        flips = [hash64(purpose, "flip", kind, block) % 2 for block in range(len(blocks))]
        for pair in _shuffled(pairs_of_kind, (purpose, "pairs", kind)):
            # The last block is shorter than the others, and may be full already.
            while not first_half[order[turn % len(order)]]:
                turn += 1
            block = order[turn % len(order)]
            turn += 1
            first, second = pair if flips[block] else pair[::-1]
            flips[block] = 1 - flips[block]
            placed[first_half[block].pop()] = first
            placed[second_half[block].pop()] = second
    free = [position for position in range(total) if position not in placed]
    placed.update(zip(free, _shuffled(single, (purpose, "single")), strict=True))
    return [placed[position] for position in range(total)]


def _shuffled(values: Sequence[T], purpose: object) -> list[T]:
    """Return the values in an order that depends only on their number and the purpose."""
    order = sorted(range(len(values)), key=lambda index: hash64(purpose, index))
    return [values[index] for index in order]


def _random_letters(*purpose: object) -> str:
    """Return twelve consonants, 48 bits."""
    number = hash64(*purpose)
    return "".join(_ID_LETTERS[number >> shift & 15] for shift in range(0, 48, 4))
