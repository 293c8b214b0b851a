"""A crowd of workers of known quality that answers HITs, to check an evaluation from end to end and to plan one.

The behaviours are made up: they say what a method does with such workers, not how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vttdata.assess.answers.intake import Described, Manifest
from vttdata.ids import digest
from vttdata.records import Judgment

Behaviour = Literal["diligent", "noisy", "biased", "lazy", "random", "colluding"]

BEHAVIOURS: dict[Behaviour, str] = {
    "diligent": "scores what a caption is worth, with a bias and a scale of its own and an error of 8",
    "noisy": "like diligent, with an error of 25",
    "biased": "like diligent, 25 lower or higher and on half the scale",
    "lazy": "gives about 70 whatever is shown",
    "random": "gives any score with equal probability",
    "colluding": "like diligent, but gives 90 to 100 to the captions of the system that is to win",
}
"""What each behaviour does. The last three harm a ranking; colluding workers pass every control, since no control item
is of their system."""

_CAPTION_SPREAD = 18.0
"""Standard deviation of the worth of one system's captions."""
_DEGRADED, _DEGRADED_SPREAD, _REFERENCE = 40.0, 12.0, 95.0
"""What degrading takes from a caption, and what a human caption in the place of a system's is worth."""
_BIAS, _SCALE, _ERROR, _NOISY_ERROR = 5.0, 0.15, 8.0, 25.0
_LAZY, _LAZY_ERROR = 70.0, 6.0


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a simulated crowd answered, and the truth: each system's mean worth over its captions in the HITs."""

    judgments: tuple[Judgment, ...]
    truth: Mapping[str, float]


def simulate(
    manifest: Manifest,
    worth: Mapping[str, float],
    workers: Mapping[str, Behaviour],
    *,
    seed: int = 0,
    hits_per_worker: int = 1,
    favourite: str | None = None,
) -> Simulation:
    """Let workers answer HITs, taken in turns, so that each HIT gets as many as the next.

    Args:
        manifest: HIT -> item -> what it shows.
        worth: system -> what its captions are worth on average, 0..100; those of single captions spread around it.
        workers: name -> behaviour.
        seed: with the name of a worker or a caption it decides all of its draws.
        hits_per_worker: how many HITs each answers; no more than there are.
        favourite: the system that colluding workers want to win; the one of least worth if None.
    """
    captions = {
        (item.system, item.video_id): _worth(worth, item, seed) for hit in manifest.values() for item in hit.values()
    }
    favourite = favourite if favourite is not None else min(worth, key=lambda system: (worth[system], system))
    hits = list(manifest)
    judgments: list[Judgment] = []
    for number, (worker, behaviour) in enumerate(workers.items()):
        draw = _draws(seed, "worker", worker)
        for turn in range(min(hits_per_worker, len(hits))):
            hit = hits[(number * hits_per_worker + turn) % len(hits)]
            shown = list(manifest[hit].values())
            scores = _answers(behaviour, shown, captions, favourite, draw)
            judgments += [
                Judgment(hit, worker, item, *own, score=score, position=place)
                for place, (item, own, score) in enumerate(zip(manifest[hit], shown, scores, strict=True))
            ]
    ranked = {
        (item.system, item.video_id) for hit in manifest.values() for item in hit.values() if item.kind in _RANKED
    }
    truth = {
        system: [captions[own] for own in sorted(ranked) if own[0] == system]
        for system in sorted({s for s, _ in ranked})
    }
    return Simulation(tuple(judgments), {system: sum(own) / len(own) for system, own in truth.items()})


_RANKED = ("system", "human")


def _draws(*purpose: object) -> np.random.Generator:
    return np.random.default_rng(int(digest(list(purpose))[:16], 16))


def _worth(worth: Mapping[str, float], item: Described, seed: int) -> float:
    drawn = worth[item.system] + _draws(seed, "caption", item.system, item.video_id).normal(0, _CAPTION_SPREAD)
    return float(min(max(drawn, 0.0), 100.0))


def _answers(
    behaviour: Behaviour,
    shown: list[Described],
    captions: Mapping[tuple[str, str], float],
    favourite: str,
    draw: np.random.Generator,
) -> list[float]:
    """Whole numbers of 0..100."""
    n = len(shown)
    bias, scale = draw.normal(0, _BIAS), draw.uniform(1 - _SCALE, 1 + _SCALE)
    if behaviour == "biased":
        bias, scale = draw.choice([-25.0, 25.0]), 0.5
    harm = np.maximum(draw.normal(_DEGRADED, _DEGRADED_SPREAD, n), 0)
    worth = np.array([captions[item.system, item.video_id] for item in shown])
    worth = np.where([item.kind == "degraded" for item in shown], worth - harm, worth)
    worth = np.where([item.kind == "reference" for item in shown], _REFERENCE, worth)
    error = draw.normal(0, _NOISY_ERROR if behaviour == "noisy" else _ERROR, n)
    scores = 50 + bias + scale * (np.maximum(worth, 0) - 50) + error
    if behaviour == "lazy":
        scores = draw.normal(_LAZY, _LAZY_ERROR, n)
    elif behaviour == "random":
        scores = draw.uniform(0, 100, n)
    elif behaviour == "colluding":
        boosted = [item.system == favourite and item.kind in ("system", "repeat") for item in shown]
        scores = np.where(boosted, draw.uniform(90, 100, n), scores)
    rounded: list[float] = np.clip(np.rint(scores), 0, 100).tolist()
    return rounded
