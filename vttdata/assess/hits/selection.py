"""Which captions stand together in a HIT: systems by their share, videos spread, no text twice.

One pass over the captions, greedy: a caption that does not go with those already in a HIT waits for the next one.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vttdata.assess.hits.controls import Person
from vttdata.assess.hits.plan import HitSettings
from vttdata.errors import VttdataError
from vttdata.generate.degrade.donors import point

_LOOK_AHEAD = 40
"""How many waiting captions of a system are looked at for the one that goes best with a HIT. With 30 systems that all
say one of ten sentences about 2,000 videos, where none goes well, 40 takes 3 s in all and 200 takes 8 s."""

_Entry = tuple[str, tuple[str, ...]]
"""A video, and what is said about it in this item and its controls."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a HIT shows, without order: (system, video, caption) of systems, and human captions."""

    captions: tuple[tuple[str, str, str], ...]
    people: tuple[Person, ...]


@dataclass(slots=True)
class _Shown:
    """What a HIT shows so far: texts, texts with their video, and how often each video."""

    number_of_videos: int
    texts: set[str] = field(default_factory=set)
    about: set[tuple[str, str]] = field(default_factory=set)
    videos: Counter[str] = field(default_factory=Counter)
    items: int = 0

    def add(self, video: str, *texts: str) -> None:
        self.texts.update(texts)
        self.about.update((video, text) for text in texts)
        self.videos[video] += 1
        self.items += 1

    def best(self, waiting: Sequence[_Entry], left: Mapping[str, int]) -> int | None:
        """The place of what goes best with the rest, None if nothing goes.

        No text again comes first, then a video seldom shown here, then one of which most captions are `left` to show.
        """
        level = self.items // self.number_of_videos
        best: tuple[bool, int, int, int] | None = None
        for place, (video, texts) in enumerate(waiting):
            if place >= _LOOK_AHEAD and best is not None:
                break
            shown = self.videos.get(video, 0)
            if shown and any((video, text) in self.about for text in texts):
                continue
            trouble = (not self.texts.isdisjoint(texts), max(shown - level, 0), -left[video], place)
            if best is None or trouble < best:
                best = trouble
        return None if best is None else best[-1]


@dataclass(slots=True)
class _Queue:
    """A system's captions: those that must still be shown, and those to fill up with."""

    system: str
    waiting: list[_Entry]
    further: list[_Entry]


