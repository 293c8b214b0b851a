"""Predictions as people have them are read, matched with exactly the items, and refused in one sentence."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from vttdata.errors import VttdataError
from vttdata.evaluate.predictions import (
    MatchRule,
    NamedColumns,
    describe_caption_column,
    match_predictions,
    read_captions,
    read_foil_scores,
    read_run,
    read_similarity,
)
from vttdata.evaluate.tasks.grounding import read_spans


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("coco.json", '[{"image_id": "a", "caption": "one"}, {"image_id": 7, "caption": "two"}]'),
        ("by_id.json", '{"a": "one", "7": ["two"]}'),
        ("lines.jsonl", '{"video_id": "a", "caption": "one"}\n{"video_id": "7", "caption": "two"}\n'),
        ("table.csv", "video_id,caption\na,one\n7,two\n"),
        ("table.tsv", "video_id\tprediction\na\tone\n7\ttwo\n"),
    ],
)
def test_captions_are_read_from_every_form(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert list(read_captions(path)) == [("a", "one"), ("7", "two")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", '[{"image_id": "a", "caption": "1", "caption": "2"}]', 'the key "caption" is duplicated'),
        (
            "x.jsonl",
            '{"video_id": "a", "caption": "1", "caption": "2"}',
            'x.jsonl:1: not a JSON object .the key "caption" is',
        ),
        ("x.json", '{"a": "1", "a": "2"}', 'the key "a" is duplicated'),
        ("x.json", '["one"]', "x.json:1: a JSON object is expected, found str"),
        ("x.json", '{"a": ["1", "2"]}', "x.json:1: the id or the caption is not a text"),
        ("x.json", '[{"image_id": "a"}]', "x.json:1: there is no column 'caption' or 'text'"),
        ("x.json", "[" * 5_000, "not JSON"),
        ("x.csv", "clip,caption\na,one\n", "there is no column 'video_id' or 'image_id' or 'id'"),
    ],
)
def test_malformed_captions_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(VttdataError, match=message):
        list(read_captions(path))


def test_all_mismatches_are_counted_with_their_first_ids() -> None:
    found = [("a", 1), ("a", 2), ("x", 3), ("y", 4)]
    with pytest.raises(VttdataError) as error:
        match_predictions("p.json", found, ["a", "b", "c"], other_split={"x": "train"})
    message = str(error.value)
    assert "2 of 3 items have no caption (first 'b', 'c')" in message
    assert "1 captions are about an item that has one already (first 'a')" in message
    assert "2 captions are about unknown items (first 'x', 'y', of the split train)" in message


def test_missing_ones_are_scored_worst_and_unknown_ones_left_out_on_request_only() -> None:
    found = [("b", 1), ("x", 3)]
    matched = match_predictions("p", found, ["a", "b"], MatchRule("worst", "ignore"))
    assert matched.values == [None, 1]
    counts = matched.counts
    assert (counts.expected, counts.scored, counts.missing, counts.unknown, counts.duplicated) == (2, 1, 1, 1, 0)
    with pytest.raises(VttdataError, match="unknown items"):
        match_predictions("p", found, ["a", "b"], MatchRule("worst", "refuse"))
    with pytest.raises(VttdataError, match="have no caption"):
        match_predictions("p", found, ["a", "b"], MatchRule("refuse", "ignore"))


def test_file_names_of_videos_are_their_ids_unless_they_are_ids_themselves() -> None:
    assert match_predictions("p", [("a.mp4", 1), ("b.mp4", 2)], ["a", "b.mp4"]).values == [1, 2]
    assert match_predictions("p", [("clips/a.M4V", 1)], ["a"]).values == [1]


@pytest.mark.parametrize("name", ["a.MKV", "clips/a.mp4", "clips\\a.ts", "'a"])
def test_every_name_of_a_video_is_its_id(name: str) -> None:
    assert match_predictions("x.csv", [(name, "one")], ["a"]).values == ["one"]


@pytest.mark.parametrize("rule", [MatchRule(), MatchRule("worst", "ignore")])
def test_predictions_of_nothing_that_is_expected_say_what_their_ids_are(rule: MatchRule) -> None:
    with pytest.raises(VttdataError) as refused:
        match_predictions(
            "x.csv", [("v-1", "one"), ("v-2", "two")], ["a", "b", "c"], rule, other_split={"v-1": "train"}
        )
    assert str(refused.value) == (
        "x.csv: none of the 2 captions is about one of the 3 items: an id in the file is 'v-1', of the split train, "
        "and one of the items 'a'."
    )


def test_output_of_a_system_is_read_before_a_caption_that_may_be_a_reference(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("video_id,caption,prediction\na,theirs,ours\n")
    assert list(read_captions(path)) == [("a", "ours")]
    assert describe_caption_column(path) == ["x.csv: the captions are those of 'prediction', not of 'caption'."]
    path.write_text("video_id,caption\na,ours\n")
    assert describe_caption_column(path) == []


def test_columns_of_predictions_may_have_any_names(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("clip,says,caption,prediction\na,ours,theirs,other\n")
    columns = NamedColumns({"video_id": "clip", "caption": "says"})
    assert list(read_captions(path, columns)) == [("a", "ours")]
    assert describe_caption_column(path, columns) == []
    with pytest.raises(VttdataError, match=r"x.csv:1: there is no column 'say'; .*did you mean 'says'"):
        list(read_captions(path, NamedColumns({"video_id": "clip", "caption": "say"})))
    with pytest.raises(VttdataError, match=r"name the right ones with --columns video_id=COLUMN"):
        list(read_captions(path))
    path.write_text("foil,right,wrong\np,2,1\n")
    scores = NamedColumns({"foil_id": "foil", "true_score": "right", "foil_score": "wrong"})
    assert list(read_foil_scores(path, scores)) == [("p", (2.0, 1.0))]
    path.write_text("clip,from,to\na,1,2\n")
    assert list(read_spans(path, NamedColumns({"video_id": "clip", "start": "from", "end": "to"}))) == [("a", [(1, 2)])]


@pytest.mark.parametrize("seed", range(20))
def test_any_missing_doubled_or_foreign_prediction_changes_the_counts(seed: int) -> None:
    generator = np.random.default_rng(seed)
    expected = [f"v{number}" for number in range(30)]
    faults = generator.integers(0, 3, 3)
    kept = expected[: len(expected) - faults[0]]
    found = [(name, "") for name in kept + [f"z{number}" for number in range(faults[1])]]
    doubled = found + [(kept[0], "")] * int(faults[2])
    generator.shuffle(doubled)
    if faults[2]:
        with pytest.raises(VttdataError, match=f"{faults[2]} captions are about an item that has one"):
            match_predictions("p", doubled, expected, MatchRule("worst", "ignore"))
    counts = match_predictions("p", found, expected, MatchRule("worst", "ignore")).counts
    assert (counts.scored, counts.missing, counts.unknown) == (30 - faults[0], faults[0], faults[1])


@pytest.mark.parametrize(
    ("rows", "read"),
    [
        ("p,0.7,0.2,true\nq,1,1,tie\nr,0,1,foil\n", [("p", (0.7, 0.2)), ("q", (1.0, 1.0)), ("r", (0.0, 1.0))]),
        ("p,,,true\nq,,,tie\n", [("p", (1.0, 0.0)), ("q", (0.0, 0.0))]),
        ("p,0.7,0.2,true\nq,0.7,0.2,foil\n", "x.csv:3: 'preferred' is foil, but the scores are 0.7 for the true text"),
        ("p,0.7,0.2,tie\n", "x.csv:2: 'preferred' is tie, but the scores are 0.7"),
        ("p,0.7,,true\n", "x.csv:2: the column 'foil_score' is empty"),
    ],
)
def test_scores_of_pairs_count_before_preferences_that_agree(
    tmp_path: Path, rows: str, read: str | list[tuple[str, tuple[float, float]]]
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"foil_id,true_score,foil_score,preferred\n{rows}")
    if isinstance(read, str):
        with pytest.raises(VttdataError) as refused:
            list(read_foil_scores(path))
        assert read in str(refused.value)
    else:
        assert list(read_foil_scores(path)) == read


def test_scores_and_preferences_of_pairs_are_read(tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("foil_id,true_score,foil_score\np,0.5,-1e3\nq,1,1\n")
    assert list(read_foil_scores(scores)) == [("p", (0.5, -1000.0)), ("q", (1.0, 1.0))]
    preferred = tmp_path / "preferred.jsonl"
    preferred.write_text(
        "".join(json.dumps({"foil_id": name, "preferred": name}) + "\n" for name in ("true", "foil", "tie"))
    )
    assert [np.sign(true - foil) for _, (true, foil) in read_foil_scores(preferred)] == [1, -1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foil_id,true_score,foil_score\np,nan,1\n", "2: 'true_score' is 'nan', which is not a finite number"),
        ("foil_id,true_score\np,1\n", "the column 'foil_score' is missing"),
        ("foil_id,preferred\np,left\n", "'preferred' is 'left'"),
    ],
)
def test_malformed_scores_of_pairs_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(VttdataError, match=message):
        list(read_foil_scores(path))


def test_run_is_read_by_its_scores(tmp_path: Path) -> None:
    path = tmp_path / "system.run"
    path.write_text("q1 Q0 v2 1 0.5 tag\nq1 Q0 v1 2 .25 tag\n\nq2 Q0 v1 1 3 tag\n")
    assert read_run(path) == {"q1": {"v2": 0.5, "v1": 0.25}, "q2": {"v1": 3.0}}
    for text, message in (
        ("q Q0 v 1 2\n", "5 columns"),
        ("a man rides a horse\n", "Captions are read from a table .* video_id and caption"),
        ("q Q0 v 1 x t\n", "finite"),
        ("q Q0 v 1 1 t\n" * 2, "duplicated"),
    ):
        path.write_text(text)
        with pytest.raises(VttdataError, match=message):
            read_run(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_similarity_is_read_compressed_or_mapped(tmp_path: Path, save: object, order: str) -> None:
    scores = np.asarray(np.random.default_rng(0).normal(size=(3, 4)), dtype=np.float32, order=order)
    path = tmp_path / "s.npz"
    save(path, similarity=scores, query_ids=["q0", "q1", "q2"], video_ids=np.array([b"a", b"b", b"c", b"d"]))
    found = read_similarity(path)
    assert np.array_equal(found.scores, scores)
    assert isinstance(found.scores, np.memmap) == (save is np.savez)
    assert (found.query_ids, found.video_ids) == (["q0", "q1", "q2"], ["a", "b", "c", "d"])


def test_malformed_similarities_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    ids = {"query_ids": ["q"], "video_ids": ["a", "b"]}
    for arrays, message in (
        ({"similarity": np.zeros((1, 3)), **ids}, "is 1 x 3, but there are 1 query ids and 2 video ids"),
        ({"similarity": np.zeros(3), **ids}, "a matrix of numbers"),
        ({"similarity": np.array([["x", "y"]]), **ids}, "a matrix of numbers"),
        ({"similarity": np.zeros((1, 2)), "query_ids": ["q"]}, "has no array 'video_ids'"),
        ({"similarity": np.zeros((1, 2)), **ids, "query_ids": np.zeros((1, 1))}, "'query_ids' is not a list of texts"),
        ({"similarity": np.array([[{}, []]], dtype=object), **ids}, "cannot be read as NumPy arrays"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(VttdataError, match=message):
            read_similarity(path)
    for content in (b"", b"PK\x03\x04 cut off", path.read_bytes()[:-40]):
        path.write_bytes(content)
        with pytest.raises(VttdataError, match="cannot be read"):
            read_similarity(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_json_is_read_in_the_encodings_of_tables(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"image_id": "a", "caption": "größer"}]', encoding=encoding)
    assert list(read_captions(path)) == [("a", "größer")]


@pytest.mark.parametrize("text", ['[{{"image_id": "a", "caption": "{}"}}]', '{{"a": "{}"}}'])
def test_caption_of_megabytes_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text.format("a man is talking " * 600_000))
    with pytest.raises(VttdataError, match=r"the caption of 'a' has 10,200,000 characters; at most 1,048,576"):
        list(read_captions(path))


def test_matrix_is_known_by_its_content_not_its_ending(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", similarity=np.eye(2), query_ids=["a", "b"], video_ids=["a", "b"])
    assert read_similarity((tmp_path / "s.npz").rename(tmp_path / "s.npy")).query_ids == ["a", "b"]
    np.save(tmp_path / "t.npy", np.eye(2))
    assert read_similarity((tmp_path / "t.npy").rename(tmp_path / "t.npz")).query_ids is None


def test_zip_files_without_usable_arrays_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("similarity", "query_ids.npy", "video_ids.npy"):
            archive.writestr(name, "no array")
    with pytest.raises(VttdataError, match="'query_ids' is not a list of texts"):
        read_similarity(path)
    path.write_text("clip,caption\n")
    with pytest.raises(VttdataError, match=r"\(damaged, no NumPy file, or it holds Python objects\)"):
        read_similarity(path)


def test_rule_that_does_not_exist_is_refused() -> None:
    with pytest.raises(VttdataError, match="missing is 'refuse' or 'worst'"):
        match_predictions("p", [("a", 1)], ["a"], MatchRule("skip"))  # type: ignore[arg-type]


def test_samples_of_lmms_eval_are_captions(tmp_path: Path) -> None:
    # As `EvaluationTracker.save_results_samples` of lmms-eval 0.7.3 writes them.
    result = {"video_id": "v1", "references": ["a dog runs", "it runs"], "answer": "a dog, running"}
    sample = {
        "doc_id": 0,
        "target": "['a dog runs', 'it runs']",
        "filtered_resps": "a dog, running",
        "token_counts": [{"output_tokens": 4}],
        "doc_hash": "0" * 64,
        "Bleu_4": result,
        "CIDEr": result,
        "input": "Provide a caption.",
    }
    path = tmp_path / "20261122_samples_vttdata_small_test.jsonl"
    path.write_text(json.dumps(sample) + "\n")
    assert list(read_captions(path)) == [("v1", "a dog, running")]


def test_a_column_of_outputs_that_is_empty_hides_no_captions(tmp_path: Path) -> None:
    path = tmp_path / "captions.csv"
    path.write_text("video_id,caption,output\nv0,a man,\nv1,a dog,\n")
    assert list(read_captions(path)) == [("v0", "a man"), ("v1", "a dog")]
    # Where one row has an output, an empty one is what the system said.
    path.write_text("video_id,caption,output\nv0,a man,\nv1,a dog,a cat\n")
    assert list(read_captions(path)) == [("v0", ""), ("v1", "a cat")]
