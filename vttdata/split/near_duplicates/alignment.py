"""Decides how much of two sources is the same: the longest stretch that agrees at one offset, and how strongly.

Every sample speaks for or against: 22 bits of 64 minus those that differ, nearly nothing where a picture stands
still. The stretch with the largest sum is what two sources share; the sum is its evidence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from vttdata.split.near_duplicates.candidates import Candidates
from vttdata.split.near_duplicates.samples import MIRROR, Indices, Samples, differing

Floats = NDArray[np.float64]

_CREDIT = 22 / 64  # unrelated pictures differ in a half of the bits, a quarter of a second of fast motion in a fourth
_LEAST_NEWS = 1e-4  # a picture that stands still prolongs the stretch and hardly adds to the evidence
_CELLS_AT_A_TIME = 2**19
_SPEEDS = (0.8, 1 / 1.1, 1 / 1.05, 24 / 25, 25 / 24, 1.05, 1.1, 1.25)  # film and television, and what hides copies
_DRIFTING = 0.75  # samples
_CLEARLY = 1.1
_SHIFTS = np.array([0, -1, 1], np.int8)


@dataclass(frozen=True, slots=True)
class Alignments:
    """What pairs of sources share; all arrays are equally long.

    Attributes:
        one, other: numbers of sources.
        offset: sample s of `one` is sample s * speed + offset of `other`.
        speed: see there.
        mirrored: whether one is the mirror image of the other.
        first, length: the shared stretch in samples of `one`.
        evidence: see the module.
        distance: share (0..1) of bits that differ in the stretch.
        drift: by how many samples the two run apart along the stretch.
    """

    one: Indices
    other: Indices
    offset: Floats
    speed: Floats
    mirrored: NDArray[np.bool_]
    first: Indices
    length: Indices
    evidence: Floats
    distance: Floats
    drift: Floats

    def __len__(self) -> int:
        return len(self.one)

    def __getitem__(self, chosen: NDArray[np.bool_] | Indices | slice) -> Alignments:
        return Alignments(*(getattr(self, field.name)[chosen] for field in fields(self)))


def align(samples: Samples, candidates: Candidates, likely: float) -> Alignments:
    """The best alignment of each pair of sources among the candidates, in the order of pairs.

    Those with an evidence of at least `likely` are also tried at other speeds than 1.
    """
    offset = candidates.offset.astype(np.float64)
    plain = _align_at(samples, candidates.one, candidates.other, offset, np.ones(len(offset)), candidates.mirrored)
    best = _best_of_pairs(plain)
    return _best_of_pairs(_joined([best, *_other_speeds(samples, best[best.evidence >= likely])]))


def _other_speeds(samples: Samples, found: Alignments) -> Iterator[Alignments]:
    for speed in _SPEEDS:
        asked = found[found.drift * np.sign(speed - 1) >= _DRIFTING]
        offset = asked.offset + (asked.first + asked.length / 2) * (1 - speed)
        tried = _align_at(samples, asked.one, asked.other, offset, np.full(len(asked), speed), asked.mirrored)
        yield tried[tried.evidence > _CLEARLY * asked.evidence]


def _joined(parts: list[Alignments]) -> Alignments:
    return Alignments(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Alignments)))


def _best_of_pairs(found: Alignments) -> Alignments:
    rank = (found.speed, found.mirrored, found.offset, np.abs(found.offset), -found.evidence, found.other, found.one)
    found = found[np.lexsort(rank)]
    new = (np.diff(found.one, prepend=-1) != 0) | (np.diff(found.other, prepend=-1) != 0)
    return found[new & (found.evidence > 0)]


def _align_at(
    samples: Samples, one: Indices, other: Indices, offset: Floats, speed: Floats, mirrored: NDArray[np.bool_]
) -> Alignments:
    """The shared stretch of each pair at a given offset and speed."""
    counts = samples.counts()
    first = np.maximum(np.ceil(-offset / speed), 0).astype(np.int64)
    last = np.minimum(counts[one] - 1, np.floor((counts[other] - 1 - offset) / speed)).astype(np.int64)
    length = np.maximum(last + 1 - first, 0)
    order = np.argsort(length, kind="stable")
    given = Alignments(one, other, offset, speed, mirrored, first, length, offset, offset, offset)[order]
    parts, done = [given[:0]], 0
    while done < len(given):
        width = int(given.length[min(done + _CELLS_AT_A_TIME // 64, len(given)) - 1])
        rows = slice(done, done + max(_CELLS_AT_A_TIME // max(width, 64), 1))
        parts.append(_stretches(samples, given[rows]))
        done += len(parts[-1])
    found = _joined(parts)
    return found[np.argsort(order, kind="stable")]


def _stretches(samples: Samples, given: Alignments) -> Alignments:
    """The stretch with the largest sum of each row, after Kadane (Bentley, Programming Pearls, 1984)."""
    steps = np.arange(max(int(given.length.max()), 1))
    said = _compared(samples, given, steps)
    total = np.pad(np.cumsum(said.value, 1), ((0, 0), (1, 0)))
    gain = total - np.minimum.accumulate(total, 1)
    rows, end = np.arange(len(given)), gain.argmax(1)
    evidence = gain[rows, end]
    lowest = total <= (total[rows, end] - evidence)[:, None]
    start = np.where(lowest & (np.arange(len(steps) + 1) <= end[:, None]), np.arange(len(steps) + 1), 0).max(1)
    inside = (steps >= start[:, None]) & (steps < end[:, None])
    return dataclasses.replace(
        given,
        first=given.first + start,
        length=end - start,
        evidence=evidence,
        distance=(said.differ * inside).sum(1) / np.maximum((said.seen * inside).sum(1), 1),
        drift=_drift(said.shift, inside & (said.value > 0), steps - (start + end - 1)[:, None] / 2),
    )


def _drift(shift: NDArray[np.int8], inside: NDArray[np.bool_], place: Floats) -> Floats:
    """By how much the line fitted to the shifts rises over twice the largest distance from the stretch's middle."""
    number = np.maximum(inside.sum(1), 1)
    centred = np.where(inside, place - ((place * inside).sum(1) / number)[:, None], 0)
    slope: Floats = (centred * shift).sum(1) / np.maximum((centred**2).sum(1), 1)
    return np.asarray(slope * 2 * np.abs(place * inside).max(1))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What each sample says, how many bits differ and of how many, and which neighbour in time is the likest."""

    value: Floats
    differ: NDArray[np.int16]
    seen: NDArray[np.int16]
    shift: NDArray[np.int8]


def _compared(samples: Samples, given: Alignments, steps: Indices) -> _Comparison:
    """Compare each sample with three neighbours in time, of which the likest counts.

    So neither the place of the half seconds in a trimmed copy matters, nor a speed that is slightly off.
    """
    beyond = steps >= given.length[:, None]
    mine = np.where(beyond, 0, given.first[:, None] + steps)
    near = np.rint(given.offset[:, None] + given.speed[:, None] * mine).astype(np.int64)
    last = samples.counts()[given.other][:, None] - 1
    start = samples.starts[given.other][:, None]
    mine += samples.starts[given.one][:, None]
    flip = np.where(given.mirrored, MIRROR, 0)[:, None, None]
    differ, seen = np.empty((3, *mine.shape), np.int16), np.empty((3, *mine.shape), np.int16)
    for index, shift in enumerate(_SHIFTS):
        theirs = samples.words[start + np.clip(near + shift, 0, last)]
        differ[index], seen[index] = differing(samples.words[mine], np.where(theirs != 0, theirs ^ flip, 0))
    value = _CREDIT * seen - differ
    best = value.argmax(0)[None]
    news = np.minimum(samples.news[mine], samples.news[start + np.clip(near, 0, last)])
    weighted = np.take_along_axis(value, best, 0)[0] * np.maximum(news, _LEAST_NEWS)
    return _Comparison(
        np.where(beyond, -1.0, weighted),
        np.take_along_axis(differ, best, 0)[0],
        np.take_along_axis(seen, best, 0)[0],
        _SHIFTS[best[0]],
    )
