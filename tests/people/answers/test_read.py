"""Test reading results in three layouts, and the findings for answers that cannot be used."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.workbook import write_workbook
from vttdata.errors import VttdataError
from vttdata.people import read_manifest, read_moments, read_results

MANIFEST = [
    ("h1", "i0", "v0", "A", "system"),
    ("h1", "i1", "v1", "human", "human"),
    ("h1", "i2", "v1", "human", "degraded"),
    ("h2", "i0", "v2", "B", "system"),
]


def write(file: Path, head: str, *rows: Any) -> Path:
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([head.split(), *rows])
    return file


def manifest(folder: Path) -> dict[str, Any]:
    return dict(read_manifest(write(folder / "manifest.csv", "hit item video_id system kind", *MANIFEST)))


def answers(folder: Path, *rows: Any, name: str = "page.csv") -> Path:
    return write(folder / name, "hit worker item score seconds", *rows)


GOOD = [("h1", "w", "i2", 7, 2.5), ("h1", "w", "i0", 50, 3), ("h1", "w", "i1", 90, "")]


def test_page_export_is_joined_with_the_manifest(tmp_path: Path) -> None:
    results = read_results([answers(tmp_path, *GOOD)], manifest=manifest(tmp_path))
    assert not results.findings
    first = results.judgments[0]
    assert (first.video_id, first.system, first.kind, first.score) == ("v1", "human", "degraded", 7)
    assert [(judgment.position, judgment.seconds) for judgment in results.judgments] == [(0, 2.5), (1, 3.0), (2, None)]


def test_json_and_csv_exports_give_the_same_results(tmp_path: Path) -> None:
    listed = [dict(zip(("item", "score", "seconds"), row[2:], strict=True)) for row in GOOD]
    page = {"hit": "h1", "worker": "w", "answers": listed}
    (tmp_path / "page.json").write_text(json.dumps(page))
    answered = [{"hit": "h1", "worker": "w"} | answer for answer in listed]
    (tmp_path / "list.json").write_text(json.dumps(answered))
    (tmp_path / "lines.jsonl").write_text("".join(f"{json.dumps(answer)}\n" for answer in answered))
    (tmp_path / "posted.jsonl").write_text(json.dumps(page | {"answers": listed[:1]}) + "\n" + json.dumps(page))
    (tmp_path / "posted.json").write_text(json.dumps([page]))
    expected = read_results([answers(tmp_path, *GOOD)], manifest=manifest(tmp_path))
    again = read_results([tmp_path / "posted.jsonl"], manifest=manifest(tmp_path))
    assert [judgment.item for judgment in again.judgments] == [judgment.item for judgment in expected.judgments]
    assert again.findings == {"duplicate": ("h1/w/i2",)}
    for name in ("page.json", "list.json", "lines.jsonl", "posted.json"):
        assert read_results([tmp_path / name], manifest=manifest(tmp_path)) == expected


@pytest.mark.parametrize(
    ("rows", "findings"),
    [
        ([("h1", "w", "i0", 51, 1)], {"duplicate": 1, "conflicting_duplicate": 1}),
        ([("h1", "w", "i0", 50, 1)], {"duplicate": 1}),
        ([("h1", "v", "i0", 50, 1)], {"missing_answer": 2}),
        ([("h2", "w", "i0", "", 1)], {"missing_answer": 1}),
        ([("h2", "w", "i0", 100.5, 1)], {"out_of_range": 1}),
        ([("h2", "w", "i0", -1, 1)], {"out_of_range": 1}),
        ([("h2", "w", "i0", "nan", 1)], {"out_of_range": 1}),
        ([("h2", "w", "i0", "=1+1", 1)], {"out_of_range": 1}),
        ([("h3", "w", "i0", 1, 1)], {"unknown_hit": 1}),
        ([("h2", "w", "i1", 1, 1)], {"unknown_item": 1}),
        ([("h2", "", "i0", 1, 1)], {"unknown_worker": 1}),
    ],
)
def test_unusable_answers_are_counted_and_left_out(tmp_path: Path, rows: Any, findings: dict[str, int]) -> None:
    results = read_results([answers(tmp_path, *GOOD, *rows)], manifest=manifest(tmp_path))
    assert {kind: len(ids) for kind, ids in results.findings.items()} == findings
    kept = {(judgment.hit, judgment.worker, judgment.item): judgment.score for judgment in results.judgments}
    assert kept[("h1", "w", "i0")] == 50
    assert len(kept) == 3 + ("missing_answer" in findings and rows[0][1] == "v")


def test_answer_in_another_file_is_a_duplicate(tmp_path: Path) -> None:
    files = [answers(tmp_path, *GOOD), answers(tmp_path, GOOD[0], name="again.csv")]
    assert read_results(files, manifest=manifest(tmp_path)).findings == {"duplicate": ("h1/w/i2",)}


def test_unknown_workers_are_a_finding(tmp_path: Path) -> None:
    rows = [*GOOD, ("h2", "stranger", "i0", 5, 1)]
    results = read_results([answers(tmp_path, *rows)], manifest=manifest(tmp_path), workers={"w"})
    assert results.findings == {"unknown_worker": ("h2/stranger/i0",)}


def test_results_of_another_campaign_raise_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="No answer is left of these results: unknown_hit 1"):
        read_results([answers(tmp_path, ("x", "w", "i0", 5, 1))], manifest=manifest(tmp_path))


def test_edited_ids_are_a_finding(tmp_path: Path) -> None:
    head = "hit worker item score video_id system kind"
    rows = [("h1", "w", "i0", 5, "v0", "B", "system"), ("h1", "w", "i1", 5, "v1", "human", "human")]
    results = read_results([write(tmp_path / "page.csv", head, *rows)], manifest=manifest(tmp_path))
    assert results.findings == {"changed_item": ("h1/w/i0",), "missing_answer": ("h1/w/i0", "h1/w/i2")}


def test_results_without_manifest_must_describe_items(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="'video_id' is missing; without it a manifest"):
        read_results([answers(tmp_path, *GOOD)])
    head = "hit worker item score video_id system kind"
    file = write(tmp_path / "described.csv", head, ("h", "w", "=HYPERLINK()", 5, "v", "<b>A", "BAD_REF"))
    (judgment,) = read_results([file]).judgments
    assert (judgment.item, judgment.system, judgment.kind) == ("=HYPERLINK()", "<b>A", "degraded")


def crowd(folder: Path, *answers_of_workers: str, status: str = "Approved") -> Path:
    shown = [value for position in range(2) for value in (f"S{position}", f"v{position}", "system", f"r_{position}")]
    columns = [f"Input.{name}_{position}" for position in range(2) for name in ("sys_id", "sid", "tst", "rid")]
    header = [
        "HITId",
        "WorkerId",
        "AssignmentStatus",
        "WorkTimeInSeconds",
        *columns,
        "Answer.Q1",
        "Answer.note",
        "Approve",
    ]
    with (folder / "batch.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerow(header)
        for number, text in enumerate(answers_of_workers):
            writer.writerow(["H", f"w{number}", status, "10", *shown, text, "a|b"])
    return folder / "batch.csv"


def test_crowd_export_is_read_with_its_gaps(tmp_path: Path) -> None:
    file = crowd(tmp_path, "0_r_0_5|1_r_1_100", "1_r_1_7", "", "0_r_0_5|1_r_9_4", "0_r_0_x|1__3")
    results = read_results([file])
    assert [(j.worker, j.item, j.score, j.position, j.seconds) for j in results.judgments] == [
        ("w0", "r_0", 5, 0, 5.0),
        ("w0", "r_1", 100, 1, 5.0),
        ("w1", "r_1", 7, 1, 5.0),
        ("w3", "r_0", 5, 0, 5.0),
    ]
    assert results.findings == {
        "unknown_item": ("H/w3/r_9",),
        "unreadable": ("H/w4/1__3",),
        "missing_answer": ("H/w1/r_0", "H/w2/r_0", "H/w2/r_1", "H/w3/r_1", "H/w4/r_1"),
        "out_of_range": ("H/w4/r_0",),
    }
    assert read_results([crowd(tmp_path, "0_r_0_5|1_r_1_1", status="Rejected")]).findings == {"rejected": ("H/w0",)}


def test_wmt_layout_has_raw_scores_without_moments(tmp_path: Path) -> None:
    head = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"
    rows = ["H w lv en ad 1 A 7 SYSTEM s1 55 20.0", "H w lv en ad 1 A 8 BAD_REF s1 100.5 20.0", ""]
    (tmp_path / "ad.csv").write_text("\n".join([head, *rows]))
    results = read_results([tmp_path / "ad.csv"])
    assert [(judgment.score, judgment.seconds) for judgment in results.judgments] == [(55, 10.0)]
    assert results.findings == {"out_of_range": ("H/w/8",)}
    (tmp_path / "standardised.csv").write_text("\n".join([head, *rows]).replace("100.5", "-0.5"))
    with pytest.raises(VttdataError, match=r"standardised.csv:3: the score -0.5 is negative.*--moments"):
        read_results([tmp_path / "standardised.csv"])
    (tmp_path / "moments.txt").write_text('[1] "other"\n[1] 50\n[1] 10\n')
    with pytest.raises(VttdataError, match="unknown_worker 2"):
        read_results([tmp_path / "ad.csv"], moments=read_moments(tmp_path / "moments.txt"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"hit,worker,item\n1,2,3\n", "a.csv:2: 'score' is missing"),
        ("a.csv", b"hit,worker,item,score\n1,2,,3\n", "a.csv:2: 'item' is empty"),
        ("a.csv", b"hit,worker\xff,item,score\n", "not UTF-8"),
        ("a.csv", b"", "there are no answers"),
        ("a.json", b"[1]", "a JSON object is expected, found int"),
        ("a.json", b'{"hit": "h", "worker": "w", "answers": 3}', "a.json:1: 'answers' is not a list"),
        ("a.json", b"{", "not JSON"),
        ("a.json", b"[" * 100_000, "not JSON"),
        ("a.ods", b"x", "a table must end in"),
        ("a.xlsx", b"x", "is no Excel workbook, or damaged"),
        ("a.csv", b"HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\nx\n", "1 cells"),
        ("a.csv", b"hit,worker,item,score,video_id,system,kind\nh,w,i,3,v,A,odd\n", "unknown kind 'odd'"),
        ("a.csv", b"HITId,WorkerId,Input.rid_0,Answer.Q1\nh,w,r,0_r_3\n", "the item 0 lacks Input.sid_"),
    ],
)
def test_unreadable_file_raises_one_sentence(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(VttdataError) as caught:
        read_results([tmp_path / name])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1] 3\n[1] 4\n", "the last worker is incomplete"),
        ("x\n", "moments.txt:1"),
        ('[1] "a"\n[1] 1\n[1] 1\n' * 2, "a worker is duplicated"),
    ],
)
def test_corrupt_moments_raise_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "moments.txt").write_text(text)
    with pytest.raises(VttdataError, match=words):
        read_moments(tmp_path / "moments.txt")


def test_shares_in_place_of_scores_are_refused(tmp_path: Path) -> None:
    shares = [("h1", "w", "i2", 0.07, 2.5), ("h1", "w", "i0", 0.5, 3), ("h1", "w", "i1", 1, "")]
    with pytest.raises(VttdataError, match="No score of these results is above 1; scores are from 0 to 100"):
        read_results([answers(tmp_path, *shares)], manifest=manifest(tmp_path))


def test_scores_that_appraise_exports_are_read(tmp_path: Path) -> None:
    # As its ExportSystemScoresToCSV writes them: plain, with times, and with a document and an error span.
    (tmp_path / "scores.csv").write_text(
        "vidtxt0101,ours,v1,TGT,vid,eng,70\nvidtxt0101,ours,v1,BAD,vid,eng,20,1700000000.1,1700000003.2\n"
        "vidtxt0102,people,v2,REF,vid,eng,90\n"
        "vidtxt0102,\"a, b\",v2,CHK,vid,eng,65,doc,False,\"{'start_i': 0, 'severity': 'major'}\"\n"
    )
    results = read_results([tmp_path / "scores.csv"])
    assert [(each.hit, each.video_id, each.system, each.kind, each.score) for each in results.judgments] == [
        ("vidtxt0101", "v1", "ours", "system", 70),
        ("vidtxt0101", "v1", "ours", "degraded", 20),
        ("vidtxt0102", "v2", "people", "reference", 90),
        ("vidtxt0102", "v2", "a, b", "repeat", 65),
    ]
    (tmp_path / "damaged.csv").write_text("u,ours,v1,TGT,vid,eng,70\nu,ours,v1\n")
    with pytest.raises(VttdataError, match=r"damaged.csv:2: is no row of Appraise"):
        read_results([tmp_path / "damaged.csv"])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "a.csv",
            "annotation_id,annotator,created_at,id,lead_time,rating\n1,2,,3,4.5,60\n",
            "'annotator' worker",
        ),
        ("a.json", '[{"id": 1, "annotations": [{"completed_by": 1, "result": []}]}]', "export it as CSV instead"),
        ("a.csv", "instance_id,user_id,rating\ni1,ann,60\n", "'user_id' worker, 'instance_id' item"),
        ("a.jsonl", '{"instance_id": "i1", "user_id": "ann", "rating": 60}', "'user_id' worker, 'instance_id' item"),
        ("a.csv", "Submission id,Participant id,Status\n1,2,APPROVED\n", "has no answers"),
    ],
)
def test_exports_of_other_tools_say_what_to_rename(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(VttdataError) as refused:
        read_results([tmp_path / name])
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("annotation_id annotator id lead_time rating", {"annotator": "worker", "id": "item", "lead_time": "seconds"}),
        ("instance_id user_id rating", {"user_id": "worker", "instance_id": "item"}),
    ],
)
def test_renamed_exports_are_read(tmp_path: Path, head: str, names: dict[str, str]) -> None:
    renamed = [(names | {"rating": "score"}).get(name, name) for name in head.split()]
    cells = {"id": "i", "instance_id": "i", "annotator": "w", "user_id": "w", "lead_time": "4", "rating": "60"}
    rows = [[cells.get(name, "1") for name in head.split()] + ["h", "v", "A", "system"]]
    path = write(tmp_path / "a.csv", " ".join([*renamed, "hit video_id system kind"]), *rows)
    (judgment,) = read_results([path]).judgments
    assert (judgment.worker, judgment.item, judgment.score, judgment.system) == ("w", "i", 60, "A")


def test_crowd_results_may_be_a_workbook(tmp_path: Path) -> None:
    shown = {"Input.rid_0": "i", "Input.sid_0": "v", "Input.sys_id_0": "A", "Input.tst_0": "system"}
    head = ["HITId", "WorkerId", "WorkTimeInSeconds", *shown, "Answer.Q"]
    row = ["h", "w", 30, *shown.values(), "0_i_55"]
    (judgment,) = read_results([write_workbook(tmp_path / "a.xlsx", {"Sheet1": [head, row]})]).judgments
    assert (judgment.worker, judgment.score, judgment.seconds) == ("w", 55, 30)
