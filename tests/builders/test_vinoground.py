"""Vinoground's text, video and group score, from small files of its documented form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.question_sets import read_set
from vttdata.cli.main import main


def item(number: int, part: str, kind: str) -> dict[str, str]:
    options = ("a toddler plays, then drinks", "a toddler drinks, then plays")
    folder, asked = "vinoground_videos", "Which caption best describes this video?"
    if kind == "video":
        options, folder = ("the first fragment", "the second fragment"), "vinoground_videos_concated"
        asked = "Which fragment is about a toddler who plays, then drinks?"
    text = f"{asked}\nA. {options[0]}\nB. {options[1]}\nAnswer with the option's letter."
    video = f"{folder}/{number}_{part}.mp4"
    return {"idx": f"{number}_{part}", "video_name": video, "question": text, "GT": "A" if part == "pos" else "B"}


@pytest.mark.not_on("win32")
def test_three_scores_are_those_of_a_count_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for kind in ("text", "video"):
        items = [item(number, part, kind) for number in range(3) for part in ("pos", "neg")]
        (files / f"vinoground_{kind}score.json").write_text(json.dumps(items))
    build = ["build", "vinoground", "--quiet", "--workers", "1", "--out", str(tmp_path / "out")]
    assert main([*build, "--set", f"annotations={files}"]) == 0
    right = {each.question_id: "AB"[each.answer] for each in read_set("vinoground", files).questions}
    # All of pair 0 is right, of pair 1 the text questions, of pair 2 the video questions.
    wrong = {"video/1_neg", "text/2_pos"}
    rows = [
        {"question_id": name, "answer": "BA"["AB".index(of)] if name in wrong else of} for name, of in right.items()
    ]
    (tmp_path / "answers.json").write_text(json.dumps(rows))
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "out"), str(tmp_path / "answers.json"), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert scores["accuracy"]["all"]["score"] == pytest.approx(10 / 12)
    assert scores["group-accuracy/text"]["all"]["score"] == pytest.approx(2 / 3)
    assert scores["group-accuracy/video"]["all"]["score"] == pytest.approx(2 / 3)
    assert scores["group-accuracy"]["all"]["score"] == pytest.approx(1 / 3)
