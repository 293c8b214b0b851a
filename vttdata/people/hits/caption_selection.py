"""Select the captions of each HIT and its controls: systems by shares, videos evenly, no text twice about a video.

Captions are passed through once and greedily: a caption that conflicts with those already in a HIT waits for the next.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vttdata.errors import VttdataError
from vttdata.generate import Donors, degrade_captions
from vttdata.generate.degrade.donors import hash64
from vttdata.people.hits.hit_records import HitSettings
from vttdata.records import Caption, Degraded
from vttdata.text.captions import clean_text
from vttdata.text.word_spans import split_words


@dataclass(frozen=True, slots=True)
class HumanCaption:
    """Human caption of a video with its degraded form; `degraded` says where the new words come from."""

    video_id: str
    caption: str
    degraded_caption: str
    degraded: Degraded


class TooFewCaptionsError(VttdataError):
    """There are too few different captions, or too few of them can be degraded, for one HIT."""


def choose_controls(
    human: Sequence[Caption], source_of: Mapping[str, str], videos: Sequence[str], seed: int
) -> tuple[list[HumanCaption], dict[str, list[str]]]:
    """Choose one human caption of each video, as in the paper, and degrade it.

    Of several captions of a video, the first one in an order drawn by the seed is chosen whose degraded form has its
    new words between the same words as their donor, or else the first one that can be degraded; the others only lend
    words. The order of `human` must not depend on that of the input; `videos` are sorted, and one without an entry in
    `source_of` is its own source.

    Returns:
        Human captions with their degraded forms, at most one per video, sorted by video; and kind of
        `vttdata.people.hits.hit_records.NOTES` -> videos without controls, or with one that may be found by reading.
    """
    captions_of: dict[str, list[Caption]] = {}
    for caption in human:
        captions_of.setdefault(caption.video_id, []).append(caption)
    donors = Donors(human, {video: source_of.get(video, video) for video in captions_of})
    texts = {(caption.video_id, caption.sen_id): caption.caption for caption in human}
    chosen: dict[str, HumanCaption] = {}
    waiting = {
        video: sorted(captions_of[video], key=lambda c: hash64("person", seed, c.video_id, c.sen_id, c.caption))
        for video in videos
        if video in captions_of
    }
    while waiting:
        results = degrade_captions([order.pop(0) for order in waiting.values()], donors, seed=seed)
        for result in results:
            video, is_hidden = result.video_id, _is_hidden(result, texts)
            if result.caption is not None and result.flag is None and (is_hidden or video not in chosen):
                chosen[video] = HumanCaption(video, clean_text(result.original), clean_text(result.caption), result)
            if is_hidden or not waiting[video]:
                del waiting[video]
    shown = set(videos)
    notes = {
        "no_human": [video for video in videos if video not in captions_of],
        "not_degraded": [video for video in videos if video in captions_of and video not in chosen],
        "only_human": [video for video in captions_of if video not in shown],
        "readable": [video for video, caption in chosen.items() if not _is_hidden(caption.degraded, texts)],
    }
    return [chosen[video] for video in videos if video in chosen], notes


def _is_hidden(result: Degraded, texts: Mapping[tuple[str, int], str]) -> bool:
    """Return whether the new words of a degraded caption stand between the same words as in their donor."""
    if result.caption is None or result.words is None or result.start is None or result.donor_start is None:
        return False
    words = split_words(result.original.casefold())
    donor = split_words(texts[result.donor_video_id or "", result.donor_sen_id or 0].casefold())
    around = (slice(at - 1, at) for at in (result.start, result.start + result.words + 1))
    around_donor = (slice(at - 1, at) for at in (result.donor_start, result.donor_start + result.words + 1))
    return [words[at] for at in around] == [donor[at] for at in around_donor]


# How many waiting captions of a system are searched for the best one. In the worst case, 30 systems whose captions of
# 2,000 videos are all one of ten sentences, 40 takes 3 s in total and 200 takes 8 s.
_LOOK_AHEAD = 40

_Candidate = tuple[str, tuple[str, ...]]
"""Video, and the case-folded texts about it of an item and its controls."""


@dataclass(frozen=True, slots=True)
class HitContent:
    """Captions of a HIT, unordered: (system, video, caption) of systems, and human captions."""

    captions: tuple[tuple[str, str, str], ...]
    human: tuple[HumanCaption, ...]


@dataclass(slots=True)
class _HitSoFar:
    """Texts, texts with their video, and counts of videos in a HIT so far."""

    number_of_videos: int
    texts: set[str] = field(default_factory=set)
    video_texts: set[tuple[str, str]] = field(default_factory=set)
    videos: Counter[str] = field(default_factory=Counter)
    items: int = 0

    def add(self, video: str, *texts: str) -> None:
        self.texts.update(texts)
        self.video_texts.update((video, text) for text in texts)
        self.videos[video] += 1
        self.items += 1

    def best(self, waiting: Sequence[_Candidate], captions_left: Mapping[str, int]) -> int | None:
        """Return the index of the candidate that fits best, None if none fits.

        Prefer texts that the HIT does not have, then videos rarely shown in it, then videos with most captions left.
        """
        average = self.items // self.number_of_videos
        best: tuple[bool, int, int, int] | None = None
        for index, (video, texts) in enumerate(waiting):
            if index >= _LOOK_AHEAD and best is not None:
                break
            shown = self.videos.get(video, 0)
            if shown and any((video, text) in self.video_texts for text in texts):
                continue
            cost = (not self.texts.isdisjoint(texts), max(shown - average, 0), -captions_left[video], index)
            if best is None or cost < best:
                best = cost
        return None if best is None else best[-1]

    def twin(self, waiting: Sequence[_Candidate], once: Container[str]) -> int | None:
        """Return the index of the first candidate whose video is one of `once`, and whose texts the HIT does not have.

        None if there is none.
        """
        return next(
            (i for i, (video, texts) in enumerate(waiting) if video in once and self.texts.isdisjoint(texts)), None
        )


@dataclass(slots=True)
class _Queue:
    """Captions of a system: those that must still be shown, and those to fill HITs up with."""

    system: str
    waiting: list[_Candidate]
    extra: list[_Candidate]


class Selection:
    """Selection of the captions of a campaign's HITs.

    Systems are name -> `video_id` -> caption, all sorted, none empty; human captions, at most one per video, are sorted
    by video.

    Raises:
        TooFewCaptionsError: if there are too few captions or videos for one HIT.
    """

    def __init__(
        self, systems: Mapping[str, Mapping[str, str]], human: Sequence[HumanCaption], settings: HitSettings, seed: int
    ) -> None:
        self._systems, self._human, self._settings, self._seed = systems, human, settings, seed
        self._videos = sorted({video for texts in systems.values() for video in texts})
        self._human_waiting: list[_Candidate] = []
        self._human_rounds = 0
        self._human_of_video = {caption.video_id: caption for caption in human}
        self._check_numbers()
        passes = [self._pass(number) for number in range(settings.assessments + 1)]
        self._queues = [
            _Queue(system, [candidate for queues in passes[:-1] for candidate in queues[system]], passes[-1][system])
            for system in systems
        ]
        self._captions_left = Counter(video for queue in self._queues for video, _ in queue.waiting)
        self._no_preference = dict.fromkeys(self._videos, 0)

    def _check_numbers(self) -> None:
        texts = {(video, text.casefold()) for captions in self._systems.values() for video, text in captions.items()}
        if len(texts) < self._settings.system:
            raise TooFewCaptionsError(
                f"There are {len(texts)} different captions by {len(self._systems)} systems of "
                f"{len(self._videos)} videos, and one HIT needs {self._settings.system}; --set system={len(texts)} "
                "makes it smaller."
            )
        if len(self._human) < self._settings.human:
            raise TooFewCaptionsError(
                f"{len(self._human)} of {len(self._videos)} videos have a human caption that can be degraded, "
                f"and one HIT needs {self._settings.human}; --set human={len(self._human)} --set "
                f"degraded={len(self._human)} --set min_pairs={len(self._human)} make it smaller."
            )

    def _pass(self, number: int) -> dict[str, list[_Candidate]]:
        """Return each system's captions once, in a common order of videos that every two systems start elsewhere.

        These two have their captions of a video at about the same time, so that a HIT can show both.
        """
        order = sorted(self._videos, key=lambda video: hash64("pass", self._seed, number, video))
        ranks = sorted(self._systems, key=lambda system: hash64("pass", self._seed, number, "system", system))
        queues: dict[str, list[_Candidate]] = {}
        for rank, system in enumerate(ranks):
            start = rank // 2 * 2 * len(order) // len(ranks)
            texts = self._systems[system]
            queues[system] = [(v, (texts[v].casefold(),)) for v in (*order[start:], *order[:start]) if v in texts]
        return queues

    def hits(self, notes: dict[str, list[str]]) -> Iterator[HitContent]:
        """Yield HITs until every caption has been shown; add notes `same_text` and `assessed_again`.

        Raises:
            TooFewCaptionsError: if there are too few different captions for a HIT.
        """
        number = 0
        while any(queue.waiting for queue in self._queues):
            hit = _HitSoFar(len(self._videos))
            human = self._choose_human(hit)
            captions = self._choose_waiting(number, hit)
            extra = self._choose_extra(number, hit, captions) if captions else None
            if extra is None:
                raise TooFewCaptionsError(
                    f"No HIT of {self._settings.system} captions of systems and {self._settings.human} human ones can "
                    "be made without showing a text twice about a video: there are too few different captions of the "
                    f"{len(self._videos)} videos."
                )
            notes.setdefault("assessed_again", []).extend(f"{system}/{video}" for system, video in extra)
            chosen = [(system, video, self._systems[system][video]) for system, video in (*captions, *extra)]
            notes.setdefault("same_text", []).extend(_repeated_texts(chosen, human))
            yield HitContent(tuple(chosen), tuple(human))
            number += 1

    def _choose_human(self, hit: _HitSoFar) -> list[HumanCaption]:
        """Choose human captions in rounds, so that all are shown equally often."""
        chosen = []
        for _ in range(self._settings.human):
            index = hit.best(self._human_waiting, self._no_preference)
            # A new round is begun when none of the captions left of the last one fits.
            while index is None:
                purpose = ("people", self._seed, self._human_rounds)
                order = sorted(self._human, key=lambda caption: hash64(purpose, caption.video_id))
                self._human_waiting += [
                    (caption.video_id, (caption.caption.casefold(), caption.degraded_caption.casefold()))
                    for caption in order
                ]
                self._human_rounds += 1
                index = hit.best(self._human_waiting, self._no_preference)
            video, texts = self._human_waiting.pop(index)
            hit.add(video, *texts)
            chosen.append(self._human_of_video[video])
        return chosen

    def _choose_waiting(self, number: int, hit: _HitSoFar) -> list[tuple[str, str]]:
        """Choose captions that must still be shown.

        Each system's share of the HIT is its share of the captions left, by Webster's method of apportionment. The last
        ones are of videos that another system has described in the HIT, so that a video with two texts need not be
        that of a degraded caption.
        """
        left = [len(queue.waiting) for queue in self._queues]
        tie_break = [hash64("turn", self._seed, number, queue.system) for queue in self._queues]
        ranked_queues = [(0.5 / left[rank], tie_break[rank], rank) for rank in range(len(left)) if left[rank]]
        heapq.heapify(ranked_queues)
        chosen: list[tuple[str, str]] = []
        while ranked_queues and len(chosen) < self._settings.system:
            _, _, rank = heapq.heappop(ranked_queues)
            queue = self._queues[rank]
            index = None
            if len(chosen) >= self._settings.system - self._settings.twins:
                once = {video for _, video in chosen if hit.videos[video] == 1}
                index = hit.twin(queue.waiting, once)
            index = hit.best(queue.waiting, self._captions_left) if index is None else index
            if index is None:
                continue
            video, texts = queue.waiting.pop(index)
            self._captions_left[video] -= 1
            hit.add(video, *texts)
            chosen.append((queue.system, video))
            if queue.waiting:
                taken = left[rank] - len(queue.waiting)
                heapq.heappush(ranked_queues, ((taken + 0.5) / left[rank], tie_break[rank], rank))
        return chosen

    def _choose_extra(
        self, number: int, hit: _HitSoFar, captions: Sequence[tuple[str, str]]
    ) -> list[tuple[str, str]] | None:
        """Fill the HIT up with captions of the systems with the fewest in it; None if there are not enough."""
        shown = Counter(system for system, _ in captions)
        queues = {queue.system: queue for queue in self._queues}
        tie_break = {system: hash64("further", self._seed, number, system) for system in queues}
        chosen: list[tuple[str, str]] = []
        while len(captions) + len(chosen) < self._settings.system:
            if not queues:
                return None
            system = min(queues, key=lambda name: (shown[name], tie_break[name]))
            queue = queues[system]
            index = hit.best(queue.extra, self._no_preference)
            if index is None:
                del queues[system]
                continue
            candidate = queue.extra.pop(index)
            # Captions that were used go to the end, so that all are used before one is used again.
            queue.extra.append(candidate)
            hit.add(candidate[0], *candidate[1])
            shown[system] += 1
            chosen.append((system, candidate[0]))
        return chosen


def _repeated_texts(captions: Sequence[tuple[str, str, str]], human: Sequence[HumanCaption]) -> list[str]:
    """Return the items whose text an earlier item of the HIT has about another video."""
    items = [(f"human/{h.video_id}", text) for h in human for text in (h.caption, h.degraded_caption)]
    items += [(f"{system}/{video}", text) for system, video, text in captions]
    seen: set[str] = set()
    repeated = []
    for name, text in items:
        if text.casefold() in seen:
            repeated.append(name)
        seen.add(text.casefold())
    return repeated
