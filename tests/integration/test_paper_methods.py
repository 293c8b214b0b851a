"""Methods of the papers on real captions: the ranking paper's pool, VATEX-EVAL's candidates, nearest neighbours."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.needs import library
from vttdata.cli.main import main

pytestmark = pytest.mark.long


def flickr8k_test(shared: Path) -> list[tuple[str, str]]:
    """Return the images of Flickr8k's test set with their captions."""
    folder = shared / "data/flickr8k"
    images = set((folder / "Flickr_8k.testImages.txt").read_text().split())
    lines = (folder / "Flickr8k.token.txt").read_text(encoding="utf-8").splitlines()
    named = ((line.partition("#")[0], line.partition("\t")[2]) for line in lines)
    return [(image.removesuffix(".jpg"), text) for image, text in named if image in images]


def write_rows(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([columns, *rows])
    return path


@pytest.fixture
def captions(shared: Path, tmp_path: Path) -> Path:
    return write_rows(tmp_path / "captions.csv", ["video_id", "caption"], flickr8k_test(shared))


def test_pool_of_the_ranking_paper_leaves_out_as_many_pairs(captions: Path, tmp_path: Path) -> None:
    library("snowballstemmer")
    out = tmp_path / "pool"
    settings = ["--set", f"input={captions}", "--set", "pool=1000"]
    assert main(["build", "ranking-set", *settings, "--out", str(out), "--quiet"]) == 0
    counts = dict(csv.reader((out / "counts.csv").open()))
    assert int(counts["pairs without the originals"]) == 1000 * 999
    # 86.0 % in the paper (section 4.3.2), of the pool that it drew; the captions of this one are drawn anew.
    left_out = 1 - int(counts["pairs with a precision of at least 1/4"]) / (1000 * 999)
    assert left_out == pytest.approx(0.86, abs=0.015)


def test_candidates_of_vatex_eval_are_of_other_images_and_like_the_references(captions: Path, tmp_path: Path) -> None:
    out = tmp_path / "candidates"
    assert main(["build", "vatex-eval", "--set", f"input={captions}", "--out", str(out), "--quiet"]) == 0
    with (out / "candidates.csv").open(encoding="utf-8") as stream:
        candidates = list(csv.DictReader(stream))
    # One held-out human caption and three of other images (section 4.1; the two captioning systems are a user's).
    assert len(candidates) == 1000 * 4
    with captions.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    own: dict[str, set[str]] = {}
    for row in rows:
        own.setdefault(row["video_id"], set()).add(row["caption"])
    matched = [row for row in candidates if row["system"].startswith("adversarial")]
    human = [row for row in candidates if row["system"] == "human"]
    assert all(row["caption"] in own[row["video_id"]] for row in human)
    assert all(row["caption"] not in own[row["video_id"]] for row in matched)

    def shared_words(row: dict[str, str]) -> float:
        words = set(row["caption"].lower().split())
        return float(np.mean([len(words & set(text.lower().split())) for text in own[row["video_id"]]]))

    drawn = [
        {**row, "video_id": other["video_id"]} for row, other in zip(matched, [*matched[5:], *matched[:5]], strict=True)
    ]
    assert np.mean([*map(shared_words, matched)]) > 1.3 * np.mean([*map(shared_words, drawn)])


@pytest.mark.parametrize("permuted", [False, True])
def test_captions_of_neighbours_are_better_than_random_ones_only_by_what_looks_say(
    permuted: bool, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Features that say what a caption says stand in for those of table 2 of MSR-VTT, which are not published.
    feature_extraction = library("sklearn.feature_extraction.text")
    decomposition = library("sklearn.decomposition")
    settings = ["--set", f"annotations={shared / 'data/flickr8k'}"]
    out = tmp_path / "flickr8k"
    assert main(["build", "flickr8k", *settings, "--out", str(out), "--quiet"]) == 0
    lines = (shared / "data/flickr8k/Flickr8k.token.txt").read_text(encoding="utf-8").splitlines()
    firsts = [line for line in lines if "#0\t" in line]
    counts = feature_extraction.TfidfVectorizer().fit_transform([line.partition("\t")[2] for line in firsts])
    vectors = decomposition.TruncatedSVD(50, random_state=0).fit_transform(counts)
    if permuted:
        vectors = np.random.default_rng(0).permutation(vectors)
    names = [line.partition("#")[0].removesuffix(".jpg") for line in firsts]
    np.savez(tmp_path / "looks.npz", video_ids=names, frame_counts=[1] * len(names), frame_vectors=vectors)
    scores = {}
    for name in ("knn-caption", "random-caption"):
        features = ["--features", str(tmp_path / "looks.npz")] if name == "knn-caption" else []
        capsys.readouterr()
        command = ["evaluate", str(out), "--baseline", name, *features, "--metric", "cider-d", "--json"]
        assert main(command) == 0
        scores[name] = json.loads(capsys.readouterr().out)["scores"]["cider-d"]["all"]["score"]
    assert (scores["knn-caption"] > 3 * scores["random-caption"]) != permuted
