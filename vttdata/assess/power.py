"""How many HITs an evaluation needs: made-up crowds answer them, and are judged and ranked as real ones are.

What comes out holds for the behaviours of `vttdata.assess.simulation`, which are made up; it is a plan and no promise.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vttdata.assess.answers.intake import Manifest
from vttdata.assess.hits.make import make_hits
from vttdata.assess.hits.plan import HitSettings
from vttdata.assess.scores import caption_scores, standardise
from vttdata.assess.significance import Significance, significance
from vttdata.assess.simulation import Behaviour, simulate
from vttdata.assess.tables import Table
from vttdata.assess.workers import ReliabilitySettings, judge_workers, reliable_only
from vttdata.errors import VttdataError
from vttdata.records import Caption

GOOD: tuple[Behaviour, ...] = ("diligent", "diligent", "diligent", "noisy", "biased")
BAD: tuple[Behaviour, ...] = ("lazy", "random")
"""What workers of a made-up crowd do, in turn."""
_WORSE, _HUMAN = 50.0, 85.0


@dataclass(frozen=True, slots=True)
class Power:
    """What so many answered HITs show; shares are of 0..1, over all seeds.

    Fields:
        hits: how many HITs were answered, each by another worker.
        gap: by how many points of 0..100 the better half of the systems is better than the other half, whose systems
            are equal among themselves.
        power: of the pairs of a better and a worse system, those in which the better one wins significantly.
        false: of the ordered pairs whose first system is not better, those in which it wins all the same.
        caught: of bad workers, those whom quality control leaves out; NaN where there are none.
        lost: of the others, those whom it leaves out.
    """

    hits: int
    gap: float
    power: float
    false: float
    caught: float
    lost: float


def placeholder_hits(systems: int, videos: int, settings: HitSettings | None = None, *, seed: int = 0) -> Manifest:
    """HITs as `make_hits` makes them, of captions that stand for those of so many systems and videos.

    Raises:
        VttdataError: when there are fewer captions or videos than one HIT needs.
    """
    names, shown = [f"system{n + 1}" for n in range(systems)], [f"video{n + 1}" for n in range(videos)]
    captions = {name: {video: f"{name} on {video}" for video in shown} for name in names}
    human = [Caption(video, 0, f"a person says this of {video} here") for video in shown]
    return make_hits(captions, human, settings=settings, seed=seed).manifest()


def crowd(number: int, bad: float, kinds: tuple[Behaviour, ...] = BAD) -> dict[str, Behaviour]:
    """So many workers, a share of them bad, in an order that depends on their number: name -> behaviour.

    Args:
        number: of all workers; three fifths of the good ones are diligent, the others noisy and biased.
        bad: the share of bad workers, 0..1.
        kinds: what bad workers do, in turn.
    """
    few = round(number * bad)
    behaviours = [kinds[n % len(kinds)] for n in range(few)] + [GOOD[n % len(GOOD)] for n in range(number - few)]
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
    """How often a difference between systems is found, when so many HITs are answered.

    For every seed other systems are the better ones, and captions and workers are drawn anew. Where more HITs are
    answered than there are, several workers answer the same; where fewer, the first ones are answered.

    Args:
        manifest: of a campaign, see `vttdata.assess.read_manifest` and `placeholder_hits`.
        hits: how many are answered, each by a worker of its own.
        gap: the difference to find, in points of 0..100.
        bad: the share of workers who are lazy or answer at random, 0..1.
        seeds: how many times all is drawn.
        settings: when a worker is reliable.

    Raises:
        VttdataError: when the HITs show fewer than two systems, or SciPy is not installed.
    """
    names = sorted({own.system for items in manifest.values() for own in items.values() if own.kind == "system"})
    if len(names) < 2:
        raise VttdataError(f"Power is about pairs of systems, and the HITs show {len(names)}.")
    workers = crowd(hits, bad)
    guilty = {worker for worker, behaviour in workers.items() if behaviour in BAD}
    seen: Counter[str] = Counter()
    for seed in range(seeds):
        better = set(random.Random(f"better {seed}").sample(names, len(names) // 2))
        worth = _people(manifest) | {name: _WORSE + gap * (name in better) for name in names}
        judgments = simulate(manifest, worth, workers, seed=seed).judgments
        reports = judge_workers(judgments, settings)
        left_out = {report.worker for report in reports if report.verdict != "reliable"}
        seen.update({"caught": len(left_out & guilty), "lost": len(left_out - guilty)})
        tested = significance(caption_scores(standardise(reliable_only(judgments, reports))))
        seen.update(_wins(tested, names, better))
    return Power(
        hits,
        gap,
        _share(seen["won"], seen["better"]),
        _share(seen["false"], seen["not better"]),
        _share(seen["caught"], seeds * len(guilty)),
        _share(seen["lost"], seeds * (hits - len(guilty))),
    )


def _people(manifest: Manifest) -> dict[str, float]:
    """The worth of those who are ranked beside systems."""
    return {own.system: _HUMAN for items in manifest.values() for own in items.values()}


def _wins(tested: Significance, names: Sequence[str], better: Collection[str]) -> Iterator[str]:
    """What is seen of every ordered pair of systems; one that no reliable worker judged does not win."""
    place = {name: number for number, name in enumerate(tested.systems)}
    for one, other in itertools.permutations(names, 2):
        won = one in place and other in place and tested.wins(place[one], place[other])
        real = one in better and other not in better
        yield "better" if real else "not better"
        if won:
            yield "won" if real else "false"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def power_table(found: Iterable[Power]) -> Table:
    """A row for each."""
    names = ("hits", "gap", "power", "false", "caught", "lost")
    return [names, *([getattr(own, name) for name in names] for own in found)]
