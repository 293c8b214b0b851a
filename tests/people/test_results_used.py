"""Results of campaigns go on into other commands: verdicts into foils, ratings into metrics compared with people."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.needs import library

library("starlette")
library("sklearn")
stats = library("scipy.stats")

from datasets import load_dataset

from tests.cli.test_foil import write_captions
from tests.helpers.films import write_film
from tests.people.served import make, write_rows
from vttdata.cli.main import main
from vttdata.people.campaign import Campaign
from vttdata.people.service import Service
from vttdata.people.store import Store
from vttdata.people.task import Item

WORKERS = ("ann", "bob", "cy")


def answer_all(campaign: Campaign, answer: Callable[[str, Item], dict[str, object]]) -> None:
    """Let every worker answer all that the server gives them."""
    store = Store(campaign)
    service = Service(campaign, store)
    for worker in WORKERS:
        state = service.agree(worker)
        while state["stage"] == "item":
            item = campaign.items[state["unit"], state["item"]]
            name = f"{worker}-{state['unit']}-{state['item']}"
            state = service.answer(worker, name, state["unit"], state["item"], answer(worker, item), None, 5.0)
    store.close()


def link_videos(folder: Path, names: set[str]) -> Path:
    film = write_film(folder.with_suffix(".mp4"), 1, 1)
    folder.mkdir()
    for name in names:
        (folder / f"{name}.mp4").symlink_to(film)
    return folder


@pytest.mark.not_on("win32")
def test_foils_that_reviewers_reject_are_not_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    captions = write_captions(tmp_path / "captions.csv")
    foil = ["foil", str(captions), "--min-count", "2", "--quiet"]
    assert main([*foil, "--out", str(tmp_path / "first")]) == 0
    first = load_dataset(str(tmp_path / "first"), cache_dir=str(tmp_path / "cache"), split="test")
    rejected = {row["foil_id"] for row in first if row["foil_concept"] == "cow"}
    assert 0 < len(rejected) < len(first)
    videos = link_videos(tmp_path / "videos", set(first["video_id"]))
    options = ("--videos", videos, "--set", "controls=0", "--set", "judgments=3")
    campaign = make(
        tmp_path / "review",
        "foil-review",
        tmp_path / "first",
        *options,
        "--set",
        "judgments=3",
        workers=",".join(WORKERS),
    )

    def review(worker: str, item: Item) -> dict[str, object]:
        # Two of three see the cows; one who accepts everything is outvoted.
        return {"verdict": "present" if item.facts["foil_id"] in rejected and worker != "cy" else "sound"}

    answer_all(campaign, review)
    assert main(["people", "score", str(tmp_path / "review"), "--out", str(tmp_path / "verdicts")]) == 0
    with (tmp_path / "verdicts" / "foils.csv").open(encoding="utf-8") as stream:
        assert {row["foil_id"] for row in csv.DictReader(stream) if row["valid"] == "no"} == rejected
    verdicts = ["--verdicts", str(tmp_path / "verdicts" / "results.csv")]
    assert main([*foil, *verdicts, "--out", str(tmp_path / "second")]) == 0
    assert main([*foil, *verdicts, "--judged-only", "--out", str(tmp_path / "third")]) == 0
    second, third = (
        set(load_dataset(str(tmp_path / name), cache_dir=str(tmp_path / "cache"), split="test")["foil_id"])
        for name in ("second", "third")
    )
    assert second
    assert not rejected & second
    assert third
    assert third <= set(first["foil_id"]) - rejected
    capsys.readouterr()
    assert main([*foil, *verdicts, "--selection", "paper", "--out", str(tmp_path / "fourth")]) == 2
    assert "only the selection 'balanced' reads verdicts" in capsys.readouterr().err


@pytest.mark.not_on("win32")
def test_ratings_on_a_scale_become_judgments_of_metrics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = range(12)
    rows = [(f"v{n}", "a dog runs" if n % 3 else "a dog runs over grass") for n in numbers]
    system = write_rows(tmp_path / "ours.csv", ("video_id", "caption"), *rows)
    humans = write_rows(
        tmp_path / "humans.csv", ("video_id", "caption"), *((f"v{n}", "a dog runs over green grass") for n in numbers)
    )
    videos = link_videos(tmp_path / "videos", {f"v{n}" for n in numbers})
    options = ("--videos", videos, "--set", "judgments=3", "--set", "highest=5")
    campaign = make(tmp_path / "rating", "rate-scale", system, *options, workers=",".join(WORKERS))
    leniency = {worker: number for number, worker in enumerate(WORKERS)}

    def stars(worker: str, video: str) -> int:
        return 1 + (int(video[1:]) + leniency[worker]) % 4

    def rate(worker: str, item: Item) -> dict[str, object]:
        return {"scores": {name: stars(worker, item.video_id) for name in item.shown["questions"]}}

    answer_all(campaign, rate)
    assert main(["people", "score", str(tmp_path / "rating"), "--out", str(tmp_path / "ratings"), "--keep-all"]) == 0
    scores = [float(n * n % 7) for n in numbers]
    theirs = write_rows(
        tmp_path / "theirs.csv",
        ("video_id", "score"),
        *((f"v{n}", str(score)) for n, score in zip(numbers, scores, strict=True)),
    )
    capsys.readouterr()
    command = ["metric", "test", str(tmp_path / "ratings" / "ratings.csv"), "--references", str(humans)]
    assert main([*command, "--scores", str(theirs), "--metric", "rouge-l", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    means = [sum(stars(worker, f"v{n}") for worker in WORKERS) / 3 for n in numbers]
    of_captions = found["sets"][0]["metrics"]["theirs"]["human"]["raw"]["caption"]
    assert of_captions["kendall_b"]["score"] == pytest.approx(stats.kendalltau(means, scores).statistic)
    assert of_captions["pearson"]["score"] == pytest.approx(stats.pearsonr(means, scores).statistic)
    assert found["sets"][0]["assessments"] == 36
