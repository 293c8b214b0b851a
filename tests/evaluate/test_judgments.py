"""Judgments by people, read from every kind of file, and scored by metrics."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from vttdata.errors import VttdataError
from vttdata.evaluate.meta.judgments import (
    CROWD,
    EXPERT,
    TOKENS,
    read_flickr8k,
    read_judgment_table,
)
from vttdata.evaluate.meta.scoring import look_up_scores, read_scores, score_captions, score_table
from vttdata.evaluate.metric import CaptioningMetric, load_metric
from vttdata.statistics.scores import ColumnScores

HEAD = "item system candidate score annotator"
ROWS = [
    ["v1", "a", "a man runs", 10, "ann"],
    ["v1", "a", "a man runs", 80, "bob"],
    ["v1", "b", "a dog", 30, "ann"],
    ["v2", "a", "a cat sleeps", 50, "ann"],
    ["v2", "b", "a woman sings", 90, "bob"],
]


def save(file: Path, head: str, rows: Sequence[Sequence[object]]) -> Path:
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([head.split(), *rows])
    return file


class Counted(CaptioningMetric):
    """Length of a caption; counts its calls."""

    columns = ("counted",)
    depends_on_items = True
    uses_tokens = False
    calls = 0

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        Counted.calls += 1
        lengths = [len(text) + len(texts) / 100 for text, texts in zip(candidates, references, strict=True)]
        return {"counted": ColumnScores.from_means(np.array(lengths, dtype=float))}


Counted.name = "counted"


def test_scores_by_annotators_are_averaged_and_standardised_by_annotator(tmp_path: Path) -> None:
    table = read_judgment_table(save(tmp_path / "ours.csv", HEAD, ROWS))
    assert table.name == "ours"
    assert list(zip(table.video_ids, table.systems, table.raw, strict=True)) == [
        ("v1", "a", 45),
        ("v1", "b", 30),
        ("v2", "a", 50),
        ("v2", "b", 90),
    ]
    assert table.assessments.tolist() == [2, 1, 1, 1]
    # Ann has mean 30 and deviation 20, Bob 85 and sqrt(50).
    bob = 5 / math.sqrt(50)
    assert np.allclose(table.z, [(-1 - bob) / 2, 0, 1, bob])
    assert table.ratings is not None
    assert np.array_equal(table.ratings, [[10, 80], [30, math.nan], [50, math.nan], [math.nan, 90]], equal_nan=True)


def test_table_of_means_is_read_as_hits_score_writes_it(tmp_path: Path) -> None:
    rows = [["v1", "a", 20, -1.0, 2], ["v2", "'=b", 25, -0.8, 3]]
    table = read_judgment_table(save(tmp_path / "captions.csv", "video_id system raw z assessments", rows))
    assert (table.name, table.systems, table.assessments.tolist()) == (tmp_path.name, ["a", "=b"], [2, 3])
    assert table.headline == ("z", "caption", "pearson")
    assert table.candidates == [None, None]
    with pytest.raises(VttdataError, match="the texts of 2 captions are not known"):
        score_table(load_metric("bleu"), table)


def test_candidates_and_references_come_from_other_files(tmp_path: Path) -> None:
    file = save(tmp_path / "means.csv", "video_id system score", [["v2", "a", 1], ["v3", "human", 3]])
    texts = {("a", "v1"): "x", ("a", "v2"): "y", ("a", "v3"): "z", ("human", "v3"): "people say", ("b", "v1"): "w"}
    references = {"v1": ["one"], "v2": ["two"], "v3": ["three", "people say"]}
    table = read_judgment_table(file, texts, references)
    assert table.items == ["v1", "v2", "v3"]
    assert list(zip(table.systems, table.candidates, table.judged, strict=True)) == [
        ("a", "x", False),
        ("a", "y", True),
        ("a", "z", False),
        ("human", "people say", True),
    ]
    assert table.references[-2:] == [["three", "people say"], ["three"]]
    assert table.without([]).systems == ["a", "a", "a"]
    assert read_judgment_table(file, {("a", "v2"): "y"}).missing == (("human", "v3"),)
    with pytest.raises(VttdataError, match=r"1 of 2 items have no references \(first 'v3'"):
        read_judgment_table(file, None, {"v2": ["two"]})


@pytest.mark.parametrize(
    ("head", "rows", "message"),
    [
        ("item score", [["v1", "good"]], "ours.csv:2: the score is 'good', which is not a finite number"),
        ("item score", [["v1", 1], ["v1", 2]], "ours.csv:3: the caption of 'v1' is duplicated"),
        ("item system score annotator", [["v", "a", 1, "x"], ["v", "a", 2, ""]], "caption of 'v' by 'a' is duplicated"),
        ("item", [["v1"]], "no column 'raw' or 'score'"),
        ("item score", [], "contains no judgments"),
        ("item score references", [["v1", 1, "[1]"]], "'references' is not a list of texts"),
        ("item score references", [["v1", 1, "[bad"]], "'references' is not a JSON list"),
    ],
)
def test_bad_table_is_refused_in_a_sentence(
    tmp_path: Path, head: str, rows: Sequence[Sequence[object]], message: str
) -> None:
    with pytest.raises(VttdataError, match=message.replace("(", r"\(")):
        read_judgment_table(save(tmp_path / "ours.csv", head, rows))


def test_one_annotator_is_noted(tmp_path: Path) -> None:
    table = read_judgment_table(save(tmp_path / "t.csv", "item score annotator", [["v1", 1, "ann"], ["v2", 3, "ann"]]))
    assert table.ratings is None
    assert "by one annotator, 'ann'" in table.notes[0]


def flickr8k(folder: Path) -> Path:
    captions = [f"{image}.jpg#{number}\t{image} {number}" for image in "abc" for number in range(5)]
    (folder / TOKENS).write_text("\n".join(captions))
    (folder / EXPERT).write_text("a.jpg\tb.jpg#2\t1\t2\t4\na.jpg\ta.jpg#2\t4\t4\t4\nb.jpg\tc.jpg#2\t1\t1\t1\n")
    (folder / CROWD).write_text("a.jpg\ta.jpg#2\t1\t3\t0\na.jpg\tc.jpg#2\t0.25\t1\t3\na.jpg\tmissing#2\t0\t0\t3\n")
    return folder


def test_flickr8k_follows_its_published_conventions(tmp_path: Path) -> None:
    expert, crowd = read_flickr8k(flickr8k(tmp_path))
    assert expert.headline == ("raw", "rating", "kendall_c")
    assert expert.ratings is not None
    assert expert.ratings.tolist() == [[1, 2, 4], [1, 1, 1]]
    assert "own captions, left out by convention: 1." in expert.notes[0]
    assert crowd.headline == ("raw", "caption", "kendall_b")
    assert crowd.raw.tolist() == [1, 0.25]
    assert crowd.references == [["a 0", "a 1", "a 3", "a 4"], ["a 0", "a 1", "a 2", "a 3", "a 4"]]
    assert "does not have, left out: 1." in crowd.notes[0]
    assert [table.name for table in read_flickr8k(tmp_path / CROWD)] == ["flickr8k-cf"]
    (tmp_path / CROWD).write_text("a.jpg\n")
    with pytest.raises(VttdataError, match=r"CrowdFlowerAnnotations.txt:1: 1 cells instead of 5"):
        read_flickr8k(tmp_path)


def test_scores_do_not_depend_on_how_many_captions_of_an_item_were_judged() -> None:
    references = [["a man is running"], ["a dog barks loudly"], ["a woman sings a song"]]
    candidates = ["a man runs", "a dog barks", "a woman sings"]
    metric = load_metric("cider-d")
    alone = metric.score(candidates, references)["cider-d"].items
    more = score_captions(metric, [*candidates, "a man"], [*references, references[0]], ["x", "y", "z", "x"])
    assert np.array_equal(more["cider-d"].items[:3], alone)
    # A caption that is one of the references is scored against the others.
    own = score_captions(
        metric, [*candidates, "b"], [[*references[0], "b"], *references[1:], references[0]], list("xyzx")
    )
    replaced = metric.score(["b", "", ""], references)["cider-d"].items
    assert own["cider-d"].items[3] == replaced[0]


def test_scores_are_kept_by_content(tmp_path: Path) -> None:
    Counted.calls = 0
    arguments = (["ab", "c", "d"], [["x"], ["y"], ["x"]])
    first = score_captions(Counted(cache=tmp_path), *arguments)
    assert (first["counted"].items.tolist(), Counted.calls) == ([2.01, 1.01, 1.01], 2)
    again = score_captions(Counted(cache=tmp_path), *arguments)
    assert (again["counted"].items.tolist(), again["counted"].score, Counted.calls) == (
        [2.01, 1.01, 1.01],
        first["counted"].score,
        2,
    )
    score_captions(Counted(cache=tmp_path), ["ab", "c", "e"], arguments[1])
    assert Counted.calls == 4


def test_kept_scores_have_the_formula_of_the_corpus(tmp_path: Path) -> None:
    texts = ["a man runs fast now", "a dog barks at me", "a man sings"], [["a man runs very fast"], ["a dog"], ["he"]]
    metric = load_metric("bleu", cache=tmp_path)
    first, again = (score_captions(metric, *texts) for _ in range(2))
    assert first["bleu2"].score == again["bleu2"].score == metric.score(*texts)["bleu2"].score > 0


def test_anybodys_scores_are_matched_by_system_or_by_text(tmp_path: Path) -> None:
    table = read_judgment_table(save(tmp_path / "ours.csv", HEAD, ROWS))
    by_system = read_scores(save(tmp_path / "s.csv", "video_id system score", [["v2", "b", 2], ["v1", "a", 1]]))
    assert np.array_equal(look_up_scores("s", by_system, table)[0].items, [1, math.nan, math.nan, 2], equal_nan=True)
    lines = [json.dumps({"item": "v1", "caption": text, "score": n}) for n, text in enumerate(["a dog", "a man runs"])]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    by_text = look_up_scores("t", read_scores(tmp_path / "t.jsonl"), table)[0]
    assert np.array_equal(by_text.items, [1, 0, math.nan, math.nan], equal_nan=True)
    # A score without system and text belongs to an item's only caption.
    bare = read_scores(save(tmp_path / "bare.csv", "video_id score", [["v1", 5], ["v3", 6]]))
    assert np.isnan(look_up_scores("b", bare, table)[0].items).all()
    single = read_judgment_table(save(tmp_path / "single.csv", "item score", [["v3", 1]]))
    assert look_up_scores("b", bare, single)[0].items.tolist() == [6]
    with pytest.raises(VttdataError, match=r"s2.csv:3: the caption of 'v1' by 'a' is duplicated"):
        read_scores(save(tmp_path / "s2.csv", "video_id system score", [["v1", "a", 2], ["v1", "a", 1]]))
    with pytest.raises(VttdataError, match="'score' is 'nan', which is not a finite number"):
        read_scores(save(tmp_path / "s3.csv", "video_id system score", [["v1", "a", "nan"]]))
    with pytest.raises(VttdataError, match=r"s4.csv:2: 'score' is empty\."):
        read_scores(save(tmp_path / "s4.csv", "video_id system score", [["v1", "a", ""]]))


def test_items_of_scores_may_be_files_of_their_videos(tmp_path: Path) -> None:
    table = read_judgment_table(save(tmp_path / "ours.csv", HEAD, ROWS))
    rows = [["v1.MKV", "a", 1], ["clips/v2.mp4", "b", 2], ["v9.mp4", "b", 3]]
    scores = read_scores(save(tmp_path / "s.csv", "video_id system score", rows))
    found, used = look_up_scores("s", scores, table)
    assert np.array_equal(found.items, [1, math.nan, math.nan, 2], equal_nan=True)
    assert used == {("a", "v1.MKV", ""), ("b", "clips/v2.mp4", "")}
    rows.append(["v1", "a", 4])
    twice = read_scores(save(tmp_path / "t.csv", "video_id system score", rows))
    with pytest.raises(VttdataError, match=r"t: 'v1.MKV' and 'v1' are one item, and its caption has two scores"):
        look_up_scores("t", twice, table)


def test_flickr8k_gives_the_published_figures(shared: Path) -> None:
    (expert,) = read_flickr8k(shared / "data" / "flickr8k" / EXPERT)
    assert len(expert.video_ids) == 5664
    assert expert.ratings is not None
    # Hessel et al. (EMNLP 2021), table 1: Kendall's tau-c x 100 with all three ratings.
    published = {"bleu1": 0.323, "bleu4": 0.308, "rouge-l": 0.323, "cider-d": 0.439}
    for column, tau_c in published.items():
        scores = score_table(load_metric(column), expert)[column].items
        found = stats.kendalltau(np.repeat(scores, 3), expert.ratings.ravel(), variant="c").statistic
        assert found == pytest.approx(tau_c, abs=0.001), column


def test_first_score_of_an_annotator_counts(tmp_path: Path) -> None:
    rows = [[f"v{number}", "a", f"text {number}", score, "ann"] for number, score in enumerate((10, 20, 60))]
    once = read_judgment_table(save(tmp_path / "once.csv", HEAD, rows))
    again = read_judgment_table(save(tmp_path / "again.csv", HEAD, [*rows, *([*row[:3], 99, "ann"] for row in rows)]))
    assert again.raw.tolist() == once.raw.tolist() == [10, 20, 60]
    assert again.z.tolist() == once.z.tolist()
    assert again.assessments.tolist() == [1, 1, 1]
    assert "Further scores by an annotator of a caption, of which the first counts: 3." in again.notes
