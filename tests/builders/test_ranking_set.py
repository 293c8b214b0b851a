"""A pool is filtered, judged in a campaign and used for retrieval."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.needs import library

library("starlette")
library("snowballstemmer")

from tests.helpers.films import write_film
from vttdata.cli.main import main
from vttdata.generate.prefilter import make_stemmer, pool_precision, reaches
from vttdata.people.campaign import read_campaign
from vttdata.people.service import Service
from vttdata.people.store import Store

CAPTIONS = (
    ("a man rides a brown horse", "the man is riding horses"),
    ("a woman rides a horse", "a woman on a white horse"),
    ("two dogs play with a ball", "dogs chasing the ball"),
    ("a dog catches a ball", "one dog jumps for the ball"),
    ("rain falls on a roof", "it rains"),
    ("snow covers mountains", "a snowy mountain"),
)


def test_precision_is_exact_at_the_threshold_and_clipped() -> None:
    stem = make_stemmer()
    references = [[stem("horses riding"), stem("a horse")]]
    candidates = [stem("horse apple pear plum"), stem("horse horse apple"), stem("the of"), stem("rides horse")]
    matches, words = pool_precision(references, candidates)
    assert (matches.tolist(), words.tolist()) == ([[1, 1, 0, 2]], [[4, 3, 0, 2]])
    assert reaches((matches, words), Fraction(1, 4)).tolist() == [[True, True, False, True]]
    assert reaches((matches, words), Fraction(26, 100)).tolist() == [[False, True, False, True]]


def test_pool_is_judged_and_used_for_retrieval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    film = write_film(tmp_path / "film.mp4", 1, 1)
    with (tmp_path / "captions.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["video_id", "caption"])
        for n, texts in enumerate(CAPTIONS):
            (videos / f"v{n}.mp4").symlink_to(film)
            rows.writerows((f"v{n}", text) for text in texts)
    build = tmp_path / "build"
    settings = [f"input={tmp_path / 'captions.csv'}", "pool=4", "audit=3", "controls=2", "seed=2"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    assert main(["build", "ranking-set", *arguments, "--out", str(build), "--quiet"]) == 0
    pairs = list(csv.DictReader((build / "pairs.csv").open()))
    judged = [row for row in pairs if not row["expected"]]
    controls = [row for row in pairs if row["expected"]]
    assert all(row["caption_id"] != row["video_id"] for row in judged), "originals are not asked for"
    assert {row["video_id"] for row in controls}.isdisjoint(row["video_id"] for row in judged)
    assert {row["expected"] for row in controls} == {"yes", "no"}
    folder = tmp_path / "judging"
    make = ["people", "make", "relevance", str(build / "pairs.csv"), "--videos", str(videos), "--out", str(folder)]
    assert main([*make, "--invite", "a,b,c", "--set", "min_controls=6", "--set", "videos=3"]) == 0
    campaign = read_campaign(folder)
    service = Service(campaign, store := Store(campaign))
    # Horses go with horses and dogs with dogs; the third worker says yes to everything, and fails the controls.
    kind = {f"v{n}": n // 2 for n in range(6)}
    for worker in "abc":
        state = service.agree(worker)
        while state["stage"] == "item":
            item = campaign.items[state["unit"], state["item"]]
            expected = item.facts["expected"] or ["no"] * len(item.facts["ids"])
            answer = [
                worker == "c" or wanted == "yes" or kind.get(name, -1) == kind[item.video_id]
                for name, wanted in zip(item.facts["ids"], expected, strict=True)
            ]
            name = f"{worker}{state['unit']}{state['item']}"
            state = service.answer(worker, name, state["unit"], state["item"], {"relevant": answer}, None, 3.0)
    store.close()
    out = tmp_path / "results"
    assert main(["people", "score", str(folder), "--out", str(out)]) == 0
    again = ["build", str(build), "--set", f"votes={out / 'pairs.csv'}", "--quiet"]
    assert main(again) == 0
    relevance = [line.split() for line in (build / "relevance.txt").read_text().splitlines()]
    pool = sorted({row["video_id"] for row in judged} | {row["caption_id"] for row in judged})
    relevant = {(name, video) for name, _, video, value in relevance if value == "1"}
    judged_pairs = {(row["caption_id"], row["video_id"]) for row in judged}
    assert relevant == {(v, v) for v in pool} | {(a, b) for a, b in judged_pairs if kind[a] == kind[b]}
    counts = dict(csv.reader((build / "counts.csv").open()))
    assert int(counts["pairs without the originals"]) == 12
    similarity = np.array([[float((a, b) in relevant) + 0.1 * (a == b) for b in pool] for a in pool])
    np.savez(tmp_path / "system.npz", similarity=similarity, query_ids=pool, video_ids=pool)
    capsys.readouterr()
    scored = ["evaluate", str(build), str(tmp_path / "system.npz"), "--task", "retrieval", "--json"]
    assert main([*scored, "--relevance", str(build / "relevance.txt")]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert scores["t2v-judged/r-precision"]["all"]["score"] == pytest.approx(1)
    lines = [
        "caption_id,video_id,score",
        *(f"{a},{b},{4 if kind[a] == kind[b] else 1}" for a, b in sorted(judged_pairs)),
    ]
    (tmp_path / "experts.csv").write_text("\n".join(lines))
    assert main([*again, "--set", f"experts={tmp_path / 'experts.csv'}"]) == 0
    rows = list(csv.DictReader((build / "experts.csv").open()))
    assert [float(rows[-1][name]) for name in ("expert", "lay", "precision", "recall", "f1", "kappa")] == [4, *[1] * 5]
    pooled = ["build", str(build), "--set", f"runs={{one: {tmp_path / 'system.npz'}}}", "--set", "depth=1"]
    assert main([*pooled, "--set", "votes=null", "--set", "experts=null", "--set", "audit=4", "--quiet"]) == 0
    # The first of each is its original, so that nothing but the sample is left to be judged.
    counts = dict(csv.reader((build / "counts.csv").open()))
    assert counts["of these with the precision, to be judged"] == "0"
    assert counts["probability with which a pair left out is judged"].startswith("0.333")
    assert len([row for row in csv.DictReader((build / "pairs.csv").open()) if not row["expected"]]) == 4
    fused = [line.split() for line in (build / "borda.run").read_text().splitlines()]
    assert [video for query, _, video, rank, *_ in fused if rank == "0"] == pool
    (out / "pairs.csv").write_text("caption_id,video_id,yes,judgments\nv9,v0,1,3\n")
    assert main(again) == 2
    assert "is none of pairs.csv" in capsys.readouterr().err
