"""Whole evaluations: scores, signature, leak-aware scores, comparison, people, groups and findings."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import pydoc
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vttdata
from tests.dataset.conftest import written_foils
from tests.evaluate.conftest import Write
from tests.helpers.hub.built import build_foils
from tests.helpers.leaking_dataset import TEST, captions_of, write_leaking_dataset, write_predictions
from vttdata.cli.main import main
from vttdata.dataset import Metadata, write_dataset
from vttdata.dataset.protocol_file import Protocol
from vttdata.errors import VttdataError
from vttdata.evaluate.conventions import is_compared
from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.evaluate.items import digest_of, read_clips
from vttdata.evaluate.tasks.foils import read_foil_pairs, score_pairs
from vttdata.evaluate.training_overlap import find_shared_items
from vttdata.records import Caption, Clip, Source


def quick(**settings: Any) -> dict[str, Any]:
    """Return the arguments of an evaluation of few draws by one metric, with further settings."""
    return {"metrics": ["rouge-l"], "settings": EvaluationSettings(draws=50, **settings)}


QUICK = quick()


def write_clips(folder: Path, clips: list[Clip], texts: list[str]) -> Path:
    """Write a dataset of clips, each with one text."""
    captions = [Caption(clip.video_id, 1, text) for clip, text in zip(clips, texts, strict=True)]
    sources = [Source(clip.source_id, "", "nowhere", "", 0) for clip in clips]
    metadata = Metadata("me/other", version="1.0.0", licence="cc-by-4.0")
    write_dataset(folder, clips=clips, captions=captions, sources=sources, metadata=metadata, media=None)
    return folder


def test_captions_are_scored_on_all_items_of_the_test_split(dataset: Path, predictions: Write) -> None:
    report = evaluate(dataset, predictions(), **QUICK)
    assert (report.dataset, report.version, report.config, report.split) == ("me/small", "2.0.1", "clips", "test")
    assert report.task == "captioning"
    assert (report.items.expected, report.items.scored) == (6, 6)
    values = report.columns["rouge-l"].scores.items
    assert [bool(value == 1) for value in values] == [True, False, False, True, False, False]
    assert report.scores["rouge-l"].all.score == pytest.approx(values.mean())
    assert report.scores["rouge-l"].all.low < values.mean() < report.scores["rouge-l"].all.high


def test_training_of_a_benchmark_is_known_by_its_name(
    dataset: Path, predictions: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Sources a and e, of four test clips, are in its training, from second 8 on, and f is in its test split.
    rows = [("a", "train", 8, 9), ("e", "train", 90, 95), ("f", "test", 0, 10)]
    content = "\n".join(["own,part,from,to", *(",".join(map(str, row)) for row in rows)])
    folder = tmp_path / "plugins"
    names = [{"at": "own", "name": "https://example.org/{}"}]
    table = {"files": ["rows.csv"], "names": names, "split_at": "part", "start": "from", "end": "to"}
    placed = {"rows.csv": {"sha256": hashlib.sha256(content.encode()).hexdigest()}}
    origins = {"home": "https://example.org", "terms": "none", "recipes": {}}
    origins |= {"places": [{"at": [], "licence": "none", "files": placed}]}
    for name, text in (
        ("plugins/sources/lab.yaml", json.dumps({"tables": [table]})),
        ("plugins/origins/lab.yaml", json.dumps(origins)),
        ("mirror/lab/rows.csv", content),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for variable, value in (("PLUGINS", folder), ("MIRROR", tmp_path / "mirror"), ("HOME", tmp_path / "home")):
        monkeypatch.setenv(f"VTTDATA_{variable}", str(value))
    report = evaluate(dataset, predictions(), train_split="lab", **QUICK)
    assert report.leaks == {"source": 4, "overlap": 1, "caption": 0, "leaked": 4, "clean": 2}
    assert any("lab: train" in finding for finding in report.findings)


def test_package_is_the_function(dataset: Path, predictions: Write) -> None:
    assert vttdata.evaluate(dataset, predictions(), **QUICK).items.scored == 6
    # It is a package that is called, and shells show the function.
    package = sys.modules["vttdata.evaluate"]
    assert inspect.signature(package) == inspect.signature(evaluate)
    assert "evaluate(dataset: " in pydoc.render_doc(package, renderer=pydoc.plaintext)


def test_signature_names_items_and_metrics(dataset: Path, predictions: Write) -> None:
    signature = evaluate(dataset, predictions(), **QUICK).signature
    assert "|data:me/small@2.0.1|config:clips|split:test|n:6|" in signature
    assert f"|items:{digest_of(TEST)}|missing:0|refs:3 rouge-l|tok:ptb-3.4.1|" in signature
    assert "\n" not in signature


def test_digest_does_not_depend_on_order_but_on_every_id() -> None:
    assert digest_of(["b", "a"]) == digest_of(["a", "b"])
    assert len({digest_of(ids) for ids in (["a", "b"], ["a"], ["ab"], ["a", "c"])}) == 4


def test_missing_captions_are_refused_or_scored_at_the_bottom(dataset: Path, predictions: Write) -> None:
    path = predictions(t0=None)
    with pytest.raises(VttdataError, match=r"1 of 6 items have no caption \(first 't0'\)"):
        evaluate(dataset, path, **QUICK)
    report = evaluate(dataset, path, **quick(missing="worst"))
    assert report.columns["rouge-l"].scores.items[0] == 0.0
    assert (report.items.scored, report.items.missing) == (5, 1)
    assert "|missing:1|" in report.signature


def test_predictions_for_another_split_are_refused_by_its_name(dataset: Path, predictions: Write) -> None:
    with pytest.raises(VttdataError, match=r"unknown items \(first 'r1', of the split train\)"):
        evaluate(dataset, predictions(r1="something"), **QUICK)


def test_scores_are_given_apart_for_items_that_leak(dataset: Path, predictions: Write) -> None:
    report = evaluate(dataset, predictions(), train_split="train", **QUICK)
    assert report.leaks == {"source": 2, "overlap": 1, "caption": 1, "leaked": 2, "clean": 4}
    scores, values = report.scores["rouge-l"], report.columns["rouge-l"].scores.items
    assert scores.leaked.score == pytest.approx(values[:2].mean())
    assert scores.clean.score == pytest.approx(values[2:].mean())
    assert scores.gain.score == pytest.approx(values[:2].mean() - values[2:].mean())
    assert scores.by_leak["overlap"].score == pytest.approx(values[0])
    assert (scores.leaked.items, scores.clean.items, scores.by_leak["overlap"].items) == (2, 4, 1)


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("seen.txt", "d\nt5\n"),
        ("seen.txt", "https://example.org/d\nt5\n"),
        ("seen.txt", "https://example.org/none?a=1,2;b\nd\nt5\n"),
        ("seen.csv", "url;title\nhttps://example.org/d;none\nhttps://example.org/f;none\n"),
        ("seen.csv", "video_id,source_id,url\n1,,https://example.org/d\n2,f,\n"),
        ("seen.json", '["d", "https://example.org/f"]'),
        ("seen.jsonl", '{"source_id": "d"}\n{"url": "https://example.org/f"}\n'),
    ],
)
def test_training_may_be_a_list_of_ids_sources_or_urls(
    dataset: Path, predictions: Write, name: str, listed: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(listed)
    report = evaluate(dataset, predictions(), train_split=str(path), **QUICK)
    assert (report.leaks["source"], report.leaks["leaked"], report.leaks["clean"]) == (2, 2, 4)


def test_listed_training_clips_leak_as_their_split_does(dataset: Path, predictions: Write, tmp_path: Path) -> None:
    path = tmp_path / "seen.txt"
    path.write_text("r0\nr1\nr2\nelsewhere\n")
    report = evaluate(dataset, predictions(), train_split=str(path), **QUICK)
    assert report.leaks == evaluate(dataset, predictions(), train_split="train", **QUICK).leaks
    assert any("1 of 4 entries name no clip, source or URL" in finding for finding in report.findings)


def test_training_may_be_several_things(dataset: Path, predictions: Write, tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("d\nelsewhere\n")
    clip = Clip("x", "x", 0.0, 9.0, None, None, None, url="https://example.org/f", split="train")
    other = write_clips(tmp_path / "other", [clip], ["a caption of another dataset"])
    report = evaluate(dataset, predictions(), train_split=["train", tmp_path / "seen.txt", other], **QUICK)
    # t0 and t1 are of the source a of train, t2 is listed, and t5 shows the same seconds as the clip elsewhere.
    assert (report.leaks["source"], report.leaks["leaked"], report.leaks["clean"]) == (4, 4, 2)
    assert (report.leaks["overlap"], report.leaks["caption"]) == (3, 2)
    assert any("1 of 2 entries name no clip" in finding for finding in report.findings)


def test_list_names_a_source_by_the_url_of_its_id(tmp_path: Path) -> None:
    clip = Clip("here", "abcdefghijk", 0.0, 10.0, None, None, None, split="test")
    write_clips(tmp_path / "dataset", [clip], ["a dog is here"])
    (tmp_path / "urls.txt").write_text("https://www.youtube.com/watch?v=abcdefghijk\n")
    shared, findings = find_shared_items(
        tmp_path / "dataset", read_clips(tmp_path / "dataset"), [tmp_path / "urls.txt"]
    )
    assert shared["source"].tolist() == [True]
    assert findings == ["Near-duplicates of training were not judged, since no source has a fingerprint."]


def test_video_has_one_address_in_two_datasets(tmp_path: Path) -> None:
    folders = []
    for name, source, url in (
        ("here", "abcdefghijk", "https://www.youtube.com/watch?v=abcdefghijk"),
        ("there", "v_abcdefghijk", "https://youtu.be/abcdefghijk"),
    ):
        split = "test" if name == "here" else "train"
        clip = Clip(name, source, 0.0, 10.0, None, None, None, url=url, split=split)
        folders.append(write_clips(tmp_path / name, [clip], [f"a dog is {name}"]))
    items = read_clips(folders[0])
    for training in (folders[1], tmp_path / "urls.txt"):
        (tmp_path / "urls.txt").write_text("http://youtu.be/abcdefghijk\n")
        shared, _ = find_shared_items(folders[0], items, [training])
        assert shared["source"].tolist() == [True], training


def test_training_of_a_protocol_file_is_its_own(dataset: Path, predictions: Write, tmp_path: Path) -> None:
    tested = ["t0", "t1", "t3", "t5"]
    own = tmp_path / "own.json"
    Protocol("own", {"train": ["t2", "t4"], "test": tested}).write(own)
    settings = {"metrics": ["rouge-l"], "settings": EvaluationSettings(config=str(own), draws=20, unknown="ignore")}
    for training in ("train", str(own)):
        report = evaluate(dataset, predictions(), train_split=training, **settings)
        # t3 is of the source of t4; t0 and t1 are of a source of the dataset's own training.
        assert (report.leaks["source"], report.leaks["clean"]) == (1, 3), training
        assert any("the 2 clips of its train count as seen" in finding for finding in report.findings)
    with pytest.raises(VttdataError, match="is the split that is scored"):
        evaluate(dataset, predictions(), train_split="test", **settings)
    Protocol("own", {"test": tested}).write(own)
    assert evaluate(dataset, predictions(), train_split="train", **settings).leaks["source"] == 2
    with pytest.raises(VttdataError, match="has no split of training"):
        evaluate(dataset, predictions(), train_split=str(own), **settings)


def test_split_that_is_scored_is_no_training(dataset: Path, predictions: Write) -> None:
    with pytest.raises(VttdataError, match="is the split that is scored"):
        evaluate(dataset, predictions(), train_split="test", **QUICK)


def test_another_dataset_may_be_the_training(dataset: Path, predictions: Write) -> None:
    report = evaluate(dataset, predictions(), train_split=str(dataset), **QUICK)
    assert report.leaks["leaked"] == 6


def test_systems_are_compared_on_the_same_items(dataset: Path, predictions: Write) -> None:
    better = predictions("better.json", **{clip: captions_of(clip)[1] for clip in TEST})
    report = evaluate(dataset, better, against=predictions(), **QUICK)
    difference = report.against["rouge-l"]
    other = evaluate(dataset, predictions(), **QUICK).scores["rouge-l"].all.score
    assert difference.difference == pytest.approx(1 - other)
    assert 0 < difference.p < 1
    assert difference.p_mcnemar is None


def test_other_system_is_a_baseline_or_the_folder_of_an_evaluation(
    dataset: Path, predictions: Write, tmp_path: Path
) -> None:
    report = evaluate(dataset, predictions(), against="random-caption", **QUICK)
    baseline = evaluate(dataset, baseline="random-caption", **QUICK)
    found = report.against["rouge-l"]
    assert found.other == baseline.scores["rouge-l"].all.score
    assert found.difference == pytest.approx(report.scores["rouge-l"].all.score - found.other)
    assert 0 < found.p <= 1
    baseline.write(tmp_path / "own")
    stored = evaluate(dataset, predictions(), against=tmp_path / "own", **QUICK)
    assert stored.against["rouge-l"].difference == pytest.approx(found.difference)
    assert "Of a stored evaluation there are no p-values; give its predictions for these." in stored.comparison
    assert (report.other, stored.other) == ("random-caption", "own")


def test_columns_that_nobody_predicted_are_not_compared() -> None:
    columns = ["accuracy", "chance", "blind", "gain-over-blind", "yes-share"]
    assert [name for name in columns if is_compared(name, columns)] == ["accuracy", "yes-share"]
    # Without the score itself its gain is compared.
    assert is_compared("gain-over-blind", ["gain-over-blind"])


def test_report_of_another_signature_is_not_compared_without_saying_so(
    dataset: Path, predictions: Write, tmp_path: Path
) -> None:
    own = evaluate(dataset, predictions(), **QUICK)
    own.write(tmp_path / "own")
    again = evaluate(dataset, predictions(), against=tmp_path / "own/evaluation.json", **QUICK)
    assert again.against["rouge-l"].difference == 0
    assert not any("NOT COMPARABLE" in note for note in again.comparison)
    more = {"against": tmp_path / "own/evaluation.json", "settings": EvaluationSettings(draws=50)}
    further = evaluate(dataset, predictions(), metrics=["bleu4", "rouge-l"], **more)
    assert list(further.against) == ["rouge-l"]
    assert not any("NOT COMPARABLE" in note for note in further.comparison)
    assert any(
        "none of these scores" in text for text in evaluate(dataset, predictions(), metrics=["chrf"], **more).comparison
    )
    tokens = evaluate(dataset, predictions(), **(more | quick(tokenizer="none")))
    assert any(note.startswith("NOT COMPARABLE") for note in tokens.comparison)
    other = evaluate(dataset, predictions(t0=None), against=more["against"], **quick(missing="worst"))
    assert any(note.startswith("NOT COMPARABLE") for note in other.comparison)


def test_people_are_scored_against_each_other_with_as_many_references_as_the_system(
    dataset: Path, predictions: Write
) -> None:
    same = predictions(**dict.fromkeys(TEST, "no words of theirs"))
    human = evaluate(dataset, same, **quick(human=True)).human["rouge-l"]
    assert human["human"].score > human["system"].score == 0
    third = predictions(**{clip: captions_of(clip)[2] for clip in TEST})
    copied = evaluate(dataset, third, **quick(human=True)).human["rouge-l"]
    # The caption is among the references in two of three turns.
    assert 2 / 3 < copied["system"].score < 1


def test_scores_by_category_and_length_add_up_to_all_items(dataset: Path, predictions: Write) -> None:
    report = evaluate(dataset, predictions(), **QUICK)
    groups = report.groups["category"]
    assert {name: scores["rouge-l"].items for name, scores in groups.items()} == {"music": 3, "sports": 3}
    whole = sum(scores["rouge-l"].score * scores["rouge-l"].items for scores in groups.values()) / 6
    assert whole == pytest.approx(report.scores["rouge-l"].all.score)


def test_odd_captions_are_findings(dataset: Path, predictions: Write) -> None:
    assert any("word for word a reference" in text for text in evaluate(dataset, predictions(), **QUICK).findings)
    same = predictions(**dict.fromkeys(TEST, "a video"))
    assert "All 6 captions are the same: 'a video'." in evaluate(dataset, same, **QUICK).findings
    empty = predictions(t1="", t2="  ")
    assert "Captions that are empty: 2." in evaluate(dataset, empty, **QUICK).findings


def test_output_beside_captions_is_a_finding_and_can_be_stripped(dataset: Path, predictions: Write) -> None:
    plain = evaluate(dataset, predictions(), **QUICK)
    written = json.loads(predictions().read_text())
    marked = {row["image_id"]: f"<think>hm, {row['caption']}?</think>{row['caption']}</s>" for row in written}
    path = predictions("marked.json", **marked | {"t1": "nan"})
    report = evaluate(dataset, path, **QUICK)
    assert any(text.startswith("Captions with reasoning or special tokens") for text in report.findings)
    assert any("a word for a missing value, such as 'nan': 1." in text for text in report.findings)
    stripped = evaluate(dataset, predictions("marked.json", **marked), **quick(strip=True))
    assert stripped.scores == plain.scores
    assert stripped.signature.replace("|strip:yes", "") == plain.signature != stripped.signature
    assert "Captions that were stripped of reasoning, special tokens or a prompt: 6." in stripped.findings


def test_damaged_captions_are_a_finding(dataset: Path, predictions: Write) -> None:
    findings = evaluate(dataset, predictions(t1="a cafÃ© sign", t2="a \ufffd sign", t3="a café"), **QUICK).findings
    assert any("damaged characters" in text and ": 2, such as 'a cafÃ© sign'" in text for text in findings)


def test_cider_that_can_only_be_zero_is_a_finding(tmp_path: Path) -> None:
    captions = {"a": "one dog runs", "b": "one dog", "c": "two cats"}
    for names, words in (("a", "for 1 of 1 items"), ("ab", "for 1 of 2 items"), ("abc", None)):
        clips = [Clip(name, name, 0, 1, 0, 1, 1, split="test") for name in names]
        folder = write_clips(tmp_path / names, clips, [captions[name] for name in names])
        file = tmp_path / f"{names}.csv"
        file.write_text("video_id,caption\n" + "".join(f"{name},{captions[name]}\n" for name in names))
        report = evaluate(folder, file, metrics=["cider-d"], settings=EvaluationSettings(draws=10))
        found = [finding for finding in report.findings if finding.startswith("CIDEr-D")]
        assert [words in finding for finding in found if words] == [True] * (words is not None)
        assert len(found) == (words is not None)
        zero = {"a": [True], "ab": [False, True], "abc": [False] * 3}[names]
        assert (report.columns["cider-d"].scores.items == 0).tolist() == zero


def test_captions_by_systems_are_no_references(dataset: Path, predictions: Write) -> None:
    report = evaluate(dataset, predictions(t0="a machine wrote this"), **QUICK)
    assert report.columns["rouge-l"].scores.items[0] < 1
    assert any("captions that systems wrote" in finding for finding in report.findings)


def test_protocol_is_scored_on_its_own_clips(dataset: Path, predictions: Write) -> None:
    report = evaluate(dataset, predictions(), **quick(config="two", unknown="ignore"))
    assert (report.items.expected, report.items.unknown, list(report.item_set.ids)) == (2, 4, ["t5", "t2"])


def test_retrieval_is_guessed_from_the_file(dataset: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", similarity=np.eye(6), query_ids=TEST, video_ids=TEST)
    report = evaluate(
        dataset,
        tmp_path / "s.npz",
        train_split="train",
        metrics=["t2v/r@1", "v2t/mdr"],
        settings=EvaluationSettings(draws=50),
    )
    assert (report.task, report.scores["t2v/r@1"].all.score, report.scores["v2t/mdr"].all.score) == ("retrieval", 1, 1)
    assert report.scores["v2t/mdr"].lower_is_better
    assert report.scores["t2v/r@1"].leaked.items == 2


def test_foils_are_scored_with_ties_apart(tmp_path: Path) -> None:
    dataset = build_foils(tmp_path / "dataset")
    ids = read_foil_pairs(dataset).ids
    scores = tmp_path / "scores.csv"
    rows = zip(ids, (2, 1, 0), (1, 1, 1), strict=True)
    scores.write_text(
        "foil_id,true_score,foil_score\n" + "".join(f"{name},{true},{foil}\n" for name, true, foil in rows)
    )
    report = evaluate(dataset, scores, settings=EvaluationSettings(draws=50))
    assert report.task == "foils"
    assert report.scores["accuracy"].all.score == pytest.approx(1 / 3)
    assert report.scores["accuracy-half"].all.score == pytest.approx(1 / 2)
    assert "1 of 3 pairs are ties." in report.findings


def test_losses_in_place_of_scores_of_pairs_are_said() -> None:
    draw = np.random.default_rng(3)
    likelihoods = [(float(true) + 2, float(foil)) for true, foil in draw.normal(size=(60, 2))]
    assert score_pairs(likelihoods)[1] == []
    (finding,) = score_pairs([(-true, -foil) for true, foil in likelihoods])[1]
    assert "worse than guessing (0.5); where lower is better" in finding
    said = [score_pairs(list(map(tuple, draw.normal(size=(40, 2)).tolist())))[1] for _ in range(300)]
    assert sum(map(bool, said)) <= 1


def test_report_is_json_and_every_item_is_written(dataset: Path, predictions: Write, tmp_path: Path) -> None:
    report = evaluate(dataset, predictions(), train_split="train", **QUICK)
    report.write(tmp_path / "out")
    content = json.loads((tmp_path / "out/evaluation.json").read_text())
    assert content == json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert set(content) >= {"dataset", "version", "split", "task", "signature", "items", "scores", "against"}
    assert set(content["scores"]["rouge-l"]["all"]) == {"score", "low", "high", "items"}
    lines = [json.loads(line) for line in (tmp_path / "out/items.jsonl").read_text().splitlines()]
    assert [line["item"] for line in lines] == TEST


def test_values_of_queries_have_their_ids(dataset: Path, tmp_path: Path) -> None:
    queries = [f"{clip}#{number}" for clip in TEST for number in (1, 2, 3)]
    np.savez(tmp_path / "s.npz", similarity=np.eye(18)[:, :6], query_ids=queries, video_ids=TEST)
    evaluate(dataset, tmp_path / "s.npz", settings=EvaluationSettings(draws=10)).write(tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out/items.jsonl").read_text().splitlines()]
    hits = [row for row in rows if row["metric"] == "t2v/r@1"]
    assert [row["query"] for row in hits] == queries
    assert [row["item"] for row in hits] == [query[:2] for query in queries]
    assert [row["item"] for row in rows if row["metric"] == "v2t/r@1"] == TEST
    assert not any("query" in row for row in rows if row["metric"].startswith("v2t"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["blue"]}, "Unknown metric 'blue'"),
        ({"settings": EvaluationSettings(task="ranking")}, "Unknown task 'ranking'"),
        ({"split": "dev"}, "no split of 'clips' is called 'dev'; choose from train, test"),
        ({"settings": EvaluationSettings(config="1k")}, "no configuration is called '1k'"),
        ({"settings": EvaluationSettings(tokenizer="moses")}, "tokenizer"),
        ({"settings": EvaluationSettings(seed=-1)}, "The seed must not be negative"),
        ({"settings": EvaluationSettings(draws=0)}, "there must be a draw"),
        ({"baseline": "kcca"}, "either predictions or the name of a baseline"),
        ({"against": "other.json"}, "other.json: there are no such predictions to compare with, and no such baseline"),
    ],
)
def test_bad_options_are_one_sentence(dataset: Path, predictions: Write, options: dict, message: str) -> None:
    with pytest.raises(VttdataError, match=message) as error:
        evaluate(dataset, predictions(), **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("language", "tokenizer"), [("en", "ptb-3.4.1"), ("zh", "unicode")])
def test_tokenizer_follows_the_language_and_is_in_the_signature(language: str, tokenizer: str, tmp_path: Path) -> None:
    dataset = write_leaking_dataset(tmp_path / "dataset", language=language)
    report = evaluate(dataset, write_predictions(tmp_path / "captions.json"), **QUICK)
    assert f"rouge-l|tok:{tokenizer}|" in report.signature


def test_systems_are_compared_on_the_scores_that_both_have(dataset: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", similarity=np.eye(6), query_ids=TEST, video_ids=TEST)
    (tmp_path / "s.run").write_text("".join(f"{clip} Q0 {clip} 1 1 tag\n" for clip in TEST))
    report = evaluate(dataset, tmp_path / "s.npz", against=tmp_path / "s.run", settings=EvaluationSettings(draws=50))
    assert report.against["t2v/r@1"].difference == 0
    assert not any(name.startswith("v2t") for name in report.against)
    assert any(note.startswith("Not compared") and "v2t/r@1" in note for note in report.comparison)
    queries = [f"{clip}#{number}" for clip in TEST for number in (1, 2, 3)]
    np.savez(tmp_path / "all.npz", similarity=np.eye(18)[:, :6], query_ids=queries, video_ids=TEST)
    with pytest.raises(VttdataError, match="no score of the same queries in common"):
        evaluate(
            dataset,
            tmp_path / "s.npz",
            against=tmp_path / "all.npz",
            metrics=["t2v/r@1"],
            settings=EvaluationSettings(draws=50),
        )


def test_missing_predictions_of_the_other_system_are_told(dataset: Path, predictions: Write) -> None:
    other = predictions("other.json", t1=None)
    report = evaluate(dataset, predictions(), against=other, **quick(missing="worst"))
    assert any("other.json: 1 predictions are missing and 0 unknown." in note for note in report.comparison)


@pytest.mark.parametrize("scores", [{}, {"rouge-l": 3}, {"rouge-l": {"all": 3}}, {"rouge-l": {"all": {"score": "a"}}}])
def test_report_without_usable_scores_gives_no_difference(
    dataset: Path, predictions: Write, tmp_path: Path, scores: object
) -> None:
    (tmp_path / "evaluation.json").write_text(json.dumps({"signature": "other", "scores": scores}))
    report = evaluate(dataset, predictions(), against=tmp_path / "evaluation.json", **QUICK)
    assert not report.against


def test_training_and_people_are_refused_for_tasks_without_them(tmp_path: Path, dataset: Path) -> None:
    foils = build_foils(tmp_path / "foils")
    with pytest.raises(VttdataError, match="say nothing of sources"):
        evaluate(foils, tmp_path / "scores.csv", train_split="train")
    with pytest.raises(VttdataError, match="Human captions are scored beside captions only"):
        evaluate(dataset, baseline="random-ranking", settings=EvaluationSettings(human=True))
    with pytest.raises(VttdataError, match="Judgments of relevance are about retrieval"):
        evaluate(dataset, baseline="random-caption", settings=EvaluationSettings(relevance=tmp_path / "relevance.txt"))


def test_metric_that_judges_foils_states_its_signature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = build_foils(tmp_path / "foils")
    pairs = read_foil_pairs(folder)
    pairs = dataclasses.replace(pairs, references=[[["a dog runs"]] for _ in pairs.ids])
    monkeypatch.setattr("vttdata.evaluate.tasks.foils.read_foil_pairs", lambda *_, **__: pairs)
    report = evaluate(folder, baseline="rouge-l", settings=EvaluationSettings(draws=10))
    assert any("judged by rouge-l|tok:" in finding for finding in report.findings)


def test_page_shows_paragraphs(tmp_path: Path) -> None:
    folder, scores, page = written_foils(tmp_path / "foils"), tmp_path / "scores.csv", tmp_path / "page.html"
    scores.write_text("video_id,true_score,foil_score\nv1,1,0\n")
    options = ["--config", "paragraphs", "--page", str(page)]
    assert main(["evaluate", str(folder), str(scores), *options]) == 0
    assert all(f">a {animal} runs</li>" in page.read_text() for animal in ("dog", "cat"))
