from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from builders.activitynet_captions import read as read_activitynet
from tests.helpers.official_files import ACTIVITYNET, paragraph, write_activitynet
from vttdata.errors import VttdataError

SKELETON = "anet_entities_cleaned_class_thresh50_test_skeleton"


def test_segments_are_clips_in_file_order_and_both_annotators_are_kept(tmp_path: Path) -> None:
    read = read_activitynet(write_activitynet(tmp_path))
    assert [(clip.video_id, clip.source_id, clip.start, clip.end, clip.split) for clip in read.clips] == [
        ("v_zzzzzzzzzz1_1_0", "v_zzzzzzzzzz1", 0.0, 10.5, "train"),
        ("v_zzzzzzzzzz1_1_1", "v_zzzzzzzzzz1", 12.0, 12.0, "train"),
        ("v_aaaaaaaaaa2_1_0", "v_aaaaaaaaaa2", 0.0, 20.01, "train"),
        ("v_bbbbbbbbb-3_1_0", "v_bbbbbbbbb-3", 0.0, 20.0, "test"),
        ("v_bbbbbbbbb-3_1_1", "v_bbbbbbbbb-3", 20.0, 40.0, "test"),
        ("v_ccccccccc_4_1_0", "v_ccccccccc_4", 1.0, 9.0, "test"),
        ("v_bbbbbbbbb-3_2_0", "v_bbbbbbbbb-3", 0.0, 40.0, "test"),
    ]
    assert [(own.sen_id, own.caption, own.annotator) for own in read.captions[3:]] == [
        (0, "A woman swims.", "1"),
        (1, " She waves at a man.", "1"),
        (0, "Snow falls.", "1"),
        (0, "A swimmer in a pool.", "2"),
    ]
    assert [(source.source_id, source.stated_seconds) for source in read.sources][:2] == [
        ("v_zzzzzzzzzz1", 30.0),
        ("v_aaaaaaaaaa2", 20.0),
    ]
    assert read.sources[2].url == "https://www.youtube.com/watch?v=bbbbbbbbb-3"
    assert read.protocols["annotator-2"] == {"test": ["v_bbbbbbbbb-3_2_0"]}
    assert {finding.kind: finding.ids for finding in read.findings} == {
        "no_paragraph": ("v_notherenot5",),
        "end_before_start": ("v_zzzzzzzzzz1_1_1",),
        "end_after_duration": ("v_aaaaaaaaaa2_1_0",),
    }


def test_concepts_belong_to_the_segments_of_the_first_annotator(tmp_path: Path) -> None:
    read = read_activitynet(write_activitynet(tmp_path))
    assert read.classes == ("man", "snow", "woman", "pool")
    first, second = read.concepts
    assert (first.video_id, first.classes, first.token_indices) == ("v_bbbbbbbbb-3_1_0", ("woman",), (1,))
    assert second.video_id == "v_bbbbbbbbb-3_1_1"
    assert second.tokens == ("She", "waves", "at", "a", "man")
    assert second.objects == (0, 1, 2, 2)
    assert second.classes == ("woman", "man", "woman", "man")
    assert second.token_indices == (0, 4, 0, 4)


def test_split_is_that_of_the_id_list_else_that_of_the_file(tmp_path: Path) -> None:
    both: dict[str, Any] = {f"val_{number}": {"v_ddddddddddd": paragraph(9.0, (0, 9.0, "x"))} for number in (1, 2)}
    ids = ACTIVITYNET["split_ids_anet_entities.json"]
    ids = ids | {"testing": [*ids["testing"], "v_ddddddddddd"], "hidden_test": ["v_aaaaaaaaaa2"]}
    listed = read_activitynet(write_activitynet(tmp_path / "a", split_ids_anet_entities=ids, **both))
    assert {clip.split for clip in listed.clips if clip.source_id == "v_ddddddddddd"} == {"test"}
    assert [clip.split for clip in listed.clips if clip.source_id == "v_aaaaaaaaaa2"] == ["train", "hidden_test"]
    assert {f.kind: f.ids for f in listed.findings}["several_splits"] == ("v_aaaaaaaaaa2",)
    unlisted = read_activitynet(write_activitynet(tmp_path / "b", split_ids_anet_entities=None, **both))
    assert {clip.split for clip in unlisted.clips if clip.source_id == "v_ddddddddddd"} == {"validation"}
    forgotten = read_activitynet(write_activitynet(tmp_path / "c", **both))
    assert {f.kind: f.ids for f in forgotten.findings}["no_split"] == ("v_ddddddddddd",)


