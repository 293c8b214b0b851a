"""Estimate how many HITs an evaluation needs, with simulated crowds that are judged and ranked like real ones.

The estimates hold for the invented behaviours of `vttdata.people.scoring.simulation`; they are a plan and no promise.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import dataclass, replace

from vttdata.errors import VttdataError
from vttdata.people.answers.manifest import Manifest
from vttdata.people.hits.caption_selection import TooFewCaptionsError
from vttdata.people.hits.hit_records import HitSettings
from vttdata.people.hits.make import make_hits, make_smaller_hits
from vttdata.people.scoring.scores import caption_scores, standardise
from vttdata.people.scoring.significance import significance
from vttdata.people.scoring.simulation import Behaviour, simulate
from vttdata.people.scoring.workers import ReliabilitySettings, judge_workers, reliable_only
from vttdata.records import Caption

GOOD: tuple[Behaviour, ...] = ("diligent", "diligent", "diligent", "noisy", "biased")
BAD: tuple[Behaviour, ...] = ("lazy", "random")
"""Behaviours of good and of bad workers of a simulated crowd, dealt in turn."""
# Mean quality of the captions of the worse systems and of people.
_WORSE, _HUMAN = 50.0, 85.0


@dataclass(frozen=True, slots=True)
class Power:
    """Power of a number of answered HITs, over all seeds; shares are in 0..1.

    Fields:
        hits: number of answered HITs, each by another worker.
        gap: difference in points of 0..100 between the better and the worse half of the systems; systems of the same
            half are equal.
        power: share of the pairs of a better and a worse system in which the better one wins significantly.
        false: share of the ordered pairs whose first system is not better in which it wins nevertheless.
        caught: share of bad workers that quality control leaves out; NaN if there are none.
        lost: share of good workers that it leaves out.
    """

    hits: int
    gap: float
    power: float
    false: float
    caught: float
    lost: float


def placeholder_hits(systems: int, videos: int, settings: HitSettings | None = None, *, seed: int = 0) -> Manifest:
    """Make HITs of placeholder captions of a number of systems and videos, without settings as a campaign's are made.

    Raises:
        VttdataError: if there are fewer captions or videos than one HIT needs.
    """
    system_names, video_ids = [f"system{n + 1}" for n in range(systems)], [f"video{n + 1}" for n in range(videos)]
    captions = {name: {video: f"{name} on {video}" for video in video_ids} for name in system_names}
    human = [Caption(video, 0, f"a person says this of {video} here") for video in video_ids]
    try:
        return make_hits(captions, human, settings=settings, seed=seed).manifest()
    except TooFewCaptionsError:
        if settings is not None:
            raise
    return make_smaller_hits(captions, human, {}, HitSettings(), seed=seed).manifest()


def reliability_by(manifest: Manifest) -> ReliabilitySettings:
    """Return the conditions under which workers are judged by one of some HITs, which may have few pairs."""
    default = ReliabilitySettings()
    pairs = min(sum(item.kind == "degraded" for item in items.values()) for items in manifest.values())
    return replace(default, min_pairs=max(min(pairs, default.min_pairs), 1))


def crowd(number: int, bad: float, kinds: tuple[Behaviour, ...] = BAD) -> dict[str, Behaviour]:
    """Return a crowd, name -> behaviour, in an order that depends on the number of workers.

    Args:
        number: number of workers; three fifths of the good ones are diligent, the others noisy or biased.
        bad: share of bad workers, 0..1.
        kinds: behaviours of bad workers, dealt in turn.
    """
    number_of_bad = round(number * bad)
    behaviours = [kinds[n % len(kinds)] for n in range(number_of_bad)]
    behaviours += [GOOD[n % len(GOOD)] for n in range(number - number_of_bad)]
    random.Random(number).shuffle(behaviours)
    return {f"w{n}": behaviour for n, behaviour in enumerate(behaviours)}


def power(
    manifest: Manifest,
    hits: int,
    gap: float,
    *,
    bad: float = 0.2,
    seeds: int = 20,
    settings: ReliabilitySettings | None = None,
) -> Power:
    """Estimate how often a difference between systems is detected with a number of answered HITs.

    For every seed other systems are the better ones, and captions and workers are drawn anew. If more HITs are answered
    than there are, several workers answer the same ones; if fewer, the first ones are answered.

    Args:
        manifest: HITs of a campaign, see `vttdata.people.read_manifest` and `placeholder_hits`.
        hits: number of answered HITs, each by another worker.
        gap: difference to detect, in points of 0..100.
        bad: share of workers who are lazy or answer at random, 0..1.
        seeds: number of simulations.
        settings: conditions of reliability.

    Raises:
        VttdataError: if the HITs show fewer than two systems, or SciPy is not installed.
    """
    contents = [item for items in manifest.values() for item in items.values()]
    names = sorted({item.system for item in contents if item.kind == "system"})
    if len(names) < 2:
        raise VttdataError(f"Power is about pairs of systems, and the HITs show {len(names)}.")
    workers = crowd(hits, bad)
    bad_workers = {worker for worker, behaviour in workers.items() if behaviour in BAD}
    counts: Counter[str] = Counter()
    for seed in range(seeds):
        better = set(random.Random(f"better {seed}").sample(names, len(names) // 2))
        # People are ranked beside systems.
        worth = {item.system: _HUMAN for item in contents} | {name: _WORSE + gap * (name in better) for name in names}
        judgments = simulate(manifest, worth, workers, seed=seed).judgments
        reports = judge_workers(judgments, settings)
        left_out = {report.worker for report in reports if report.verdict != "reliable"}
        counts.update({"caught": len(left_out & bad_workers), "lost": len(left_out - bad_workers)})
        tested = significance(caption_scores(standardise(reliable_only(judgments, reports))))
        rows = {name: row for row, name in enumerate(tested.systems)}
        for first, second in itertools.permutations(names, 2):
            # A system that no reliable worker judged does not win.
            wins = first in rows and second in rows and tested.wins(rows[first], rows[second])
            is_better = first in better and second not in better
            counts.update({"better": is_better, "not better": not is_better})
            counts.update({"won": wins and is_better, "false": wins and not is_better})
    return Power(
        hits,
        gap,
        power=_share(counts["won"], counts["better"]),
        false=_share(counts["false"], counts["not better"]),
        caught=_share(counts["caught"], seeds * len(bad_workers)),
        lost=_share(counts["lost"], seeds * (hits - len(bad_workers))),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
