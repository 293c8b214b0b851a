"""Test the files of HITs as spreadsheets, crowd platforms and assessors read them."""

from __future__ import annotations

import csv
import html
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from tests.helpers.campaigns import human_captions, system_captions
from vttdata.errors import VttdataError
from vttdata.files.csv_safety import escape_formula, html_cell, unescape_formula
from vttdata.people import HitSettings, make_hits, read_manifest
from vttdata.people.hits.system_captions import read_systems
from vttdata.people.hits.write import write_hits
from vttdata.people.static_page import page_writer
from vttdata.records import Caption

SMALL = HitSettings(system=7, human=1, degraded=1, repeat=1, min_pairs=1)
HOSTILE = [
    '=HYPERLINK("http://x","y")',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "<script>alert(1)</script>",
    'a & b\'s "quote"',
    "${url_1} {video_id}",
    "'=1",
    "\uff1d1+1",
    "\u732b\u2028\u5ea7\u308b",
    "a,b;c|d\\",
]
FORMULA_SIGNS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"


def table(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def hostile_plan():
    videos = [f"{sign}v{n}" for n, sign in enumerate("=+-@vv&<\"'%#")]
    texts = {video: f"{HOSTILE[n % len(HOSTILE)]} {n}" for n, video in enumerate(videos)}
    human = [Caption(video, 0, f"= a {c.caption}") for video, c in zip(videos, human_captions(12, each=1), strict=True)]
    return make_hits(
        {"=cmd()": texts, "'=x": {video: f"other {n}" for n, video in enumerate(videos)}}, human, settings=SMALL
    )


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    plan = hostile_plan()
    videos = {item.video_id: f"https://x.org/{n}?a=1&b=2" for hit in plan.hits for n, item in enumerate(hit.items)}
    write_hits(plan, tmp_path, videos)
    for name in ("manifest.csv", "crowd.csv", "notes.csv"):
        for row in table(tmp_path / name):
            for cell in row.values():
                assert not cell.lstrip().startswith(tuple(FORMULA_SIGNS)), (name, cell)


def test_manifest_reads_back_unchanged(tmp_path: Path) -> None:
    plan = hostile_plan()
    write_hits(plan, tmp_path, {item.video_id: "v.mp4" for hit in plan.hits for item in hit.items})
    assert read_manifest(tmp_path / "manifest.csv") == plan.manifest()
    rows = table(tmp_path / "manifest.csv")
    shown = [item for hit in plan.hits for item in hit.items]
    assert [unescape_formula(row["caption"]) for row in rows] == [item.caption for item in shown]
    for row, item in zip(rows, shown, strict=True):
        if item.degraded is None:
            assert row["original"] == row["donor_video_id"] == ""
        else:
            words = unescape_formula(row["original"]).split()
            start, number = int(row["start"]), int(row["words"])
            assert item.caption.split()[:start] == words[:start]
            assert item.caption.split()[start + number :] == words[start + number :]
            assert unescape_formula(row["donor_video_id"]) == item.degraded.donor_video_id


def test_crowd_csv_unescapes_to_captions_and_addresses(tmp_path: Path) -> None:
    plan = hostile_plan()
    write_hits(plan, tmp_path, {item.video_id: "https://x.org/?a=1&b=<2>" for hit in plan.hits for item in hit.items})
    rows = table(tmp_path / "crowd.csv")
    assert [row["hit"] for row in rows] == [hit.hit for hit in plan.hits]
    for row, hit in zip(rows, plan.hits, strict=True):
        for position, item in enumerate(hit.items):
            assert row[f"rid_{position}"] == item.item
            assert "<" not in row[f"caption_{position}"] + row[f"url_{position}"]
            assert html.unescape(row[f"caption_{position}"]) == item.caption
            assert html.unescape(row[f"url_{position}"]) == "https://x.org/?a=1&b=<2>"


def test_files_for_assessors_reveal_neither_kinds_nor_systems(tmp_path: Path) -> None:
    systems = system_captions(["zebrafish", "quagga"], 20)
    plain = {name: {v: t.replace(name, "") for v, t in texts.items()} for name, texts in systems.items()}
    plan = make_hits(plain, human_captions(20), settings=SMALL)
    videos = {f"v{n}": f"v{n}.mp4" for n in range(20)}
    write_hits(plan, tmp_path, videos, page_writer(videos))
    pages = sorted((tmp_path / "pages").iterdir())
    assert [page.stem for page in pages] == [hit.hit for hit in plan.hits]
    for file in (tmp_path / "crowd.csv", tmp_path / "hits.jsonl", *pages):
        text = file.read_text()
        assert not any(word in text for word in ("zebrafish", "quagga", "degraded", '"repeat"', "donor", '"human"'))
    with (tmp_path / "crowd.csv").open() as stream:
        assert set(next(csv.reader(stream))) == {"hit"} | {
            f"{name}_{n}" for n in range(10) for name in ("rid", "url", "caption")
        }
    lines = [json.loads(line) for line in (tmp_path / "hits.jsonl").read_text().splitlines()]
    assert [line["hit"] for line in lines] == [hit.hit for hit in plan.hits]
    assert {tuple(sorted(item)) for line in lines for item in line["items"]} == {("caption", "item", "video")}


def test_same_plan_gives_same_bytes_and_another_campaign_is_not_overwritten(tmp_path: Path) -> None:
    videos = {f"v{n}": f"v{n}.mp4" for n in range(20)}
    plan = make_hits(system_captions(["a", "b"], 20), human_captions(20), settings=SMALL)
    write_hits(plan, tmp_path, videos, page_writer(videos))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    write_hits(plan, tmp_path, videos, page_writer(videos))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
    other = make_hits(system_captions(["a", "b"], 20), human_captions(20), settings=SMALL, seed=1)
    with pytest.raises(VttdataError, match="contains the HITs of another campaign"):
        write_hits(other, tmp_path, videos, page_writer(videos))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


@budget(max_examples=200)
@given(st.text(alphabet=st.sampled_from("=+-@' \t\r\n\xa0\u2028a\uff1d<&;#6\"")))
def test_escaped_formulas_are_safe_and_can_be_unescaped(text: str) -> None:
    assert unescape_formula(escape_formula(text)) == text
    assert not escape_formula(text).lstrip().startswith(tuple(FORMULA_SIGNS))
    assert not html_cell(text).lstrip().startswith(tuple(FORMULA_SIGNS))
    if "\r" not in text and text.isprintable():  # HTML has no reference for control characters
        assert html.unescape(html_cell(text)) == text


def test_system_captions_are_read_from_tables_and_coco_results(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("video_id,caption\nv1,a dog\nv1,a dog\nv2,\n")
    (tmp_path / "two.json").write_text('[{"image_id": 7, "caption": "a cat"}]')
    (tmp_path / "many.jsonl").write_text('{"system": "x", "video_id": "v1", "caption": " a\\u0007 b "}\n')
    systems, repeated = read_systems(sorted(tmp_path.iterdir()))
    assert systems == {"one": {"v1": "a dog", "v2": ""}, "two": {"7": "a cat"}, "x": {"v1": "a b"}}
    assert repeated == ["one/v1"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.csv", "video_id,caption\nv1,a\nv1,b\n", "s.csv:3: the system 's' already has another caption of 'v1'"),
        ("s.csv", "video_id,text\nv1,a\n", "s.csv:1: there is no column 'caption'"),
        ("s.csv", "caption\na\n", "s.csv:1: there is no column 'video_id' or 'image_id'"),
        ("s.csv", "video_id,caption\n", "s.csv: contains no captions"),
        ("s.csv", "system,video_id,caption\n,v1,a\n", "s.csv:2: 'system' is missing"),
        ("s.json", "{}", "s.json:1: there is no column 'video_id' or 'image_id'"),
        ("s.json", "[" * 100_000, "not JSON"),
        ("s.json", '[{"image_id": true, "caption": "a"}]', "s.json:1: 'video_id' is not a name"),
        ("s.jsonl", '{"video_id": "v", "caption": ["a"]}', "s.jsonl:1: the caption is list, not text"),
        ("s.doc", "x", "a table must end in"),
    ],
)
def test_bad_system_captions_raise_one_sentence(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(VttdataError, match=message):
        read_systems([tmp_path / name])
