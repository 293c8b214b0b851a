"""The same answers give the same ranking, whether they were given to the server or to exported pages."""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.people.test_make import MAKE, write_table
from tests.helpers.campaigns import human_captions, system_captions
from tests.helpers.needs import library
from vttdata.cli.main import main
from vttdata.people.campaign import Campaign, read_campaign
from vttdata.people.service import Service, make_report
from vttdata.people.store import Reservation, Store
from vttdata.people.task import Item

library("scipy")

WORTH = {"good": 72, "fair": 60, "poor": 48, "human": 85}
GOOD = [f"keen{n}" for n in range(6)]
CLICKERS = [f"dice{n:02}" for n in range(12)]
VIDEOS = 16
# A HIT has 10 pairs of a degraded caption and its original, and a clicker leaves before having met all of them.
COMPOSITION = {"system": 24, "human": 10, "degraded": 10, "repeat": 2, "judgments": len(GOOD) + len(CLICKERS)}
LEFT_AFTER = 36
COMPARED = ("systems.csv", "significance.csv", "captions.csv", "significance.svg")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("verdict")
    systems = [
        write_table(folder / f"{name}.csv", [{"video_id": v, "caption": text} for v, text in texts.items()])
        for name, texts in system_captions(["good", "fair", "poor"], VIDEOS).items()
    ]
    human = [{"video_id": c.video_id, "caption": c.caption, "sen_id": c.sen_id} for c in human_captions(VIDEOS)]
    settings = [f"--set={name}={number}" for name, number in COMPOSITION.items()]
    given = [*systems, "--captions", write_table(folder / "human.csv", human), *settings]
    assert main([*MAKE, *given, "--invite", ",".join(GOOD + CLICKERS), "--out", str(folder / "campaign")]) == 0
    return read_campaign(folder / "campaign")


def answers(campaign: Campaign) -> Iterator[tuple[str, str, list[tuple[Item, int]]]]:
    """Yield worker, HIT and scores; of the two HITs, good workers answer both and clickers begin the first."""
    hits = list(campaign.units.values())
    for worker in GOOD + CLICKERS:
        luck = random.Random(worker)
        for hit in hits if worker in GOOD else hits[:1]:
            scores = []
            for item in hit.items if worker in GOOD else hit.items[:LEFT_AFTER]:
                worth = 25 if item.facts["kind"] == "degraded" else WORTH[item.facts["system"]]
                scores.append((item, luck.randint(0, 100) if worker in CLICKERS else worth + luck.randint(-12, 12)))
            yield worker, hit.unit, scores


def serve_answers(campaign: Campaign) -> None:
    store = Store(campaign)
    # All had their HITs some time ago, whatever the server would hand out now.
    for worker, unit, _ in answers(campaign):
        store.reserve(Reservation(unit, worker, 1.0))
    service = Service(campaign, store)
    for worker in GOOD + CLICKERS:
        service.agree(worker)
    for worker, unit, scores in answers(campaign):
        for item, score in scores:
            service.answer(worker, f"{worker}-{unit}-{item.item}", unit, item.item, {"score": score}, None, 9.0)
    report = {row["worker"]: row for row in make_report(campaign, store)["workers"]}
    store.close()
    assert {worker for worker, row in report.items() if row["keep"]} == set(GOOD)
    for worker in CLICKERS:
        assert report[worker]["verdict"] == "too_few_pairs"
        assert report[worker]["evidence"].startswith("not yet judged")


def download_answers(campaign: Campaign, folder: Path) -> list[str]:
    """Write what the exported page of a HIT downloads, a file for each worker and HIT."""
    files = []
    for worker, unit, scores in answers(campaign):
        rows = [
            {"hit": unit, "worker": worker, "item": item.item, "position": n, "score": score, "seconds": 7.5}
            for n, (item, score) in enumerate(scores)
        ]
        files.append(write_table(folder / f"{unit}-{worker}.csv", rows))
    return files


