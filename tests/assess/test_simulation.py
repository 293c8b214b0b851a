"""Simulated crowds: known behaviours, known truth, and the whole way from answers to a ranking."""

from __future__ import annotations

import pytest

from vttdata.assess import caption_scores, judge_workers, significance, standardise, system_scores
from vttdata.assess.answers.intake import Described
from vttdata.assess.simulation import BEHAVIOURS, Behaviour, simulate
from vttdata.records import JudgmentKind

WORTH = {"good": 70.0, "fair": 55.0, "poor": 40.0, "person": 88.0}


def hits(number: int = 4) -> dict[str, dict[str, Described]]:
    """HITs with 60 system captions, 10 human ones, these degraded, and 10 repeats."""
    made = {}
    for own in range(number):
        shown = [Described(f"v{own}-{n}", name, "system") for name in ("good", "fair", "poor") for n in range(20)]
        shown += [Described(f"v{own}-{n}", "good", "repeat") for n in range(10)]
        kinds: tuple[JudgmentKind, ...] = ("human", "degraded")
        shown += [Described(f"v{own}-{n}", "person", kind) for kind in kinds for n in range(10)]
        made[f"h{own}"] = {f"i{place}": item for place, item in enumerate(shown)}
    return made


def crowd(behaviour: Behaviour, number: int = 12) -> dict[str, Behaviour]:
    return {f"{behaviour}{n}": behaviour for n in range(number)}


@pytest.mark.parametrize(
    ("behaviour", "least", "most"),
    [
        ("diligent", 12, 12),
        ("biased", 11, 12),
        ("noisy", 6, 12),
        ("lazy", 0, 3),
        ("random", 0, 3),
        ("colluding", 12, 12),
    ],
)
def test_controls_catch_those_who_do_not_look_and_only_them(behaviour: Behaviour, least: int, most: int) -> None:
    judgments = simulate(hits(), WORTH, crowd(behaviour)).judgments
    verdicts = [report.verdict for report in judge_workers(judgments)]
    assert least <= verdicts.count("reliable") <= most


def test_diligent_workers_find_the_true_ranking() -> None:
    simulated = simulate(hits(), WORTH, crowd("diligent"))
    captions = caption_scores(standardise(simulated.judgments))
    order = [own.system for own in system_scores(captions)]
    assert (
        order == sorted(simulated.truth, key=lambda name: -simulated.truth[name]) == ["person", "good", "fair", "poor"]
    )
    assert len(significance(captions).clusters()) == 4


def test_colluding_workers_lift_their_system_and_nobody_notices() -> None:
    judgments = simulate(hits(), WORTH, crowd("colluding"), favourite="poor").judgments
    assert system_scores(caption_scores(standardise(judgments)))[0].system == "poor"


def test_answers_depend_on_seed_worker_and_hit_alone() -> None:
    everybody = {name: behaviour for behaviour in BEHAVIOURS for name, behaviour in crowd(behaviour, 2).items()}
    first = simulate(hits(), WORTH, everybody, hits_per_worker=2)
    assert first == simulate(hits(), WORTH, everybody, hits_per_worker=2)
    assert first != simulate(hits(), WORTH, everybody, hits_per_worker=2, seed=1)
    assert len(first.judgments) == 12 * 2 * 90
    assert all(own.score.is_integer() and 0 <= own.score <= 100 for own in first.judgments)
    alone = simulate(hits(), WORTH, {"diligent0": "diligent"}, hits_per_worker=2)
    assert alone.judgments == tuple(own for own in first.judgments if own.worker == "diligent0")
    per_hit = [len({own.worker for own in first.judgments if own.hit == hit}) for hit in hits()]
    assert per_hit == [6] * 4