class Selection:
    """Chooses what HITs show.

    Args:
        systems: name -> `video_id` -> caption, all sorted, none empty.
        people: human captions, one a video, sorted by video.
        wanted: how many of each a HIT shows.
        seed: of all draws.

    Raises:
        VttdataError: when there are too few captions or videos for one HIT.
    """

    def __init__(
        self, systems: Mapping[str, Mapping[str, str]], people: Sequence[Person], wanted: HitSettings, seed: int
    ) -> None:
        self._systems, self._people, self._wanted, self._seed = systems, people, wanted, seed
        self._videos = sorted({video for texts in systems.values() for video in texts})
        self._people_waiting: list[_Entry] = []
        self._people_rounds = 0
        self._person = {person.video_id: person for person in people}
        self._check()
        passes = [self._pass(number) for number in range(wanted.assessments + 1)]
        self._queues = [
            _Queue(system, [own for queues in passes[:-1] for own in queues[system]], passes[-1][system])
            for system in systems
        ]
        self._left = Counter(video for queue in self._queues for video, _ in queue.waiting)
        self._none_left = dict.fromkeys(self._videos, 0)

    def _check(self) -> None:
        different = {(video, _key(text)) for texts in self._systems.values() for video, text in texts.items()}
        if len(different) < self._wanted.system:
            raise VttdataError(
                f"There are {len(different)} different captions by {len(self._systems)} systems of "
                f"{len(self._videos)} videos, and one HIT needs {self._wanted.system}."
            )
        if len(self._people) < self._wanted.human:
            raise VttdataError(
                f"{len(self._people)} of {len(self._videos)} videos have a human caption that can be degraded, "
                f"and one HIT needs {self._wanted.human}."
            )

    def _pass(self, number: int) -> dict[str, list[_Entry]]:
        """Each system's captions once: videos in one order, where each system begins at another place."""
        order = sorted(self._videos, key=lambda video: point("pass", self._seed, number, video))
        ranks = sorted(self._systems, key=lambda system: point("pass", self._seed, number, "system", system))
        queues: dict[str, list[_Entry]] = {}
        for rank, system in enumerate(ranks):
            start = rank * len(order) // len(ranks)
            own = self._systems[system]
            queues[system] = [(v, (_key(own[v]),)) for v in (*order[start:], *order[:start]) if v in own]
        return queues

    def hits(self, notes: dict[str, list[str]]) -> Iterator[Chosen]:
        """HIT after HIT until every caption has been shown; `same_text` and `assessed_again` are noted."""
        number = 0
        while any(queue.waiting for queue in self._queues):
            shown = _Shown(len(self._videos))
            people = self._choose_people(shown)
            captions = self._choose_waiting(number, shown)
            if not captions:
                raise VttdataError(self._stuck())
            extra = self._choose_further(number, shown, captions)
            notes.setdefault("assessed_again", []).extend(f"{system}/{video}" for system, video in extra)
            chosen = [(system, video, self._systems[system][video]) for system, video in (*captions, *extra)]
            notes.setdefault("same_text", []).extend(_doubled(chosen, people))
            yield Chosen(tuple(chosen), tuple(people))
            number += 1

    def _choose_people(self, shown: _Shown) -> list[Person]:
        """Human captions in turns, so that all are shown equally often."""
        chosen = []
        for _ in range(self._wanted.human):
            place = shown.best(self._people_waiting, self._none_left)
            while place is None:
                own, round_ = self._people, ("people", self._seed, self._people_rounds)
                order = sorted(own, key=lambda person: point(round_, person.video_id))
                self._people_waiting += [(p.video_id, (_key(p.caption), _key(p.worse))) for p in order]
                self._people_rounds += 1
                place = shown.best(self._people_waiting, self._none_left)
            video, texts = self._people_waiting.pop(place)
            shown.add(video, *texts)
            chosen.append(self._person[video])
        return chosen

    def _choose_waiting(self, number: int, shown: _Shown) -> list[tuple[str, str]]:
        """Captions that must still be shown: each system's share of the HIT is its share of what is left (Webster)."""
        left = [len(queue.waiting) for queue in self._queues]
        luck = [point("turn", self._seed, number, queue.system) for queue in self._queues]
        turns = [(0.5 / left[rank], luck[rank], rank) for rank in range(len(left)) if left[rank]]
        heapq.heapify(turns)
        chosen: list[tuple[str, str]] = []
        while turns and len(chosen) < self._wanted.system:
            _, _, rank = heapq.heappop(turns)
            queue = self._queues[rank]
            place = shown.best(queue.waiting, self._left)
            if place is None:
                continue
            video, texts = queue.waiting.pop(place)
            self._left[video] -= 1
            shown.add(video, *texts)
            chosen.append((queue.system, video))
            if queue.waiting:
                taken = left[rank] - len(queue.waiting)
                heapq.heappush(turns, ((taken + 0.5) / left[rank], luck[rank], rank))
        return chosen

    def _choose_further(self, number: int, shown: _Shown, captions: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """What fills the HIT up: further captions of the systems with the fewest in it."""
        here = Counter(system for system, _ in captions)
        open_ = {queue.system: queue for queue in self._queues}
        luck = {system: point("further", self._seed, number, system) for system in open_}
        chosen: list[tuple[str, str]] = []
        while len(captions) + len(chosen) < self._wanted.system:
            if not open_:
                raise VttdataError(self._stuck())
            system = min(open_, key=lambda name: (here[name], luck[name]))
            queue = open_[system]
            place = shown.best(queue.further, self._none_left)
            if place is None:
                del open_[system]
                continue
            video, texts = own = queue.further.pop(place)
            queue.further.append(own)
            shown.add(video, *texts)
            here[system] += 1
            chosen.append((system, video))
        return chosen

    def _stuck(self) -> str:
        return (
            f"No HIT of {self._wanted.system} captions of systems and {self._wanted.human} human ones can be made "
            f"without showing a text twice about a video: there are too few different captions of the "
            f"{len(self._videos)} videos."
        )


def _key(text: str) -> str:
    """What counts as the same text."""
    return text.casefold()


def _doubled(captions: Sequence[tuple[str, str, str]], people: Sequence[Person]) -> list[str]:
    """The items whose text stands in the HIT before, about another video."""
    rows = [(f"human/{p.video_id}", text) for p in people for text in (p.caption, p.worse)]
    rows += [(f"{system}/{video}", text) for system, video, text in captions]
    seen: set[str] = set()
    doubled = []
    for name, text in rows:
        if _key(text) in seen:
            doubled.append(name)
        seen.add(_key(text))
    return doubled
