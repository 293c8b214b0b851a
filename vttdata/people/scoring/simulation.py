"""Simulate a crowd of workers of known quality, to check an evaluation from end to end and to plan one.

The behaviours are invented: they show how a method deals with such workers, not how common they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vttdata.ids import digest
from vttdata.people.answers.manifest import Manifest, ManifestItem
from vttdata.records import Judgment

Behaviour = Literal["diligent", "noisy", "biased", "lazy", "random", "colluding"]

BEHAVIOURS: dict[Behaviour, str] = {
    "diligent": "scores the quality of a caption with a personal bias and scale, and an error of 8 points",
    "noisy": "like diligent, with an error of 25 points",
    "biased": "like diligent, 25 points lower or higher and on half the scale",
    "lazy": "scores everything with about 70",
    "random": "gives any score with equal probability",
    "colluding": "like diligent, but scores the captions of the favoured system with 90 to 100",
}
"""Descriptions of the behaviours. The last three harm a ranking; colluding workers pass every control, since no control
item is of their system."""

# Standard deviation of the quality of a system's captions, in points.
_CAPTION_SPREAD = 18.0
# Mean and standard deviation of the points that degrading takes from a caption.
_DEGRADED, _DEGRADED_SPREAD = 40.0, 12.0
# Quality of a human caption that replaces a system's.
_REFERENCE = 95.0
# Spread of workers' biases and scales, and their errors, in points.
_BIAS, _SCALE, _ERROR, _NOISY_ERROR = 5.0, 0.15, 8.0, 25.0
# Mean and spread of the scores of lazy workers.
_LAZY, _LAZY_ERROR = 70.0, 6.0
_RANKED_KINDS = ("system", "human")


@dataclass(frozen=True, slots=True)
class Simulation:
    """Judgments of a simulated crowd, and the truth: each system's mean quality over its captions in the HITs."""

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
    """Simulate the answers of workers to HITs, which are dealt in turn, so that each is answered equally often.

    Args:
        manifest: HIT -> item -> what it shows.
        worth: system -> mean quality of its captions, 0..100; the quality of single captions spreads around it.
        workers: name -> behaviour.
        seed: determines, with the name of a worker or a caption, all draws for it.
        hits_per_worker: number of HITs that each worker answers, limited to all of them.
        favourite: system that colluding workers favour; the one of least worth if None.
    """
    quality: dict[tuple[str, str], float] = {}
    ranked: dict[str, set[str]] = {}
    for items in manifest.values():
        for item in items.values():
            spread = _generator(seed, "caption", item.system, item.video_id).normal(0, _CAPTION_SPREAD)
            quality[item.system, item.video_id] = float(min(max(worth[item.system] + spread, 0.0), 100.0))
            if item.kind in _RANKED_KINDS:
                ranked.setdefault(item.system, set()).add(item.video_id)
    favourite = favourite if favourite is not None else min(worth, key=lambda system: (worth[system], system))
    hits = list(manifest)
    judgments: list[Judgment] = []
    for number, (worker, behaviour) in enumerate(workers.items()):
        generator = _generator(seed, "worker", worker)
        for turn in range(min(hits_per_worker, len(hits))):
            hit = hits[(number * hits_per_worker + turn) % len(hits)]
            shown = list(manifest[hit].values())
            scores = _answers(behaviour, shown, quality, favourite, generator)
            judgments += [
                Judgment(hit, worker, item, *content, score=score, position=position)
                for position, (item, content, score) in enumerate(zip(manifest[hit], shown, scores, strict=True))
            ]
    truth = {
        system: sum(quality[system, video] for video in sorted(ranked[system])) / len(ranked[system])
        for system in sorted(ranked)
    }
    return Simulation(tuple(judgments), truth)


def _generator(*purpose: object) -> np.random.Generator:
    return np.random.default_rng(int(digest(list(purpose))[:16], 16))


def _answers(
    behaviour: Behaviour,
    shown: Sequence[ManifestItem],
    quality: Mapping[tuple[str, str], float],
    favourite: str,
    generator: np.random.Generator,
) -> list[float]:
    """Draw a worker's scores of the items of a HIT, whole numbers of 0..100."""
    n = len(shown)
    bias, scale = generator.normal(0, _BIAS), generator.uniform(1 - _SCALE, 1 + _SCALE)
    if behaviour == "biased":
        bias, scale = generator.choice([-25.0, 25.0]), 0.5
    harm = np.maximum(generator.normal(_DEGRADED, _DEGRADED_SPREAD, n), 0)
    worth = np.array([quality[item.system, item.video_id] for item in shown])
    worth = np.where([item.kind == "degraded" for item in shown], worth - harm, worth)
    worth = np.where([item.kind == "reference" for item in shown], _REFERENCE, worth)
    error = generator.normal(0, _NOISY_ERROR if behaviour == "noisy" else _ERROR, n)
    scores = 50 + bias + scale * (np.maximum(worth, 0) - 50) + error
    if behaviour == "lazy":
        scores = generator.normal(_LAZY, _LAZY_ERROR, n)
    elif behaviour == "random":
        scores = generator.uniform(0, 100, n)
    elif behaviour == "colluding":
        favoured = [item.system == favourite and item.kind in ("system", "repeat") for item in shown]
        scores = np.where(favoured, generator.uniform(90, 100, n), scores)
    rounded: list[float] = np.clip(np.rint(scores), 0, 100).tolist()
    return rounded
