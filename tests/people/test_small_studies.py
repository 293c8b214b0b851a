"""Small studies work with no option: the ranking or the result is right, and who clicks at random does not count."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.campaigns import human_captions, system_captions
from tests.helpers.films import write_film
from tests.helpers.needs import library
from vttdata.cli.main import main
from vttdata.people.campaign import Campaign, read_campaign
from vttdata.people.service import Service
from vttdata.people.store import Store
from vttdata.people.task import Item

library("scipy")

Answer = Callable[[str, Item, random.Random], dict[str, Any]]
"""Answer of a worker to an item; names of those who click at random begin with ``dice``."""

# Workers, of them clickers, clips, systems.
STUDIES = [(3, 1, 8, 2), (5, 1, 20, 2), (6, 2, 40, 3), (10, 3, 12, 4)]


def write_table(file: Path, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([columns, *rows])
    return str(file)


def read_rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def names_of(workers: int, clickers: int) -> list[str]:
    # Who comes first gets units in any case.
    return [f"dice{n}" for n in range(clickers)] + [f"keen{n}" for n in range(workers - clickers)]


def make(folder: Path, task: str, inputs: list[str], workers: list[str], *options: str) -> Campaign:
    videos = () if task == "choose" else ("--videos", "https://example.org/{video_id}.mp4")
    command = ["people", "make", task, *inputs, *videos, "--invite", ",".join(workers)]
    assert main([*command, "--out", str(folder / "campaign"), *options]) == 0
    return read_campaign(folder / "campaign")


def serve_and_score(campaign: Campaign, workers: list[str], answer: Answer) -> tuple[Path, set[str]]:
    """Let workers answer in turn until nobody gets anything, and score; return the folder and who was kept."""
    store = Store(campaign)
    service = Service(campaign, store)
    draws = {name: random.Random(f"{name} {len(campaign.units)}") for name in workers}
    states = {name: service.agree(name) for name in workers}
    while waiting := [name for name, state in states.items() if state["stage"] == "item"]:
        for name in waiting:
            state = states[name]
            item = campaign.items[state["unit"], state["item"]]
            given = answer(name, item, draws[name])
            identity = f"{name} {state['unit']} {state['item']}"
            states[name] = service.answer(name, identity, state["unit"], state["item"], given, None, 9.0)
            states = {who: service.state(who) if other["stage"] != "item" else other for who, other in states.items()}
    store.close()
    scores = campaign.folder.parent / "scores"
    assert main(["people", "score", str(campaign.folder), "--out", str(scores)]) == 0
    kept = {row["worker"] for row in read_rows(scores / "workers.csv") if row["kept"] == "yes"}
    return scores, {name for name in workers if campaign.hash_worker(name) in kept}


def systems_and_people(folder: Path, systems: int, clips: int) -> list[str]:
    """Write captions of systems, the first one the best, and human ones; return the arguments."""
    files = [
        write_table(folder / f"{name}.csv", ("video_id", "caption"), list(texts.items()))
        for name, texts in system_captions([f"s{n}" for n in range(systems)], clips).items()
    ]
    rows = [(own.video_id, own.caption) for own in human_captions(clips)]
    return [*files, "--captions", write_table(folder / "human.csv", ("video_id", "caption"), rows)]


def worth(system: str, systems: int) -> float:
    return 88.0 if system == "human" else 75.0 - 40 * int(system[1:]) / (systems - 1)


@pytest.mark.parametrize(("workers", "clickers", "clips", "systems"), STUDIES)
@pytest.mark.sampled(2)
def test_direct_assessment(
    workers: int, clickers: int, clips: int, systems: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = names_of(workers, clickers)

    def answer(worker: str, item: Item, luck: random.Random) -> dict[str, Any]:
        quality = worth(item.facts["system"], systems) + random.Random(f"{item.facts['system']} {item.video_id}").gauss(
            0, 8
        )
        quality -= 40 * (item.facts["kind"] == "degraded")
        score = luck.uniform(0, 100) if worker.startswith("dice") else quality + luck.gauss(0, 8)
        return {"score": round(min(max(score, 0), 100))}

    campaign = make(tmp_path, "rate-slider", systems_and_people(tmp_path, systems, clips), names)
    scores, kept = serve_and_score(campaign, names, answer)
    ranked = [row["system"] for row in read_rows(scores / "systems.csv")]
    assert ranked == ["human", *(f"s{n}" for n in range(systems))]
    assert kept
    assert not [name for name in kept if name.startswith("dice")]


@pytest.mark.parametrize(("workers", "clickers", "clips", "systems"), STUDIES)
@pytest.mark.sampled(2)
def test_ratings_in_steps(workers: int, clickers: int, clips: int, systems: int, tmp_path: Path) -> None:
    names = names_of(workers, clickers)

    def answer(worker: str, item: Item, luck: random.Random) -> dict[str, Any]:
        quality = worth(item.facts["systems"][0], systems) if "systems" in item.facts else 10
        step = luck.randint(1, 5) if worker.startswith("dice") else round(1 + quality / 25 + luck.gauss(0, 0.4))
        return {"scores": {"score": min(max(step, 1), 5)}}

    campaign = make(tmp_path, "rate-scale", systems_and_people(tmp_path, systems, clips), names)
    scores, kept = serve_and_score(campaign, names, answer)
    ranked = read_rows(scores / "systems.csv")
    assert [row["system"] for row in ranked] == ["human", *(f"s{n}" for n in range(systems))]
    of_best = [int(row["score"]) for row in read_rows(scores / "ratings.csv") if row["system"] == "human"]
    assert int(ranked[0]["ratings"]) == len(of_best)
    assert float(ranked[0]["lower"]) <= float(ranked[0]["score"]) <= float(ranked[0]["upper"]) <= 5
    assert not [name for name in kept if name.startswith("dice")]


def test_where_all_workers_are_untested_the_report_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(worker: str, item: Item, luck: random.Random) -> dict[str, Any]:
        return {"scores": {"score": 5 if "systems" in item.facts else 1}}

    campaign = make(tmp_path, "rate-scale", systems_and_people(tmp_path, 2, 8), ["ann"], "--set", "min_controls=50")
    assert serve_and_score(campaign, ["ann"], answer)[1] == set()
    said = capsys.readouterr().out
    assert "No answer counts: 1 of 1 worker is untested" in said
    assert "judged from 50 on" in said
    assert "--keep-all" in said


@pytest.mark.parametrize(("workers", "clickers", "clips", "systems"), STUDIES)
def test_foils_are_reviewed(workers: int, clickers: int, clips: int, systems: int, tmp_path: Path) -> None:
    names = names_of(workers, clickers)
    rows = [(f"f{n}", f"v{n}", f"a man walks a dog {n}", f"a man walks a cat {n}") for n in range(clips)]
    table = write_table(tmp_path / "foils.csv", ("foil_id", "video_id", "caption", "foil"), rows)

    def answer(worker: str, item: Item, luck: random.Random) -> dict[str, Any]:
        verdicts = list(item.shown["verdicts"])
        if worker.startswith("dice") or luck.random() < 0.05:
            return {"verdict": luck.choice(verdicts)}
        if "foil_id" not in item.facts:
            return {"verdict": "present"}
        return {"verdict": "sound" if int(item.facts["foil_id"][1:]) % 2 else "present"}

    campaign = make(tmp_path, "foil-review", [table], names)
    scores, kept = serve_and_score(campaign, names, answer)
    assert not [name for name in kept if name.startswith("dice")]
    results = read_rows(scores / "foils.csv")
    wrong = [row["foil_id"] for row in results if (row["valid"] == "yes") != bool(int(row["foil_id"][1:]) % 2)]
    # Units that clickers alone have answered have no result.
    assert len(results) >= 0.9 * clips
    assert len(wrong) <= clips // 10


@pytest.mark.parametrize(("workers", "clickers", "clips", "systems"), STUDIES)
def test_relevance(workers: int, clickers: int, clips: int, systems: int, tmp_path: Path) -> None:
    names = names_of(workers, clickers)
    rows = [(f"v{n}", f"c{n} {k}".replace(" ", "-"), f"text {n} {k}", "") for n in range(clips) for k in range(5)]
    rows += [
        (f"x{n}", f"x{n}-{k}", f"control {n} {k}", "yes" if k % 2 else "no")
        for n in range(-(-clips // 5))
        for k in range(10)
    ]
    table = write_table(tmp_path / "pairs.csv", ("video_id", "caption_id", "caption", "expected"), rows)

    def answer(worker: str, item: Item, luck: random.Random) -> dict[str, Any]:
        right = [int(name[-1]) % 2 == 1 for name in item.facts["ids"]]
        is_clicker = worker.startswith("dice")
        return {"relevant": [luck.random() < 0.5 if is_clicker else value != (luck.random() < 0.03) for value in right]}

    campaign = make(tmp_path, "relevance", [table], names)
    scores, kept = serve_and_score(campaign, names, answer)
    assert not [name for name in kept if name.startswith("dice")]
    pairs = read_rows(scores / "pairs.csv")
    assert len(pairs) == 5 * clips
    wrong = [row for row in pairs if (row["relevant"] == "yes") != (int(row["caption_id"][-1]) % 2 == 1)]
    assert len(wrong) <= len(pairs) // 10


@pytest.mark.parametrize(("workers", "clickers", "clips"), [(3, 1, 10), (5, 1, 6)])
def test_clips_are_chosen(workers: int, clickers: int, clips: int, tmp_path: Path) -> None:
    names = names_of(workers, clickers)
    videos = tmp_path / "videos"
    videos.mkdir()
    film = write_film(tmp_path / "film.mp4", 1, 1)
    for n in range(clips):
        (videos / f"v{n}.mp4").symlink_to(film)

    def answer(worker: str, item: Item, luck: random.Random) -> dict[str, Any]:
        if (worker.startswith("dice") and luck.random() < 0.5) or (
            worker.startswith("keen") and int(item.video_id[1:]) % 2
        ):
            return {"decision": "reject"}
        return {"decision": "keep", "first": item.shown["first"], "last": item.shown["last"]}

    campaign = make(tmp_path, "choose", [str(videos)], names, "--set", "min_seconds=0.5")
    scores, kept = serve_and_score(campaign, names, answer)
    assert kept == {name for name in names if name.startswith("keen")}
    assert {row["id"] for row in read_rows(scores / "clips.csv")} == {f"v{n}" for n in range(0, clips, 2)}


@pytest.mark.parametrize(("workers", "clickers", "clips"), [(3, 1, 5), (6, 2, 20)])
def test_captions_are_written(workers: int, clickers: int, clips: int, tmp_path: Path) -> None:
    names = names_of(workers, clickers)
    written = human_captions(clips + 6, each=1)
    known = [(own.video_id, own.caption) for own in written[clips:]]
    captions = write_table(tmp_path / "human.csv", ("video_id", "caption"), known)
    table = write_table(tmp_path / "clips.csv", ("video_id",), [(own.video_id,) for own in written])
    texts = {own.video_id: own.caption for own in written}

    def answer(worker: str, item: Item, luck: random.Random) -> dict[str, Any]:
        if "right" in item.facts:
            is_clicker = worker.startswith("dice")
            return {"choice": luck.randrange(len(item.shown["choices"])) if is_clicker else item.facts["right"]}
        if worker.startswith("dice"):
            return {
                "caption": "very nice " + " ".join(luck.sample(("stuff", "clip", "video", "scene", "good", "cool"), 4))
            }
        words = texts[item.video_id].split()
        return {"caption": f"in this scene {worker} sees {' '.join(luck.sample(words, len(words)))}"}

    # Answers follow each other at once here, so that none has taken its time.
    settings = ("--set", "qualification=false", "--set", "min_seconds=0")
    campaign = make(tmp_path, "caption", [table], names, "--captions", captions, *settings)
    scores, kept = serve_and_score(campaign, names, answer)
    assert kept == {name for name in names if name.startswith("keen")}
    assert {row["video_id"] for row in read_rows(scores / "captions.csv")} <= {f"v{n}" for n in range(clips)}
    assert "very nice" not in (scores / "captions.csv").read_text()
