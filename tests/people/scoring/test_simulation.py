"""Test simulated crowds of known behaviour, from their answers to a ranking."""

from __future__ import annotations

import pytest

from vttdata.people import caption_scores, judge_workers, significance, standardise, system_scores
from vttdata.people.answers.manifest import ManifestItem
from vttdata.people.scoring.simulation import BEHAVIOURS, Behaviour, simulate
from vttdata.records import JudgmentKind

WORTH = {"good": 70.0, "fair": 55.0, "poor": 40.0, "person": 88.0}


def hits(number: int = 4) -> dict[str, dict[str, ManifestItem]]:
    """Return HITs of 60 system captions, 10 human ones, these degraded, and 10 repeats."""
    manifest = {}
    for hit in range(number):
        shown = [ManifestItem(f"v{hit}-{n}", name, "system") for name in ("good", "fair", "poor") for n in range(20)]
        shown += [ManifestItem(f"v{hit}-{n}", "good", "repeat") for n in range(10)]
        kinds: tuple[JudgmentKind, ...] = ("human", "degraded")
        shown += [ManifestItem(f"v{hit}-{n}", "person", kind) for kind in kinds for n in range(10)]
        manifest[f"h{hit}"] = {f"i{position}": item for position, item in enumerate(shown)}
    return manifest


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
def test_controls_catch_only_careless_workers(behaviour: Behaviour, least: int, most: int) -> None:
    judgments = simulate(hits(), WORTH, crowd(behaviour)).judgments
    verdicts = [report.verdict for report in judge_workers(judgments)]
    assert least <= verdicts.count("reliable") <= most


def test_diligent_workers_find_the_true_ranking() -> None:
    simulated = simulate(hits(), WORTH, crowd("diligent"))
    captions = caption_scores(standardise(simulated.judgments))
    order = [score.system for score in system_scores(captions)]
    assert (
        order == sorted(simulated.truth, key=lambda name: -simulated.truth[name]) == ["person", "good", "fair", "poor"]
    )
    assert len(significance(captions).clusters()) == 4


def test_colluding_workers_pass_controls_and_lift_their_system() -> None:
    judgments = simulate(hits(), WORTH, crowd("colluding"), favourite="poor").judgments
    assert system_scores(caption_scores(standardise(judgments)))[0].system == "poor"


def test_answers_depend_only_on_seed_worker_and_hit() -> None:
    everybody = {name: behaviour for behaviour in BEHAVIOURS for name, behaviour in crowd(behaviour, 2).items()}
    first = simulate(hits(), WORTH, everybody, hits_per_worker=2)
    assert first == simulate(hits(), WORTH, everybody, hits_per_worker=2)
    assert first != simulate(hits(), WORTH, everybody, hits_per_worker=2, seed=1)
    assert len(first.judgments) == 12 * 2 * 90
    assert all(judgment.score.is_integer() and 0 <= judgment.score <= 100 for judgment in first.judgments)
    alone = simulate(hits(), WORTH, {"diligent0": "diligent"}, hits_per_worker=2)
    assert alone.judgments == tuple(judgment for judgment in first.judgments if judgment.worker == "diligent0")
    per_hit = [len({judgment.worker for judgment in first.judgments if judgment.hit == hit}) for hit in hits()]
    assert per_hit == [6] * 4
