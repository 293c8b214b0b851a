"""Test that manifests are read completely and invalid ones rejected with their line."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vttdata.collect import list_manifest
from vttdata.collect.video_list import MISSING
from vttdata.errors import VttdataError
from vttdata.records import Candidate, Span


def read(folder: Path, text: str, name: str = "list.csv") -> list[Candidate]:
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return list(list_manifest(folder / name))


def lines(*rows: Mapping[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_every_column_reaches_the_candidate(tmp_path: Path) -> None:
    text = "url,id,title,category,query,uploader,license\n"
    text += "https://a.example/v?x=1,cat1,A cat,animals/pets,funny cat,ann,cc-by-4.0\n"
    assert read(tmp_path, text) == [
        Candidate("url", "https://a.example/v?x=1", "cat1", "A cat", "animals/pets", "funny cat", "ann", "cc-by-4.0")
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.csv", "path,source_id\na.mp4,one\n"),
        ("list.tsv", "path\tsource_id\na.mp4\tone\n"),
        ("list.jsonl", '{"path": "a.mp4", "source_id": "one"}\n\n'),
    ],
)
def test_csv_tsv_and_jsonl_give_the_same_candidates(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "a.mp4").write_bytes(b"abc")
    (candidate,) = read(tmp_path, text, name)
    assert (candidate.kind, candidate.locator, candidate.source_id) == ("file", "a.mp4", "one")
    assert candidate.stamp.startswith("3-")


def test_rows_of_one_video_become_one_candidate_with_clips_sorted_by_time(tmp_path: Path) -> None:
    text = (
        "url,start,end,video_id,category\n"
        "http://a.example/1,20.5,30,video2,music\n"
        "http://a.example/2,0,5,video3,\n"
        "http://a.example/1,1.25,11.5,video1,\n"
    )
    first, second = read(tmp_path, text)
    assert first.spans == (Span(1.25, 11.5, "video1"), Span(20.5, 30.0, "video2"))
    assert (first.category, second.category) == ("music", None)
    assert second.spans == (Span(0.0, 5.0, "video3"),)


def test_paths_may_be_absolute_or_outside_the_folder_and_need_not_exist(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "a b.mp4").write_bytes(b"x")
    text = f'path\n../a b.mp4\n{tmp_path / "absent.mp4"}\n"./line\nbreak.mp4"\n'
    candidates = read(tmp_path / "lists", text)
    assert [c.locator for c in candidates] == ["../a b.mp4", str(tmp_path / "absent.mp4"), "line\nbreak.mp4"]
    assert [c.stamp == "missing" for c in candidates] == [False, True, True]


def test_path_written_on_windows_is_found(tmp_path: Path) -> None:
    (tmp_path / "street").mkdir()
    for name in ("street/a.mp4", "odd\\name.mp4"):
        (tmp_path / name).write_bytes(b"x")
    candidates = read(tmp_path, "path\nstreet\\a.mp4\nodd\\name.mp4\n")
    assert [(video.locator, video.stamp != "missing") for video in candidates] == [
        ("street/a.mp4", True),
        ("odd\\name.mp4", True),
    ]


@pytest.mark.parametrize("name", ["caf\u00e9.mp4", "cafe\u0301.mp4"])
def test_path_in_another_unicode_form_than_its_file_is_found(name: str, tmp_path: Path) -> None:
    (tmp_path / "cafe\u0301.mp4").write_bytes(b"x")
    (candidate,) = read(tmp_path, f"path\n{name}\n")
    assert (tmp_path / candidate.locator).is_file()
    assert candidate.stamp != MISSING


def test_json_rows_may_contain_numbers_as_ids_and_times(tmp_path: Path) -> None:
    (candidate,) = read(tmp_path, lines({"url": "http://a.example/1", "id": 7, "start": 1, "end": 2.5}), "list.jsonl")
    assert (candidate.source_id, candidate.spans) == ("7", (Span(1.0, 2.5),))


def test_table_of_captions_lists_each_of_its_videos_once(tmp_path: Path) -> None:
    text = "Datei;Beschreibung;Kategorie;Notiz\na.mp4;a dog runs;animals;\na.mp4;a dog plays;;x\nb.mp4;a car;cars;\n"
    (tmp_path / "list.csv").write_text(text, encoding="utf-8-sig")
    listed = list(list_manifest(tmp_path / "list.csv", {"path": "Datei", "category": "Kategorie"}))
    assert [(video.locator, video.category) for video in listed] == [("a.mp4", "animals"), ("b.mp4", "cars")]


def test_misspelled_column_is_reported_with_the_line_of_the_header(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match=r"list\.csv:1: unknown column 'Categry' \(did you mean 'category'\?\)"):
        read(tmp_path, "url,Categry\nhttp://a.example/1,x\n")


URL = "http://a.example/1"
INVALID_ROWS: dict[str, dict[str, object]] = {
    r"unknown column 'categry' \(did you mean 'category'\?\)": {"url": URL, "categry": "x"},
    "mean the same; remove one of them": {"url": URL, "id": "a", "source_id": "a"},
    "needs either url or path, found neither": {"title": "x", "url": " "},
    "there is no column 'url' or 'path'; the columns are 'title'": {"title": "x"},
    "needs either url or path, found both": {"url": URL, "path": "a.mp4"},
    "id '../etc' must consist of": {"url": URL, "id": "../etc"},
    "id 'a..b' must consist of": {"url": URL, "id": "a..b"},
    "video_id 'a/b' must consist of": {"url": URL, "start": 1, "end": 2, "video_id": "a/b"},
    "start and end must be given together": {"url": URL, "start": 3},
    r"end \(2\) must be after start \(2\)": {"url": URL, "start": 2, "end": 2},
    "start must be a time like 12.5, 1:05 or 1:02:03.5, found 'soon'": {"url": URL, "start": "soon", "end": 2},
    "start must be a time like 12.5, 1:05 or 1:02:03.5, found -1": {"url": URL, "start": -1, "end": 2},
    "end must be a time like 12.5, 1:05 or 1:02:03.5, found 'nan'": {"url": URL, "start": 1, "end": "nan"},
    "end must be a time like 12.5, 1:05 or 1:02:03.5, found '1_0'": {"url": URL, "start": 1, "end": "1_0"},
    "end must be a time like 12.5, 1:05 or 1:02:03.5, found True": {"url": URL, "start": 0, "end": True},
    r"end must be a time like 12.5, 1:05 or 1:02:03.5, found \[1\]": {"url": URL, "start": 0, "end": [1]},
    "video_id names a clip and needs start and end": {"url": URL, "video_id": "a"},
    "contains a user name or password": {"url": "http://me:secret@a.example/1"},
    "the path is a URL; move it to the column url": {"path": "http://a.example/1?token=secret"},
    "path contains a null character": {"path": "a\0.mp4"},
    "title contains an unpaired surrogate": {"url": URL, "title": "\ud800"},
    "title must be text, found 1.5": {"url": URL, "title": 1.5},
}


@pytest.mark.parametrize("message", INVALID_ROWS)
def test_invalid_row_is_rejected_in_one_sentence_with_its_line(tmp_path: Path, message: str) -> None:
    text = lines({"url": "http://a.example/good"}, INVALID_ROWS[message])
    with pytest.raises(VttdataError, match=r"list\.jsonl:2: .*" + message) as caught:
        read(tmp_path, text, "list.jsonl")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", "?."))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/1",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "--exec=id",
        "http://",
        "http://[x",
        "http://a.example/\nx",
        "me:secret@a.example/1?token=secret",
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(tmp_path: Path, url: str) -> None:
    """It may hold a password."""
    with pytest.raises(VttdataError, match=r"list\.jsonl:1: the url is not an http or https address") as caught:
        read(tmp_path, lines({"url": url}), "list.jsonl")
    assert url not in str(caught.value)
    assert "secret" not in str(caught.value)


OTHER = "http://a.example/2"
CONTRADICTIONS: dict[str, tuple[dict[str, object], ...]] = {
    "id 's' is already used for another video on line 1": ({"url": URL, "id": "s"}, {"url": OTHER, "id": "s"}),
    "the video is already listed on line 1": ({"url": URL}, {"url": URL, "start": 1, "end": 2}),
    "either all of its rows have start and end, or none": ({"url": URL, "start": 1, "end": 2}, {"url": URL}),
    "this video already has a clip from 1 to 2 s": (
        {"url": URL, "start": 1, "end": 2, "video_id": "a"},
        {"url": URL, "start": 1, "end": 2, "video_id": "b"},
    ),
    "id 's' differs from 'S' on line 1 only by case": ({"url": URL, "id": "S"}, {"url": OTHER, "id": "s"}),
    "video_id 'b' differs from 'B' on line 1 only by case": (
        {"url": URL, "start": 1, "end": 2, "video_id": "B"},
        {"url": OTHER, "start": 1, "end": 2, "video_id": "b"},
    ),
    "video_id 'a' is already used on line 1": (
        {"url": URL, "start": 1, "end": 2, "video_id": "a"},
        {"url": OTHER, "start": 1, "end": 2, "video_id": "a"},
    ),
    "category is 'y' but 'x' on line 1": (
        {"url": URL, "start": 1, "end": 2, "category": "x"},
        {"url": URL, "start": 3, "end": 4, "category": "y"},
    ),
    "source_id is 't' but 's' on line 1": (
        {"url": URL, "start": 1, "end": 2, "id": "s"},
        {"url": URL, "start": 3, "end": 4, "id": "t"},
    ),
}


@pytest.mark.parametrize("message", CONTRADICTIONS)
def test_contradicting_rows_are_rejected_with_both_lines(tmp_path: Path, message: str) -> None:
    with pytest.raises(VttdataError, match=r"list\.jsonl:2: .*" + message):
        read(tmp_path, lines(*CONTRADICTIONS[message]), "list.jsonl")


@pytest.mark.parametrize("text", ["", "url\n", "url,title\n\n"])
def test_empty_manifest_is_rejected(tmp_path: Path, text: str) -> None:
    with pytest.raises(VttdataError, match=r"list\.csv: the manifest lists no video"):
        read(tmp_path, text)


def test_manifest_that_does_not_exist_or_is_no_table_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="cannot be read"):
        list(list_manifest(tmp_path / "absent.csv"))
    with pytest.raises(VttdataError, match="must end in one of"):
        list(list_manifest(tmp_path / "list.ods"))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=12, unique=True)
)
def test_no_clip_is_lost_and_row_order_does_not_matter(clips: list[tuple[int, int, int]]) -> None:
    rows = [{"url": f"http://a.example/{video}", "start": s, "end": s + length} for video, s, length in clips]
    with tempfile.TemporaryDirectory() as folder:
        forward = {c.locator: c for c in read(Path(folder), lines(*rows), "list.jsonl")}
        backward = {c.locator: c for c in read(Path(folder), lines(*reversed(rows)), "list.jsonl")}
    assert forward == backward
    assert sum(len(c.spans) for c in forward.values()) == len(clips)