def table(file: Path) -> list[dict[str, str]]:
    with file.open() as stream:
        return list(csv.DictReader(stream))


def test_answers_to_the_server_and_of_pages_give_the_same_ranking_without_clickers(
    campaign: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported = read_campaign(Path(shutil.copytree(campaign.folder, tmp_path / "exported")))
    serve_answers(campaign)
    capsys.readouterr()
    assert main(["people", "status", str(campaign.folder)]) == 0
    assert capsys.readouterr().out.count("not yet judged") == len(CLICKERS)
    assert main(["people", "score", str(campaign.folder), "--out", str(tmp_path / "served")]) == 0
    files = download_answers(exported, tmp_path)
    assert main(["people", "score", str(exported.folder), *files, "--out", str(tmp_path / "pages")]) == 0
    for name in COMPARED:
        assert (tmp_path / "served" / name).read_bytes() == (tmp_path / "pages" / name).read_bytes(), name
    ranked = table(tmp_path / "served" / "systems.csv")
    assert [(row["system"], row["cluster"]) for row in ranked] == [
        ("human", "1"),
        ("good", "2"),
        ("fair", "3"),
        ("poor", "4"),
    ]
    assert {row["worker"] for row in table(tmp_path / "pages" / "workers.csv") if row["kept"] == "yes"} == {
        campaign.hash_worker(worker) for worker in GOOD
    }
    every = ["people", "score", str(campaign.folder), "--keep-all", "--out", str(tmp_path / "every")]
    assert main(every) == 0
    # Clickers say nothing, so that systems come closer to each other.
    spread = [
        max(scores) - min(scores)
        for name in ("every", "served")
        for scores in [[float(row["z"]) for row in table(tmp_path / name / "systems.csv")]]
    ]
    assert spread[0] < spread[1]


def test_answers_that_both_ways_have_count_once(campaign: Campaign, tmp_path: Path) -> None:
    both = read_campaign(Path(shutil.copytree(campaign.folder, tmp_path / "both")))
    (both.folder / "answers.sqlite").unlink()
    store = Store(both)
    for worker in GOOD + CLICKERS:
        store.add_worker(worker)
    store.close()
    serve_answers(both)
    assert main(["people", "score", str(both.folder), "--out", str(tmp_path / "served")]) == 0
    files = download_answers(both, tmp_path)
    assert main(["people", "score", str(both.folder), *files, "--out", str(tmp_path / "twice")]) == 0
    for name in (*COMPARED, "results.csv"):
        assert (tmp_path / "served" / name).read_bytes() == (tmp_path / "twice" / name).read_bytes(), name
    (found,) = table(tmp_path / "twice" / "findings.csv")[-1:]
    assert (found["finding"], int(found["count"])) == ("duplicate", sum(len(s) for _, _, s in answers(both)))


def test_answer_that_the_task_does_not_take_is_a_finding(campaign: Campaign, tmp_path: Path) -> None:
    own = read_campaign(Path(shutil.copytree(campaign.folder, tmp_path / "own")))
    for file in own.folder.glob("answers.sqlite*"):
        file.unlink()
    unit = next(iter(own.units.values()))
    given = [{"item": item.item, "score": 50.5 if n == 3 else 50 + n} for n, item in enumerate(unit.items)]
    (tmp_path / "posted.json").write_text(json.dumps({"hit": unit.unit, "worker": "ann", "answers": given}))
    command = ["people", "score", str(own.folder), str(tmp_path / "posted.json"), "--out", str(tmp_path / "out")]
    assert main([*command, "--keep-all"]) == 0
    findings = {row["finding"]: row["such as"] for row in table(tmp_path / "out" / "findings.csv")}
    assert findings == {"refused": f"{unit.unit}/ann/{unit.items[3].item}"}
    assert len(table(tmp_path / "out" / "results.csv")) == len(unit.items) - 1
