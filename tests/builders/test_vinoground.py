"""Vinoground: small files of its documented form, and its three scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders.vinoground import read
from vttdata.cli.main import main
from vttdata.errors import VttdataError

INSTRUCTION = "Answer with the option's letter from the given choices directly."


def item(number: int, part: str, kind: str, **changes: str) -> dict[str, str]:
    options = ("a toddler plays, then drinks", "a toddler drinks, then plays")
    folder, asked = "vinoground_videos", "Which caption best describes this video?"
    if kind == "video":
        options, folder = ("the first fragment", "the second fragment"), "vinoground_videos_concated"
        asked = "Which fragment is about a toddler who plays, then drinks?"
    text = f"{asked}\nA. {options[0]}\nB. {options[1]}\n{INSTRUCTION}"
    answer = "A" if part == "pos" else "B"
    video = f"{folder}/{number}_{part}.mp4"
    return {"idx": f"{number}_{part}", "video_name": video, "question": text, "GT": answer} | changes


def write(folder: Path, **changes: str) -> Path:
    folder.mkdir(exist_ok=True)
    for kind in ("text", "video"):
        items = [item(number, part, kind) for number in range(3) for part in ("pos", "neg")]
        items[0] |= changes if kind == "text" else {}
        (folder / f"vinoground_{kind}score.json").write_text(json.dumps(items))
    return folder


def test_four_questions_of_a_number_are_a_group_of_one_source(tmp_path: Path) -> None:
    found = read(write(tmp_path))
    assert [each.question_id for each in found.questions if each.group == "1"] == [
        "text/1_pos",
        "text/1_neg",
        "video/1_pos",
        "video/1_neg",
    ]
    first = found.questions[0]
    assert first.question == "Which caption best describes this video?"
    assert first.options == ("a toddler plays, then drinks", "a toddler drinks, then plays")
    assert (first.answer, found.questions[1].answer, first.type) == (0, 1, "text")
    # Both folders have a file 1_pos.mp4.
    assert len({clip.video_id for clip in found.clips}) == 12
    assert {clip.source_id for clip in found.clips if "-1_" in clip.video_id} == {"pair-1"}


@pytest.mark.not_on("win32")
def test_three_scores_are_those_of_a_count_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = write(tmp_path / "files")
    build = ["build", "vinoground", "--quiet", "--workers", "1", "--out", str(tmp_path / "out")]
    assert main([*build, "--set", f"annotations={files}"]) == 0
    right = {each.question_id: "AB"[each.answer] for each in read(files).questions}
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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"GT": "C"}, "vinoground_textscore.json: [0]: the answer 'C' is no option, of 2"),
        ({"question": "Which?"}, "the question has no lines of options"),
        ({"idx": "0"}, "the idx '0' is not such as '0_pos'"),
    ],
)
def test_damaged_files_are_one_sentence(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    with pytest.raises(VttdataError) as refused:
        read(write(tmp_path, **changes))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
