"""Workers who copy, rush or answer all the same are flagged with the evidence, and honest ones are not."""

from __future__ import annotations

from random import Random

from vttdata.people.scoring.quality import worker_quality
from vttdata.people.scoring.relevance import is_relevant
from vttdata.people.task import Answered, Item
from vttdata.people.tasks.foil_review import FoilReviewSettings, FoilTask

VERDICTS = ("sound", "odd", "implausible", "present", "alike")
TASK = FoilTask(FoilReviewSettings())


def crowd(seed: int, workers: int = 8, items: int = 60) -> dict[str, list[Answered]]:
    """Workers who agree on four of five answers and take 5 to 20 seconds."""
    draw = Random(seed)
    truth = [draw.choice(VERDICTS) for _ in range(items)]
    return {
        f"w{n}": [
            Answered(
                f"w{n}",
                f"u{i}",
                Item("i", "v", {}, {"foil_id": f"f{i}"}),
                {"verdict": truth[i] if draw.random() < 0.8 else draw.choice(VERDICTS)},
                draw.uniform(5, 20),
                float(i),
            )
            for i in range(items)
        ]
        for n in range(workers)
    }


def flags(answers: dict[str, list[Answered]]) -> dict[str, list[str]]:
    reports = worker_quality(TASK, [entry for entries in answers.values() for entry in entries])
    return {report.worker: [flag for flag, _ in report.flags] for report in reports if report.flags}


def test_honest_workers_are_not_flagged() -> None:
    assert [flags(crowd(seed)) for seed in range(5)] == [{}] * 5


def test_each_kind_of_bad_worker_is_flagged_with_numbers() -> None:
    answers = crowd(7)
    answers["fast"] = [entry._replace(worker="fast", seconds=1.0) for entry in crowd(7)["w0"]]
    answers["fast"] = [
        entry._replace(answer={"verdict": Random(i).choice(VERDICTS)}) for i, entry in enumerate(answers["fast"])
    ]
    answers["same"] = [entry._replace(worker="same", answer={"verdict": "odd"}) for entry in answers["w1"]]
    answers["copy"] = [entry._replace(worker="copy") for entry in answers["w2"]]
    found = flags(answers)
    assert found == {"fast": ["rushing"], "same": ["straight_lining"], "copy": ["copying"], "w2": ["copying"]}
    reports = {
        r.worker: dict(r.flags) for r in worker_quality(TASK, [e for entries in answers.values() for e in entries])
    }
    assert "60 of 60 answers equal those of w2" in reports["copy"]["copying"]
    assert "median 1.0 s" in reports["fast"]["rushing"]
    assert "60 answers 'odd' in a row" in reports["same"]["straight_lining"]


def test_controls_decide_with_a_least_number() -> None:
    control = Item("c", "v", {}, {"expected": "present"})
    right = [Answered("w", f"c{n}", control, {"verdict": "present"}, 5.0, 0.0) for n in range(3)]
    wrong = [entry._replace(answer={"verdict": "sound"}) for entry in right]
    assert TASK.verdict(right).name == "reliable"
    assert TASK.verdict(wrong[:2]).name == "untested"
    failed = TASK.verdict([*wrong, *right[:1]])
    assert (failed.keep, failed.evidence) == (False, "1 of 4 controls right")


def test_two_of_three_make_a_pair_relevant_and_rounding_does_not() -> None:
    assert is_relevant(2, 3)
    assert not is_relevant(65, 100)
    assert is_relevant(66, 100)
    assert not is_relevant(0, 0)
