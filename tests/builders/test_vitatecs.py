"""VITATECS: small files in the format of the official release, which is not at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.vitatecs import read
from vttdata.cli.main import main
from vttdata.errors import VttdataError


def pair(number: int, aspect: str = "Direction", **changes: Any) -> dict[str, Any]:
    return {
        "src_dataset": "MSRVTT",
        "video_name": f"video{number}.mp4",
        "caption": f"a woman puts cup {number} on a table",
        "counterfactual": f"a woman takes cup {number} off a table",
        "aspect": aspect,
    } | changes


def write(folder: Path, **files: Any) -> Path:
    for name, rows in ({"Direction": [pair(n) for n in range(6)]} | files).items():
        text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\r\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, newline="")
    return folder


def test_pairs_have_aspects_and_ids_of_their_videos(tmp_path: Path) -> None:
    vatex = pair(0, "Type", src_dataset="VATEX", video_name="i0ccSYMl0vo_000027_000037.mp4")
    read_pairs = read(write(tmp_path, Type=[vatex])).pairs
    assert [(p.pair_id, p.video_id, p.aspect) for p in (read_pairs[0], read_pairs[-1])] == [
        ("Direction_1", "video0", "Direction"),
        ("Type_1", "i0ccSYMl0vo_000027_000037", "Type"),
    ]
    assert read_pairs[0].counterfactual == "a woman takes cup 0 off a table"


def test_identical_texts_and_aspects_of_other_files_are_findings(tmp_path: Path) -> None:
    rows = [pair(0, counterfactual=pair(0)["caption"]), pair(1, "Type")]
    found = {finding.kind: finding.ids for finding in read(write(tmp_path, Direction=rows)).findings}
    assert found == {"aspect_of_another_file": ("Direction_2",), "identical_texts": ("Direction_1",)}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (json.dumps(pair(0)) + "\n" + json.dumps(pair(1))[:-9], r"Direction\.jsonl:2: cut off, damaged or not JSON"),
        ([pair(0), pair(1, caption=None)], r"Direction\.jsonl:2: caption: found null"),
        ([pair(0, src_dataset="TGIF")], r"Direction\.jsonl:1: src_dataset: found \"TGIF\""),
        ([pair(0, video_name="../..")], r"Direction\.jsonl:1: '\.\.' is not a usable id"),
    ],
)
def test_damaged_line_is_named(tmp_path: Path, rows: Any, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        read(write(tmp_path, Direction=rows))


def test_set_is_built_attacked_and_evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", Direction=[pair(n) for n in range(20)])
    out = tmp_path / "out"
    assert main(["build", "vitatecs", "--quiet", "--set", f"annotations={tmp_path / 'data'}", "--out", str(out)]) == 0
    card = (out / "dataset" / "README.md").read_text()
    assert "The pairs are those of the official files." in card
    # Every counterfactual has the words "takes" and "off", so that one word gives all of them away.
    assert json.loads((out / "dataset" / "shortcuts.json").read_text())["foils"][0]["accuracy"] == 1.0
    scores = "".join(f"Direction_{n + 1},1,{n % 2}\n" for n in range(20))
    (tmp_path / "scores.csv").write_text(f"foil_id,true_score,foil_score\n{scores}")
    capsys.readouterr()
    assert main(["evaluate", str(out), str(tmp_path / "scores.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"]["accuracy"]["all"]["score"] == 0.5
