from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.msvd import read as read_msvd
from tests.helpers.official_files import write_msvd
from vttdata.errors import VttdataError

SENTENCES = {
    "-4wsuPCjDBc_5_15": ["a squirrel eats", "a squirrel eats", "an animal eats a nut"],
    "_a_b-c_d-e__33_50": ["a man cooks"],
    "4wsuPCjDBcc_61_58": [" a man runs ", ""],
    "zzzzzzzzzzz_1_2": ["nobody listed this"],
}
LISTS = {
    "train": ["_a_b-c_d-e__33_50"],
    "val_list": ["4wsuPCjDBcc_61_58", "4wsuPCjDBcc_0_9"],
    "test": ["-4wsuPCjDBc_5_15", "strange"],
}


def test_ids_are_parsed_from_the_right_and_lists_give_splits_and_order(tmp_path: Path) -> None:
    read = read_msvd(write_msvd(tmp_path, SENTENCES, **LISTS))
    assert [(clip.video_id, clip.source_id, clip.start, clip.end, clip.split) for clip in read.clips] == [
        ("_a_b-c_d-e__33_50", "_a_b-c_d-e_", 33.0, 50.0, "train"),
        ("4wsuPCjDBcc_61_58", "4wsuPCjDBcc", 61.0, 58.0, "validation"),
        ("4wsuPCjDBcc_0_9", "4wsuPCjDBcc", 0.0, 9.0, "validation"),
        ("-4wsuPCjDBc_5_15", "-4wsuPCjDBc", 5.0, 15.0, "test"),
        ("zzzzzzzzzzz_1_2", "zzzzzzzzzzz", 1.0, 2.0, "unlisted"),
    ]
    assert read.clips[0].url == "https://www.youtube.com/watch?v=_a_b-c_d-e_"
    written = {(caption.video_id, caption.sen_id): caption.caption for caption in read.captions}
    assert written["-4wsuPCjDBc_5_15", 2] == "an animal eats a nut"
    assert written["4wsuPCjDBcc_61_58", 0] == " a man runs "
    assert {finding.kind: finding.ids for finding in read.findings} == {
        "no_split": ("zzzzzzzzzzz_1_2",),
        "unknown_id": ("strange",),
        "end_before_start": ("4wsuPCjDBcc_61_58",),
        "no_caption": ("4wsuPCjDBcc_0_9",),
        "duplicate_caption": ("-4wsuPCjDBc_5_15/1",),
        "empty_caption": ("4wsuPCjDBcc_61_58/1",),
    }


def test_id_in_two_lists_is_in_both_splits_and_reported(tmp_path: Path) -> None:
    lists = {"train": ["a_1_2", "b_1_2", "b_1_2"], "val": ["c_1_2"], "test": ["a_1_2"]}
    read = read_msvd(write_msvd(tmp_path, {name: ["x"] for name in ("a_1_2", "b_1_2", "c_1_2")}, **lists))
    assert [(clip.video_id, clip.split) for clip in read.clips if clip.video_id == "a_1_2"] == [
        ("a_1_2", "train"),
        ("a_1_2", "test"),
    ]
    found = {finding.kind: finding.ids for finding in read.findings}
    assert found == {"several_splits": ("a_1_2",), "doubled_video": ("b_1_2",)}


@given(st.from_regex(r"\A[A-Za-z0-9_-]{11}\Z"), st.integers(0, 9999), st.integers(0, 9999))
def test_any_youtube_id_is_parsed(tmp_path_factory: pytest.TempPathFactory, name: str, start: int, end: int) -> None:
    folder, video_id = tmp_path_factory.mktemp("msvd"), f"{name}_{start}_{end}"
    read = read_msvd(write_msvd(folder, {video_id: ["x"]}, train=[video_id], val=["-"], test=["-"]))
    assert [(clip.source_id, clip.start, clip.end) for clip in read.clips] == [(name, start, end)]


def test_id_lists_may_be_tables_or_json(tmp_path: Path) -> None:
    write_msvd(tmp_path, {"a_1_2": ["x"], "b_1_2": ["y"], "c_1_2": ["z"]}, train=["a_1_2"])
    (tmp_path / "val.csv").write_text("key,video_id\n1,b_1_2\n")
    (tmp_path / "test.json").write_text(json.dumps(["c_1_2"]))
    assert {clip.video_id: clip.split for clip in read_msvd(tmp_path).clips} == {
        "a_1_2": "train",
        "b_1_2": "validation",
        "c_1_2": "test",
    }


def test_id_lists_in_an_archive_are_read_alike(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "msvd.zip", "w") as archive:
        archive.writestr("msvd/captions.json", json.dumps({"a_1_2": ["x"], "b_1_2": ["y"], "c_1_2": ["z"]}))
        archive.writestr("msvd/train.txt", "\ufeffvideo_id\r\na_1_2\r\n")
        archive.writestr("msvd/val.csv", "key,video_id\r\n1, b_1_2\r\n")
        archive.writestr("msvd/test.json", json.dumps(["c_1_2"]))
    read = read_msvd(tmp_path)
    assert [(clip.video_id, clip.split) for clip in read.clips] == [
        ("a_1_2", "train"),
        ("b_1_2", "validation"),
        ("c_1_2", "test"),
    ]
    assert not read.findings


