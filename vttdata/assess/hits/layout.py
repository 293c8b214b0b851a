"""From the captions that a HIT shows to its items: which are repeated and degraded, where they stand, their names.

No two HITs show the same captions in the same order, and no name depends on what its item is.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from vttdata.assess.hits.controls import Person
from vttdata.assess.hits.order import arrange, block_length
from vttdata.assess.hits.plan import Hit, HitItem, HitSettings
from vttdata.assess.hits.selection import Chosen
from vttdata.errors import VttdataError
from vttdata.generate.degrade.donors import point

_SIGNS = "bcdfghjklmnpqrst"
"""Names are written with consonants: no word comes of them, and no spreadsheet takes them for a number."""
_ATTEMPTS = 100


def laid_out(chosen: Iterable[Chosen], campaign: str, settings: HitSettings, seed: int) -> Iterator[Hit]:
    """The HITs with their ids, no two of which show the same captions in the same order."""
    repeats = Counter[str]()
    shown: set[tuple[tuple[str, str], ...]] = set()
    for number, own in enumerate(chosen):
        again = _repeated(own, settings.repeat, repeats, seed, number)
        for attempt in range(_ATTEMPTS):
            items = _in_order(own, again, settings, (seed, number, attempt))
            key = tuple((item.video_id, item.caption) for item in items)
            if key not in shown:
                break
        else:
            raise VttdataError(f"HITs of {settings.items} items are too small for {number + 1} of them to differ.")
        shown.add(key)
        hit = f"h{number + 1:04}{_letters(campaign, number)}"
        names = (_letters(campaign, number, place) for place in range(len(items)))
        yield Hit(hit, tuple(dataclasses.replace(item, item=name) for item, name in zip(items, names, strict=True)))


def _repeated(own: Chosen, wanted: int, repeats: Counter[str], seed: int, number: int) -> list[tuple[str, str]]:
    """Which of a HIT's (system, video) are shown again: evenly within the HIT, then over the campaign."""
    waiting: dict[str, list[str]] = {}
    for system, video, _ in own.captions:
        waiting.setdefault(system, []).append(video)
    luck = {system: point("repeat", seed, number, system) for system in waiting}
    here = Counter[str]()
    again: list[tuple[str, str]] = []
    for _ in range(wanted):
        system = min(waiting, key=lambda name: (here[name], repeats[name], luck[name]))
        videos = waiting[system]
        video = min(videos, key=lambda name: point("repeat", seed, number, system, name))
        videos.remove(video)
        if not videos:
            del waiting[system]
        here[system] += 1
        repeats[system] += 1
        again.append((system, video))
    return again


def _in_order(
    own: Chosen, again: Sequence[tuple[str, str]], settings: HitSettings, purpose: tuple[int, int, int]
) -> list[HitItem]:
    name = settings.human_name
    human = [HitItem("", person.video_id, name, "human", person.caption) for person in own.people]
    hidden = sorted(range(len(human)), key=lambda place: point("degraded", purpose, place))[: settings.degraded]
    pairs = [(human[place], _degraded(own.people[place], name)) for place in hidden]
    systems = {(system, video): HitItem("", video, system, "system", text) for system, video, text in own.captions}
    repeats = [(systems[key], dataclasses.replace(systems[key], kind="repeat")) for key in again]
    single = [human[place] for place in range(len(human)) if place not in set(hidden)]
    single += [item for key, item in systems.items() if key not in again]
    return arrange([pairs, repeats], single, block_length(settings.items, settings.min_distance), purpose)


def _degraded(person: Person, name: str) -> HitItem:
    return HitItem("", person.video_id, name, "degraded", person.worse, person.degraded)


def _letters(*purpose: object) -> str:
    """Twelve consonants, 48 bits."""
    number = point(*purpose)
    return "".join(_SIGNS[number >> shift & 15] for shift in range(0, 48, 4))
