"""Questions of one's own: a table becomes a dataset that `datasets` loads, with a card, and can be verified."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest

from builders.question_table import read
from vttdata.cli.main import main
from vttdata.errors import VttdataError


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def question(number: int, **changes: object) -> dict[str, object]:
    options = [f"thing {number}", "a dog", "a cat"]
    return {"video": f"v{number}.mp4", "question": "what?", "options": options, "answer": "ABC"[number % 3]} | changes


def test_table_becomes_a_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = [
        {"video": "v1", "question": "is it?", "answer": answer, "group": "p1", "type": "pairs", "start": 1.5, "end": 4}
        for answer in ("Yes.", "no")
    ]
    table = write(tmp_path / "q.jsonl", [*(question(number) for number in range(12)), *pair])
    out = tmp_path / "out"
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", str(out), "--set", f"annotations={table}"]
    assert main(build) == 0
    rows = datasets.load_dataset(str(out / "dataset"), "questions", cache_dir=str(tmp_path / "cache"))["test"]
    assert rows.num_rows == 14
    assert {key: rows[1][key] for key in ("question_id", "video_id", "kind", "answer", "answer_letter")} == {
        "question_id": "v1/1",
        "video_id": "v1",
        "kind": "multiple_choice",
        "answer": 1,
        "answer_letter": "B",
    }
    last = rows[13]
    assert (last["kind"], last["options"], last["answer"], last["group"]) == ("yes_no", ["yes", "no"], 1, "p1")
    assert (last["start"], last["end"], last["type"]) == (1.5, 4.0, "pairs")
    # So few teach no attacker.
    assert rows["blind"] == [None] * 14
    card = (out / "dataset" / "README.md").read_text()
    assert "| multiple\\_choice | 12 | 3 | 0.333 |" in card
    assert "| yes\\_no | 2 | 2 | 0.500 | - | 1, 1 |" in card
    capsys.readouterr()
    assert main(["verify", str(out), "--set", f"annotations={table}"]) == 0
    assert "identical" in capsys.readouterr().out


def test_columns_have_other_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "q.csv"
    table.write_text("clip,question,first,A,B\nv1,what,a,cat,dog\nv2,where,b,here,there\nv3,who,b,he,she\n")
    build = ["build", "questions", "--quiet", "--workers", "1", "--out", str(tmp_path / "out")]
    build += ["--set", f"annotations={table}", "--columns", "answer=first", "--columns", "video_id=clip"]
    assert main(build) == 0
    capsys.readouterr()
    assert main(["show", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["configs"]["questions"]["test"] == {
        "clips": 3,
        "sources": 3,
        "questions": 3,
    }


def test_splits_and_sources_are_columns(tmp_path: Path) -> None:
    rows = [question(0, split="val", source_id="s"), question(1, split="train"), question(2, split="train")]
    official = read(write(tmp_path / "q.jsonl", rows))
    assert [(clip.video_id, clip.source_id, clip.split) for clip in official.clips] == [
        ("v0", "s", "validation"),
        ("v1", "v1", "train"),
        ("v2", "v2", "train"),
    ]


def test_names_that_are_no_ids_are_made_plain_on_request(tmp_path: Path) -> None:
    table = write(tmp_path / "q.jsonl", [question(0, video="film 01.mp4"), question(1, video="film_01.mp4")])
    with pytest.raises(VttdataError, match=r"q\.jsonl:1: 'film 01' is not a usable id .* --set plain_ids=true"):
        read(table)
    spaced, plain = (clip.video_id for clip in read(table, plain_ids=True).clips)
    assert spaced.startswith("film_01-")
    assert plain == "film_01"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([question(0, id="a"), question(1, id="a")], "q.jsonl:2: there is another question with the id 'a'"),
        ([question(0, video=None)], "q.jsonl:1: the row names no video"),
        ([question(0), question(0, split="train")], "q.jsonl:2: the video 'v0' has another source or split"),
        ([question(0, start="soon")], "q.jsonl:1: 'start' should be seconds"),
        ([question(0, options=[str(n) for n in range(27)])], "q.jsonl:1: two or more options are expected, at most 26"),
        (
            [{"video_id": "v", "q": "x"}],
            "q.jsonl: holds no questions; a table of them has the columns question, options (or option_0,",
        ),
        ([question(0, answer="D")], "q.jsonl:1: the answer 'D' is no option, of 3"),
        ([question(0, answer="")], "q.jsonl:1: the answer '' is no option, of 3"),
    ],
)
def test_bad_table_is_one_sentence(tmp_path: Path, rows: list[dict[str, object]], words: str) -> None:
    with pytest.raises(VttdataError) as refused:
        read(write(tmp_path / "q.jsonl", rows))
    assert words in str(refused.value)


def test_same_options_are_a_finding(tmp_path: Path) -> None:
    found = read(write(tmp_path / "q.jsonl", [question(0, options=["x", "x", "y"], answer="C"), question(1)]))
    assert ("same_options", ("v0/1",)) in [(finding.kind, finding.ids) for finding in found.findings]


def test_option_of_the_text_of_the_answer_is_a_finding(tmp_path: Path) -> None:
    found = read(write(tmp_path / "q.jsonl", [question(0), question(1, options=["z", "x", "y", "X."], answer="x")]))
    assert ("same_as_answer", ("v1/1",)) in [(finding.kind, finding.ids) for finding in found.findings]
    assert found.questions[1].answer == 1
