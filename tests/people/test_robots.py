"""Programs that answer without looking do not count as reliable, in Direct Assessment and in caption campaigns."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.campaigns import human_captions, system_captions
from tests.helpers.needs import library
from tests.people.served import write_rows
from vttdata.people.campaign import Campaign, make_campaign
from vttdata.people.service import UnitQueue
from vttdata.people.task import Answered, Item, Material, Observed, load_task
from vttdata.records import Caption

library("scipy")

from scipy.stats import binomtest

# The whole simulation takes 10,000.
ROBOTS = int(os.environ.get("VTTDATA_ROBOTS", "300"))
ADDRESS = "https://example.org/{video_id}.mp4"
SUBJECTS = ("a man", "a woman", "two children", "a dog", "somebody", "a chef", "three players", "an old farmer")
ACTIONS = ("plays", "throws", "paints", "cuts", "carries", "watches", "repairs", "washes", "cooks", "builds")
OBJECTS = ("a guitar", "a ball", "a fence", "onions", "a box", "the news", "a bicycle", "a car", "soup", "a tower")
PLACES = ("on a stage", "in a field", "beside a house", "in a kitchen", "on a street", "at home", "in a garage")


def describe(draw: random.Random) -> str:
    return " ".join(draw.choice(part) for part in (SUBJECTS, ACTIONS, OBJECTS, PLACES))


def make_captioning(folder: Path, clips: int, known: int, each: int) -> Campaign:
    draw = random.Random(clips)
    human = [Caption(f"v{n}", k, describe(draw)) for n in range(known) for k in range(each)]
    rows = write_rows(folder / "v.csv", ("video_id",), *((f"v{n}",) for n in range(clips)))
    material = Material([str(rows)], lambda wanted: {}, human, address=ADDRESS)
    return make_campaign(folder / "c", "caption", material)


def take_part(campaign: Campaign, name: str, items: int, answer: Callable[[Item], dict[str, Any]]) -> str:
    """Let a worker answer so many units, as the server hands them out; return the verdict."""
    task, every = campaign.task, campaign.settings.control_every or 8
    order = (campaign.token("order"), task.qualifying(), task.enough_controls())
    queue = UnitQueue(campaign.units.values(), 1, every, lambda: 0.0, *order)
    answers: list[Answered] = []
    while len(answers) < items and (unit := queue.choose(name)) is not None:
        item = campaign.units[unit].items[0]
        answers.append(Answered(name, unit, item, answer(item), 9.0, 20.0 * len(answers)))
        queue.finish(name, unit)
        first = [task.control_passed(a.item, a.answer) for a in answers if a.unit in queue.qualification(name)]
        if len(first) == len(queue.qualification(name)) and 4 * first.count(False) > len(first):
            break
    return task.verdict(answers).name


@pytest.mark.parametrize(("clips", "known", "each", "said"), [(60, 40, 3, 0.01), (30, 20, 1, 0.01), (12, 4, 2, None)])
def test_robots_do_not_pass_the_controls_of_captions(
    clips: int, known: int, each: int, said: float | None, tmp_path: Path
) -> None:
    campaign = make_captioning(tmp_path, clips, known, each)
    notes = [note for note in campaign.notes if note.name == "weak_controls"]
    assert bool(notes) == (said is None)
    share = said or campaign.task.settings.alpha
    assert all(f"so little that {share / 1.01:.1%} of workers" in note.meaning for note in notes)
    draw = random.Random(1)

    def guess(item: Item) -> dict[str, Any]:
        if "choices" in item.shown:
            return {"choice": draw.randrange(len(item.shown["choices"]))}
        return {"caption": describe(draw)}

    # Robots differ in how long they stay.
    verdicts = [take_part(campaign, f"robot{n}", draw.choice((6, 12, 24, 60)), guess) for n in range(ROBOTS)]
    assert binomtest(verdicts.count("reliable"), ROBOTS, share, alternative="greater").pvalue > 0.001


def test_people_who_watch_pass_the_controls_of_captions(tmp_path: Path) -> None:
    campaign = make_captioning(tmp_path, 60, 40, 3)
    draw = random.Random(2)

    def look(item: Item) -> dict[str, Any]:
        if "choices" in item.shown:
            return {"choice": (item.facts["right"] + (draw.random() < 0.03)) % len(item.shown["choices"])}
        return {"caption": draw.choice(item.facts.get("references", ("a bird sings",)))}

    verdicts = [take_part(campaign, f"person{n}", 24, look) for n in range(ROBOTS)]
    assert verdicts.count("reliable") >= 0.94 * ROBOTS, Counter(verdicts)


@pytest.mark.parametrize(("shown", "verdict"), [(0.0, "not_shown"), (0.7, "reliable")])
def test_robot_that_reads_and_finds_all_controls_does_not_count_unless_it_watches(
    shown: float, verdict: str, tmp_path: Path
) -> None:
    systems = [
        str(write_rows(tmp_path / f"{name}.csv", ("video_id", "caption"), *texts.items()))
        for name, texts in system_captions(["good", "poor"], 80).items()
    ]
    material = Material(systems, lambda wanted: {}, human_captions(80), address=ADDRESS)
    campaign = make_campaign(tmp_path / "c", "rate-slider", material)
    draw = random.Random(3)
    answers = [
        Answered("robot", unit.unit, item, {"score": score}, 9.0, 9.0 * place, Observed(shown))
        for unit in campaign.units.values()
        for place, item in enumerate(unit.items)
        for score in [draw.randrange(30) + 60 * (item.facts["kind"] != "degraded")]
    ]
    found = campaign.task.verdict(answers)
    assert (found.name, found.keep) == (verdict, verdict == "reliable")
    files = campaign.task.further_files(answers, campaign.task.rows(answers), kept={"robot"} if found.keep else set())
    assert ("systems.csv" in files) == found.keep


@pytest.mark.parametrize(("shown", "verdict"), [(0.0, "not_shown"), (0.49, "not_shown"), (0.5, "reliable")])
@pytest.mark.parametrize("task", ["rate-scale", "foil-review", "relevance"])
def test_right_controls_do_not_count_of_who_watches_nothing(task: str, shown: float, verdict: str) -> None:
    found = load_task(task)(load_task(task).Settings())
    fields = {"questions": {"score": "?"}, "steps": [1, 5], "verdicts": {}}
    facts = {"expected": ["yes"]} if task == "relevance" else {"expected": "present"}
    right = {"scores": {"score": 1}, "verdict": "present", "relevant": [True]}
    (item,) = found.unit(Material((), lambda _: {}), Item("i", "v", fields, facts)).items
    assert item.shown["min_shown"] == 0.5
    number = 10
    answers = [Answered("w", f"u{n}", item, right, 9.0, 9.0 * n, Observed(shown)) for n in range(number)]
    judged = found.verdict(answers)
    assert (judged.name, judged.keep) == (verdict, verdict == "reliable"), judged
    assert (f"50% of the clip were shown for 0 of {number} answers" in judged.evidence) == (verdict == "not_shown")
