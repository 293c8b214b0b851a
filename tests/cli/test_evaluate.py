"""`vttdata evaluate`: what is printed, and what is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.leaking_dataset import write_leaking_dataset, write_predictions
from vttdata.cli.main import main


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_leaking_dataset(tmp_path / "dataset")


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return write_predictions(tmp_path / "captions.json")


def test_scores_are_printed_with_their_signature(
    dataset: Path, captions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(dataset), str(captions), "--metric", "rouge-l", "--train-split", "train"]) == 0
    text = capsys.readouterr().out
    assert "6 of 6 items scored, 0 missing, 0 unknown" in text
    assert "leaked" in text
    assert text.splitlines()[-1].startswith("- Signature: vttdata:")
    # What a paper prints is the score times 100.
    score = float(text.split("rouge-l  ")[1].split()[0])
    assert f"- ROUGE-L {score * 100:.1f} (" in text.partition("For the paper")[2]
    assert "6 items of 4 sources are few: a system whose ROUGE-L is " in text


def test_retrieval_says_which_protocol_papers_use_and_prints_what_they_print(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = write_leaking_dataset(tmp_path / "dataset", name="vttdata/msrvtt")
    command = ["evaluate", str(dataset), "--baseline", "text-length"]
    page = tmp_path / "page.html"
    assert main([*command, "--page", str(page)]) == 0
    text = capsys.readouterr().out
    assert "Papers report retrieval on 1k-A (protocol msrvtt-7k or msrvtt-9k), and this is clips/test" in text
    assert "- text to video: R@1 " in text
    assert "further scores are left out here; --all has them." in text
    assert "t2v/ndcg" not in text
    assert "R@1 text to video" in page.read_text()
    assert main([*command, "--all"]) == 0
    text = capsys.readouterr().out
    assert "t2v/ndcg@10" in text
    assert "--all has them" not in text


def test_json_has_the_keys_of_the_interface(dataset: Path, captions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(captions), "--against", str(write_predictions(captions.with_name("other.json"), t1="dogs"))]
    assert main(["evaluate", str(dataset), *files, "--metric", "rouge-l", "--train-split", "train", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["items"] == {"expected": 6, "scored": 6, "missing": 0, "unknown": 0, "duplicated": 0}
    assert set(report["scores"]["rouge-l"]) >= {"all", "clean", "leaked"}
    assert set(report["against"]["rouge-l"]) >= {"difference", "low", "high", "p"}


def test_columns_are_named_and_the_other_system_may_have_the_usual_ones(
    dataset: Path, captions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, page = captions.with_name("ours.csv"), captions.with_name("page.html")
    rows = json.loads(captions.read_text())
    table.write_text("clip,says\n" + "".join(f"{row['image_id']},{row['caption']}\n" for row in rows))
    names = ["--columns", "video_id=clip", "--columns", "caption=says", "--page", str(page)]
    command = ["evaluate", str(dataset), str(table), "--metric", "rouge-l", "--against", str(captions), "--json"]
    assert main([*command, *names]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["other"], report["against"]["rouge-l"]["difference"]) == ("captions", 0)
    assert rows[0]["caption"] in page.read_text()
    assert main(command) == 2
    assert "--columns video_id=COLUMN (or image_id) --columns caption=COLUMN (or text)." in capsys.readouterr().err


def test_difference_is_told_for_the_paper_and_only_of_what_compares(
    dataset: Path, captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_predictions(captions.with_name("theirs.json"), t1="dogs")
    command = ["evaluate", str(dataset), str(captions), "--metric", "rouge-l"]
    assert main([*command, "--against", str(other)]) == 0
    text = capsys.readouterr().out
    shown = text.partition("Difference to theirs\n")[2]
    assert shown.split("\n")[1].split()[:4] == ["metric", "this", "theirs", "difference"]
    assert "McNemar" not in shown
    values = shown.split("rouge-l")[1].splitlines()[0].split()
    assert f"- minus theirs: ROUGE-L {float(values[2]) * 100:+.1f} (" in text
    assert f"), p = {float(values[-1]):.3f}; p of paired randomisation of sources\n" in text
    # What a reader should know comes between the scores and the differences.
    assert text.index("Scores") < text.index("Notes") < text.index("Difference to")
    assert main(["evaluate", str(dataset), str(other), "--tokenizer", "none", "--out", str(tmp_path / "own")]) == 0
    capsys.readouterr()
    assert main([*command, "--against", str(tmp_path / "own")]) == 0
    text = capsys.readouterr().out
    assert text.partition("Difference to own\n")[2].startswith("NOT COMPARABLE: the signatures differ.")
    assert "minus own" not in text


def test_training_may_be_repeated(dataset: Path, captions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = captions.with_name("seen.txt")
    seen.write_text("d\n")
    training = ["--train-split", "train", "--train-split", str(seen)]
    assert main(["evaluate", str(dataset), str(captions), "--metric", "rouge-l", *training, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["leaks"]["leaked"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give either a file of predictions or --baseline NAME"),
        (["nothing.json"], "nothing.json: cannot be read"),
        (["--baseline", "random-captions"], "(did you mean 'random-caption'?)"),
        (["x.json", "--missing", "skip"], "'skip'"),
        (["x.json", "--columns", "text=says"], "--columns text=...: predictions of captioning have no such column"),
        (["x.npz", "--columns", "video_id=clip"], "predictions of retrieval have no such column; they are no table."),
    ],
)
def test_bad_use_is_one_sentence(
    dataset: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evaluate", str(dataset), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_missing_predictions_are_refused_with_their_ids(
    dataset: Path,
    captions: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evaluate", str(dataset), str(write_predictions(captions, t2=None)), "--metric", "rouge-l"]) == 2
    error = capsys.readouterr().err
    assert "1 of 6 items have no caption (first 't2'); --missing worst scores missing ones at the bottom." in error
    assert error.count("\n") == 1


def test_earlier_evaluation_is_replaced_and_nothing_else(
    dataset: Path, captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["evaluate", str(dataset), str(captions), "--metric", "rouge-l", "--out"]
    for _ in range(2):
        assert main([*command, str(tmp_path / "scores")]) == 0
    assert sorted(path.name for path in (tmp_path / "scores").iterdir()) == ["evaluation.json", "items.jsonl"]
    (tmp_path / "scores/notes.txt").write_text("mine")
    (tmp_path / "export").mkdir()
    (tmp_path / "export/items.jsonl").write_text("mine")
    for folder, message in (
        ("scores", "scores: holds 'notes.txt' and is not replaced"),
        ("export", "export: holds 'items.jsonl' and is not replaced"),
        ("captions.json", "captions.json: is a file and is not replaced"),
        ("dataset", "is not replaced"),
        ("dataset/scores", "dataset/scores: lies in a dataset"),
    ):
        capsys.readouterr()
        assert main([*command, str(tmp_path / folder)]) == 2
        error = capsys.readouterr().err
        assert (message in error, error.count("\n")) == (True, 1)
    assert (tmp_path / "export/items.jsonl").read_text() == "mine"
    assert (tmp_path / "scores/evaluation.json").is_file()
    assert not (tmp_path / "dataset/scores").exists()
