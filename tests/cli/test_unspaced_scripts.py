"""Captions in Chinese: Direct Assessment as a whole, and one sentence with the language where only English works."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.leaking_dataset import write_leaking_dataset, write_predictions
from tests.helpers.needs import library
from tests.people.test_small_studies import make, read_rows, serve_and_score, write_table
from vttdata.cli.main import main
from vttdata.people.task import Item, Material
from vttdata.people.tasks.foil_review import FoilReviewSettings, FoilTask
from vttdata.text.word_spans import split_words

library("scipy")

PEOPLE = ("男人", "女人", "小狗", "女孩", "老人", "白马", "孩子", "歌手", "厨师", "农民")
ACTIONS = ("推着", "看见", "拿着", "画着", "清洗", "寻找", "修理", "搬运", "踢着", "买下")
THINGS = ("苹果", "汽车", "皮球", "大鼓", "小树", "书本", "台灯", "椅子", "盘子", "石头")
PLACES = ("公园里", "厨房里", "马路上", "学校前", "海滩边", "山坡上", "商店中", "院子里", "桥洞下", "雪地上")
CLIPS = 20


def sentence(*purpose: object) -> str:
    draw = random.Random(repr(purpose))
    first, place, action, thing, second = map(draw.choice, (PEOPLE, PLACES, ACTIONS, THINGS, PEOPLE))
    return f"{first}在{place}{action}{thing}旁边有{second}。"


@pytest.fixture
def human(tmp_path: Path) -> str:
    rows = [(f"v{n}", sentence("human", n, k), "zh") for n in range(CLIPS) for k in range(2)]
    return write_table(tmp_path / "human.csv", ("video_id", "caption", "language"), rows)


def test_direct_assessment_in_chinese_from_degraded_captions_to_a_ranking(human: str, tmp_path: Path) -> None:
    degraded = tmp_path / "degraded"
    assert main(["degrade", human, "--out", str(degraded), "--seed", "3"]) == 0
    rows = library("pandas").read_parquet(degraded / "degraded.parquet")
    assert len(rows) == 2 * CLIPS
    assert rows.flag.isna().all()
    for original, changed in zip(rows.original, rows.caption, strict=True):
        before, after = split_words(original), split_words(changed)
        # Of 15 words four are replaced, neither the first nor the last of them.
        assert len(before) == len(after) == 15
        assert 0 < sum(a != b for a, b in zip(before, after, strict=True)) <= 4
        assert (before[0], before[-1]) == (after[0], after[-1])
    systems = [
        write_table(
            tmp_path / f"{name}.csv", ("video_id", "caption"), [(f"v{n}", sentence(name, n)) for n in range(CLIPS)]
        )
        for name in ("good", "poor")
    ]
    workers = ["dice0", *(f"keen{n}" for n in range(4))]
    worth = {"human": 88, "good": 70, "poor": 40}

    def answer(worker: str, item: Item, luck: random.Random) -> dict[str, Any]:
        score = worth[item.facts["system"]] - 40 * (item.facts["kind"] == "degraded") + luck.gauss(0, 8)
        return {"score": round(min(max(luck.uniform(0, 100) if worker.startswith("dice") else score, 0), 100))}

    campaign = make(tmp_path, "rate-slider", [*systems, "--captions", human], workers)
    scores, kept = serve_and_score(campaign, workers, answer)
    assert kept == set(workers[1:])
    assert [row["system"] for row in read_rows(scores / "systems.csv")] == ["human", "good", "poor"]


def test_foils_rankings_and_blind_attackers_name_the_language(
    human: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(f"v{n}", sentence("true", n), sentence("foil", n)) for n in range(CLIPS)]
    pairs = write_table(tmp_path / "pairs.csv", ("video_id", "true", "foil"), rows)
    for command in (
        ["foil", human, "--out", str(tmp_path / "foils")],
        ["build", "ranking-set", "--set", f"input={human}", "--out", str(tmp_path / "ranking"), "--quiet"],
        ["audit", pairs],
    ):
        capsys.readouterr()
        assert main(command) == 2, command
        error = capsys.readouterr().err
        assert "are Chinese" in error
        assert error.count("\n") == 1


@pytest.mark.parametrize("metric", ["meteor", "spice"])
def test_metrics_of_english_name_the_language_of_a_dataset(
    metric: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = write_leaking_dataset(tmp_path / "dataset", language="zh")
    predictions = write_predictions(tmp_path / "ours.json")
    assert main(["evaluate", str(dataset), str(predictions), "--metric", metric]) == 2
    error = capsys.readouterr().err
    assert f"{metric} scores English captions, and those of {dataset} are Chinese." in error
    assert main(["evaluate", str(dataset), str(predictions), "--metric", "bleu"]) == 0


def test_reviewed_foil_marks_the_letters_that_differ(tmp_path: Path) -> None:
    rows = [("f0", "v0", "一个男人在公园里推着汽车。", "一个男人在公园里推着皮球。")]
    table = write_table(tmp_path / "foils.csv", ("foil_id", "video_id", "caption", "foil"), rows)
    material = Material([table], lambda _: {}, address="https://example.org/{video_id}.mp4", secret=b"one")
    units = FoilTask(FoilReviewSettings()).make(material)
    marked = [unit.items[0].shown["sentence"][slice(*unit.items[0].shown["marked"])] for unit in units]
    # Punctuation belongs to the word before it.
    assert sorted(text.strip("。") for text in marked) == ["汽车", "皮球"]