@pytest.mark.parametrize(
    ("sentences", "lists", "words"),
    [
        ({"vid1": ["x"]}, LISTS, "captions.json: vid1: 'vid1' is not <youtube id>_<start>_<end>"),
        ({"a_1_2": "x"}, LISTS, 'captions.json: a_1_2: found "x"'),
        ({"../a_1_2": ["x"]}, LISTS, "is not a usable id"),
        ({"a_1_2": ["x"]}, {"train": ["a_1_2"], "val": []}, "the list of ids of test is missing"),
        ({"a_1_2": ["x"]}, LISTS | {"train_list": []}, "both"),
        ({"a_1_2": ["x"]}, LISTS | {"train": []}, "train.txt: contains no clip id"),
    ],
)
def test_malformed_file_or_missing_list_is_an_error(
    tmp_path: Path, sentences: dict[str, list[str]], lists: dict[str, list[str]], words: str
) -> None:
    with pytest.raises(VttdataError) as refused:
        read_msvd(write_msvd(tmp_path, sentences, **lists))
    assert words in str(refused.value)


def test_sentences_must_be_in_one_file(tmp_path: Path) -> None:
    write_msvd(tmp_path, SENTENCES, **LISTS)
    (tmp_path / "more.json").write_text("{}")
    with pytest.raises(VttdataError, match=r"one file with the sentences .* found captions\.json, more\.json"):
        read_msvd(tmp_path)


def write_layout(folder: Path, name: str, content: str | bytes) -> Path:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for split, video_id in (("train", "a_b_1_2"), ("val", "c_3_4"), ("test", "d_5_6")):
        (folder / f"{split}_list.txt").write_text(f"{video_id}\n")
    return folder


CORPUS = """\ufeffVideoID,Start,End,WorkerID,Source,AnnotationTime,Language,Description\r
a_b,1,2,7,clean,36,English,"A bird bathes, twice"\r
a_b,1,2,8,unverified,40,German,Ein Vogel badet\r
d,5,6,7,clean,12,English,A man runs\r
"""


def test_corpus_of_the_authors_is_read_by_language(tmp_path: Path) -> None:
    folder = write_layout(tmp_path, "MSR Video Description Corpus.csv", CORPUS)
    english = read_msvd(folder)
    assert [(caption.video_id, caption.caption, caption.annotator) for caption in english.captions] == [
        ("a_b_1_2", "A bird bathes, twice", "7"),
        ("d_5_6", "A man runs", "7"),
    ]
    german = read_msvd(folder, language="de")
    assert [(caption.caption, caption.language) for caption in german.captions] == [("Ein Vogel badet", "de")]
    with pytest.raises(VttdataError, match="no sentence in the language 'fr'"):
        read_msvd(folder, language="fr")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("AllVideoDescriptions.txt", "# comment\r\n\r\na_b_1_2 a bird bathes\r\nd_5_6 a man runs\r\n"),
        ("raw-captions.pkl", pickle.dumps({"a_b_1_2": [["a", "bird", "bathes"]], "d_5_6": [["a", "man", "runs"]]})),
        ("captions.json", json.dumps({"a_b_1_2": ["a bird bathes"], "d_5_6": ["a man runs"]})),
    ],
)
def test_layouts_give_the_same(tmp_path: Path, name: str, content: str | bytes) -> None:
    read = read_msvd(write_layout(tmp_path, name, content))
    assert [(caption.video_id, caption.caption) for caption in read.captions] == [
        ("a_b_1_2", "a bird bathes"),
        ("d_5_6", "a man runs"),
    ]
    assert next(iter(read.files)) == name


def test_mapping_gives_the_official_splits(tmp_path: Path) -> None:
    (tmp_path / "captions.json").write_text(json.dumps({"a_1_2": ["x"], "b_1_2": ["y"], "c_1_2": ["z"]}))
    (tmp_path / "youtube_mapping.txt").write_text("c_1_2 vid1301\nb_1_2 vid1300\na_1_2 vid1200\n")
    assert {clip.video_id: clip.split for clip in read_msvd(tmp_path).clips} == {
        "a_1_2": "train",
        "b_1_2": "validation",
        "c_1_2": "test",
    }
    (tmp_path / "youtube_mapping.txt").write_text("a_1_2 vid1\nb_1_2 vid1\n")
    with pytest.raises(VttdataError, match=r"youtube_mapping\.txt:2: the number 1 is duplicated"):
        read_msvd(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("raw-captions.pkl", pickle.dumps({"a_b_1_2": [Path("x")]}), "no pickle of plain lists"),
        ("raw-captions.pkl", pickle.dumps({"a_b_1_2": ["a bird"]}), "lists of tokens by id are expected"),
        ("raw-captions.pkl", pickle.dumps({"a_b_1_2": [["a"]]})[:-5], "damaged"),
        ("AllVideoDescriptions.txt", "a_b_1_2\n", r"txt:1: an id, a space and a sentence"),
        ("MSR Video Description Corpus.csv", CORPUS.replace("a_b,1,2,7", "a_b,,2,7"), "csv:2: VideoID, Start or End"),
        ("MSR Video Description Corpus.csv", "VideoID,Start\na,1\n", "csv:1: there is no column"),
    ],
)
def test_damaged_layout_is_one_sentence(tmp_path: Path, name: str, content: str | bytes, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        read_msvd(write_layout(tmp_path, name, content))