def test_repeated_paragraph_is_kept_once_and_conflicting_one_is_an_error(tmp_path: Path) -> None:
    tests = {"val_1": ACTIVITYNET["anet_entities_test_1.json"], "val_2": ACTIVITYNET["anet_entities_test_2.json"]}
    read = read_activitynet(write_activitynet(tmp_path / "a", **tests))
    assert len(read.clips) == 7
    assert sum(finding.count for finding in read.findings if finding.kind == "repeated_paragraph") == 3
    tests["val_2"] = {"v_bbbbbbbbb-3": paragraph(40.0, (0, 39.0, "A swimmer in a pool."))}
    with pytest.raises(
        VttdataError, match=r"val_2\.json: v_bbbbbbbbb-3 is not the same as in anet_entities_test_2\.json"
    ):
        read_activitynet(write_activitynet(tmp_path / "b", **tests))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train": None}, "train.json, the training paragraphs"),
        ({"anet_entities_test_2": None}, "holds anet_entities_test_1.json but not anet_entities_test_2.json"),
        ({"anet_entities_test_1": None, "anet_entities_test_2": None}, "holds only train.json"),
        ({"train": [1]}, "train.json: its top level: found [1]"),
        ({"train": {"v_a": {"duration": 3}}}, 'train.json: v_a["timestamps"] is missing'),
        ({"train": {"v_a": paragraph(3.0, (0, 1, "x")) | {"sentences": []}}}, "1 timestamps and 0 sentences"),
        ({"train": {"v_a": {"duration": 3, "timestamps": [[1]], "sentences": ["x"]}}}, 'v_a["timestamps"][0]'),
        ({"train": {"a/b": paragraph(3.0, (0, 1, "x"))}}, "'a/b' is not a usable id"),
        ({"split_ids_anet_entities": {"a b": []}}, "'a b' cannot name a split"),
    ],
)
def test_missing_or_malformed_file_is_an_error(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(VttdataError) as refused:
        read_activitynet(write_activitynet(tmp_path, **changes))
    assert words in str(refused.value)


def changed_skeleton(**changes: Any) -> dict[str, Any]:
    content: dict[str, Any] = copy.deepcopy(ACTIVITYNET[f"{SKELETON}.json"])
    content["annotations"]["v_bbbbbbbbb-3"]["segments"]["1"] |= changes
    return content


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"process_clss": [["woman"]]}, "as many entries in process_idx as in process_clss"),
        ({"process_idx": [[0], [5], [0, 4]]}, "only indices from 0 to 4 in process_idx"),
        ({"process_clss": [["woman"], ["alien"], ["woman", "man"]]}, "the class 'alien' is not in the vocabulary"),
    ],
)
def test_concept_without_matching_words_is_an_error(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(VttdataError) as refused:
        read_activitynet(write_activitynet(tmp_path, **{SKELETON: changed_skeleton(**changes)}))
    assert words in str(refused.value)


def test_concepts_without_clip_or_with_other_times_are_findings(tmp_path: Path) -> None:
    content = changed_skeleton(timestamps=[20.0, 39.0])
    content["annotations"]["v_eeeeeeeeeee"] = content["annotations"]["v_bbbbbbbbb-3"]
    read = read_activitynet(write_activitynet(tmp_path, **{SKELETON: content}))
    found = {finding.kind: finding.ids for finding in read.findings}
    assert found["misaligned_concepts"] == ("v_bbbbbbbbb-3_1_1",)
    assert found["concepts_without_clip"] == ("v_eeeeeeeeeee_1_0", "v_eeeeeeeeeee_1_1")
    assert len(read.concepts) == 2
